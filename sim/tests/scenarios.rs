//! Two verilated engines under faults, judged from outside. Needs the emitted Verilog of `edge`
//! (`cargo run -p osprey-rtl --bin emit`); without it each test says so and passes.

mod rig;

use osprey_hls::regs::counters::Counter;
use osprey_hls::wire::Key;
use osprey_host::device::DevicePair;
use osprey_host::dma::DmaMemory;
use osprey_host::verbs::{Config, MemoryRegion, Status};
use osprey_sim::fabric::{Fate, Faults, Kind, Rule};
use osprey_sim::hosts::{BACKGROUND, Hosts};
use osprey_sim::memory::Timing;
use osprey_sim::pair::{Pair, PairConfig};
use rig::*;

#[test]
fn nothing_is_lost_nothing_is_sent_again() {
    let Some(source) = engine() else { return };
    let mut pair = Pair::new(&source, &config(|_| {})).unwrap();
    let outcome = send(&mut pair, 300_001, 65_536);
    assert_eq!((outcome.completions, resends(&outcome)), (5, 0));
    assert_eq!(of(&outcome, 1, Counter::Duplicate), 0);
    let used = outcome.paths.iter().filter(|path| path.packets > 0).count();
    assert!(used >= 8, "{used} of 16 paths were used");
}

#[test]
fn losses_are_found_and_mended() {
    let Some(source) = engine() else { return };
    for (loss, seed) in [(0.01, 1), (0.05, 2), (0.10, 3)] {
        let mut pair =
            Pair::new(&source, &config(|c| (c.faults.loss, c.seed) = (loss, seed))).unwrap();
        let outcome = send(&mut pair, 400_000, 65_536);
        assert!(
            u64::from(resends(&outcome)) >= failed(pair.links(0), Kind::Data),
            "loss {loss} seed {seed}"
        );
    }
}

#[test]
fn doubled_and_damaged_frames_do_no_harm() {
    let Some(source) = engine() else { return };
    let faults = Faults {
        loss: 0.02,
        duplication: 0.05,
        corruption: 0.03,
        bad_check: 0.02,
    };
    let mut pair = Pair::new(&source, &config(|c| c.faults = faults)).unwrap();
    let outcome = send(&mut pair, 300_000, 30_000);
    assert!(of(&outcome, 1, Counter::Duplicate) > 0);
    assert!(of(&outcome, 1, Counter::MacError) > 0);
    assert!(of(&outcome, 1, Counter::Crc) > 0);
}

#[test]
fn everything_stalls() {
    let Some(source) = engine() else { return };
    let stalled = |c: &mut PairConfig| {
        c.faults.loss = 0.02;
        c.stall_of_256 = 100;
        c.timing = [Timing {
            latency_min: 0,
            latency_max: 200,
            stall_of_256: 100,
            outstanding_max: 4,
        }; 2];
    };
    let mut pair = Pair::new(&source, &config(stalled)).unwrap();
    send(&mut pair, 150_000, 10_007);
}

#[test]
fn field_case_25_paths_that_differ_cause_no_resend() {
    let Some(source) = engine() else { return };
    let apart = |c: &mut PairConfig| (c.delay, c.path_spread) = (vec![200, 1500], 3000);
    let mut pair = Pair::new(&source, &config(apart)).unwrap();
    assert_eq!(resends(&send(&mut pair, 300_000, 65_536)), 0);
    let ports = pair.links(0)[0]
        .ports()
        .values()
        .filter(|port| port.data > 0)
        .count();
    assert!(ports >= 4, "{ports} source ports on plane 0");
}

#[test]
fn field_case_14_a_lost_last_ack_completes_once() {
    let Some(source) = engine() else { return };
    let mut pair = Pair::new(&source, &config(|_| {})).unwrap();
    for plane in 0..2 {
        let rule = Rule {
            kind: Some(Kind::Ack as u8),
            source_port: None,
            skip: 0,
            count: 4,
            fate: Fate::Lose,
        };
        pair.link(1, plane).add_rule(rule);
    }
    assert_eq!(send(&mut pair, 16_384, 16_384).completions, 1);
}

#[test]
fn a_lost_tail_is_found_by_a_probe() {
    let Some(source) = engine() else { return };
    let mut pair = Pair::new(&source, &config(|_| {})).unwrap();
    for plane in 0..2 {
        let rule = Rule {
            kind: Some(Kind::Data as u8),
            source_port: None,
            skip: 0,
            count: 8,
            fate: Fate::Lose,
        };
        pair.link(0, plane).add_rule(rule);
    }
    let outcome = send(&mut pair, 20_000, 20_000);
    assert!(
        outcome
            .paths
            .iter()
            .map(|path| path.lost_by_probe)
            .sum::<u32>()
            > 0
    );
}

#[test]
fn a_plane_that_is_silent_for_a_while_delays_and_loses_nothing() {
    let Some(source) = engine() else { return };
    let mut pair = Pair::new(&source, &config(|_| {})).unwrap();
    let mut hosts = Hosts::open(&mut pair, &Config::new(Vec::new()), 2, 4).unwrap();
    let data = random(6, 200_000);
    let (source, target) = memories(&mut hosts, &data);
    let [a, _] = hosts.connect(&target.region).unwrap();
    hosts
        .write(a, &source.region, &target.region, (0, data.len() as u32), 1)
        .unwrap();
    hosts.bench.set_plane_up(1, false, false);
    assert!(hosts.wait(a, 1, 30_000).is_err());
    hosts.bench.set_plane_up(1, true, false);
    let completions = hosts.wait(a, 1, PATIENCE).unwrap();
    assert_eq!(completions[0].status, Status::Ok);
    judge(&mut hosts, &target, &[(0, &data)]);
}

