//! A set of streams, a bit each: which of a connection's streams can give a packet, and whose turn is next.
//!
//! Four words, and a bit for each word that is not empty: with up to 64 streams only the first word is ever touched.

/// Streams of one word.
const WORD: u8 = 64;

/// Up to 256 streams.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct StreamSet {
    words: [u64; 4],
    /// Words with a member.
    filled: u8,
}

/// The bits of `word` above `bit`.
const fn above(word: u64, bit: u8) -> u64 {
    word & (u64::MAX << bit) << 1
}

impl StreamSet {
    pub(super) const fn is_empty(&self) -> bool {
        self.filled == 0
    }

    /// Takes a stream in or out.
    pub(super) fn set(&mut self, stream: u8, member: bool) {
        let index = stream / WORD;
        let word = &mut self.words[usize::from(index)];
        let bit = 1 << (stream % WORD);
        *word = if member { *word | bit } else { *word & !bit };
        let filled = 1 << index;
        self.filled = if *word != 0 {
            self.filled | filled
        } else {
            self.filled & !filled
        };
    }

    /// The member after `stream`, going around.
    pub(super) fn after(&self, stream: u8) -> Option<u8> {
        if self.filled == 0 {
            return None;
        }
        let index = stream / WORD;
        let later = above(self.words[usize::from(index)], stream % WORD);
        if later != 0 {
            return Some(index * WORD + later.trailing_zeros() as u8);
        }
        let later = above(self.filled.into(), index) as u8;
        let next = if later == 0 { self.filled } else { later };
        let index = next.trailing_zeros() as u8;
        let first = self.words[usize::from(index)].trailing_zeros() as u8;
        Some(index * WORD + first)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::endpoint::rng::Rng;

    #[test]
    fn turns_are_those_of_a_plain_search() {
        let mut rng = Rng::new(3);
        let (mut set, mut plain) = (StreamSet::default(), [false; 256]);
        for round in 0..20_000 {
            let (stream, member) = (rng.next() as u8, rng.next() % 3 == 0);
            set.set(stream, member);
            plain[usize::from(stream)] = member;
            let from = rng.next() as u8;
            let next = (1..=256).map(|ahead| (usize::from(from) + ahead) % 256);
            let expected = next.into_iter().find(|s| plain[*s]).map(|s| s as u8);
            assert_eq!(set.after(from), expected, "seed 3, round {round}");
            assert_eq!(set.is_empty(), expected.is_none());
        }
        (0..=255).for_each(|stream| set.set(stream, false));
        assert!(set.is_empty() && set.after(255).is_none());
    }
}
