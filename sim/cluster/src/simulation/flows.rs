//! The traffic under way: which flow may start, which waits for others, which are complete.

use crate::workload::Traffic;

/// Times and waits of all flows.
#[derive(Debug)]
pub(super) struct Flows {
    /// What was asked for.
    pub(super) traffic: Traffic,
    /// Flows that each one still waits for.
    waits: Vec<u32>,
    /// Flows that wait for each one.
    next: Vec<Vec<u32>>,
    /// When each was posted, in picoseconds.
    pub(super) started_ps: Vec<u64>,
    /// When each completed.
    pub(super) completed_ps: Vec<Option<u64>>,
    /// How many have not completed.
    pub(super) open: usize,
}

impl Flows {
    pub(super) fn new(traffic: Traffic) -> Self {
        let count = traffic.flows.len();
        let mut next = vec![Vec::new(); count];
        for (index, flow) in traffic.flows.iter().enumerate() {
            for before in &flow.after {
                next[*before as usize].push(index as u32);
            }
        }
        let waits = traffic
            .flows
            .iter()
            .map(|flow| flow.after.len() as u32)
            .collect();
        Self {
            traffic,
            waits,
            next,
            started_ps: vec![0; count],
            completed_ps: vec![None; count],
            open: count,
        }
    }

    /// Flows that wait for none, with their start times.
    pub(super) fn first(&self) -> impl Iterator<Item = (u32, u64)> + '_ {
        let free = self
            .waits
            .iter()
            .enumerate()
            .filter(|(_, waits)| **waits == 0);
        free.map(|(index, _)| (index as u32, self.traffic.flows[index].start_ps))
    }

    /// Flow `index` is complete. Calls `start` with each flow that may now start, and its time.
    pub(super) fn complete(&mut self, index: u32, now_ps: u64, mut start: impl FnMut(u32, u64)) {
        if self.completed_ps[index as usize].replace(now_ps).is_some() {
            return;
        }
        self.open -= 1;
        for next in std::mem::take(&mut self.next[index as usize]) {
            self.waits[next as usize] -= 1;
            if self.waits[next as usize] == 0 {
                start(next, now_ps.max(self.traffic.flows[next as usize].start_ps));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::workload::collective::ring_all_reduce;

    #[test]
    fn a_flow_starts_when_the_last_of_its_predecessors_is_complete() {
        let mut flows = Flows::new(ring_all_reduce(3, 9));
        let mut ready: Vec<u32> = flows.first().map(|(index, _)| index).collect();
        assert_eq!(ready, [0, 1, 2]);
        let mut order = Vec::new();
        while let Some(index) = ready.pop() {
            order.push(index);
            flows.complete(index, 7, |next, at| {
                assert_eq!(at, 7);
                ready.push(next);
            });
        }
        assert_eq!((flows.open, order.len()), (0, 12));
        flows.complete(0, 9, |_, _| panic!("a flow completes once"));
    }
}
