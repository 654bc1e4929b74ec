//! What happens to a frame: from a seed, and before that from rules.

use crate::random::generator;
use rand::Rng;
use rand_chacha::ChaCha8Rng;

/// Chances of the random faults, each from 0 to 1 and independent for every frame.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Faults {
    /// The frame disappears.
    pub loss: f64,
    /// The frame arrives twice.
    pub duplication: f64,
    /// Bits flip and nobody notices on the way.
    pub corruption: f64,
    /// Bits flip and the MAC says so.
    pub bad_check: f64,
}

/// What happens to one frame.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fate {
    /// It arrives.
    Pass,
    /// It disappears.
    Lose,
    /// It arrives twice.
    Duplicate,
    /// It arrives with flipped bits.
    Corrupt,
    /// It arrives with flipped bits, marked as bad.
    BadCheck,
    /// It arrives so many cycles later, behind frames that left after it.
    Late(u64),
    /// It arrives, and so many cycles later once more.
    Again(u64),
}

/// Decides by hand: of the frames that match, skips some, then applies a fate to some.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Rule {
    /// Type nibble of the transport header; `None` is any.
    pub kind: Option<u8>,
    /// UDP source port; `None` is any.
    pub source_port: Option<u16>,
    /// Matching frames to leave alone first.
    pub skip: u64,
    /// Matching frames to decide on after that.
    pub count: u64,
    /// What happens to them.
    pub fate: Fate,
}

/// The dice of one link.
#[derive(Debug, Clone)]
pub(super) struct Dice {
    faults: Faults,
    random: ChaCha8Rng,
    pub(super) rules: Vec<Rule>,
}

impl Dice {
    pub(super) fn new(faults: Faults, seed: u64, stream: u64) -> Self {
        Self {
            faults,
            random: generator(seed, stream),
            rules: Vec::new(),
        }
    }

    /// Decides on a frame. The dice are thrown for every frame, so that rules do not move later faults.
    pub(super) fn decide(&mut self, kind: u8, source_port: u16) -> Fate {
        let thrown: f64 = self.random.random();
        for rule in &mut self.rules {
            let matches = rule.kind.is_none_or(|k| k == kind)
                && rule.source_port.is_none_or(|p| p == source_port);
            if !matches {
                continue;
            }
            if rule.skip > 0 {
                rule.skip -= 1;
            } else if rule.count > 0 {
                rule.count -= 1;
                return rule.fate;
            }
        }
        let Faults {
            loss,
            duplication,
            corruption,
            bad_check,
        } = self.faults;
        let chances = [
            (loss, Fate::Lose),
            (duplication, Fate::Duplicate),
            (corruption, Fate::Corrupt),
            (bad_check, Fate::BadCheck),
        ];
        let mut from = 0.0;
        for (chance, fate) in chances {
            if thrown >= from && thrown < from + chance {
                return fate;
            }
            from += chance;
        }
        Fate::Pass
    }

    /// Flips one to three bits.
    pub(super) fn corrupt(&mut self, bytes: &mut [u8]) {
        for _ in 0..self.random.random_range(1..=3) {
            let bit = self.random.random_range(0..bytes.len() * 8);
            bytes[bit / 8] ^= 1 << (bit % 8);
        }
    }
}
