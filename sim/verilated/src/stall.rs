//! Random stalls: a small generator that needs no other crate and always gives the same sequence for a seed.

/// Draws numbers and decisions from a seed (xorshift64*).
#[derive(Clone, Debug)]
pub struct Stall {
    state: u64,
}

impl Stall {
    /// Equal seeds give equal sequences.
    pub fn new(seed: u64) -> Self {
        Self {
            state: seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1,
        }
    }

    /// The next 64 bits.
    pub fn bits(&mut self) -> u64 {
        self.state ^= self.state >> 12;
        self.state ^= self.state << 25;
        self.state ^= self.state >> 27;
        self.state.wrapping_mul(0x2545_f491_4f6c_dd1d)
    }

    /// A number in `0..bound`.
    pub fn below(&mut self, bound: u64) -> u64 {
        assert!(bound > 0, "no number lies below 0");
        (self.bits() >> 11) % bound
    }

    /// True in `percent` of 100 cases.
    pub fn chance(&mut self, percent: u64) -> bool {
        self.below(100) < percent
    }

    /// Random words, for wide ports.
    pub fn words(&mut self, count: usize) -> Vec<u32> {
        (0..count).map(|_| (self.bits() >> 32) as u32).collect()
    }

    /// Random bytes.
    pub fn bytes(&mut self, count: usize) -> Vec<u8> {
        (0..count).map(|_| (self.bits() >> 56) as u8).collect()
    }
}
