//! The main job: bytes go from host A to host B by WRITEs, and every witness is asked afterwards.
//!
//! `transfer.rs` runs on any [`crate::bench::Bench`] and drives nothing but the host library; `main_job.rs`
//! puts a pair of engines under it and gathers the verdict; `conservation.rs` compares counts; `result.rs` is what comes out.

mod conservation;
mod main_job;
mod result;
mod transfer;

pub use conservation::conservation;
pub use main_job::{JobConfig, JobError, run};
pub use result::{JobResult, LinkResult, PathResult, Sample};
pub use transfer::{Outcome, Progress, TransferConfig, transfer};

#[cfg(test)]
mod tests;
