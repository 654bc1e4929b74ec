//! The verbs model: context, protection domain, memory region, connection, work request, completion.
//!
//! Everything is polled: [`Context::progress`] moves set-up along, [`Context::poll`] yields completions.
//! Errors say who is at fault: the caller, the peer or the device.

mod completion_queue;
mod config;
mod connection;
mod context;
mod control_channel;
mod error;
mod handshake;
mod memory_region;
mod settle;
mod telemetry;
mod work_request;

pub use completion_queue::{Completion, CompletionStatus};
pub use config::{Config, FirstNumbers, Timers};
pub use connection::{CloseReason, ConnectionHandle, ConnectionState};
pub use context::Context;
pub use error::{CallerError, Error, PeerError};
pub use memory_region::{MemoryRegion, ProtectionDomain, Rights};
pub use settle::{Settled, check_accept, settle};
pub use telemetry::PathTelemetry;
pub use work_request::{MESSAGE_BYTES_MAX, WriteRequest};
