//! A load on a pair of engines: connections of the same two hosts, each with messages of one size.

use super::MeasureError;
use crate::activity::Activity;
use crate::engine::source;
use crate::hosts::{Hosts, Memory, at};
use crate::memory::Timing;
use crate::pair::{Pair, PairConfig};
use osprey_host::device::DevicePair;
use osprey_host::verbs::{Config, ConnectionHandle, Rights, WorkOperation, WorkRequest};

/// Cycles without an end after which a load is given up.
const PATIENCE: u64 = 4_000_000;

/// What is sent.
#[derive(Debug, Clone, Copy)]
pub(super) struct Load {
    /// Connections between the two hosts.
    pub(super) connections: usize,
    /// Messages of each.
    pub(super) messages: usize,
    /// Bytes of each message.
    pub(super) bytes: usize,
    /// Offsets of source and target in their pages.
    pub(super) offsets: (usize, usize),
    /// Cycles that host memory takes to answer.
    pub(super) memory_cycles: u64,
}

impl Load {
    /// Payload of the whole load.
    pub(super) const fn total(&self) -> usize {
        self.connections * self.messages * self.bytes
    }
}

/// Planes wide and short enough that the engine is the limit.
fn surroundings(memory_cycles: u64) -> PairConfig {
    PairConfig {
        planes: 4,
        clock_mhz: 250.0,
        // 32 bytes a cycle.
        rate_gbps: 64.0,
        delay: vec![10],
        path_spread: 0,
        timing: [Timing {
            latency_min: memory_cycles,
            latency_max: memory_cycles,
            stall_of_256: 0,
            outstanding_max: 64,
        }; 2],
        ..PairConfig::default()
    }
}

/// Runs a load to its last completion; what moved at the ports of both engines from the first post on.
pub(super) fn run(load: &Load) -> Result<[Activity; 2], MeasureError> {
    let mut pair = Pair::new(&source("lab", false)?, &surroundings(load.memory_cycles))?;
    let mut hosts = Hosts::open(&mut pair, &Config::new(Vec::new()), 4, 1)?;
    let rights = |write| Rights {
        write,
        ..Rights::default()
    };
    let content = vec![0x5a; load.total()];
    let source = hosts.memory(0, load.offsets.0, &content, rights(false))?;
    let target = hosts.memory(1, load.offsets.1, &content, rights(true))?;
    let handles = (0..load.connections)
        .map(|_| hosts.connect(&target.region).map(|[a, _]| a))
        .collect::<Result<Vec<_>, _>>()?;
    hosts.bench.record_activity();
    for (number, handle) in handles.iter().enumerate() {
        let requests = requests(load, number, &source, &target);
        let mut port = hosts.bench.port(0);
        at(
            0,
            hosts.contexts[0].post_sends(&mut port, *handle, &requests),
        )?;
    }
    finish(&mut hosts, &handles, load.messages)?;
    Ok([0, 1].map(|side| pair.take_activity(side)))
}

fn requests(load: &Load, connection: usize, source: &Memory, target: &Memory) -> Vec<WorkRequest> {
    let request = |message: usize| {
        let offset = ((connection * load.messages + message) * load.bytes) as u64;
        let operation = WorkOperation::Write {
            local: source.region.address + offset,
            length: load.bytes as u32,
            remote: target.region.address + offset,
            key: target.region.key,
        };
        let id = message as u64;
        WorkRequest { id, operation }
    };
    (0..load.messages).map(request).collect()
}

fn finish(
    hosts: &mut Hosts<'_, Pair>,
    handles: &[ConnectionHandle],
    messages: usize,
) -> Result<(), MeasureError> {
    for handle in handles {
        hosts.wait(*handle, messages, PATIENCE)?;
    }
    Ok(())
}
