//! Events in order of time: a wheel of short buckets, sorted when they are reached.
//!
//! Nearly all events of a fabric lie a few microseconds ahead (a serialisation and a link), so an event costs a push and
//! its part of a small sort. What lies beyond the wheel waits in a heap. Events of one time come in the order of
//! `kind`, then `argument`: an order that depends on nothing but the events. What an event means is not known here.

use std::cmp::{Ordering, Reverse};
use std::collections::BinaryHeap;

/// Buckets of the wheel.
const BUCKETS: usize = 1 << 14;
/// Words of the map of buckets that hold something.
const WORDS: usize = BUCKETS / 64;

/// Something that happens at a time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Event {
    /// When, in picoseconds.
    pub time_ps: u64,
    /// What; the owner's code.
    pub kind: u32,
    /// To whom; the owner's number.
    pub argument: u32,
}

impl Event {
    /// The order of events as one number: time, kind, argument.
    #[inline]
    fn order(&self) -> u128 {
        u128::from(self.time_ps) << 64 | u128::from(self.kind) << 32 | u128::from(self.argument)
    }
}

impl Ord for Event {
    #[inline]
    fn cmp(&self, other: &Self) -> Ordering {
        self.order().cmp(&other.order())
    }
}

impl PartialOrd for Event {
    #[inline]
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

/// The events to come.
#[derive(Debug)]
pub struct EventQueue {
    /// log2 of a bucket's length in picoseconds.
    shift: u32,
    /// The open bucket, latest first.
    open: Vec<Event>,
    /// Number of the open bucket since time 0.
    open_number: u64,
    buckets: Vec<Vec<Event>>,
    /// Which buckets hold events, a bit each.
    held: Vec<u64>,
    /// Events in the wheel, those of the open bucket not counted.
    in_wheel: usize,
    beyond: BinaryHeap<Reverse<Event>>,
}

impl EventQueue {
    /// An empty queue at time 0 whose buckets are 2^`shift` picoseconds long.
    pub fn new(shift: u32) -> Self {
        Self {
            shift,
            open: Vec::with_capacity(256),
            open_number: 0,
            buckets: vec![Vec::new(); BUCKETS],
            held: vec![0; WORDS],
            in_wheel: 0,
            beyond: BinaryHeap::new(),
        }
    }

    /// Adds an event. One of the past is told at once, before any other.
    pub fn push(&mut self, event: Event) {
        let number = event.time_ps >> self.shift;
        if number <= self.open_number {
            let at = self.open.partition_point(|other| *other > event);
            self.open.insert(at, event);
        } else if number - self.open_number < BUCKETS as u64 {
            self.put(number, event);
        } else {
            self.beyond.push(Reverse(event));
        }
    }

    fn put(&mut self, number: u64, event: Event) {
        let bucket = number as usize % BUCKETS;
        self.buckets[bucket].push(event);
        self.held[bucket / 64] |= 1 << (bucket % 64);
        self.in_wheel += 1;
    }

    /// The next event, if there is any.
    pub fn pop(&mut self) -> Option<Event> {
        while self.open.is_empty() {
            self.open_next()?;
        }
        self.open.pop()
    }

    /// The event that comes `distance` after the next one, if it stands in the open bucket.
    #[inline]
    pub fn ahead(&self, distance: usize) -> Option<&Event> {
        let back = self.open.len().checked_sub(1 + distance)?;
        self.open.get(back)
    }

    /// Opens the next bucket that holds something.
    fn open_next(&mut self) -> Option<()> {
        self.open_number = match self.next_held() {
            Some(number) => number,
            None => self.beyond.peek()?.0.time_ps >> self.shift,
        };
        self.take_in();
        let bucket = self.open_number as usize % BUCKETS;
        std::mem::swap(&mut self.open, &mut self.buckets[bucket]);
        self.held[bucket / 64] &= !(1 << (bucket % 64));
        self.in_wheel -= self.open.len();
        self.open
            .sort_unstable_by_key(|event| Reverse(event.order()));
        Some(())
    }

    /// Moves what the wheel now reaches out of the heap.
    fn take_in(&mut self) {
        while let Some(Reverse(event)) = self.beyond.peek() {
            let number = event.time_ps >> self.shift;
            if number - self.open_number >= BUCKETS as u64 {
                return;
            }
            let event = *event;
            self.beyond.pop();
            self.put(number, event);
        }
    }

    /// Number of the first bucket after the open one that holds something, unless the heap's first event is earlier.
    fn next_held(&self) -> Option<u64> {
        if self.in_wheel == 0 {
            return None;
        }
        let from = self.open_number as usize % BUCKETS + 1;
        let ahead = (0..=WORDS).find_map(|step| {
            let word = (from / 64 + step) % WORDS;
            let mask = if step == 0 { !0 << (from % 64) } else { !0 };
            let bits = self.held[word] & mask;
            (bits != 0).then(|| word * 64 + bits.trailing_zeros() as usize)
        })?;
        let distance = (ahead + BUCKETS - self.open_number as usize % BUCKETS) % BUCKETS;
        let number = self.open_number + distance as u64;
        let beyond = self
            .beyond
            .peek()
            .map(|event| event.0.time_ps >> self.shift);
        Some(beyond.map_or(number, |first| first.min(number)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::{Rng, SeedableRng};
    use rand_xoshiro::Xoshiro256PlusPlus;

    /// The queue beside a heap, at random.
    #[test]
    fn events_come_in_the_order_of_a_heap() {
        let seed = 7;
        let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
        let mut queue = EventQueue::new(13);
        let mut heap = BinaryHeap::new();
        let mut now = 0;
        for step in 0..200_000u32 {
            if random.random_bool(0.5) || heap.is_empty() {
                let reach = 1u64 << random.random_range(1..31);
                let event = Event {
                    time_ps: now + random.random_range(0..reach),
                    kind: random.random_range(0..3),
                    argument: step,
                };
                queue.push(event);
                heap.push(Reverse(event));
            } else {
                let event = queue.pop().expect("the heap holds one");
                assert_eq!(Some(Reverse(event)), heap.pop(), "seed {seed}, step {step}");
                now = event.time_ps;
            }
        }
        while let Some(Reverse(event)) = heap.pop() {
            assert_eq!(queue.pop(), Some(event), "seed {seed}");
        }
        assert_eq!(queue.pop(), None);
    }
}
