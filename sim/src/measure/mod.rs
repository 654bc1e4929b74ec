//! Measurements of the engine and of the simulation: figures with their targets.
//!
//! `throughput.rs` and `latency.rs` count cycles between transfers at the ports, so that a run on any
//! machine gives the same; `speed.rs` takes the time of the simulation itself. Nothing here is a test.

mod latency;
mod load;
mod speed;
mod throughput;

use osprey_report::{Better, Figure};

use crate::engine::EngineError;
use crate::hosts::HostsError;

/// Why there is no figure.
#[derive(Debug, thiserror::Error)]
pub enum MeasureError {
    /// There is no engine.
    #[error(transparent)]
    Engine(#[from] EngineError),
    /// The load did not run.
    #[error(transparent)]
    Hosts(#[from] HostsError),
    /// What should have moved at the ports did not.
    #[error("{what}: not seen at the ports of engine {side}")]
    NotSeen {
        /// What was looked for.
        what: &'static str,
        /// Of which engine.
        side: &'static str,
    },
}

/// Cycles: throughput and latency of the engine.
pub fn rtl() -> Result<Vec<Figure>, MeasureError> {
    Ok([throughput::figures()?, latency::figures()?].concat())
}

/// Cycles a second: the simulation.
pub fn simulation() -> Result<Vec<Figure>, MeasureError> {
    speed::figures()
}
