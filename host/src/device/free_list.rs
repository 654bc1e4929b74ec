//! Which entries of a table are free; handed out in runs.

use std::collections::BTreeMap;

/// Free entries of a table that the library hands out in runs.
#[derive(Debug, Clone)]
pub struct FreeList {
    /// Free runs by start: (start, length), never adjacent.
    free: BTreeMap<u32, u32>,
}

impl FreeList {
    /// Entries `from..to`, all free.
    pub fn new(from: u32, to: u32) -> Self {
        let free = if from < to {
            [(from, to - from)].into()
        } else {
            Default::default()
        };
        Self { free }
    }

    /// Takes the first run of `count` entries; `None` when none is long enough.
    pub fn take(&mut self, count: u32) -> Option<u32> {
        let (start, length) = self
            .free
            .iter()
            .map(|(s, l)| (*s, *l))
            .find(|(_, l)| *l >= count)?;
        self.free.remove(&start);
        if length > count {
            self.free.insert(start + count, length - count);
        }
        Some(start)
    }

    /// Gives a run back.
    ///
    /// # Panics
    /// When a part of it is free already: an error of this library.
    pub fn give(&mut self, start: u32, count: u32) {
        let (mut start, mut count) = (start, count);
        if let Some((before, length)) = self.free.range(..=start).next_back().map(|(s, l)| (*s, *l))
        {
            assert!(
                before + length <= start,
                "entries at {start} were free already"
            );
            if before + length == start {
                self.free.remove(&before);
                (start, count) = (before, count + length);
            }
        }
        if let Some((after, length)) = self.free.range(start..).next().map(|(s, l)| (*s, *l)) {
            assert!(
                start + count <= after,
                "entries at {after} were free already"
            );
            if start + count == after {
                self.free.remove(&after);
                count += length;
            }
        }
        self.free.insert(start, count);
    }

    /// Entries that are free.
    pub fn free(&self) -> u32 {
        self.free.values().sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runs_are_taken_and_merge_when_given_back() {
        let mut list = FreeList::new(1, 11);
        let (a, b, c) = (
            list.take(3).unwrap(),
            list.take(4).unwrap(),
            list.take(3).unwrap(),
        );
        assert_eq!((a, b, c, list.free()), (1, 4, 8, 0));
        assert_eq!(list.take(1), None);
        list.give(a, 3);
        list.give(c, 3);
        assert_eq!(list.take(4), None, "two runs of three are not one of four");
        list.give(b, 4);
        assert_eq!(list.take(10), Some(1));
    }

    #[test]
    #[should_panic(expected = "free already")]
    fn giving_back_twice_is_caught() {
        let mut list = FreeList::new(0, 8);
        let run = list.take(4).unwrap();
        list.give(run, 4);
        list.give(run, 4);
    }
}
