//! Many runs: which of them a shard makes, and how the results of shards become one.
//!
//! A result file holds one run's result a line (JSON), so files of shards are merged by putting them together; the
//! order of runs comes from their values, not from the order of files.

use crate::error::ScenarioError;
use crate::result::RunResult;
use crate::scenario::Scenario;
use crate::simulation::{Progress, Simulation};
use std::path::Path;
use std::str::FromStr;

/// Part `index` of `count`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Shard {
    /// Which part, from 0.
    pub index: usize,
    /// Of how many.
    pub count: usize,
}

impl Shard {
    /// All runs.
    pub const WHOLE: Self = Self { index: 0, count: 1 };
}

impl FromStr for Shard {
    type Err = ScenarioError;

    fn from_str(text: &str) -> Result<Self, ScenarioError> {
        let parts = text
            .split_once('/')
            .and_then(|(index, count)| Some((index.parse().ok()?, count.parse().ok()?)));
        match parts {
            Some((index, count)) if index < count => Ok(Self { index, count }),
            _ => Err(ScenarioError::Shard(text.to_owned())),
        }
    }
}

/// Makes the runs of a shard, one after the other. `told` hears of progress (run, runs, progress), `done` of each result.
pub fn run(
    scenario: &Scenario,
    folder: &Path,
    shard: Shard,
    with_flows: bool,
    mut told: impl FnMut(usize, usize, Progress),
    mut done: impl FnMut(RunResult),
) -> Result<(), ScenarioError> {
    let runs: Vec<Scenario> = scenario
        .runs()
        .into_iter()
        .skip(shard.index)
        .step_by(shard.count)
        .collect();
    let count = runs.len();
    for (index, run) in runs.into_iter().enumerate() {
        let mut simulation = Simulation::new(run, folder)?;
        simulation.run(|progress| told(index, count, progress));
        done(simulation.outcome(with_flows));
    }
    Ok(())
}

/// Reads result files and puts their runs in order. A run that stands in two files is kept once.
pub fn merge(paths: &[&Path]) -> Result<Vec<RunResult>, ScenarioError> {
    let mut results: Vec<RunResult> = Vec::new();
    for path in paths {
        let shown = path.display().to_string();
        let text = std::fs::read_to_string(path).map_err(|source| ScenarioError::Read {
            path: shown.clone(),
            source,
        })?;
        for (index, line) in text
            .lines()
            .enumerate()
            .filter(|(_, line)| !line.trim().is_empty())
        {
            let result = serde_json::from_str(line).map_err(|error| ScenarioError::Trace {
                path: shown.clone(),
                line: index + 1,
                message: format!("not a run's result ({error}): was the file cut off?"),
            })?;
            results.push(result);
        }
    }
    results.sort_by(|a, b| {
        order(a)
            .partial_cmp(&order(b))
            .unwrap_or(std::cmp::Ordering::Equal)
    });
    results.dedup_by(|a, b| order(a) == order(b));
    Ok(results)
}

/// What tells runs apart.
fn order(result: &RunResult) -> (&str, f64, u8, u32, f64, u64) {
    (
        &result.scenario,
        result.loss,
        result.paths,
        result.planes,
        result.rate_gbps,
        result.seed,
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shards_are_written_as_part_of_whole() {
        assert_eq!(
            "1/4".parse::<Shard>().unwrap(),
            Shard { index: 1, count: 4 }
        );
        for wrong in ["", "4", "4/4", "-1/2", "a/b", "1/0"] {
            assert!(
                wrong
                    .parse::<Shard>()
                    .unwrap_err()
                    .to_string()
                    .contains("i/n"),
                "{wrong}"
            );
        }
    }
}
