//! Beyond the fabric that the rules were fitted to: other rates, oversubscription, three tiers, mixed sizes, a grey
//! path, a straggling receiver, hundreds of senders. Reported, without targets.

use super::{PAYLOAD_SHARE, fault, faultless, over_seeds, run, scenario, traffic};
use crate::error::ScenarioError;
use crate::fault::Action;
use crate::result::RunResult;
use crate::scenario::{Scenario, Shape};
use crate::workload::{Traffic, Workload};
use osprey_report::{Better, Figure};
use std::path::Path;

pub(super) fn figures() -> Result<Vec<Figure>, ScenarioError> {
    let mut figures = faster()?;
    figures.extend(oversubscribed()?);
    figures.extend(three_tiers()?);
    figures.extend(mixed()?);
    figures.extend(grey()?);
    figures.extend(straggler()?);
    figures.extend(limited_senders()?);
    figures.extend(four_hundred()?);
    Ok(figures)
}

fn goodput(result: &RunResult) -> f64 {
    result.classes[0].goodput_mean
}

/// Goodput and slowest flow of a case.
fn told(name: &str, scenario: &Scenario, flows: &Traffic) -> Result<Vec<Figure>, ScenarioError> {
    let results = run(scenario, flows)?;
    let slowest = |result: &RunResult| result.classes[0].goodput_min;
    let mut figures = Vec::new();
    figures.extend(over_seeds(
        &format!("{name}: goodput"),
        "of line",
        Better::Higher,
        None,
        &results,
        goodput,
    ));
    figures.extend(over_seeds(
        &format!("{name}: slowest flow"),
        "of line",
        Better::Higher,
        None,
        &results,
        slowest,
    ));
    figures.push(faultless(name, &results));
    Ok(figures)
}

/// Leaves the fabric's queue and marks to follow the bandwidth-delay product.
fn scaled(mut scenario: Scenario) -> Scenario {
    scenario.fabric.queue_bytes = None;
    scenario.fabric.mark_low_bytes = None;
    scenario.fabric.mark_high_bytes = None;
    scenario
}

fn faster() -> Result<Vec<Figure>, ScenarioError> {
    let mut scenario = scaled(scenario("perm64_20m", 64, 1));
    scenario.fabric.rate_gbps = 400.0;
    let mut figures = told(
        "400 Gb/s, 20 MB permutation",
        &scenario,
        &traffic("perm64_20m")?,
    )?;
    scenario.add_loss(0.01);
    figures.extend(told(
        "400 Gb/s, 20 MB permutation, loss 1 %",
        &scenario,
        &traffic("perm64_20m")?,
    )?);
    Ok(figures)
}

fn oversubscribed() -> Result<Vec<Figure>, ScenarioError> {
    let mut scenario = scenario("perm64_20m", 64, 1);
    scenario.fabric.shape = Shape::LeafSpine {
        hosts: 64,
        leaves: 8,
        spines: 2,
    };
    told(
        "4:1 oversubscription, 20 MB permutation (limit .25)",
        &scenario,
        &traffic("perm64_20m")?,
    )
}

fn three_tiers() -> Result<Vec<Figure>, ScenarioError> {
    let mut scenario = scaled(scenario("perm64_20m", 64, 1));
    scenario.fabric.shape = Shape::FatTree { ports: 8 };
    let flows = Workload::Permutation { bytes: 20_000_000 }.traffic(
        scenario.hosts()?,
        1,
        Path::new("."),
    )?;
    told(
        "three tiers, 128 hosts, 20 MB permutation",
        &scenario,
        &flows,
    )
}

fn mixed() -> Result<Vec<Figure>, ScenarioError> {
    let scenario = scenario("mixed", 64, 1);
    let workload = Workload::Mixed {
        small_bytes: 4_000,
        small_count: 200,
        small_every_us: 5.0,
        large_bytes: 2_000_000,
        large_count: 5,
    };
    let flows = workload.traffic(scenario.hosts()?, 1, Path::new("."))?;
    let results = run(&scenario, &flows)?;
    let name = "mixed: 4 KB every 5 us beside 2 MB messages";
    let mut figures = Vec::new();
    let small = |value: fn(&crate::result::ClassResult) -> f64| {
        move |result: &RunResult| value(&result.classes[0])
    };
    figures.extend(over_seeds(
        &format!("{name}: small p50"),
        "us",
        Better::Lower,
        None,
        &results,
        small(|c| c.p50_us),
    ));
    figures.extend(over_seeds(
        &format!("{name}: small p99"),
        "us",
        Better::Lower,
        None,
        &results,
        small(|c| c.p99_us),
    ));
    figures.extend(over_seeds(
        &format!("{name}: small p99.9"),
        "us",
        Better::Lower,
        None,
        &results,
        small(|c| c.p999_us),
    ));
    let large = |result: &RunResult| result.classes[1].goodput_mean;
    figures.extend(over_seeds(
        &format!("{name}: large goodput"),
        "of line",
        Better::Higher,
        None,
        &results,
        large,
    ));
    figures.push(faultless(name, &results));
    Ok(figures)
}

