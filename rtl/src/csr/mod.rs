//! What the host sees over AXI4-Lite: registers, tables, doorbells, counters, telemetry.

pub mod clear_sequencer;
pub mod counters;
pub mod csr_port;
pub mod path_telemetry;
pub mod registers;
pub mod table_router;
