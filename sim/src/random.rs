//! Randomness from one seed: a stream of its own for each place, so that places do not disturb each other.

use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;

/// The generator of place `stream` under `seed`.
pub fn generator(seed: u64, stream: u64) -> ChaCha8Rng {
    let mut generator = ChaCha8Rng::seed_from_u64(seed);
    generator.set_stream(stream);
    generator
}

/// Random stalls: a ready or valid is withheld in so many of 256 cycles.
#[derive(Debug, Clone)]
pub struct Stalls {
    generator: ChaCha8Rng,
    of_256: u8,
    bits: u64,
    left: u8,
}

impl Stalls {
    /// Withholds in `of_256` of 256 cycles; 0 is never.
    pub fn new(seed: u64, stream: u64, of_256: u8) -> Self {
        Self {
            generator: generator(seed, stream),
            of_256,
            bits: 0,
            left: 0,
        }
    }

    /// Whether to withhold now.
    pub fn stall(&mut self) -> bool {
        if self.of_256 == 0 {
            return false;
        }
        if self.left == 0 {
            (self.bits, self.left) = (self.generator.random(), 8);
        }
        let drawn = self.bits as u8;
        (self.bits, self.left) = (self.bits >> 8, self.left - 1);
        drawn < self.of_256
    }
}
