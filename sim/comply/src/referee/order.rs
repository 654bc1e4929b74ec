//! Witness of completions: each request ends once, and in the order of its stream.

use super::Finding;
use std::collections::{BTreeMap, VecDeque};

/// A queue of requests that complete in order: end, connection, stream.
type Queue = (usize, u32, u8);

/// The witness.
#[derive(Debug, Clone, Default)]
pub struct Order {
    open: BTreeMap<Queue, VecDeque<u64>>,
    done: u64,
    findings: Vec<String>,
}

impl Order {
    /// A request was accepted.
    pub fn posted(&mut self, queue: Queue, id: u64) {
        self.open.entry(queue).or_default().push_back(id);
    }

    /// A request has ended.
    pub fn completed(&mut self, queue: Queue, id: u64) {
        self.done += 1;
        let open = self.open.entry(queue).or_default();
        match open.front() {
            Some(first) if *first == id => {
                open.pop_front();
            }
            Some(first) => {
                let (end, connection, stream) = queue;
                self.findings.push(format!(
                    "end {end}, connection {connection}, stream {stream}: request {id} ended when it was the turn of {first}"
                ));
            }
            None => self.findings.push(format!(
                "request {id} ended, which was not open: twice, or never posted"
            )),
        }
    }

    /// Requests that have not ended.
    pub fn open(&self) -> usize {
        self.open.values().map(VecDeque::len).sum()
    }

    /// Requests that have ended.
    pub fn done(&self) -> u64 {
        self.done
    }

    /// What was wrong, the first of it.
    pub fn finding(&self) -> Finding {
        self.findings.first().cloned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn order_and_number_are_judged_by_stream() {
        let mut order = Order::default();
        for (stream, id) in [(0, 1), (0, 2), (1, 3)] {
            order.posted((0, 1, stream), id);
        }
        order.completed((0, 1, 1), 3);
        order.completed((0, 1, 0), 1);
        assert_eq!((order.finding(), order.open()), (None, 1));
        let mut twice = order.clone();
        twice.completed((0, 1, 1), 3);
        assert!(twice.finding().is_some_and(|text| text.contains("twice")));
        order.posted((0, 1, 0), 4);
        order.completed((0, 1, 0), 4);
        assert!(
            order
                .finding()
                .is_some_and(|text| text.contains("the turn of 2"))
        );
    }
}
