//! Deadlines: one heap for the endpoint, re-armed lazily.
//!
//! A timer's owner holds its deadline and moves it by writing a field. The heap entry that fires too early
//! re-arms itself; an entry is pushed only when none stands that is early enough. So an entry may be early,
//! never late. Entries are ordered by time and owner: equal times have one order.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// No deadline.
pub(super) const NEVER: u64 = u64::MAX;

/// Whose timer it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum TimerKind {
    /// A path of the sender: probe, fence or return, by its health. Index: the path.
    Path,
    /// An ACK that waits. Index: the plane.
    Ack,
    /// A stream whose receiver was not ready. Index: the stream.
    Hold,
    /// A connection whose window is below one packet. Index: 0.
    Pace,
    /// HELLO or BYE. Index: 0.
    Setup,
    /// A connection that may have lost its peer. Index: 0.
    Keepalive,
}

/// Names a timer of a connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct TimerKey {
    pub kind: TimerKind,
    pub index: u8,
    pub connection: u32,
}

/// The owner's side.
#[derive(Debug, Clone, Copy)]
pub(super) struct Timer {
    /// When it is due.
    pub deadline: u64,
    /// Time of the earliest entry in the heap.
    armed: u64,
}

impl Timer {
    pub(super) const fn new() -> Self {
        Self {
            deadline: NEVER,
            armed: NEVER,
        }
    }

    /// Whether the entry for `at` is the one that counts, and the deadline has come.
    /// Otherwise the timer is armed again if it has a deadline.
    pub(super) fn fire(&mut self, at: u64, now: u64, key: TimerKey, timers: &mut Timers) -> bool {
        if at != self.armed {
            return false;
        }
        self.armed = NEVER;
        if self.deadline > now {
            timers.set(self, self.deadline, key);
            return false;
        }
        self.deadline = NEVER;
        true
    }
}

/// All deadlines of an endpoint.
#[derive(Debug, Default)]
pub(super) struct Timers {
    heap: BinaryHeap<Reverse<(u64, TimerKey)>>,
}

impl Timers {
    pub(super) fn set(&mut self, timer: &mut Timer, deadline: u64, key: TimerKey) {
        timer.deadline = deadline;
        if deadline < timer.armed {
            timer.armed = deadline;
            self.heap.push(Reverse((deadline, key)));
        }
    }

    /// The next entry, early or not.
    pub(super) fn next(&self) -> Option<u64> {
        self.heap.peek().map(|Reverse((time, _))| *time)
    }

    /// Whose the next entry is.
    pub(super) fn next_key(&self) -> Option<TimerKey> {
        self.heap.peek().map(|Reverse((_, key))| *key)
    }

    pub(super) fn pop_due(&mut self, now: u64) -> Option<(u64, TimerKey)> {
        if self.next()? > now {
            return None;
        }
        self.heap.pop().map(|Reverse(entry)| entry)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const KEY: TimerKey = TimerKey {
        kind: TimerKind::Path,
        index: 0,
        connection: 1,
    };

    /// Times at which the timer is due, found by walking the heap to `end`.
    fn due(timers: &mut Timers, timer: &mut Timer, end: u64) -> Vec<u64> {
        let mut found = Vec::new();
        while let Some((at, key)) = timers.pop_due(end) {
            if timer.fire(at, at, key, timers) {
                found.push(at);
            }
        }
        found
    }

    #[test]
    fn a_deadline_that_moves_later_costs_no_entry() {
        let (mut timers, mut timer) = (Timers::default(), Timer::new());
        timers.set(&mut timer, 10, KEY);
        for later in 11..100 {
            timers.set(&mut timer, later, KEY);
        }
        assert_eq!(timers.heap.len(), 1);
        assert_eq!(due(&mut timers, &mut timer, 1000), [99]);
    }

    #[test]
    fn a_deadline_that_moves_earlier_is_kept_and_fires_once() {
        let (mut timers, mut timer) = (Timers::default(), Timer::new());
        timers.set(&mut timer, 50, KEY);
        timers.set(&mut timer, 20, KEY);
        assert_eq!(due(&mut timers, &mut timer, 1000), [20]);
        timers.set(&mut timer, 30, KEY);
        timer.deadline = NEVER;
        assert_eq!(due(&mut timers, &mut timer, 1000), [] as [u64; 0]);
    }
}
