//! What comes out of the main job, for people and programs.

use crate::fabric::{LinkCounts, PortCounts};
use osprey_hls::regs::counters::COUNTERS;
use osprey_host::verbs::PathTelemetry;
use serde::Serialize;
use std::collections::BTreeMap;

/// Use of the line up to a moment.
#[derive(Debug, Clone, Serialize)]
pub struct Sample {
    /// Cycles since the first post.
    pub cycle: u64,
    /// Bytes whose messages have completed.
    pub bytes: u64,
    /// Bytes that the sender has put on the line, by plane.
    pub line_bytes: Vec<u64>,
}

/// One path of the sender.
#[derive(Debug, Clone, Serialize)]
pub struct PathResult {
    /// Plane.
    pub plane: u8,
    /// Number in its plane.
    pub k: u8,
    /// DATA packets sent, resends included.
    pub packets: u32,
    /// Payload bytes of these.
    pub bytes: u64,
    /// Packets sent again.
    pub retransmissions: u32,
    /// Probes sent.
    pub probes: u32,
    /// Losses found by an ACK of later packets.
    pub found_by_ordinal: u32,
    /// Losses found by the answer to a probe.
    pub found_by_probe: u32,
    /// Losses presumed after a time without answer.
    pub found_by_timeout: u32,
    /// Least round trip; `None` without samples, as the next two.
    pub rtt_min_us: Option<f64>,
    /// Mean round trip.
    pub rtt_mean_us: Option<f64>,
    /// Greatest round trip.
    pub rtt_max_us: Option<f64>,
}

impl From<&PathTelemetry> for PathResult {
    fn from(path: &PathTelemetry) -> Self {
        let us = |value: f64| (path.rtt_samples > 0).then_some(value * 0.128);
        Self {
            plane: path.path.plane(),
            k: path.path.k(),
            packets: path.packets,
            bytes: path.bytes,
            retransmissions: path.retransmissions,
            probes: path.probes,
            found_by_ordinal: path.lost_by_ordinal,
            found_by_probe: path.lost_by_probe,
            found_by_timeout: path.lost_by_timeout,
            rtt_min_us: us(path.rtt_min.into()),
            rtt_mean_us: us(path.rtt_sum as f64 / f64::from(path.rtt_samples.max(1))),
            rtt_max_us: us(path.rtt_max.into()),
        }
    }
}

/// One direction of one plane, as the fabric saw it.
#[derive(Debug, Clone, Serialize)]
pub struct LinkResult {
    /// `a` or `b`.
    pub from: &'static str,
    /// Plane.
    pub plane: usize,
    /// Counts.
    pub counts: LinkCounts,
    /// Counts by UDP source port.
    pub ports: BTreeMap<u16, PortCounts>,
}

/// What came out.
#[derive(Debug, Clone, Serialize)]
pub struct JobResult {
    /// `pass` or `fail`.
    pub verdict: &'static str,
    /// What the witnesses found wrong; empty if passed.
    pub wrong: Vec<String>,
    /// Configuration of the engine.
    pub configuration: String,
    /// Seed of everything random.
    pub seed: u64,
    /// Planes in use.
    pub planes: usize,
    /// Paths of each plane.
    pub paths_per_plane: u8,
    /// Chance of loss, from 0 to 1.
    pub loss: f64,
    /// Bytes sent.
    pub bytes: u64,
    /// SHA-256 of what was sent.
    pub sha256_sent: String,
    /// SHA-256 of what arrived.
    pub sha256_received: String,
    /// Cycles from the first post to the last completion.
    pub cycles: u64,
    /// The same in microseconds of the engine's time.
    pub microseconds: f64,
    /// Payload over that time.
    pub goodput_gbps: f64,
    /// All planes together.
    pub line_gbps: f64,
    /// Goodput over line rate.
    pub goodput_fraction: f64,
    /// DATA packets sent, resends included.
    pub packets: u64,
    /// DATA packets that the fabric did not deliver intact.
    pub lost: u64,
    /// Losses found by an ACK of later packets.
    pub found_by_ordinal: u64,
    /// Losses found by the answer to a probe.
    pub found_by_probe: u64,
    /// Losses presumed after a time without answer.
    pub found_by_timeout: u64,
    /// DATA packets sent again.
    pub retransmissions: u64,
    /// Probes sent.
    pub probes: u64,
    /// Completions seen.
    pub completions: u64,
    /// Pairs of independent counts that were compared.
    pub counts_compared: usize,
    /// The sender's paths.
    pub paths: Vec<PathResult>,
    /// Counters of both engines that are not zero, by name.
    pub counters: BTreeMap<&'static str, BTreeMap<&'static str, u32>>,
    /// The fabric.
    pub links: Vec<LinkResult>,
    /// Line use over time.
    pub samples: Vec<Sample>,
    /// Frames in the capture, if there is one.
    pub captured: Option<u64>,
}

/// Counters that are not zero, by name.
pub(super) fn named(counters: &[u32]) -> BTreeMap<&'static str, u32> {
    let pairs = COUNTERS
        .iter()
        .zip(counters)
        .filter(|(_, value)| **value != 0);
    pairs.map(|((name, _), value)| (*name, *value)).collect()
}
