//! Index arithmetic of rings: running 32-bit counts, a power of two of entries, a phase bit a lap.

/// Counts of a ring that one side fills and the other empties.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Ring {
    log2_entries: u8,
    produced: u32,
    consumed: u32,
}

impl Ring {
    /// An empty ring of 2^`log2_entries` entries.
    ///
    /// # Panics
    /// Above 2^15 entries, more than the engine's registers can say.
    pub const fn new(log2_entries: u8) -> Self {
        assert!(log2_entries <= 15, "a ring has at most 2^15 entries");
        Self {
            log2_entries,
            produced: 0,
            consumed: 0,
        }
    }

    /// log2 of the entries.
    pub const fn log2_entries(&self) -> u8 {
        self.log2_entries
    }

    /// Entries.
    pub const fn entries(&self) -> u32 {
        1 << self.log2_entries
    }

    /// Running count of entries that were filled.
    pub const fn produced(&self) -> u32 {
        self.produced
    }

    /// Running count of entries that were emptied.
    pub const fn consumed(&self) -> u32 {
        self.consumed
    }

    /// Entries that are full.
    pub const fn used(&self) -> u32 {
        self.produced.wrapping_sub(self.consumed)
    }

    /// Entries that are free.
    pub const fn free(&self) -> u32 {
        self.entries() - self.used()
    }

    /// Place in the ring of the entry with a running index.
    pub const fn slot(&self, index: u32) -> usize {
        (index & (self.entries() - 1)) as usize
    }

    /// Phase bit that the device writes into the entry with a running index: 1 in the first lap.
    pub const fn phase(&self, index: u32) -> bool {
        (index >> self.log2_entries) & 1 == 0
    }

    /// Fills one entry; its running index.
    ///
    /// # Panics
    /// When the ring is full: the caller looks first.
    pub fn push(&mut self) -> u32 {
        assert!(
            self.free() > 0,
            "push into a full ring of {} entries",
            self.entries()
        );
        let index = self.produced;
        self.produced = self.produced.wrapping_add(1);
        index
    }

    /// Empties one entry; its running index.
    ///
    /// # Panics
    /// When the ring is empty: the caller looks first.
    pub fn pop(&mut self) -> u32 {
        assert!(self.used() > 0, "pop from an empty ring");
        let index = self.consumed;
        self.consumed = self.consumed.wrapping_add(1);
        index
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_slots_and_phases_over_laps_and_the_wrap() {
        for start in [0_u32, 0xffff_fff0] {
            let mut ring = Ring {
                log2_entries: 2,
                produced: start,
                consumed: start,
            };
            for step in 0..64_u32 {
                let index = ring.push();
                assert_eq!(index, start.wrapping_add(step));
                assert_eq!(ring.slot(index), (index % 4) as usize);
                assert_eq!(ring.phase(index), (index / 4).is_multiple_of(2));
                assert_eq!((ring.used(), ring.free()), (1, 3));
                assert_eq!(ring.pop(), index);
            }
        }
    }

    #[test]
    fn a_full_ring_has_no_room() {
        let mut ring = Ring::new(3);
        for _ in 0..8 {
            ring.push();
        }
        assert_eq!((ring.used(), ring.free()), (8, 0));
    }
}
