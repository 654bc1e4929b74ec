//! Probes behind the last packets (T-2.4): a loss that no later packet of its path would show is known a round trip later.
//!
//! When nothing new is left, probes follow the last packet of every path, so many that all are seldom lost. Where packets
//! are lost, each of the packets that leave in the last round trips has a probe at once: with sixteen paths the next
//! packet of the same one would come five microseconds later, and at the end of a message those are lost time. The
//! probes of a tail do not make a path suspect; those of the timer are [`super::probe`].

use super::connection::Connection;
use super::core::Core;

impl Connection {
    /// How many probes follow the packet of `stream` that has just been taken.
    pub(super) fn tail_probes(&self, core: &Core, stream: u8) -> u8 {
        if !self.has_new() {
            self.loss_rate.probes(core.config.probe.tail)
        } else if self.loss_rate.is_lossy() && self.is_near_end(core, stream) {
            core.config.probe.tail.min(1)
        } else {
            0
        }
    }

    /// Whether what is left leaves within a round trip and a half. Where the line is shared, every packet waits
    /// longer than the next one of its path.
    fn is_near_end(&self, core: &Core, stream: u8) -> bool {
        let only = self.freed.is_empty() && self.streams_ready.after(stream) == Some(stream);
        if !only || self.windows.sharers() > 1 {
            return false;
        }
        let tail_q10 = u64::from(core.config.bdp_q10()) * self.planes.len() as u64 * 3 / 2;
        let left = self.streams[usize::from(stream)].packets_left();
        left.is_some_and(|left| u64::from(left) << 10 <= tail_q10)
    }

    /// Nothing more is to be sent: probes follow the last packet of every path.
    pub(super) fn probe_tails(&mut self, core: &mut Core) {
        let tail = self.loss_rate.probes(core.config.probe.tail);
        for path in 0..self.tx.len() {
            let state = &mut self.tx[path];
            let covered = state.probes_due > 0 || state.log.back().is_none_or(|entry| entry.probe);
            if tail > 0 && !covered && state.is_waiting() && state.health.is_live() {
                state.probes_due = tail;
                self.refresh(path);
            }
        }
        self.wake(core);
    }
}
