//! Traffic without dependencies between hosts: permutation, incast, all-to-all, checkpoint, mixed.

use super::{Flow, Hosts, Traffic};
use crate::error::ScenarioError;
use rand::seq::SliceRandom;
use rand::{Rng, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

fn flow(from: u32, to: u32, bytes: u64) -> Flow {
    Flow {
        from,
        to,
        bytes,
        ..Flow::default()
    }
}

fn plain(flows: Vec<Flow>) -> Traffic {
    Traffic {
        flows,
        classes: vec!["all"],
    }
}

/// Destinations by source: each host once, none under its source's leaf.
fn derangement(hosts: Hosts, random: &mut Xoshiro256PlusPlus) -> Result<Vec<u32>, ScenarioError> {
    let leaves = hosts.count / hosts.per_leaf;
    if leaves < 2 {
        return Err(ScenarioError::Traffic(
            "a permutation needs two leaves: every flow leaves its leaf".into(),
        ));
    }
    let leaf = |host: u32| host / hosts.per_leaf;
    let mut to: Vec<u32> = (0..hosts.count).collect();
    to.shuffle(random);
    // A bad place is swapped with places drawn at random until both ends are good: there always is one.
    let good = |from: usize, to: u32| leaf(from as u32) != leaf(to);
    while let Some(bad) = (0..to.len()).find(|from| !good(*from, to[*from])) {
        let other = random.random_range(0..to.len());
        if good(bad, to[other]) && (good(other, to[bad]) || !good(other, to[other])) {
            to.swap(bad, other);
        }
    }
    Ok(to)
}

/// Every host sends to one other.
pub fn permutation(hosts: Hosts, bytes: u64, seed: u64) -> Result<Traffic, ScenarioError> {
    let to = derangement(hosts, &mut Xoshiro256PlusPlus::seed_from_u64(seed))?;
    Ok(plain(
        (0..hosts.count)
            .map(|from| flow(from, to[from as usize], bytes))
            .collect(),
    ))
}

/// `senders` hosts, those with the highest numbers, send `messages` messages each to host 0.
pub fn incast(
    hosts: Hosts,
    senders: u32,
    bytes: u64,
    messages: u32,
) -> Result<Traffic, ScenarioError> {
    if senders >= hosts.count {
        let message = format!(
            "{senders} senders to host 0 need {} hosts, there are {}",
            senders + 1,
            hosts.count
        );
        return Err(ScenarioError::Traffic(message));
    }
    let all = (0..senders)
        .flat_map(|sender| (0..messages).map(move |_| flow(hosts.count - 1 - sender, 0, bytes)));
    Ok(plain(all.collect()))
}

/// Every host sends to every other, each starting with the next one.
pub fn all_to_all(hosts: Hosts, bytes: u64) -> Traffic {
    let n = hosts.count;
    plain(
        (1..n)
            .flat_map(|step| (0..n).map(move |from| flow(from, (from + step) % n, bytes)))
            .collect(),
    )
}

/// Every host but the servers writes to a server.
pub fn checkpoint(hosts: Hosts, servers: u32, bytes: u64) -> Result<Traffic, ScenarioError> {
    if servers == 0 || servers >= hosts.count {
        let message = format!(
            "{servers} servers of {} hosts: at least one, and one that writes",
            hosts.count
        );
        return Err(ScenarioError::Traffic(message));
    }
    Ok(plain(
        (servers..hosts.count)
            .map(|from| flow(from, from % servers, bytes))
            .collect(),
    ))
}

/// Small flows of [`mixed`].
#[derive(Debug, Clone, Copy)]
pub struct Small {
    /// Bytes.
    pub bytes: u64,
    /// Of a host.
    pub count: u32,
    /// Mean time between two, microseconds.
    pub every_us: f64,
}

/// Large flows after a permutation, and small ones to hosts drawn at random.
pub fn mixed(
    hosts: Hosts,
    small: Small,
    large_bytes: u64,
    large_count: u32,
    seed: u64,
) -> Result<Traffic, ScenarioError> {
    let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
    let to = derangement(hosts, &mut random)?;
    let mut flows = Vec::new();
    for from in 0..hosts.count {
        for index in 0..large_count {
            let before = flows.len() as u32 - u32::from(index > 0);
            let after = if index > 0 { vec![before] } else { Vec::new() };
            flows.push(Flow {
                after,
                class: 1,
                ..flow(from, to[from as usize], large_bytes)
            });
        }
        let mut at_us = 0.0;
        for _ in 0..small.count {
            at_us -= small.every_us * (1.0 - random.random::<f64>()).ln();
            let other = (from + random.random_range(1..hosts.count)) % hosts.count;
            flows.push(Flow {
                start_ps: (at_us * 1e6) as u64,
                ..flow(from, other, small.bytes)
            });
        }
    }
    Ok(Traffic {
        flows,
        classes: vec!["small", "large"],
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const HOSTS: Hosts = Hosts {
        count: 64,
        per_leaf: 8,
    };

    #[test]
    fn a_permutation_uses_every_host_once_and_leaves_every_leaf() {
        for seed in 0..50 {
            let traffic = permutation(HOSTS, 1, seed).unwrap();
            let mut to: Vec<u32> = traffic.flows.iter().map(|flow| flow.to).collect();
            assert!(
                traffic
                    .flows
                    .iter()
                    .all(|flow| flow.from / 8 != flow.to / 8),
                "seed {seed}"
            );
            to.sort_unstable();
            assert_eq!(to, (0..64).collect::<Vec<_>>(), "seed {seed}");
        }
        assert!(
            permutation(
                Hosts {
                    count: 8,
                    per_leaf: 8
                },
                1,
                1
            )
            .is_err()
        );
    }

    #[test]
    fn two_leaves_still_have_a_permutation() {
        assert!(
            permutation(
                Hosts {
                    count: 8,
                    per_leaf: 4
                },
                1,
                1
            )
            .is_ok()
        );
    }

    #[test]
    fn counts_of_flows_are_those_of_the_pattern() {
        assert_eq!(all_to_all(HOSTS, 1).flows.len(), 4_032);
        assert_eq!(incast(HOSTS, 16, 1, 2).unwrap().flows.len(), 32);
        assert_eq!(checkpoint(HOSTS, 4, 1).unwrap().flows.len(), 60);
        let small = Small {
            bytes: 64,
            count: 10,
            every_us: 1.0,
        };
        let mixed = mixed(HOSTS, small, 1_000, 2, 1).unwrap();
        assert_eq!(mixed.flows.len(), 64 * 12);
        for (index, flow) in mixed.flows.iter().enumerate() {
            for before in &flow.after {
                assert!(
                    (*before as usize) < index && mixed.flows[*before as usize].from == flow.from
                );
            }
        }
        assert!(incast(HOSTS, 64, 1, 1).is_err() && checkpoint(HOSTS, 0, 1).is_err());
    }
}
