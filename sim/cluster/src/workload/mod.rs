//! What the hosts send each other: flows, each one message, some of which wait for others.
//!
//! A workload is data: a list of flows with their dependencies, made from a few words of a scenario ([`Workload`]) and a
//! seed, or read from a file ([`trace`]). A flow that waits starts when all that it waits for is complete *at their
//! senders*, half a round trip after the bytes arrived: later than a real collective, never earlier.

pub mod collective;
pub mod pattern;
pub mod trace;

use crate::error::ScenarioError;
use crate::fault::range;
use serde::{Deserialize, Serialize};

/// One message from a host to another.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Flow {
    /// Sender.
    pub from: u32,
    /// Receiver.
    pub to: u32,
    /// Length.
    pub bytes: u64,
    /// Not before this time, in picoseconds.
    pub start_ps: u64,
    /// Flows that must be complete before, by index.
    pub after: Vec<u32>,
    /// Class for statistics: an index into [`Traffic::classes`].
    pub class: u8,
}

/// All flows of a run.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Traffic {
    /// Flows.
    pub flows: Vec<Flow>,
    /// Names of classes.
    pub classes: Vec<&'static str>,
}

/// Longest message of the transport, in bytes.
pub const MESSAGE_BYTES_MAX: u64 = 1 << 30;

/// Traffic, in words.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case", deny_unknown_fields)]
pub enum Workload {
    /// Flows of a file: `Nodes N`, `Connections C`, then `src->dst id n start T size BYTES` (T in picoseconds).
    Trace {
        /// The file, relative to the scenario.
        file: String,
    },
    /// Every host sends to one other, and every flow leaves its leaf.
    Permutation {
        /// Bytes of a flow.
        bytes: u64,
    },
    /// Many hosts send to host 0.
    Incast {
        /// Number of senders.
        senders: u32,
        /// Bytes of a flow.
        bytes: u64,
        /// Messages of a sender, one after the other.
        #[serde(default = "one")]
        messages: u32,
    },
    /// Every host sends to every other.
    AllToAll {
        /// Bytes of a flow.
        bytes: u64,
    },
    /// A ring all-reduce: 2 (N - 1) steps of 1/N of the data.
    RingAllReduce {
        /// Bytes that each host holds.
        bytes: u64,
    },
    /// A binary tree all-reduce: up to the root and down again, in pieces.
    TreeAllReduce {
        /// Bytes that each host holds.
        bytes: u64,
        /// Pieces that follow each other through the tree.
        #[serde(default = "one")]
        pieces: u32,
    },
    /// Every host but the servers writes to its server.
    Checkpoint {
        /// Servers: the hosts with the lowest numbers.
        servers: u32,
        /// Bytes of a host.
        bytes: u64,
    },
    /// Large flows in the background and small ones at random times.
    Mixed {
        /// Bytes of a small flow.
        small_bytes: u64,
        /// Small flows of a host.
        small_count: u32,
        /// Mean time between two of them, microseconds (exponential).
        small_every_us: f64,
        /// Bytes of a large flow.
        large_bytes: u64,
        /// Large flows of a host, one after the other.
        large_count: u32,
    },
}

fn one() -> u32 {
    1
}

/// The fabric, as far as traffic needs it.
#[derive(Debug, Clone, Copy)]
pub struct Hosts {
    /// How many.
    pub count: u32,
    /// How many stand under one leaf.
    pub per_leaf: u32,
}

impl Workload {
    /// The flows. Files are looked for from `folder`.
    pub fn traffic(
        &self,
        hosts: Hosts,
        seed: u64,
        folder: &std::path::Path,
    ) -> Result<Traffic, ScenarioError> {
        let traffic = match self {
            Self::Trace { file } => trace::read(&folder.join(file))?,
            Self::Permutation { bytes } => pattern::permutation(hosts, *bytes, seed)?,
            Self::Incast {
                senders,
                bytes,
                messages,
            } => pattern::incast(hosts, *senders, *bytes, *messages)?,
            Self::AllToAll { bytes } => pattern::all_to_all(hosts, *bytes),
            Self::RingAllReduce { bytes } => collective::ring_all_reduce(hosts.count, *bytes),
            Self::TreeAllReduce { bytes, pieces } => {
                range("pieces", (*pieces).into(), 1.0, 1e4)?;
                collective::tree_all_reduce(hosts.count, *bytes, *pieces)
            }
            Self::Checkpoint { servers, bytes } => pattern::checkpoint(hosts, *servers, *bytes)?,
            Self::Mixed {
                small_bytes,
                small_count,
                small_every_us,
                large_bytes,
                large_count,
            } => {
                range("small_every_us", *small_every_us, 0.001, 1e9)?;
                let small = pattern::Small {
                    bytes: *small_bytes,
                    count: *small_count,
                    every_us: *small_every_us,
                };
                pattern::mixed(hosts, small, *large_bytes, *large_count, seed)?
            }
        };
        traffic.check(hosts.count)?;
        Ok(traffic)
    }
}

impl Traffic {
    /// `Ok` if every flow can run on `hosts` hosts.
    fn check(&self, hosts: u32) -> Result<(), ScenarioError> {
        if self.flows.is_empty() {
            return Err(ScenarioError::Traffic(
                "the workload has no flow: raise its counts or its hosts".into(),
            ));
        }
        for flow in &self.flows {
            if flow.from >= hosts || flow.to >= hosts || flow.from == flow.to {
                let (from, to) = (flow.from, flow.to);
                return Err(ScenarioError::Traffic(format!(
                    "flow {from}->{to}: hosts are 0 to {}, and must differ",
                    hosts - 1
                )));
            }
            if flow.bytes > MESSAGE_BYTES_MAX {
                return Err(ScenarioError::Traffic(format!(
                    "flow {}->{} has {} bytes: a message holds at most {MESSAGE_BYTES_MAX}",
                    flow.from, flow.to, flow.bytes
                )));
            }
        }
        Ok(())
    }

    /// Bytes of all flows.
    pub fn bytes(&self) -> u64 {
        self.flows.iter().map(|flow| flow.bytes).sum()
    }
}
