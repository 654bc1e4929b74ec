//! Probes (T-2.4): timers of silent paths, trains, and the back-off when nothing is left.
//!
//! A path that waits for news sends a probe after the timer, then a train; the last one unanswered and one more
//! timer condemn it ([`super::fence`]) if some other path is good. Else the waits double until the connection
//! is reported as failed. Probes behind the last data are [`super::tail`].

use super::connection::Connection;
use super::core::Core;
use super::counters::Counter;
use super::events::EventKind;
use super::health::{Health, HealthEvent};
use super::packet::{Packet, Transmit};
use super::wire_time::wire_time;
use super::work::Status;
use crate::wire::{Common, Epoch, Flags, PacketType, PathId, Probe};

impl Connection {
    /// Time from the last news of a path to its first probe.
    pub(super) fn probe_timer_ns(&self, core: &Core, path: usize) -> u64 {
        let expected = self
            .windows
            .base_rtt_ns
            .saturating_add(self.tx[path].queue.mean_ns);
        let srtt = u64::from(expected.max(self.windows.srtt_ns));
        // A line that is shared has a queue, and round trips that vary. Where nothing was lost, silence is a wait.
        let slack = if self.windows.sharers() > 1 {
            srtt * 3 / 8
        } else if self.loss_rate.is_lossy() {
            srtt / 16
        } else {
            srtt / 4
        };
        let patient = srtt + slack + u64::from(core.config.ack.delay_ns);
        patient
            .max(core.config.probe.timer_ns.into())
            .max(self.probe_share_ns(core))
    }

    /// Time in which all who share the peer's line may send a probe for each path that waits, so that probes take
    /// no more than a sixteenth of the line; those of the paths that silent ones are compared with, as much again.
    fn probe_share_ns(&self, core: &Core) -> u64 {
        let waiting: u32 = self
            .planes
            .iter()
            .map(|plane| plane.waiting.count_ones())
            .sum();
        let probes = self.windows.sharers() * u64::from(waiting);
        16 * probes * core.config.probe_time_ps() / 1000 / self.planes.len() as u64
    }

    /// When the first probe of a silent path is due: by the age of its oldest packet, but not soon after news.
    fn probe_due(&self, core: &Core, path: usize, now: u64) -> u64 {
        let timer = self.probe_timer_ns(core, path);
        let state = &self.tx[path];
        let age = state
            .log
            .front()
            .map_or(0, |entry| (now as u32).wrapping_sub(entry.sent_ns));
        let oldest = now.saturating_sub(age.into());
        (oldest + timer).max(state.since_ns + timer / 2)
    }

    /// Time between the probes of a train: half a round trip, or where a line is shared a whole one, so that a long queue is
    /// not made longer.
    fn probe_interval_ns(&self, core: &Core) -> u64 {
        let srtt = u64::from(self.windows.srtt_ns);
        let interval = if self.windows.sharers() > 1 {
            srtt
        } else {
            srtt / 2
        };
        interval
            .max(core.config.probe.interval_ns.into())
            .max(self.probe_share_ns(core))
    }

    /// The timer of a path that is in use has come.
    pub(super) fn on_probe_timer(&mut self, core: &mut Core, path: usize, now: u64) {
        if !self.tx[path].is_waiting() && self.tx[path].unanswered == 0 {
            return;
        }
        if self.tx[path].health == Health::Good {
            let due = self.probe_due(core, path, now);
            if now < due {
                self.set_path_timer(core, path, due);
                return;
            }
            core.counters.bump(Counter::ProbeTimers);
            let silence = now - self.tx[path].since_ns;
            core.event(
                now,
                self.number,
                self.path_id(path),
                EventKind::Timeout,
                silence,
            );
        }
        let train = core.config.probe.train;
        if self.tx[path].unanswered < train || self.is_undecided(core, path) {
            self.compare(core, path, now);
            self.send_timer_probe(core, path, now);
            let wait = if self.tx[path].unanswered < train {
                self.probe_interval_ns(core)
            } else {
                self.probe_timer_ns(core, path)
            };
            self.set_path_timer(core, path, now + wait);
        } else if !self.condemn(core, path, now) {
            self.back_off(core, path, now);
        }
    }

