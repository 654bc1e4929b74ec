//! Cluster-scale simulation: many behavioural endpoints on a fabric with faults, and witnesses of what they do.
//!
//! Start at [`simulation::Simulation`]: endpoints ([`osprey_hls::endpoint`]) exchange structured packets, no bytes, over
//! the links of a [`topology`], queue by queue ([`network`], [`link`]). A [`scenario`] says what to run, [`workload`] what
//! the hosts send, [`fault`] what goes wrong, [`referee`] whether it was right. One seed, one result. Nothing here reads a
//! clock or the network of the machine, and nothing knows the engine.

pub mod bench;
pub mod error;
pub mod event_queue;
pub mod fate;
pub mod fault;
pub mod link;
pub mod network;
pub mod referee;
pub mod report;
pub mod result;
pub mod scenario;
pub mod simulation;
pub mod sweep;
pub mod topology;
pub mod workload;
