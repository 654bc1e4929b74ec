//! Long random runs of two verilated engines: `cargo xtask soak`. Each run prints its seed when it fails.
//!
//! `OSPREY_SOAK_SEED` begins elsewhere, `OSPREY_SOAK_RUNS` runs longer. Not part of the ordinary tests.

mod rig;

use osprey_host::verbs::{Config, FirstNumbers};
use osprey_sim::fabric::Faults;
use osprey_sim::memory::Timing;
use osprey_sim::pair::{Pair, PairConfig};
use osprey_sim::random::generator;
use rand::Rng;
use rig::*;

fn number(name: &str, otherwise: u64) -> u64 {
    std::env::var(name)
        .ok()
        .and_then(|text| text.parse().ok())
        .unwrap_or(otherwise)
}

/// Everything around the engines, drawn from the seed.
fn surroundings(seed: u64) -> PairConfig {
    let mut random = generator(seed, 600);
    let stall: u8 = if random.random() {
        random.random_range(0..120)
    } else {
        0
    };
    let mut c = config(|_| {});
    c.seed = seed;
    c.rate_gbps = [10.0, 25.0, 50.0, 100.0][random.random_range(0..4)];
    c.delay = (0..2).map(|_| random.random_range(5..3000)).collect();
    c.path_spread = random.random_range(0..2000);
    c.faults = Faults {
        loss: f64::from(random.random_range(0_u8..12)) / 100.0,
        duplication: f64::from(random.random_range(0_u8..4)) / 100.0,
        corruption: f64::from(random.random_range(0_u8..2)) / 100.0,
        bad_check: f64::from(random.random_range(0_u8..2)) / 100.0,
    };
    c.stall_of_256 = stall;
    c.timing = [0, 1].map(|_| Timing {
        latency_min: 0,
        latency_max: random.random_range(1..600),
        stall_of_256: stall,
        outstanding_max: random.random_range(1..64),
    });
    c
}

fn settings(seed: u64) -> Config {
    let mut random = generator(seed, 601);
    Config {
        mtu: 256 << random.random_range(0..5),
        paths_per_plane: random.random_range(1..=8),
        path_window: random.random_range(2..=64),
        first_numbers: FirstNumbers {
            psn: random.random_range(0..1 << 17) << 7,
            epoch: random.random(),
            ordinal: random.random(),
        },
        ..Config::new(Vec::new())
    }
}

#[test]
#[ignore = "long"]
fn random_surroundings_and_settings() {
    let Some(source) = engine() else { return };
    let first = number("OSPREY_SOAK_SEED", 1);
    for seed in first..first + number("OSPREY_SOAK_RUNS", 60) {
        let mut random = generator(seed, 602);
        let message = 1 << random.random_range(3..17);
        let message = random.random_range(1..=message);
        let bytes = message * random.random_range(1..60_usize).min(400_000 / message + 1);
        eprintln!("OSPREY_SOAK_SEED={seed}: {bytes} bytes by {message}");
        let mut pair = Pair::new(&source, &surroundings(seed)).unwrap();
        send_as(&mut pair, bytes, message, settings(seed));
    }
}
