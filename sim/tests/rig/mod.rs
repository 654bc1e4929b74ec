//! What the scenarios share: a pair of `edge` engines, a job with all its witnesses, two hosts with memory.

#![allow(dead_code)] // Each test program uses its part.

use osprey_hls::regs::counters::Counter;
use osprey_host::verbs::{Config, Rights, Status};
use osprey_sim::engine::source;
use osprey_sim::fabric::{Kind, Link};
use osprey_sim::hosts::{BACKGROUND, Hosts, Memory};
use osprey_sim::job::{Outcome, TransferConfig, conservation, transfer};
use osprey_sim::pair::{Pair, PairConfig};
use osprey_sim::random::generator;
use osprey_sim::referee::MemoryReferee;
use osprey_verilated::Source;
use rand::RngCore;

pub const SOURCE: Rights = Rights {
    write: false,
    read: false,
    atomic: false,
};
pub const TARGET: Rights = Rights {
    write: true,
    ..SOURCE
};
pub const PATIENCE: u64 = 2_000_000;

pub fn engine() -> Option<Source> {
    source("edge", false)
        .inspect_err(|error| eprintln!("skipped: {error}"))
        .ok()
}

pub fn config(change: impl Fn(&mut PairConfig)) -> PairConfig {
    let mut config = PairConfig {
        planes: 2,
        ..PairConfig::default()
    };
    change(&mut config);
    config
}

/// Settings under which a peer that never answers is soon given up.
pub fn impatient() -> Config {
    let mut config = Config::new(Vec::new());
    config.timers.probe_backoff_max = 3;
    config
}

/// The request ended, and not well: by the peer's refusal, or because its retries were spent.
pub fn refused(status: Status) -> bool {
    matches!(
        status,
        Status::RemoteAccess | Status::RetriesExhausted | Status::Flushed
    )
}

pub fn random(seed: u64, length: usize) -> Vec<u8> {
    let mut bytes = vec![0; length];
    generator(seed, 77).fill_bytes(&mut bytes);
    bytes
}

/// Sends `bytes` and insists that every witness is content.
pub fn send(pair: &mut Pair, bytes: usize, message_bytes: usize) -> Outcome {
    send_as(pair, bytes, message_bytes, Config::new(Vec::new()))
}

/// The same, with settings of both hosts.
pub fn send_as(pair: &mut Pair, bytes: usize, message_bytes: usize, host: Config) -> Outcome {
    let config = TransferConfig {
        data: random(5, bytes),
        message_bytes,
        source_offset: 61,
        target_offset: 4033,
        host,
        planes: 2,
        seed: 11,
        patience_cycles: PATIENCE,
    };
    let outcome = transfer(pair, &config, &mut |_| {}).unwrap_or_else(|error| panic!("{error}"));
    witnesses_are_content(pair, &outcome);
    outcome
}

/// Referees, monitors and counts agree that all went well.
pub fn witnesses_are_content(pair: &Pair, outcome: &Outcome) {
    assert_eq!(outcome.wrong, [""; 0]);
    assert_eq!(pair.violations(), [""; 0]);
    let corrupting = pair.links(0).iter().any(|link| link.counts().corrupted > 0);
    assert_eq!(
        conservation(pair, outcome, corrupting).judge(),
        [""; 0],
        "{:?}",
        outcome.counters
    );
}

pub fn resends(outcome: &Outcome) -> u32 {
    outcome.paths.iter().map(|path| path.retransmissions).sum()
}

pub fn failed(links: &[Link], kind: Kind) -> u64 {
    links
        .iter()
        .map(|link| link.counts().failed_by_kind[kind as usize])
        .sum()
}

pub fn of(outcome: &Outcome, side: usize, counter: Counter) -> u32 {
    outcome.counters[side][counter as usize]
}

/// Source with `data`, target of the same length.
pub fn memories(hosts: &mut Hosts<'_, Pair>, data: &[u8]) -> (Memory, Memory) {
    let source = hosts.memory(0, 17, data, SOURCE).unwrap();
    let target = hosts
        .memory(1, 4095, &vec![BACKGROUND; data.len()], TARGET)
        .unwrap();
    (source, target)
}

/// The target holds exactly `written`, and no rule was broken.
pub fn judge(hosts: &mut Hosts<'_, Pair>, target: &Memory, written: &[(usize, &[u8])]) {
    let mut referee = MemoryReferee::new(vec![BACKGROUND; target.buffer.length]);
    for (offset, bytes) in written {
        referee.expect(target.offset + offset, bytes);
    }
    let found = hosts.content(1, target);
    assert_eq!(referee.judge(&found), [""; 0]);
    assert_eq!(hosts.bench.violations(), [""; 0]);
}
