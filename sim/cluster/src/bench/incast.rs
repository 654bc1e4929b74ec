//! Incast: last completion over k x size x 8 / (line x payload share), and Jain's index over the flows' rates.

use super::{PAYLOAD_SHARE, SHORT_SEEDS, faultless, over_seeds, run_with, scenario, traffic};
use crate::error::ScenarioError;
use crate::result::RunResult;
use osprey_report::{Better, Figure, percent};

/// Loss, most completion over ideal.
const CASES: [(f64, f64); 2] = [(0.0, 1.013), (0.05, 1.08)];

pub(super) fn figures() -> Result<Vec<Figure>, ScenarioError> {
    let mut figures = Vec::new();
    for senders in [32, 16] {
        let name = format!("incast{senders}_1m");
        let flows = traffic(&name)?;
        let ideal_us = f64::from(senders) * 1e6 * 8e-5 / PAYLOAD_SHARE;
        for (loss, most) in CASES {
            let mut scenario = scenario(&name, 64, 1);
            scenario.add_loss(loss);
            let results = run_with(SHORT_SEEDS, &scenario, &flows)?;
            let name = format!("incast {senders}:1 of 1 MB, loss {}", percent(loss));
            let over = |result: &RunResult| result.end_us / ideal_us;
            let jain = |result: &RunResult| result.classes[0].jain;
            figures.extend(over_seeds(
                &format!("{name}: completion over ideal"),
                "",
                Better::Lower,
                Some(most),
                &results,
                over,
            ));
            let least = (loss == 0.0).then_some(0.9995);
            figures.extend(over_seeds(
                &format!("{name}: Jain"),
                "",
                Better::Higher,
                least,
                &results,
                jain,
            ));
            figures.push(faultless(&name, &results));
        }
    }
    Ok(figures)
}
