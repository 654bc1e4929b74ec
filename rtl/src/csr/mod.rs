//! What the host sees over AXI4-Lite: registers, tables, doorbells, counters, telemetry.

pub mod clear_sequencer;
pub mod counters;
pub mod csr_port;
pub mod path_telemetry;
pub mod registers;
pub mod table_router;

pub use clear_sequencer::ClearSequencer;
pub use counters::Counters;
pub use csr_port::CsrPort;
pub use path_telemetry::PathTelemetry;
pub use registers::Registers;
pub use table_router::TableRouter;
