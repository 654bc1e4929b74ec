//! Collectives: flows that wait for flows.

use super::{Flow, Traffic};

/// A ring all-reduce: in each of 2 (N - 1) steps every host passes a piece of 1/N to the next; it can pass on what its
/// predecessor passed in the step before.
pub fn ring_all_reduce(hosts: u32, bytes: u64) -> Traffic {
    let piece = bytes.div_ceil(hosts.max(1).into());
    let flows = (0..2 * (hosts - 1)).flat_map(|step| {
        (0..hosts).map(move |from| {
            let predecessor = (from + hosts - 1) % hosts;
            let own = |host: u32| (step - 1) * hosts + host;
            let after = if step == 0 {
                Vec::new()
            } else {
                vec![own(predecessor), own(from)]
            };
            Flow {
                from,
                to: (from + 1) % hosts,
                bytes: piece,
                after,
                ..Flow::default()
            }
        })
    });
    Traffic {
        flows: flows.collect(),
        classes: vec!["all"],
    }
}

/// An all-reduce over a binary tree with host 0 as its root, in pieces that follow each other.
pub fn tree_all_reduce(hosts: u32, bytes: u64, pieces: u32) -> Traffic {
    let piece_bytes = bytes.div_ceil(pieces.into());
    let mut flows = Vec::new();
    for piece in 0..pieces {
        let base = piece * 2 * (hosts - 1);
        // Flow of host h (1..) up to its parent; flow down to it comes after all of those up.
        let up = |host: u32| base + hosts - 1 - host;
        let down = |host: u32| base + hosts - 1 + host - 1;
        let children = |host: u32| {
            [2 * host + 1, 2 * host + 2]
                .into_iter()
                .filter(move |child| *child < hosts)
        };
        for host in (1..hosts).rev() {
            let after = children(host).map(up).collect();
            flows.push(Flow {
                from: host,
                to: (host - 1) / 2,
                bytes: piece_bytes,
                after,
                ..Flow::default()
            });
        }
        for host in 1..hosts {
            let parent = (host - 1) / 2;
            let after = if parent == 0 {
                children(0).map(up).collect()
            } else {
                vec![down(parent)]
            };
            flows.push(Flow {
                from: parent,
                to: host,
                bytes: piece_bytes,
                after,
                ..Flow::default()
            });
        }
    }
    Traffic {
        flows,
        classes: vec!["all"],
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Flows wait only for earlier ones, and those end where this one starts or start there.
    fn check(traffic: &Traffic) {
        for (index, flow) in traffic.flows.iter().enumerate() {
            for before in &flow.after {
                let before = *before as usize;
                assert!(before < index, "flow {index} waits for {before}");
                let other = &traffic.flows[before];
                assert!(
                    other.to == flow.from || other.from == flow.from,
                    "flow {index} waits for {before}"
                );
            }
        }
    }

    #[test]
    fn a_ring_moves_twice_the_data_less_a_piece() {
        let traffic = ring_all_reduce(8, 8_000);
        check(&traffic);
        assert_eq!(traffic.flows.len(), 14 * 8);
        assert_eq!(traffic.bytes(), 14 * 8_000);
    }

    #[test]
    fn a_tree_reaches_every_host_up_and_down() {
        for hosts in [2, 3, 8, 13] {
            let traffic = tree_all_reduce(hosts, 100, 3);
            check(&traffic);
            assert_eq!(traffic.flows.len() as u32, 3 * 2 * (hosts - 1));
        }
    }
}
