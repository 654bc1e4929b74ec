//! What an ACK block says of a path (T-2.3): the ordinal log is walked once, up to the echo.
//!
//! A path is ordered, so an entry under the echo whose PSN the vector does not show is lost: it is sent again
//! on the same path. An older block is ignored, since along the snapshots of one path bits are only added;
//! one with the same echo counts if it has counted more. A loss moves no window (T-2.5).

use super::connection::Connection;
use super::core::Core;
use super::counters::Counter;
use super::health::{Health, HealthEvent};
use super::planted::Fault;
use super::tx_path::{TxPath, Unacked};
use super::wire_time::UNIT_SHIFT;
use crate::cc::Report;
use crate::wire::{AckBlock, Ordinal, Psn};

/// What a vector shows, counted from its cumulative PSN.
pub(super) struct Shown {
    cumulative: Psn,
    window: u32,
    words: [u64; 4],
}

impl Shown {
    pub(super) fn new(block: &AckBlock) -> Self {
        Self {
            cumulative: block.cumulative,
            window: block.bitvector.window().into(),
            words: block.bitvector.offsets(block.cumulative),
        }
    }

    pub(super) fn received(&self, psn: Psn) -> bool {
        let ahead = psn.distance_from(self.cumulative);
        if ahead >= 1 << (Psn::BITS - 1) {
            return true;
        }
        ahead < self.window && self.words[ahead as usize / 64] >> (ahead % 64) & 1 == 1
    }

    /// Whether anything from `count` past the cumulative PSN on is shown.
    fn any_from(&self, count: u32) -> bool {
        let word = count as usize / 64;
        self.words
            .iter()
            .enumerate()
            .any(|(index, bits)| match index {
                _ if index < word => false,
                _ if index == word => bits >> (count % 64) != 0,
                _ => *bits != 0,
            })
    }
}

impl TxPath {
    /// Whether the block speaks only of what was sent, and takes nothing back.
    fn is_possible(&self, block: &AckBlock, shown: &Shown) -> bool {
        let unsent = self.next_psn.distance_from(block.cumulative);
        let sent_after = self.next_ordinal.0.wrapping_sub(block.ordinal.0);
        (1..1 << 15).contains(&sent_after)
            && unsent <= self.next_psn.distance_from(self.cumulative)
            && !shown.any_from(unsent)
    }

    /// Whether the block is newer than all before: by its echo, or by its count under the same echo.
    fn is_newer(&self, block: &AckBlock) -> bool {
        let Some(echoed) = self.echoed else {
            return true;
        };
        if echoed == block.ordinal {
            return (block.received.wrapping_sub(self.received) as i16) > 0;
        }
        echoed.is_before(block.ordinal)
    }

    /// Round trip of the transmission with the echoed ordinal, from the send time in the log.
    fn round_trip_ns(&self, block: &AckBlock, now: u64) -> Option<u32> {
        let index = block.ordinal.0.wrapping_sub(self.walked.0);
        let sent = self.log.get(usize::from(index))?.sent_ns;
        let delay = u32::from(block.delay) << UNIT_SHIFT;
        Some((now as u32).wrapping_sub(sent).saturating_sub(delay).max(1))
    }
}

impl Connection {
    /// Takes one path block of an ACK, which was `sent` at that time of the peer's clock.
    pub(super) fn on_block(
        &mut self,
        core: &mut Core,
        block: &AckBlock,
        sent: Option<u16>,
        now: u64,
    ) {
        let Some(path) = self.path_index(block.path) else {
            core.counters.bump(Counter::DropAckInvalid);
            return;
        };
        let state = &self.tx[path];
        let closed = matches!(state.health, Health::Down | Health::Fenced);
        if closed || block.epoch != state.epoch {
            core.counters.bump(Counter::StaleBlocks);
            return;
        }
        if block.bitvector.window() != self.settled.window {
            core.counters.bump(Counter::DropAckInvalid);
            return;
        }
        if !state.is_newer(block) {
            core.counters.bump(Counter::OldBlocks);
            return;
        }
        let shown = Shown::new(block);
        if !state.is_possible(block, &shown) {
            core.counters.bump(Counter::DropAckInvalid);
            return;
        }
        let round_trip_ns = state.round_trip_ns(block, now);
        if let Some(rtt_ns) = round_trip_ns {
            let age = u64::from(rtt_ns) + (u64::from(block.delay) << UNIT_SHIFT);
            self.echoed.note(now.saturating_sub(age));
            self.on_round_trip(path, rtt_ns);
            self.on_way(path, sent, rtt_ns, now);
            self.on_answer(core, path, now);
        }
        let (arrived, lost) = self.walk(core, path, block, &shown);
        let base_rtt_ns = core.config.base_rtt_ns;
        let delay_ns = round_trip_ns.map(|rtt_ns| rtt_ns.saturating_sub(base_rtt_ns));
        self.on_report(path, block, delay_ns, now);
        self.consider_redraw(core, path, now);
        self.refresh(path);
        self.weigh_losses(core, path, arrived, lost, now);
    }

