//! Every host to every other at once: last completion over the wire time of what one receiver gets.

use super::{faultless, over_seeds, run, scenario, traffic};
use crate::error::ScenarioError;
use crate::result::RunResult;
use osprey_report::{Better, Figure, percent};

/// Loss, most completion over ideal.
const CASES: [(f64, f64); 3] = [(0.0, 1.10), (0.01, 1.15), (0.05, 1.25)];
/// 63 messages of 128,000 bytes in 32 packets each, at 80 ps a byte.
const IDEAL_US: f64 = 63.0 * (128_000.0 + 32.0 * 98.0) * 80e-6;

pub(super) fn figures() -> Result<Vec<Figure>, ScenarioError> {
    let flows = traffic("a2a64_4032")?;
    let mut figures = Vec::new();
    for (loss, most) in CASES {
        let mut scenario = scenario("a2a64_4032", 64, 1);
        scenario.add_loss(loss);
        let results = run(&scenario, &flows)?;
        let name = format!("4,032 connections x 128 KB, loss {}", percent(loss));
        let over = |result: &RunResult| result.end_us / IDEAL_US;
        figures.extend(over_seeds(
            &format!("{name}: last over ideal"),
            "",
            Better::Lower,
            Some(most),
            &results,
            over,
        ));
        figures.push(faultless(&name, &results));
    }
    Ok(figures)
}
