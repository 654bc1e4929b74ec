//! The endpoint's only source of chance: SplitMix64 from a seed (Steele, Lea and Flood 2014).
//!
//! Not for secrets. It draws entropies, incarnations and transactions.

/// A generator; equal seeds give equal sequences.
#[derive(Debug, Clone)]
pub(super) struct Rng(u64);

impl Rng {
    pub(super) const fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// The next 64 bits.
    pub(super) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// An entropy: a UDP source port of the dynamic range.
    pub(super) fn entropy(&mut self) -> u16 {
        0xc000 | (self.next() >> 48) as u16
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn gives_the_published_sequence() {
        let mut rng = Rng::new(1234567);
        let drawn = [rng.next(), rng.next(), rng.next()];
        assert_eq!(
            drawn,
            [
                6457827717110365317,
                3203168211198807973,
                9817491932198370423
            ]
        );
    }

    #[test]
    fn entropies_stay_in_the_dynamic_range() {
        let mut rng = Rng::new(1);
        assert!((0..1000).all(|_| rng.entropy() >= 0xc000));
    }
}