#[test]
fn field_case_32_every_alignment_and_odd_lengths() {
    let Some(source) = engine() else { return };
    let mut pair = Pair::new(&source, &config(|c| c.faults.loss = 0.01)).unwrap();
    let mut hosts = Hosts::open(&mut pair, &Config::new(Vec::new()), 2, 4).unwrap();
    let data = random(7, 200_000);
    let (source, target) = memories(&mut hosts, &data);
    let [a, _] = hosts.connect(&target.region).unwrap();
    let (mut written, mut next) = (Vec::new(), 0_usize);
    for offset in 0..64 {
        let length = [1, 2, 63, 64, 65, 127, 128, 129, 4095, 4096, 4097][offset % 11];
        next = next / 64 * 64 + 128 + offset;
        written.push((next, &data[next..next + length]));
        next += length;
    }
    for batch in written.chunks(32) {
        for (offset, bytes) in batch {
            let part = (*offset as u64, bytes.len() as u32);
            hosts
                .write(a, &source.region, &target.region, part, *offset as u64)
                .unwrap();
        }
        let completions = hosts.wait(a, batch.len(), PATIENCE).unwrap();
        assert!(completions.iter().all(|c| c.status == Status::Ok));
    }
    judge(&mut hosts, &target, &written);
}

#[test]
fn field_case_26_refused_accesses_write_no_byte() {
    let Some(source) = engine() else { return };
    let data = random(8, 4096);
    let wrong: [fn(&MemoryRegion) -> MemoryRegion; 4] = [
        |r| MemoryRegion {
            key: Key(r.key.0 ^ 1 << 12),
            ..*r
        },
        |r| MemoryRegion {
            key: Key(r.key.0 ^ 1),
            ..*r
        },
        |r| MemoryRegion {
            address: r.address + 1,
            ..*r
        },
        |r| MemoryRegion {
            address: u64::MAX - 63,
            ..*r
        },
    ];
    for change in wrong {
        let mut pair = Pair::new(&source, &config(|_| {})).unwrap();
        let mut hosts = Hosts::open(&mut pair, &impatient(), 2, 4).unwrap();
        let (source, target) = memories(&mut hosts, &data);
        let [a, _] = hosts.connect(&target.region).unwrap();
        let aim = change(&target.region);
        hosts.write(a, &source.region, &aim, (0, 4096), 1).unwrap();
        let completions = hosts.wait(a, 1, PATIENCE).unwrap();
        assert!(refused(completions[0].status), "{completions:?}");
        judge(&mut hosts, &target, &[]);
    }
}

#[test]
fn field_case_31_no_byte_after_deregistration() {
    let Some(source) = engine() else { return };
    let mut pair = Pair::new(&source, &config(|_| {})).unwrap();
    let mut hosts = Hosts::open(&mut pair, &impatient(), 2, 4).unwrap();
    let data = random(9, 400_000);
    let (source, target) = memories(&mut hosts, &data);
    let [a, _] = hosts.connect(&target.region).unwrap();
    hosts
        .write(a, &source.region, &target.region, (0, data.len() as u32), 1)
        .unwrap();
    osprey_sim::bench::Bench::run(hosts.bench, 3000);
    let (context, mut port) = (&mut hosts.contexts[1], hosts.bench.port(1));
    context.deregister(&mut port, target.region).unwrap();
    port.write(&target.buffer, 0, &vec![BACKGROUND; target.buffer.length]);
    let completions = hosts.wait(a, 1, PATIENCE).unwrap();
    assert!(refused(completions[0].status), "{completions:?}");
    judge(&mut hosts, &target, &[]);
}

/// The way between the hosts is much shorter than the way to B's memory.
#[test]
fn a_completion_follows_the_bytes_however_slow_the_peers_memory() {
    let Some(source) = engine() else { return };
    let slow = |c: &mut PairConfig| {
        c.delay = vec![10];
        c.timing[1].latency_min = 800;
        c.timing[1].latency_max = 900;
    };
    let mut pair = Pair::new(&source, &config(slow)).unwrap();
    send(&mut pair, 100_000, 10_000);
}

#[test]
fn the_same_seed_gives_the_same_run() {
    let Some(source) = engine() else { return };
    let run = || {
        let mut pair = Pair::new(&source, &config(|c| c.faults.loss = 0.05)).unwrap();
        let outcome = send(&mut pair, 100_000, 20_000);
        (outcome.cycles, outcome.counters, outcome.paths)
    };
    assert_eq!(run(), run());
}

/// What a bus refuses to give is not data, and what it refuses to take is not placed (T-6.8).
#[test]
fn memory_that_answers_with_errors_completes_nothing() {
    let Some(source) = engine() else { return };
    let data = random(10, 50_000);
    for (side, counter) in [
        (0, Counter::MemoryReadErrors),
        (1, Counter::MemoryWriteErrors),
    ] {
        let mut pair = Pair::new(&source, &config(|_| {})).unwrap();
        let mut hosts = Hosts::open(&mut pair, &impatient(), 2, 4).unwrap();
        let (from, target) = memories(&mut hosts, &data);
        let [a, _] = hosts.connect(&target.region).unwrap();
        // Behind the library's back: the region stays registered.
        let buffer = [&from, &target][side].buffer.clone();
        hosts.bench.port(side).release(buffer);
        hosts
            .write(a, &from.region, &target.region, (0, data.len() as u32), 1)
            .unwrap();
        let completions = hosts.wait(a, 1, PATIENCE).unwrap();
        assert!(refused(completions[0].status), "{completions:?}");
        assert!(hosts.counters(side)[counter as usize] > 0);
        if side == 0 {
            let untouched = vec![BACKGROUND; target.buffer.length];
            assert_eq!(hosts.content(1, &target), untouched);
        }
    }
}
