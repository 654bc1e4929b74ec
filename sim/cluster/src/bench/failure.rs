//! Silent death of a spine, of a plane, of the reverse direction; planes together; a plane that comes back.

use super::{fault, faultless, over_seeds, run, scenario, traffic};
use crate::error::ScenarioError;
use crate::fate::Only;
use crate::fault::{Action, Fault};
use crate::result::RunResult;
use crate::scenario::Scenario;
use crate::workload::Traffic;
use osprey_report::{Better, Figure};

/// When things die, microseconds.
const DEATH_US: f64 = 200.0;
/// When a plane comes back.
const RETURN_US: f64 = 700.0;
/// Gb/s of 64 hosts and one plane.
const LINE_GBPS: f64 = 6_400.0;

pub(super) fn figures() -> Result<Vec<Figure>, ScenarioError> {
    let mut figures = spine()?;
    figures.extend(reverse()?);
    figures.extend(planes()?);
    figures.extend(plane_dies()?);
    figures.extend(plane_returns()?);
    Ok(figures)
}

fn goodput(result: &RunResult) -> f64 {
    result.classes[0].goodput_mean
}

/// One of 8 spines: the wire can carry .875.
fn spine() -> Result<Vec<Figure>, ScenarioError> {
    let mut scenario = scenario("perm64_20m", 64, 1);
    scenario
        .faults
        .push(fault("spine 3", DEATH_US, None, Action::Down));
    let results = run(&scenario, &traffic("perm64_20m")?)?;
    let name = "one of 8 spines dead";
    let rate =
        |result: &RunResult| result.rate_between(DEATH_US + 60.0, DEATH_US + 140.0, LINE_GBPS);
    let p99 = |result: &RunResult| result.classes[0].p99_us;
    let lost = |result: &RunResult| result.network.lost_data as f64;
    let mut figures = Vec::new();
    figures.extend(over_seeds(
        &format!("{name}: wire rate 60-140 us later"),
        "of line",
        Better::Higher,
        Some(0.86),
        &results,
        rate,
    ));
    figures.extend(over_seeds(
        &format!("{name}: p99"),
        "us",
        Better::Lower,
        Some(1_990.0),
        &results,
        p99,
    ));
    figures.extend(over_seeds(
        &format!("{name}: data packets lost"),
        "",
        Better::Lower,
        Some(600.0),
        &results,
        lost,
    ));
    figures.push(faultless(name, &results));
    Ok(figures)
}

/// ACKs alone die on one of 8 spines; goodput against the run without a fault.
fn reverse() -> Result<Vec<Figure>, ScenarioError> {
    let flows = traffic("perm64_20m")?;
    let healthy = scenario("perm64_20m", 64, 1);
    let mut scenario = healthy.clone();
    scenario.faults.push(Fault {
        only: Only::Ack,
        ..fault("spine 3", 0.0, None, Action::Down)
    });
    let (without, with) = (run(&healthy, &flows)?, run(&scenario, &flows)?);
    let base: f64 = without.iter().map(goodput).sum::<f64>() / without.len() as f64;
    let name = "reverse direction of one of 8 spines dead";
    let part = |result: &RunResult| goodput(result) / base;
    let mut figures = over_seeds(
        &format!("{name}: goodput over no fault"),
        "",
        Better::Higher,
        Some(0.99),
        &with,
        part,
    )
    .to_vec();
    figures.push(faultless(name, &with));
    Ok(figures)
}

/// The long permutation with 20 MB a plane.
fn wide(planes: u32) -> Result<(Scenario, Traffic), ScenarioError> {
    let mut flows = traffic("perm64_20m")?;
    flows
        .flows
        .iter_mut()
        .for_each(|flow| flow.bytes *= u64::from(planes));
    Ok((scenario("perm64_20m", 64, planes), flows))
}

fn planes() -> Result<Vec<Figure>, ScenarioError> {
    let mut figures = Vec::new();
    for (planes, least) in [(4, 0.95), (8, 0.945)] {
        let (scenario, flows) = wide(planes)?;
        let results = run(&scenario, &flows)?;
        let name = format!("{planes} planes: share of {planes} x 100 Gb/s");
        figures.extend(over_seeds(
            &name,
            "",
            Better::Higher,
            Some(least),
            &results,
            goodput,
        ));
        figures.push(faultless(&format!("{planes} planes"), &results));
    }
    Ok(figures)
}

/// Time from the death on until a sample reaches 0.95 of what three planes carry.
fn plane_dies() -> Result<Vec<Figure>, ScenarioError> {
    let (mut scenario, flows) = wide(4)?;
    scenario
        .faults
        .push(fault("plane 2", DEATH_US, None, Action::Down));
    let results = run(&scenario, &flows)?;
    let name = "one of 4 planes dead";
    let after = |result: &RunResult| {
        let reached = result.reaches(DEATH_US, 0.95, 3.0 * LINE_GBPS);
        reached.map_or(f64::INFINITY, |us| us + result.sample_us - DEATH_US)
    };
    let later = |result: &RunResult| {
        result.rate_between(DEATH_US + 50.0, DEATH_US + 150.0, 3.0 * LINE_GBPS)
    };
    let mut figures = Vec::new();
    figures.extend(over_seeds(
        &format!("{name}: until .95 of the rest"),
        "us",
        Better::Lower,
        Some(50.0),
        &results,
        after,
    ));
    figures.extend(over_seeds(
        &format!("{name}: wire rate 50-150 us later"),
        "of the rest",
        Better::Higher,
        Some(0.95),
        &results,
        later,
    ));
    figures.push(faultless(name, &results));
    Ok(figures)
}

/// Time from the return on until a sample reaches 0.95 of what all planes carry (of the rest, when a link is degraded).
fn plane_returns() -> Result<Vec<Figure>, ScenarioError> {
    let mut figures = Vec::new();
    for degraded in [false, true] {
        let (mut scenario, flows) = wide(4)?;
        scenario
            .faults
            .push(fault("plane 2", DEATH_US, Some(RETURN_US), Action::Down));
        let mut full = 4.0 * LINE_GBPS;
        if degraded {
            scenario.faults.push(fault(
                "plane 0 spine 1",
                0.0,
                None,
                Action::Rate { part: 0.5 },
            ));
            full -= LINE_GBPS / 16.0;
        }
        let results = run(&scenario, &flows)?;
        let name = if degraded {
            "plane restored, another path degraded"
        } else {
            "plane restored"
        };
        let after = |result: &RunResult| {
            let reached = result.reaches(RETURN_US, 0.95 * 0.955, full);
            reached.map_or(f64::INFINITY, |us| us + result.sample_us - RETURN_US)
        };
        figures.extend(over_seeds(
            &format!("{name}: until .95 of full rate"),
            "us",
            Better::Lower,
            Some(1_000.0),
            &results,
            after,
        ));
        figures.push(faultless(name, &results));
    }
    Ok(figures)
}
