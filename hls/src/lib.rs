//! What the Osprey engine is, described once: wire format and register map.
//!
//! This crate performs no I/O, reads no clock and knows nothing of how the engine is built. The two
//! places to start are [`wire`] (headers, bytes to values and back) and [`regs`] (registers, tables and
//! records of host memory, as data). `docs/transport.md` is the specification that both follow.

pub mod regs;
pub mod wire;
