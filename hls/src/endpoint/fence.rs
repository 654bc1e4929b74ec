//! Paths that are given up and come back (T-2.10): condemnation, FENCE, new epoch and entropy, return.
//!
//! A packet may move to another path only when the receiver has closed the epoch it was sent in: its final
//! vector says which packets never came. [`super::health`] has the table of what may follow what; this
//! file does what goes with each step.

use super::connection::Connection;
use super::core::Core;
use super::counters::Counter;
use super::events::EventKind;
use super::health::{Health, HealthEvent};
use super::loss::Shown;
use super::planted::Fault;
use super::urgent::Urgent;
use super::work::Status;
use crate::cc::ONE_PACKET;
use crate::wire::AckBlock;

/// Fences that are repeated at one interval; after them the waits double.
const FENCES_BEFORE_BACKOFF: u16 = 32;

impl Connection {
    /// Moves a path along the table, and does what belongs to the new state.
    pub(super) fn change_health(
        &mut self,
        core: &mut Core,
        path: usize,
        event: HealthEvent,
        now: u64,
    ) {
        let from = self.tx[path].health;
        let Some(to) = from.after(event) else {
            debug_assert!(false, "{from:?} has no transition for {event:?}");
            return;
        };
        if to == from {
            return;
        }
        self.tx[path].health = to;
        let value = u64::from(self.tx[path].unanswered);
        core.event(
            now,
            self.number,
            self.path_id(path),
            EventKind::Health { from, to },
            value,
        );
        if from.is_live() && to == Health::Down {
            self.set_window(path, 0);
            self.windows.live -= 1;
            self.discount(path);
        }
        if from == Health::Probing && to == Health::Good {
            self.windows.live += 1;
            self.set_window(path, ONE_PACKET);
            self.tx[path].attempts = 0;
        }
        self.refresh(path);
    }

    /// Whether a path could carry what another one gives up.
    pub(super) fn is_healthy(&self, core: &Core, path: usize) -> bool {
        let state = &self.tx[path];
        state.health == Health::Good
            && state.unanswered == 0
            && core.planes[self.plane_of(path)].link_up
    }

    /// Gives a path up, if another is healthy and its epochs are not used up too fast.
    pub(super) fn condemn(&mut self, core: &mut Core, path: usize, now: u64) -> bool {
        let other = self.healthy_other(core, path).is_some();
        let health = core.config.health;
        let budget = self.tx[path].fence_budget_ns.max(now);
        let burst = u64::from(health.fence_burst - 1) * health.fence_interval_ns;
        if !health.fences || !other || budget - now > burst {
            return false;
        }
        let state = &mut self.tx[path];
        state.fence_budget_ns = budget + health.fence_interval_ns;
        state.probes_due = 0;
        state.attempts = 0;
        core.counters.bump(Counter::Condemned);
        self.change_health(core, path, HealthEvent::Condemned, now);
        self.send_fence(core, path, now);
        true
    }

    /// Asks the receiver to close the path's epoch, each time over another path.
    pub(super) fn send_fence(&mut self, core: &mut Core, path: usize, now: u64) {
        let health = core.config.health;
        let attempt = self.tx[path].attempts;
        if attempt >= health.fence_attempts_max {
            self.fail(core, now, None, Status::RetriesExhausted);
            return;
        }
        let count = self.tx.len();
        let start = usize::from(self.fence_via) + 1;
        if let Some(via) = (start..start + count)
            .map(|p| p % count)
            .find(|p| *p != path && self.is_healthy(core, *p))
        {
            self.fence_via = via as u8;
            let fence = Urgent::Fence {
                connection: self.number.value(),
                path: path as u8,
                via: via as u8,
            };
            core.urgent(self.plane_of(via), fence);
            core.event(
                now,
                self.number,
                self.path_id(path),
                EventKind::Fence,
                attempt.into(),
            );
        }
        self.tx[path].attempts += 1;
        let doublings = attempt.saturating_sub(FENCES_BEFORE_BACKOFF).min(16);
        let wait = u64::from(health.fence_repeat_ns) << doublings;
        self.set_path_timer(core, path, now + wait.min(health.return_max_ns.into()));
    }

