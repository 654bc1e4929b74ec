//! Doorbells: BAR2, a page a connection, so that a page can be mapped into one process.

use super::layout::Access::WriteOnly;
use super::layout::{Block, Register};

/// Start of BAR2 in the AXI-Lite space.
pub const BASE: u32 = 0x0100_0000;
/// Bytes of a connection's page.
pub const PAGE: u32 = 0x1000;
/// Connections that the map has room for.
const CONNECTIONS_MAX: u32 = 4096;

/// Work requests given to the device.
pub const SEND_PRODUCER: Register = Register::new(
    "SEND_PRODUCER",
    BASE,
    WriteOnly,
    "Running count of work requests in the connection's send ring.",
)
.row(CONNECTIONS_MAX, PAGE);
/// CONTROL entries given to the device.
pub const RECEIVE_PRODUCER: Register = Register::new(
    "RECEIVE_PRODUCER",
    BASE + 4,
    WriteOnly,
    "Page 0: running count of CONTROL ring entries given to the device.",
)
.row(CONNECTIONS_MAX, PAGE);
/// Completions taken by the host.
pub const COMPLETION_CONSUMER: Register = Register::new(
    "COMPLETION_CONSUMER",
    BASE + 8,
    WriteOnly,
    "Running count of completions taken from the connection's completion ring.",
)
.row(CONNECTIONS_MAX, PAGE);

/// The block.
pub const BLOCK: Block = Block {
    name: "doorbell",
    doc: "BAR2: a page of 4 KiB for each connection.",
    registers: &[&SEND_PRODUCER, &RECEIVE_PRODUCER, &COMPLETION_CONSUMER],
};
