//! Whether a path is silent alone (T-2.10): while its probes stay unanswered, other paths of the connection get through.
//!
//! A burst of losses before the receiver silences many paths at once and says nothing of any one of them. So time is cut
//! into slots: the path remembers those in which it was probed, the connection those in which something left that came
//! back. Slots that both have speak against the path. Where nothing else leaves, a probe on a healthy path is the
//! comparison. Who condemns is [`super::probe`].

use super::connection::Connection;
use super::core::Core;

/// A slot is 2^13 nanoseconds long: 8 us.
const SLOT_SHIFT: u32 = 13;

/// The last 64 slots, a bit each.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Slots {
    /// Number of the newest slot, which is bit 0.
    newest: u64,
    bits: u64,
}

impl Slots {
    /// Something happened at a time.
    pub(super) fn note(&mut self, at_ns: u64) {
        let slot = at_ns >> SLOT_SHIFT;
        if slot > self.newest {
            self.bits = self
                .bits
                .checked_shl((slot - self.newest).min(64) as u32)
                .unwrap_or(0);
            self.newest = slot;
        }
        self.bits |= 1_u64
            .checked_shl((self.newest - slot).min(64) as u32)
            .unwrap_or(0);
    }

    /// Slots in which something happened to both.
    fn shared(&self, other: &Self) -> u32 {
        let (new, old) = if self.newest < other.newest {
            (other, self)
        } else {
            (self, other)
        };
        let aligned = old
            .bits
            .checked_shl((new.newest - old.newest).min(64) as u32);
        (new.bits & aligned.unwrap_or(0)).count_ones()
    }

    /// Forgets all.
    pub(super) fn clear(&mut self) {
        self.bits = 0;
    }
}

impl Connection {
    /// Whether half a train of probes stayed unanswered while others got through.
    pub(super) fn is_silent_alone(&self, core: &Core, path: usize) -> bool {
        let shared = self.tx[path].probed.shared(&self.echoed);
        shared >= u32::from(core.config.probe.train).div_ceil(2)
    }

    /// Some other path that could carry what this one gives up.
    pub(super) fn healthy_other(&self, core: &Core, path: usize) -> Option<usize> {
        (0..self.tx.len()).find(|other| *other != path && self.is_healthy(core, *other))
    }

    /// A silent path is probed: a healthy one is too, for comparison, unless packets are leaving anyway. Where a line is
    /// shared, much is silent for a while, and the second half of a train is enough.
    pub(super) fn compare(&mut self, core: &Core, path: usize, now: u64) {
        let state = &mut self.tx[path];
        state.probed.note(now);
        let half = core.config.probe.train / 2;
        if self.windows.sharers() > 1 && state.unanswered < half {
            return;
        }
        if now >> SLOT_SHIFT == self.last_sent_ns >> SLOT_SHIFT {
            return;
        }
        let other = self.healthy_other(core, path);
        if let Some(other) = other.filter(|other| self.tx[*other].has_log_room()) {
            self.tx[other].probes_due = self.tx[other].probes_due.max(1);
            self.refresh(other);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SLOT_NS: u64 = 1 << SLOT_SHIFT;

    #[test]
    fn slots_are_shared_only_at_the_same_time() {
        let (mut a, mut b) = (Slots::default(), Slots::default());
        for slot in [100, 102, 104, 170] {
            a.note(slot * SLOT_NS + 7);
        }
        for slot in [171, 104, 103, 170] {
            b.note(slot * SLOT_NS);
        }
        assert_eq!(
            (a.shared(&b), b.shared(&a)),
            (1, 1),
            "170; 104 is forgotten"
        );
        a.note(160 * SLOT_NS);
        b.note(160 * SLOT_NS);
        assert_eq!(a.shared(&b), 2);
        b.note(10_000 * SLOT_NS);
        assert_eq!(a.shared(&b), 0);
        a.clear();
        assert_eq!(a.shared(&a), 0);
    }
}
