//! The Osprey engine in Rust HDL.
//!
//! Ports and wires are named after what they carry; each block's own page says what it does, its latency
//! and its throughput.
#![allow(missing_docs)]
// In hardware, nested conditions say priority; joining them hides it.
#![allow(clippy::collapsible_if, clippy::collapsible_else_if)]

pub mod bundle;
pub mod csr;
pub mod dma;
pub mod emit;
pub mod guard;
pub mod rx;
pub mod stream;
pub mod top;
pub mod tx;