    /// Whether more probes are to tell if the path is silent alone: at most four trains.
    fn is_undecided(&self, core: &Core, path: usize) -> bool {
        let most = core.config.probe.train.saturating_mul(4);
        self.tx[path].unanswered < most
            && !self.is_silent_alone(core, path)
            && self.healthy_other(core, path).is_some()
    }

    /// Nothing is left to move to: waits double, and end in a report.
    fn back_off(&mut self, core: &mut Core, path: usize, now: u64) {
        let probe = core.config.probe;
        let exponent = probe.backoff_first.saturating_add(self.tx[path].backoff);
        if exponent > probe.backoff_last {
            self.fail(core, now, None, Status::RetriesExhausted);
            return;
        }
        self.tx[path].backoff += 1;
        self.send_timer_probe(core, path, now);
        self.set_path_timer(
            core,
            path,
            now + (u64::from(probe.backoff_unit_ns) << exponent),
        );
    }

    /// A path with nothing in flight is probed before it takes packets.
    pub(super) fn ask_first(&mut self, core: &mut Core, path: usize, now: u64) {
        self.tx[path].since_ns = now;
        self.send_timer_probe(core, path, now);
        let due = now + self.probe_timer_ns(core, path);
        self.set_path_timer(core, path, due);
    }

    fn send_timer_probe(&mut self, core: &mut Core, path: usize, now: u64) {
        let plane = self.plane_of(path);
        // One that still waits for its plane is not counted twice; a plane without link sends none.
        if self.tx[path].probes_due == 0 || !core.planes[plane].link_up {
            self.tx[path].unanswered = self.tx[path].unanswered.saturating_add(1);
        }
        self.tx[path].probes_due = self.tx[path].probes_due.max(1);
        if self.tx[path].unanswered >= core.config.probe.discount {
            self.discount(path);
        }
        self.change_health(core, path, HealthEvent::TimerProbe, now);
        self.refresh(path);
        self.wake(core);
    }

    /// Takes the packets of a path out of the connection's window.
    pub(super) fn discount(&mut self, path: usize) {
        if std::mem::replace(&mut self.tx[path].counted, false) {
            self.windows.in_flight -= u32::from(self.tx[path].in_flight);
        }
    }

    /// The path has answered: its packets count again.
    pub(super) fn forget_probes(&mut self, path: usize) {
        let state = &mut self.tx[path];
        (state.unanswered, state.backoff) = (0, 0);
        state.probed.clear();
        if !std::mem::replace(&mut state.counted, true) {
            self.windows.in_flight += u32::from(state.in_flight);
        }
    }

    /// Fills a PROBE of a path.
    pub(super) fn emit_probe(
        &mut self,
        core: &mut Core,
        path: usize,
        now: u64,
        out: &mut Transmit,
    ) {
        let plane = self.plane_of(path);
        let age = core.config.ack.return_mask_age_ns;
        let ending = self.is_ending();
        let state = &mut self.tx[path];
        debug_assert!(
            state.probes_due > 0,
            "the mask shows paths with probes to send"
        );
        state.probes_due = state.probes_due.saturating_sub(1);
        state.counts.probes += 1;
        let ordinal = state.log(None, now);
        let idle = if ending { Flags::IDLE } else { Flags(0) };
        let (epoch, train) = (state.epoch, state.unanswered.saturating_sub(1));
        let probe = Probe {
            common: Common {
                flags: Flags::ACK_REQUEST.with(idle),
                epoch,
                ordinal,
                timestamp: wire_time(now),
                ..self.common(PacketType::Probe, path)
            },
            return_mask: self.planes[plane].return_mask.get(now, age),
            train,
            fenced_path: PathId(0),
            fenced_epoch: Epoch(0),
        };
        self.address(plane, path, Packet::Probe(probe), out);
        self.refresh(path);
        core.counters.bump(Counter::SentProbes);
    }
}