fn grey() -> Result<Vec<Figure>, ScenarioError> {
    let mut scenario = scenario("perm64_20m", 64, 1);
    scenario
        .faults
        .push(fault("spine 3", 0.0, None, Action::Loss { rate: 0.02 }));
    told(
        "grey spine (2 % loss on it alone), 20 MB permutation",
        &scenario,
        &traffic("perm64_20m")?,
    )
}

/// One receiver's link at a quarter of the rate: the others must not suffer.
fn straggler() -> Result<Vec<Figure>, ScenarioError> {
    let mut scenario = scenario("perm64_2m", 64, 1);
    scenario.faults.push(fault(
        "leaf-to-host host 22",
        0.0,
        None,
        Action::Rate { part: 0.25 },
    ));
    let results = run(&scenario, &traffic("perm64_2m")?)?;
    let name = "straggling receiver (a quarter of the rate), 2 MB permutation";
    let of = |slow: bool| {
        move |result: &RunResult| {
            let rates = result
                .flows
                .iter()
                .filter(move |flow| (flow.to == 22) == slow)
                .filter_map(|flow| flow.completion_us);
            let (count, sum) = rates.fold((0.0, 0.0), |(count, sum), us| {
                (count + 1.0, sum + 2e6 * 8e-5 / us)
            });
            sum / f64::max(count, 1.0)
        }
    };
    let mut figures = Vec::new();
    figures.extend(over_seeds(
        &format!("{name}: goodput to it (limit .25)"),
        "of line",
        Better::Higher,
        None,
        &results,
        of(true),
    ));
    figures.extend(over_seeds(
        &format!("{name}: goodput of the others"),
        "of line",
        Better::Higher,
        None,
        &results,
        of(false),
    ));
    figures.push(faultless(name, &results));
    Ok(figures)
}

/// Seven of eight senders to one host are limited to 2 Gb/s by their own links: the eighth may have what they leave.
fn limited_senders() -> Result<Vec<Figure>, ScenarioError> {
    let mut scenario = scenario("limited", 64, 1);
    for host in 57..64 {
        let target = format!("host-to-leaf host {host}");
        let action = Action::Rate { part: 0.02 };
        scenario.faults.push(fault(&target, 0.0, None, action));
    }
    let mut flows = Workload::Incast {
        senders: 8,
        bytes: 1_000_000,
        messages: 1,
    }
    .traffic(scenario.hosts()?, 1, Path::new("."))?;
    flows
        .flows
        .iter_mut()
        .filter(|flow| flow.from == 56)
        .for_each(|flow| flow.bytes = 20_000_000);
    let results = run(&scenario, &flows)?;
    let free = |result: &RunResult| {
        let flow = result.flows.iter().find(|flow| flow.from == 56);
        flow.and_then(|flow| flow.completion_us)
            .map_or(0.0, |us| 20e6 * 8e-5 / us)
    };
    let name = "seven of eight senders limited to 2 Gb/s";
    let figure = format!("{name}: goodput of the eighth (limit about .84)");
    let mut figures = over_seeds(&figure, "of line", Better::Higher, None, &results, free).to_vec();
    figures.push(faultless(name, &results));
    Ok(figures)
}

fn four_hundred() -> Result<Vec<Figure>, ScenarioError> {
    let mut scenario = scenario("incast400", 1_024, 1);
    scenario.limit_us = 1e6;
    let flows = Workload::Incast {
        senders: 400,
        bytes: 250_000,
        messages: 1,
    }
    .traffic(scenario.hosts()?, 1, Path::new("."))?;
    let results = run(&scenario, &flows)?;
    let ideal_us = 400.0 * 250_000.0 * 8e-5 / PAYLOAD_SHARE;
    let name = "400 senders of 250 KB to one receiver";
    let over = |result: &RunResult| result.end_us / ideal_us;
    let jain = |result: &RunResult| result.classes[0].jain;
    let dropped =
        |result: &RunResult| result.network.queue_full as f64 / result.data_packets as f64;
    let mut figures = Vec::new();
    figures.extend(over_seeds(
        &format!("{name}: completion over ideal"),
        "",
        Better::Lower,
        None,
        &results,
        over,
    ));
    figures.extend(over_seeds(
        &format!("{name}: Jain"),
        "",
        Better::Higher,
        None,
        &results,
        jain,
    ));
    figures.extend(over_seeds(
        &format!("{name}: dropped at full queues"),
        "of packets",
        Better::Lower,
        None,
        &results,
        dropped,
    ));
    figures.push(faultless(name, &results));
    Ok(figures)
}
