//! The main job on a pair of engines: everything around the transfer, and the verdict of all witnesses.

use super::conservation::{conservation, of_kind};
use super::result::named;
use super::{JobResult, LinkResult, Outcome, PathResult, Progress, TransferConfig, transfer};
use crate::engine::{EngineError, source};
use crate::fabric::{Kind, Link};
use crate::hosts::HostsError;
use crate::pair::{Pair, PairConfig};
use crate::pcapng::Capture;
use osprey_host::verbs::Config;
use std::io::Write;
use std::path::PathBuf;

/// Everything about a job.
pub struct JobConfig {
    /// Configuration of the engine: `edge` or `lab`.
    pub configuration: String,
    /// What stands around the engines; its seed and planes are the job's.
    pub pair: PairConfig,
    /// The bytes to send.
    pub data: Vec<u8>,
    /// Bytes of a message.
    pub message_bytes: usize,
    /// Offset of source and target in their first pages.
    pub offsets: (usize, usize),
    /// Most payload bytes of a packet.
    pub mtu: u16,
    /// Paths of each plane.
    pub paths_per_plane: u8,
    /// Most packets in flight on a path.
    pub path_window: u8,
    /// Cycles without a completion after which the job is given up.
    pub patience_cycles: u64,
    /// Where the capture goes.
    pub capture: Option<Box<dyn Write>>,
    /// Where the sender's waveforms go.
    pub trace: Option<PathBuf>,
}

impl JobConfig {
    /// A job with usual settings.
    pub fn new(data: Vec<u8>) -> Self {
        Self {
            configuration: "lab".into(),
            pair: PairConfig::default(),
            data,
            message_bytes: 1 << 20,
            offsets: (3, 13),
            mtu: 4096,
            paths_per_plane: 8,
            path_window: 32,
            patience_cycles: 1_000_000,
            capture: None,
            trace: None,
        }
    }
}

/// Why a job has no result.
#[derive(Debug, thiserror::Error)]
pub enum JobError {
    /// There is no engine.
    #[error(transparent)]
    Engine(#[from] EngineError),
    /// The engine has fewer planes.
    #[error("{asked} planes asked for, configuration {configuration} has {has}")]
    Planes {
        /// Planes asked for.
        asked: usize,
        /// Planes of the engine.
        has: usize,
        /// Its configuration.
        configuration: String,
    },
    /// The transfer did not end.
    #[error("{error}{violations}")]
    Transfer {
        /// Why.
        error: HostsError,
        /// Rules that were broken before.
        violations: String,
    },
    /// The capture cannot be written.
    #[error("capture: {0}")]
    Capture(#[from] pcap_file::PcapError),
}

/// Runs a job from the engine's Verilog to the verdict.
pub fn run(
    mut config: JobConfig,
    progress: &mut dyn FnMut(Progress),
) -> Result<JobResult, JobError> {
    let source = source(&config.configuration, config.trace.is_some())?;
    let mut pair = Pair::new(&source, &config.pair)?;
    if pair.planes() != config.pair.planes {
        let (asked, has) = (config.pair.planes, pair.planes());
        return Err(JobError::Planes {
            asked,
            has,
            configuration: config.configuration,
        });
    }
    if let Some(path) = &config.trace {
        pair.engine(0).trace(path);
    }
    if let Some(output) = config.capture.take() {
        let capture = Capture::new(output, &pair.port_names())?;
        pair.capture(capture);
    }
    let outcome =
        transfer(&mut pair, &transfer_config(&mut config), progress).map_err(|error| {
            let violations = pair
                .violations()
                .iter()
                .map(|what| format!("\n  {what}"))
                .collect();
            JobError::Transfer { error, violations }
        })?;
    let captured = pair.take_capture().map(Capture::finish).transpose()?;
    Ok(result(&config, &pair, outcome, captured))
}

fn transfer_config(config: &mut JobConfig) -> TransferConfig {
    let mut host = Config::new(Vec::new());
    host.mtu = config.mtu;
    host.paths_per_plane = config.paths_per_plane;
    host.path_window = config.path_window;
    host.time_increment = (65536.0 * 1000.0 / config.pair.clock_mhz / 128.0).round() as u16;
    TransferConfig {
        data: std::mem::take(&mut config.data),
        message_bytes: config.message_bytes,
        source_offset: config.offsets.0,
        target_offset: config.offsets.1,
        host,
        planes: config.pair.planes,
        seed: config.pair.seed,
        patience_cycles: config.patience_cycles,
    }
}

fn result(config: &JobConfig, pair: &Pair, outcome: Outcome, captured: Option<u64>) -> JobResult {
    let conservation = conservation(pair, &outcome, config.pair.faults.corruption > 0.0);
    let mut wrong = outcome.wrong;
    wrong.extend(pair.violations());
    wrong.extend(
        conservation
            .judge()
            .into_iter()
            .map(|what| format!("counts differ: {what}")),
    );
    let sum = |of: fn(&PathResult) -> u32, paths: &[PathResult]| {
        paths.iter().map(|p| u64::from(of(p))).sum()
    };
    let paths: Vec<PathResult> = outcome.paths.iter().map(PathResult::from).collect();
    let seconds = outcome.cycles as f64 / (config.pair.clock_mhz * 1e6);
    let bytes = outcome.samples.last().map_or(0, |sample| sample.bytes);
    let goodput_gbps = if seconds > 0.0 {
        bytes as f64 * 8.0 / seconds / 1e9
    } else {
        0.0
    };
    let line_gbps = config.pair.rate_gbps * config.pair.planes as f64;
    JobResult {
        verdict: if wrong.is_empty() { "pass" } else { "fail" },
        wrong,
        configuration: config.configuration.clone(),
        seed: config.pair.seed,
        planes: config.pair.planes,
        paths_per_plane: config.paths_per_plane,
        loss: config.pair.faults.loss,
        bytes,
        sha256_sent: outcome.sha256_sent,
        sha256_received: outcome.sha256_received,
        cycles: outcome.cycles,
        microseconds: seconds * 1e6,
        goodput_gbps,
        line_gbps,
        goodput_fraction: goodput_gbps / line_gbps,
        packets: sum(|p| p.packets, &paths),
        lost: of_kind(pair.links(0), Kind::Data, |counts| counts.failed_by_kind),
        found_by_ordinal: sum(|p| p.found_by_ordinal, &paths),
        found_by_probe: sum(|p| p.found_by_probe, &paths),
        found_by_timeout: sum(|p| p.found_by_timeout, &paths),
        retransmissions: sum(|p| p.retransmissions, &paths),
        probes: sum(|p| p.probes, &paths),
        completions: outcome.completions,
        counts_compared: conservation.checked(),
        paths,
        counters: [
            ("a", named(&outcome.counters[0])),
            ("b", named(&outcome.counters[1])),
        ]
        .into(),
        links: links(pair),
        samples: outcome.samples,
        captured,
    }
}

fn links(pair: &Pair) -> Vec<LinkResult> {
    let of = |side: usize| {
        let link = move |(plane, link): (usize, &Link)| LinkResult {
            from: ["a", "b"][side],
            plane,
            counts: *link.counts(),
            ports: link.ports().clone(),
        };
        pair.links(side)
            .iter()
            .enumerate()
            .map(link)
            .collect::<Vec<_>>()
    };
    [of(0), of(1)].concat()
}
