//! `bench cluster`: the transport on the work that other transports were measured on, with targets.
//!
//! The traffic files in `sim/cluster/traffic` and the fabric of 8, 16 or 32 leaves are that work, unchanged; three seeds, or sixteen
//! where a run is so short that a mean of three varies by .001; mean and worst. What is counted, and how, stands beside each case.

mod beyond;
mod collective;
mod failure;
mod incast;
mod permutation;
mod speed;

use crate::error::ScenarioError;
use crate::fate::Only;
use crate::fault::{Action, Fault};
use crate::result::RunResult;
use crate::scenario::{Fabric, Scenario, Shape, Sweep, Transport};
use crate::simulation::Simulation;
use crate::workload::trace;
use crate::workload::{Traffic, Workload};
use osprey_report::{Better, Figure};
use std::ops::RangeInclusive;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Seeds of every case that does not say otherwise.
const SEEDS: RangeInclusive<u64> = 1..=3;
/// Seeds of the short ones: 2 MB permutation, incast.
const SHORT_SEEDS: RangeInclusive<u64> = 1..=16;
/// Payload of a full packet over its bytes on the wire.
const PAYLOAD_SHARE: f64 = 4_052.0 / 4_150.0;

/// Groups of cases, by name: the whole suite in its order.
pub const GROUPS: [(&str, Group); 6] = [
    ("permutation", permutation::figures),
    ("incast", incast::figures),
    ("failure", failure::figures),
    ("collective", collective::figures),
    ("beyond", beyond::figures),
    ("speed", speed::figures),
];

/// Makes the figures of a group.
pub type Group = fn() -> Result<Vec<Figure>, ScenarioError>;

/// The fabric of the work: `hosts` hosts, as many leaves as spines as hosts a leaf (64: 8, 256: 16, 1,024: 32).
fn fabric(hosts: u32, planes: u32) -> Fabric {
    let side = f64::from(hosts).sqrt().round() as u32;
    let (leaves, spines) = (side, side);
    Fabric {
        shape: Shape::LeafSpine {
            hosts,
            leaves,
            spines,
        },
        planes,
        rate_gbps: 100.0,
        delay_ns: 1_000,
        queue_bytes: Some(175_284),
        mark_low_bytes: Some(24_900),
        mark_high_bytes: Some(99_600),
    }
}

/// A scenario of the work; its traffic comes from `traffic`.
fn scenario(name: &str, hosts: u32, planes: u32) -> Scenario {
    Scenario {
        name: name.to_owned(),
        seeds: vec![1],
        fabric: fabric(hosts, planes),
        transport: Transport::default(),
        workload: Workload::Trace {
            file: format!("{name}.cm"),
        },
        faults: Vec::new(),
        sweep: Sweep::default(),
        limit_us: 200_000.0,
        sample_us: 10.0,
    }
}

/// A traffic file of the work.
fn traffic(name: &str) -> Result<Traffic, ScenarioError> {
    let text = match name {
        "perm64_20m" => include_str!("../../traffic/perm64_20m.cm"),
        "perm64_2m" => include_str!("../../traffic/perm64_2m.cm"),
        "perm256_2m" => include_str!("../../traffic/perm256_2m.cm"),
        "perm1024_2m" => include_str!("../../traffic/perm1024_2m.cm"),
        "incast16_1m" => include_str!("../../traffic/incast16_1m.cm"),
        "incast32_1m" => include_str!("../../traffic/incast32_1m.cm"),
        "a2a64_4032" => include_str!("../../traffic/a2a64_4032.cm"),
        _ => {
            return Err(ScenarioError::Traffic(format!(
                "no traffic file called {name}"
            )));
        }
    };
    trace::parse(text, name)
}

/// Permanent fault.
fn fault(target: &str, from_us: f64, until_us: Option<f64>, action: Action) -> Fault {
    Fault {
        target: target.to_owned(),
        only: Only::All,
        from_us,
        until_us,
        action,
    }
}

/// Runs a scenario with [`SEEDS`].
fn run(scenario: &Scenario, traffic: &Traffic) -> Result<Vec<RunResult>, ScenarioError> {
    run_with(SEEDS, scenario, traffic)
}

/// Runs a scenario with these seeds, as many at a time as there are processors.
fn run_with(
    seeds: RangeInclusive<u64>,
    scenario: &Scenario,
    traffic: &Traffic,
) -> Result<Vec<RunResult>, ScenarioError> {
    let with = |seed| Scenario {
        seeds: vec![seed],
        ..scenario.clone()
    };
    run_all(seeds.map(with).collect(), traffic)
}

fn run_all(jobs: Vec<Scenario>, traffic: &Traffic) -> Result<Vec<RunResult>, ScenarioError> {
    let next = AtomicUsize::new(0);
    let workers = std::thread::available_parallelism()
        .map_or(1, usize::from)
        .min(jobs.len());
    let work = || {
        let mut done = Vec::new();
        while let Some(job) = jobs.get(next.fetch_add(1, Ordering::Relaxed)) {
            let simulation = Simulation::with_traffic(job.clone(), traffic.clone());
            done.push((
                job.seeds[0],
                simulation.map(|mut simulation| {
                    simulation.run(|_| {});
                    simulation.outcome(true)
                }),
            ));
        }
        done
    };
    let mut all = std::thread::scope(|scope| {
        let handles: Vec<_> = (0..workers).map(|_| scope.spawn(work)).collect();
        handles
            .into_iter()
            .flat_map(|handle| handle.join().expect("a run does not panic"))
            .collect::<Vec<_>>()
    });
    all.sort_by_key(|(seed, _)| *seed);
    all.into_iter().map(|(_, result)| result).collect()
}

/// Mean and worst of a value over the runs: two figures; the target is the mean's.
fn over_seeds(
    name: &str,
    unit: &'static str,
    better: Better,
    target: Option<f64>,
    results: &[RunResult],
    value: impl Fn(&RunResult) -> f64,
) -> [Figure; 2] {
    let values: Vec<f64> = results.iter().map(value).collect();
    let mean = values.iter().sum::<f64>() / values.len().max(1) as f64;
    let worst = values.iter().copied().reduce(match better {
        Better::Higher => f64::min,
        Better::Lower => f64::max,
    });
    let figure = Figure::plain(name, mean, unit, better);
    let figure = target.map_or(figure.clone(), |target| figure.target(target));
    [
        figure,
        Figure::plain(format!("{name}, worst"), worst.unwrap_or(0.0), unit, better),
    ]
}

/// Flows that did not complete and findings of witnesses, over all runs: must be 0.
fn faultless(name: &str, results: &[RunResult]) -> Figure {
    let open: u64 = results
        .iter()
        .flat_map(|result| &result.classes)
        .map(|class| class.flows - class.completed)
        .sum();
    let wrong = results
        .iter()
        .filter(|result| result.verdict != "pass")
        .count() as u64;
    for finding in results.iter().flat_map(|result| &result.findings).take(3) {
        eprintln!("{name}: {finding}");
    }
    Figure::plain(
        format!("{name}: flows that did not end, runs with findings"),
        (open + wrong) as f64,
        "",
        Better::Lower,
    )
    .target(0.0)
}
