//! What the Osprey engine is, described once: wire format, register map, congestion kernels and behaviour.
//!
//! This crate performs no I/O, reads no clock and knows nothing of how the engine is built. The places to
//! start are [`wire`] (headers, bytes to values and back), [`regs`] (registers, tables and records of host
//! memory, as data) and [`endpoint`] (the transport as a state machine, with the kernels of [`cc`]).
//! `docs/transport.md` is the specification that all follow.

pub mod cc;
pub mod endpoint;
pub mod prefetch;
pub mod regs;
pub mod wire;
