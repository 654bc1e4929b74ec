//! Simulation: two engines, the memories and wires around them, and witnesses that judge what they do.
//!
//! Everything is deterministic: one seed, same cycles, same bytes. The engine comes in as emitted Verilog
//! ([`engine`]); nothing here knows how it is built. [`pair`] puts two of them into lock step, [`job`] is
//! the main job that the demonstration runs, [`referee`] judges without sharing code with what it judges.

pub mod activity;
pub mod axi;
pub mod axil;
pub mod bench;
pub mod engine;
pub mod fabric;
pub mod hosts;
pub mod job;
pub mod mac;
pub mod measure;
pub mod memory;
pub mod mixed;
pub mod monitor;
pub mod pair;
pub mod pcapng;
pub mod random;
pub mod referee;
pub mod report;
