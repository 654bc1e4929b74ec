//! From a run that has ended to its result.

use super::Simulation;
use crate::link::Link;
use crate::result::{FlowResult, RunResult, class};
use osprey_hls::endpoint::Counter;
use std::collections::BTreeMap;

impl Simulation {
    /// What the run showed. `with_flows` keeps every flow's times.
    pub fn outcome(mut self, with_flows: bool) -> RunResult {
        self.delivery.finish();
        if !self.network.balances() {
            let counts = self.network.counts;
            self.delivery
                .findings
                .add(|| format!("the fabric's packets do not add up: {counts:?}"));
        }
        let flows = self.flow_results();
        let line_gbps = self.scenario.fabric.rate_gbps * f64::from(self.scenario.fabric.planes);
        let of = |index: usize| {
            flows
                .iter()
                .filter(|flow| usize::from(flow.class) == index)
                .copied()
                .collect::<Vec<_>>()
        };
        let names = self.flows.traffic.classes.iter().enumerate();
        let classes = names
            .map(|(index, name)| class(name, &of(index), line_gbps))
            .collect();
        let end_us = self
            .flows
            .completed_ps
            .iter()
            .flatten()
            .max()
            .map_or(0.0, |ps| *ps as f64 * 1e-6);
        RunResult {
            scenario: self.scenario.name.clone(),
            loss: self.scenario.loss(),
            paths: self.scenario.transport.paths,
            planes: self.scenario.fabric.planes,
            rate_gbps: self.scenario.fabric.rate_gbps,
            seed: self.scenario.seeds[0],
            verdict: if self.delivery.findings.is_empty() {
                "pass"
            } else {
                "fail"
            }
            .to_owned(),
            findings: self.delivery.findings.described.clone(),
            end_us,
            classes,
            data_packets: self.data_packets,
            network: self.network.counts,
            queue_bytes_max: self
                .network
                .links
                .iter()
                .map(Link::queue_bytes_max)
                .max()
                .unwrap_or(0),
            counters: self.counters(),
            samples: self.samples,
            sample_us: self.scenario.sample_us,
            flows: if with_flows { flows } else { Vec::new() },
        }
    }

    fn flow_results(&self) -> Vec<FlowResult> {
        let result = |index: usize| {
            let flow = &self.flows.traffic.flows[index];
            let start_ps = self.flows.started_ps[index];
            FlowResult {
                from: flow.from,
                to: flow.to,
                bytes: flow.bytes,
                start_us: start_ps as f64 * 1e-6,
                completion_us: self.flows.completed_ps[index]
                    .map(|end| (end - start_ps) as f64 * 1e-6),
                class: flow.class,
            }
        };
        (0..self.flows.traffic.flows.len()).map(result).collect()
    }

    fn counters(&self) -> BTreeMap<String, u64> {
        let total = |counter: Counter| {
            self.hosts
                .iter()
                .map(|host| host.endpoint.counter(counter))
                .sum::<u64>()
        };
        Counter::ALL
            .iter()
            .map(|counter| (format!("{counter:?}"), total(*counter)))
            .filter(|(_, sum)| *sum > 0)
            .collect()
    }
}
