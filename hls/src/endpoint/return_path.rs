//! By which return paths ACKs travel (T-2.7), and what of a plane is to be acknowledged.
//!
//! The receiver rotates over the paths of the plane; the sender tells on which ones ACKs came lately, so a
//! dead reverse direction is left alone but for one ACK in 64.

use arrayvec::ArrayVec;

/// Eight numbers of paths.
#[derive(Debug, Clone, Copy)]
struct Recent(u64);

impl Default for Recent {
    fn default() -> Self {
        Self(u64::MAX)
    }
}

/// What is to be acknowledged for one (connection, plane).
#[derive(Debug, Default)]
pub(super) struct AckPlane {
    /// Paths with news, oldest first.
    pub paths: ArrayVec<u8, 16>,
    pub mask: u16,
    /// The paths that were taken last, a byte each, the last one lowest; 255: none.
    taken: Recent,
    /// Whether the next ACK answers a probe.
    pub probed: bool,
    /// Packets since the last ACK.
    pub packets: u8,
    /// Whether the connection stands in the plane's queue of ACKs.
    pub queued: bool,
    /// The return path that was taken last.
    last: u8,
    /// ACKs since a return path was tested.
    since_test: u8,
    last_tested: u8,
}

impl AckPlane {
    /// Notes news of path `k` of the plane.
    pub(super) fn note(&mut self, k: u8) {
        if self.mask & 1 << k == 0 {
            self.mask |= 1 << k;
            self.paths.push(k);
        }
        self.packets = self.packets.saturating_add(1);
    }

    /// Takes the path whose news is oldest.
    pub(super) fn take(&mut self) -> Option<u8> {
        let k = self.paths.pop_at(0)?;
        self.mask &= !(1 << k);
        self.taken.0 = self.taken.0 << 8 | u64::from(k);
        Some(k)
    }

    /// The eight paths that were taken last, the last one first; one may come more than once.
    pub(super) fn recent(&self) -> impl Iterator<Item = u8> + use<> {
        let bytes = self.taken.0.to_le_bytes();
        bytes.into_iter().take_while(|k| *k != u8::MAX)
    }

    /// The return path of the next ACK, of `paths` in the plane: the next of those in `mask`, now and then
    /// one of the others.
    pub(super) fn return_path(&mut self, mask: u16, paths: u8, test_every: u8) -> u8 {
        let all = (u32::from(u16::MAX) >> (16 - paths)) as u16;
        let good = if mask & all == 0 { all } else { mask & all };
        self.since_test = self.since_test.saturating_add(1);
        if self.since_test >= test_every && good != all {
            self.since_test = 0;
            self.last_tested = next_bit(all & !good, self.last_tested);
            return self.last_tested;
        }
        self.last = next_bit(good, self.last);
        self.last
    }
}

/// The lowest set bit of `mask` above `after`, around the end. `mask` is not 0.
pub(super) const fn next_bit(mask: u16, after: u8) -> u8 {
    debug_assert!(mask != 0, "there is a bit to find");
    let above = mask & !((2_u32 << after) - 1) as u16;
    (if above == 0 { mask } else { above }).trailing_zeros() as u8
}

/// Return paths on which ACKs came lately: two generations of bits.
#[derive(Debug, Default)]
pub(super) struct ReturnMask {
    current: u16,
    before: u16,
    turned_ns: u64,
}

impl ReturnMask {
    /// An ACK came by return path `k`.
    pub(super) fn note(&mut self, k: u8, now: u64, age_ns: u32) {
        self.turn(now, age_ns);
        self.current |= 1 << k;
    }

    /// The mask to tell; all ones when nothing is known.
    pub(super) fn get(&mut self, now: u64, age_ns: u32) -> u16 {
        self.turn(now, age_ns);
        match self.current | self.before {
            0 => u16::MAX,
            mask => mask,
        }
    }

    fn turn(&mut self, now: u64, age_ns: u32) {
        let age = now.saturating_sub(self.turned_ns);
        if age >= u64::from(age_ns) {
            self.before = if age >= 2 * u64::from(age_ns) {
                0
            } else {
                self.current
            };
            self.current = 0;
            self.turned_ns = now;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn next_bit_goes_around() {
        assert_eq!(next_bit(0b1001, 0), 3);
        assert_eq!(next_bit(0b1001, 3), 0);
        assert_eq!(next_bit(0x8000, 15), 15);
        assert_eq!(next_bit(1, 15), 0);
    }

    #[test]
    fn a_dead_return_path_gets_one_ack_in_64() {
        let mut ack = AckPlane::default();
        let mut taken = [0; 8];
        for _ in 0..64 * 7 {
            taken[usize::from(ack.return_path(0xfff7, 8, 64))] += 1;
        }
        assert_eq!(taken, [63, 63, 63, 7, 63, 63, 63, 63]);
    }

    #[test]
    fn a_return_path_is_good_for_one_to_two_ages() {
        let mut mask = ReturnMask::default();
        assert_eq!(mask.get(0, 50), u16::MAX, "nothing is known");
        mask.note(3, 60, 50);
        mask.note(4, 100, 50);
        assert_eq!(mask.get(110, 50), 0b11000);
        mask.note(4, 120, 50);
        assert_eq!(mask.get(165, 50), 0b10000, "the older one is forgotten");
    }
}
