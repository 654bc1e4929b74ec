//! How fast the simulation runs: cycles of a pair in a second of the machine's time.

use super::{Better, Figure, MeasureError};
use crate::bench::Bench;
use crate::engine::source;
use crate::job::{TransferConfig, transfer};
use crate::pair::{Pair, PairConfig};
use osprey_host::verbs::Config;
use std::time::Instant;

/// Cycles a second that tests of a useful length need.
const TARGET: f64 = 100_000.0;
const IDLE_CYCLES: u64 = 100_000;
const LOAD_BYTES: usize = 4 << 20;

fn figure(name: String, cycles: u64, begun: Instant) -> Figure {
    let rate = cycles as f64 / begun.elapsed().as_secs_f64();
    Figure::plain(name, rate.round(), "cycles a second", Better::Higher).target(TARGET)
}

fn measure(configuration: &str, planes: usize) -> Result<Vec<Figure>, MeasureError> {
    let surroundings = PairConfig {
        planes,
        ..PairConfig::default()
    };
    let mut pair = Pair::new(&source(configuration, false)?, &surroundings)?;
    pair.run(1000);
    let begun = Instant::now();
    pair.run(IDLE_CYCLES);
    let idle = figure(format!("pair of {configuration}, idle"), IDLE_CYCLES, begun);
    let load = TransferConfig {
        data: vec![0x5a; LOAD_BYTES],
        message_bytes: 1 << 20,
        source_offset: 3,
        target_offset: 13,
        host: Config::new(Vec::new()),
        planes,
        seed: 1,
        patience_cycles: 1_000_000,
    };
    let (before, begun) = (pair.cycle(), Instant::now());
    transfer(&mut pair, &load, &mut |_| {})?;
    let cycles = pair.cycle() - before;
    let loaded = figure(format!("pair of {configuration}, loaded"), cycles, begun);
    Ok(vec![idle, loaded])
}

/// Both configurations, idle and with all planes busy.
pub(super) fn figures() -> Result<Vec<Figure>, MeasureError> {
    Ok([measure("lab", 4)?, measure("edge", 2)?].concat())
}
