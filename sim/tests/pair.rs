//! What stands around an engine, with a stub in its place: registers, memory, streams, capture.

use osprey_host::bar::Bar;
use osprey_host::device::DevicePair;
use osprey_host::dma::{DmaMemory, PageSize};
use osprey_sim::bench::Bench;
use osprey_sim::fabric::{Fate, Rule};
use osprey_sim::memory::Timing;
use osprey_sim::pair::{Pair, PairConfig};
use osprey_verilated::Source;

fn pair(change: impl Fn(&mut PairConfig)) -> Pair {
    let mut config = PairConfig {
        planes: 2,
        ..PairConfig::default()
    };
    change(&mut config);
    Pair::new(
        &Source::new("osprey_engine_stub", include_str!("stub_engine.v")),
        &config,
    )
    .unwrap()
}

fn stalled(config: &mut PairConfig) {
    config.stall_of_256 = 90;
    config.timing = [Timing {
        latency_min: 0,
        latency_max: 30,
        stall_of_256: 90,
        outstanding_max: 2,
    }; 2];
}

#[test]
fn registers_of_both_sides_are_apart_and_links_are_seen() {
    let mut pair = pair(stalled);
    for register in 0..8 {
        for side in 0..2 {
            pair.port(side)
                .write32(0x100 + register * 4, register * 1000 + side as u32);
        }
    }
    for register in 0..8 {
        for side in 0..2 {
            assert_eq!(
                pair.port(side).read32(0x100 + register * 4),
                register * 1000 + side as u32
            );
        }
    }
    assert_eq!(pair.port(1).read32(0x20), 0b11);
    pair.set_plane_up(0, false, true);
    assert_eq!(pair.port(0).read32(0x20), 0b10);
    assert_eq!(pair.violations(), [""; 0]);
}

#[test]
fn the_bus_reaches_memory_and_strangers_are_violations() {
    let mut pair = pair(stalled);
    let mut port = pair.port(0);
    let buffer = port.allocate(3 * 4096, PageSize::Small).unwrap();
    let data: Vec<u8> = (1..=64).collect();
    port.write(&buffer, 4096 + 128, &data);
    let mut copy = |source: u64, target: u64| {
        let mut port = pair.port(0);
        for (register, value) in [(0x40, source), (0x48, target)] {
            port.write32(register, value as u32);
            port.write32(register + 4, (value >> 32) as u32);
        }
        port.write32(0x50, 1);
        while port.read32(0x50) != 0 {}
    };
    copy(buffer.pages[1] + 128, buffer.pages[2] + 64);
    copy(buffer.pages[1] + 128, buffer.pages[2] + 4096);
    let mut found = vec![0; 64];
    pair.port(0).read(&buffer, 2 * 4096 + 64, &mut found);
    assert_eq!(found[0], 0, "its strobe was off");
    assert_eq!(found[1..], data[1..]);
    assert_eq!(pair.violations().len(), 1, "{:?}", pair.violations());
    assert!(pair.violations()[0].starts_with("a memory: write of"));
}

#[test]
fn frames_go_round_and_faults_hit_the_ones_named() {
    for change in [stalled, |_: &mut PairConfig| {}] {
        let mut pair = pair(change);
        pair.link(1, 1).add_rule(Rule {
            kind: None,
            source_port: None,
            skip: 1,
            count: 1,
            fate: Fate::Lose,
        });
        for (plane, count) in [(0, 3), (1, 4)] {
            for number in 0..count {
                let frame: Vec<u8> = (0..100 + number * 64).map(|n| n as u8).collect();
                pair.link(0, plane).enter(0, frame);
            }
        }
        // The stubs echo for ever: each frame passes B once a round.
        pair.run(6000);
        let delivered: Vec<u64> = (0..2)
            .map(|plane| pair.links(1)[plane].counts().delivered)
            .collect();
        assert!(delivered.iter().all(|count| *count > 4), "{delivered:?}");
        assert_eq!(pair.links(1)[1].counts().lost, 1);
        assert!(pair.in_flight() <= 6);
        assert_eq!(pair.violations(), [""; 0]);
    }
}

#[test]
fn the_same_seed_gives_the_same_cycles() {
    let run = || {
        let mut pair = pair(stalled);
        pair.link(0, 0).enter(0, vec![1; 777]);
        pair.port(0).write32(0x100, 5);
        pair.run(2000);
        (
            *pair.links(0)[0].counts(),
            *pair.links(1)[0].counts(),
            pair.cycle(),
        )
    };
    assert_eq!(run(), run());
}
