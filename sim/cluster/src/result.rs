//! What a run showed, as numbers.

use crate::network::NetworkCounts;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// A flow's times.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct FlowResult {
    /// Sender.
    pub from: u32,
    /// Receiver.
    pub to: u32,
    /// Length.
    pub bytes: u64,
    /// Start, microseconds.
    pub start_us: f64,
    /// From the start until the sender knew that the last byte had arrived; `None` if it never did.
    pub completion_us: Option<f64>,
    /// Class, an index.
    pub class: u8,
}

/// Statistics of the flows of one class.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Default)]
pub struct ClassResult {
    /// Name.
    pub name: String,
    /// Flows.
    pub flows: u64,
    /// Flows that completed.
    pub completed: u64,
    /// Mean over flows of size / completion time / line rate of all planes.
    pub goodput_mean: f64,
    /// The slowest flow's.
    pub goodput_min: f64,
    /// Completion times, microseconds: median.
    pub p50_us: f64,
    /// 99 of 100.
    pub p99_us: f64,
    /// 999 of 1,000.
    pub p999_us: f64,
    /// The slowest.
    pub max_us: f64,
    /// Jain's index over the flows' rates.
    pub jain: f64,
}

/// A run's result.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RunResult {
    /// Name of the scenario.
    pub scenario: String,
    /// Its values that a sweep may change.
    pub loss: f64,
    /// Paths a plane.
    pub paths: u8,
    /// Planes.
    pub planes: u32,
    /// Rate of a link, Gb/s.
    pub rate_gbps: f64,
    /// Seed.
    pub seed: u64,
    /// `pass` if every flow completed and no witness found a fault.
    pub verdict: String,
    /// What witnesses found, the first of it.
    pub findings: Vec<String>,
    /// When the last flow completed, microseconds.
    pub end_us: f64,
    /// Statistics by class.
    pub classes: Vec<ClassResult>,
    /// DATA packets that the endpoints sent.
    pub data_packets: u64,
    /// What the fabric did.
    pub network: NetworkCounts,
    /// Longest queue, in bytes.
    pub queue_bytes_max: u64,
    /// Counters of all endpoints together, those that are not zero.
    pub counters: BTreeMap<String, u64>,
    /// Bytes of DATA packets on the last link by sample.
    pub samples: Vec<u64>,
    /// Length of a sample, microseconds.
    pub sample_us: f64,
    /// Flows, if they were asked for.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub flows: Vec<FlowResult>,
}

impl RunResult {
    /// Rate at which DATA arrived between two times, as a part of `line_gbps` (all hosts and planes together).
    pub fn rate_between(&self, from_us: f64, until_us: f64, line_gbps: f64) -> f64 {
        let index = |us: f64| ((us / self.sample_us).round() as usize).min(self.samples.len());
        let bytes: u64 = self.samples[index(from_us)..index(until_us)].iter().sum();
        bytes as f64 * 8e-3 / (until_us - from_us) / line_gbps
    }

    /// First time at or after `from_us` from which a whole sample reaches `part` of `line_gbps`.
    pub fn reaches(&self, from_us: f64, part: f64, line_gbps: f64) -> Option<f64> {
        let first = (from_us / self.sample_us).ceil() as usize;
        let enough = |bytes: &u64| *bytes as f64 * 8e-3 / self.sample_us / line_gbps >= part;
        let found = self.samples.iter().skip(first).position(enough)?;
        Some((first + found) as f64 * self.sample_us)
    }

    /// A counter, 0 if it never counted.
    pub fn counter(&self, name: &str) -> u64 {
        self.counters.get(name).copied().unwrap_or(0)
    }
}

/// Statistics of one class of flows. `line_gbps` is what one host can send.
pub fn class(name: &str, flows: &[FlowResult], line_gbps: f64) -> ClassResult {
    let mut times: Vec<f64> = flows.iter().filter_map(|flow| flow.completion_us).collect();
    times.sort_unstable_by(f64::total_cmp);
    let rate = |flow: &FlowResult| {
        flow.completion_us
            .map_or(0.0, |us| flow.bytes as f64 * 8e-3 / us / line_gbps)
    };
    let rates: Vec<f64> = flows.iter().map(rate).collect();
    let (sum, squares) = rates
        .iter()
        .fold((0.0, 0.0), |(sum, squares), r| (sum + r, squares + r * r));
    let count = rates.len().max(1) as f64;
    ClassResult {
        name: name.to_owned(),
        flows: flows.len() as u64,
        completed: times.len() as u64,
        goodput_mean: sum / count,
        goodput_min: rates.iter().copied().reduce(f64::min).unwrap_or(0.0),
        p50_us: quantile(&times, 0.5),
        p99_us: quantile(&times, 0.99),
        p999_us: quantile(&times, 0.999),
        max_us: times.last().copied().unwrap_or(0.0),
        jain: if squares > 0.0 {
            sum * sum / (count * squares)
        } else {
            0.0
        },
    }
}

/// The value that a part of the sorted values does not exceed.
pub fn quantile(sorted: &[f64], part: f64) -> f64 {
    if sorted.is_empty() {
        return 0.0;
    }
    let rank = (part * sorted.len() as f64).ceil() as usize;
    sorted[rank.clamp(1, sorted.len()) - 1]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn flow(completion_us: Option<f64>) -> FlowResult {
        FlowResult {
            from: 0,
            to: 1,
            bytes: 1_250_000,
            start_us: 0.0,
            completion_us,
            class: 0,
        }
    }

    #[test]
    fn statistics_are_those_of_hand() {
        let flows = [flow(Some(100.0)), flow(Some(200.0)), flow(None)];
        let result = class("all", &flows, 100.0);
        assert_eq!((result.flows, result.completed), (3, 2));
        assert!((result.goodput_mean - 0.5).abs() < 1e-12);
        assert_eq!(
            (result.goodput_min, result.p50_us, result.max_us),
            (0.0, 100.0, 200.0)
        );
        assert!((result.jain - 2.25 / (3.0 * 1.25)).abs() < 1e-12);
    }

    #[test]
    fn quantiles_are_values_that_occur() {
        let values: Vec<f64> = (1..=64).map(f64::from).collect();
        assert_eq!(quantile(&values, 0.99), 64.0);
        assert_eq!(quantile(&values, 0.5), 32.0);
        assert_eq!(quantile(&[], 0.5), 0.0);
    }
}