    /// A FENCE_ACK came: what arrived is done, the rest is sprayed anew.
    pub(super) fn on_fence_ack(&mut self, core: &mut Core, block: &AckBlock, now: u64) {
        let Some(path) = self.path_index(block.path) else {
            core.counters.bump(Counter::DropAckInvalid);
            return;
        };
        let state = &self.tx[path];
        if state.health != Health::Down || state.epoch != block.epoch {
            core.counters.bump(Counter::StaleBlocks);
            return;
        }
        if block.bitvector.window() != self.settled.window {
            core.counters.bump(Counter::DropAckInvalid);
            return;
        }
        let shown = Shown::new(block);
        while let Some(entry) = self.tx[path].log.pop_front() {
            if !entry.probe {
                self.tx[path].in_flight -= 1;
                self.settle_packet(core, entry.unacked, &shown);
            }
        }
        while let Some(unacked) = self.tx[path].resend.pop_front() {
            self.settle_packet(core, unacked, &shown);
        }
        for unacked in std::mem::take(&mut self.tx[path].held) {
            self.settle_packet(core, unacked, &shown);
        }
        self.tx[path].start_epoch();
        self.tx[path].attempts = 0;
        self.change_health(core, path, HealthEvent::FenceAnswered, now);
        if !self.ended {
            self.send_return_probe(core, path, now);
            self.wake(core);
        }
    }

    fn settle_packet(&mut self, core: &mut Core, unacked: super::tx_path::Unacked, shown: &Shown) {
        if shown.received(unacked.psn) {
            self.on_packet_arrived(core, unacked);
        } else if !self.planted.is(Fault::ForgetsFreed) {
            self.freed.push_back(unacked);
        }
    }

    /// Probes the new epoch over a new entropy; waits double up to a limit, without end.
    pub(super) fn send_return_probe(&mut self, core: &mut Core, path: usize, now: u64) {
        let health = core.config.health;
        if !core.planes[self.plane_of(path)].link_up {
            self.set_path_timer(core, path, now + u64::from(health.return_max_ns));
            return;
        }
        self.marks[path].entropy = core.rng.entropy();
        let state = &mut self.tx[path];
        // An answer to a probe of the entropy before would say nothing of this one.
        state.log.clear();
        state.walked = state.next_ordinal;
        state.probes_due = 1;
        let wait = u64::from(health.return_first_ns) << state.attempts.min(32);
        state.attempts = state.attempts.saturating_add(1);
        self.change_health(core, path, HealthEvent::ReturnProbe, now);
        self.refresh(path);
        self.wake(core);
        self.set_path_timer(core, path, now + wait.min(health.return_max_ns.into()));
    }

    /// The timer of a path has come.
    pub(super) fn on_path_timer(&mut self, core: &mut Core, path: usize, now: u64) {
        match self.tx[path].health {
            Health::Good | Health::Suspect => self.on_probe_timer(core, path, now),
            Health::Down => self.send_fence(core, path, now),
            Health::Fenced | Health::Probing => self.send_return_probe(core, path, now),
        }
    }

    /// The link of a plane has changed.
    pub(super) fn on_link(&mut self, core: &mut Core, plane: usize, up: bool, now: u64) {
        if self.ended {
            return;
        }
        for path in plane * self.per_plane()..(plane + 1) * self.per_plane() {
            let health = self.tx[path].health;
            if up && matches!(health, Health::Fenced | Health::Probing) {
                self.tx[path].attempts = 0;
                self.set_path_timer(core, path, now);
            } else if !up && health.is_live() && !self.tx[path].is_idle() {
                self.condemn(core, path, now);
            }
        }
        self.wake(core);
    }
}