    fn on_round_trip(&mut self, path: usize, rtt_ns: u32) {
        let srtt = &mut self.tx[path].srtt_ns;
        let step = (i64::from(rtt_ns) - i64::from(*srtt)) / 8;
        *srtt = (i64::from(*srtt) + step) as u32;
        self.windows.on_round_trip(rtt_ns);
    }

    /// Notes what the echoed packet waited on the way there; for want of the ACK's send time, on both ways.
    fn on_way(&mut self, path: usize, sent: Option<u16>, rtt_ns: u32, now: u64) {
        let plane = self.plane_of(path);
        let queue_ns = match sent {
            Some(sent) => self.planes[plane].least_way.queue_ns(rtt_ns, sent, now),
            None => rtt_ns.saturating_sub(self.windows.base_rtt_ns),
        };
        self.tx[path].queue.note(queue_ns);
    }

    /// A newer echo came: the path is alive.
    fn on_answer(&mut self, core: &mut Core, path: usize, now: u64) {
        self.tx[path].since_ns = now;
        if self.tx[path].unanswered > 0 || self.tx[path].health != Health::Good {
            self.forget_probes(path);
            self.change_health(core, path, HealthEvent::Answered, now);
        }
    }

    /// Judges each transmission up to the echo; whether a packet had arrived, and how many were lost.
    fn walk(
        &mut self,
        core: &mut Core,
        path: usize,
        block: &AckBlock,
        shown: &Shown,
    ) -> (bool, u64) {
        let slack = core.config.slack;
        let (mut lost, mut arrived) = (0, false);
        while let Some(entry) = self.tx[path].log.front().copied() {
            let state = &mut self.tx[path];
            let behind = block.ordinal.0.wrapping_sub(state.walked.0) as i16;
            if behind < 0 {
                break;
            }
            let received = entry.probe || shown.received(entry.unacked.psn);
            if !received && behind < slack as i16 {
                break;
            }
            state.log.pop_front();
            state.walked = Ordinal(state.walked.0.wrapping_add(1));
            if entry.probe {
                continue;
            }
            state.in_flight -= 1;
            let leak = !received && self.planted.is(Fault::LeaksInFlight);
            if state.counted && !leak {
                self.windows.in_flight -= 1;
            }
            arrived |= received;
            self.loss_rate.note(!received);
            if received {
                self.on_packet_arrived(core, entry.unacked);
            } else {
                lost += 1;
                if self.planted.is(Fault::ForgetsLost) {
                    continue;
                }
                self.keep_lost(path, entry.unacked);
            }
        }
        core.counters.add(Counter::Losses, lost);
        let state = &mut self.tx[path];
        state.counts.lost += lost >> u32::from(self.planted.is(Fault::HidesLosses));
        state.echoed = Some(block.ordinal);
        state.cumulative = block.cumulative;
        state.vector = block.bitvector;
        (arrived, lost)
    }

    /// Moves the window by what is newly counted.
    fn on_report(&mut self, path: usize, block: &AckBlock, delay_ns: Option<u32>, now: u64) {
        let state = &mut self.tx[path];
        let report = Report {
            arrived: block.received.wrapping_sub(state.received),
            marked: block.marked.wrapping_sub(state.marked),
            in_flight: state.in_flight,
            queue_ns: state.queue.mean_ns,
            base_rtt_ns: self.windows.base_rtt_ns,
        };
        (state.received, state.marked) = (block.received, block.marked);
        if report.arrived > 0 {
            let window =
                self.windows
                    .update(state.window_q10, &mut state.nscc, report, delay_ns, now);
            self.set_window(path, window);
        }
    }

    /// Sets the window of a live path.
    pub(super) fn set_window(&mut self, path: usize, window_q10: u32) {
        let state = &mut self.tx[path];
        self.windows.sum_q10 += u64::from(window_q10);
        self.windows.sum_q10 -= u64::from(state.window_q10);
        state.window_q10 = window_q10;
    }

    /// A packet is known to have arrived.
    pub(super) fn on_packet_arrived(&mut self, core: &mut Core, unacked: Unacked) {
        if self.streams[usize::from(unacked.stream)].on_arrived(&unacked) {
            self.complete_stream(core, unacked.stream);
        }
    }
}
