//! Permutation under loss: goodput (size / completion / line, mean of the flows) and p99 of completion times.

use super::{SHORT_SEEDS, faultless, over_seeds, run, run_with, scenario, traffic};
use crate::error::ScenarioError;
use crate::fate::Only;
use crate::fault::Action;
use crate::result::RunResult;
use osprey_report::{Better, Figure, percent};

/// Loss, least mean goodput, most p99 in microseconds.
const LONG: [(f64, f64, f64); 5] = [
    (0.0, 0.955, 1_700.0),
    (0.001, 0.953, 1_700.0),
    (0.01, 0.943, 1_730.0),
    (0.05, 0.898, 1_820.0),
    (0.1, 0.845, 1_940.0),
];

/// Loss, least mean goodput.
const SHORT: [(f64, f64); 3] = [(0.0, 0.88), (0.01, 0.86), (0.1, 0.74)];

fn goodput(result: &RunResult) -> f64 {
    result.classes[0].goodput_mean
}

pub(super) fn figures() -> Result<Vec<Figure>, ScenarioError> {
    let mut figures = Vec::new();
    let long = traffic("perm64_20m")?;
    let mut lossless = None;
    for (loss, least, p99_us) in LONG {
        let mut scenario = scenario("perm64_20m", 64, 1);
        scenario.add_loss(loss);
        let results = run(&scenario, &long)?;
        let name = format!("20 MB permutation, loss {}", percent(loss));
        let mean = over_seeds(
            &format!("{name}: goodput"),
            "of line",
            Better::Higher,
            Some(least),
            &results,
            goodput,
        );
        own_share(
            &mut figures,
            loss,
            mean[0].value,
            *lossless.get_or_insert(mean[0].value),
        );
        figures.extend(mean);
        let p99 = |result: &RunResult| result.classes[0].p99_us;
        figures.extend(over_seeds(
            &format!("{name}: p99"),
            "us",
            Better::Lower,
            Some(p99_us),
            &results,
            p99,
        ));
        figures.push(faultless(&name, &results));
        let fences = |result: &RunResult| result.counter("Condemned") as f64;
        figures.push(
            over_seeds(
                &format!("{name}: false fences"),
                "",
                Better::Lower,
                Some(0.0),
                &results,
                fences,
            )[0]
            .clone(),
        );
    }
    let short = traffic("perm64_2m")?;
    for (loss, least) in SHORT {
        let mut scenario = scenario("perm64_2m", 64, 1);
        scenario.add_loss(loss);
        let results = run_with(SHORT_SEEDS, &scenario, &short)?;
        let name = format!("2 MB permutation, loss {}", percent(loss));
        figures.extend(over_seeds(
            &format!("{name}: goodput"),
            "of line",
            Better::Higher,
            Some(least),
            &results,
            goodput,
        ));
        figures.push(faultless(&name, &results));
    }
    figures.extend(bursts()?);
    Ok(figures)
}

/// Goodput as a part of the own lossless one.
fn own_share(figures: &mut Vec<Figure>, loss: f64, goodput: f64, lossless: f64) {
    let least = match loss {
        0.01 => 0.985,
        0.1 => 0.885,
        _ => return,
    };
    let name = format!(
        "20 MB permutation, loss {}: goodput over lossless goodput",
        percent(loss)
    );
    figures.push(Figure::plain(name, goodput / lossless, "", Better::Higher).target(least));
}

/// Loss in bursts of 16 packets.
fn bursts() -> Result<Vec<Figure>, ScenarioError> {
    let mut scenario = scenario("perm64_20m", 64, 1);
    let action = Action::BurstLoss {
        rate: 0.05,
        length: 16.0,
    };
    scenario
        .faults
        .push(super::fault("leaf-to-host", 0.0, None, action));
    debug_assert_eq!(scenario.faults[0].only, Only::All);
    let results = run(&scenario, &traffic("perm64_20m")?)?;
    let name = "20 MB permutation, 5 % loss in bursts of 16";
    let slowest = |result: &RunResult| result.classes[0].goodput_min;
    let fences = |result: &RunResult| result.counter("Condemned") as f64;
    let mut figures = Vec::new();
    figures.extend(over_seeds(
        &format!("{name}: goodput"),
        "of line",
        Better::Higher,
        Some(0.88),
        &results,
        goodput,
    ));
    figures.extend(over_seeds(
        &format!("{name}: slowest flow"),
        "of line",
        Better::Higher,
        Some(0.80),
        &results,
        slowest,
    ));
    figures.extend(over_seeds(
        &format!("{name}: false fences"),
        "",
        Better::Lower,
        Some(0.0),
        &results,
        fences,
    ));
    figures.push(faultless(name, &results));
    Ok(figures)
}
