//! Control: enable, time, timers, the CONTROL ring.

use super::layout::Access::{ReadOnly, ReadWrite};
use super::layout::{Block, Register};

/// Switch of the engine.
pub const CONTROL: Register = Register::new(
    "CONTROL",
    0x040,
    ReadWrite,
    "Bit 0: enable. While 0, no frame is accepted or sent.",
)
.width(1);
/// Speed of the time counter.
pub const TIME_INCREMENT: Register = Register::new(
    "TIME_INCREMENT",
    0x044,
    ReadWrite,
    "Added to a 16-bit binary fraction each clock; each carry counts TIME. 2^16 x clock period / 128 ns.",
)
.width(16);
/// Time.
pub const TIME: Register = Register::new(
    "TIME",
    0x048,
    ReadOnly,
    "Free-running time, units of 128 ns; wraps.",
);
/// Port of the transport.
pub const UDP_PORT: Register = Register::new(
    "UDP_PORT",
    0x04c,
    ReadWrite,
    "UDP destination port of the transport.",
)
.width(16)
.reset(4792);
/// Least probe timer.
pub const PROBE_TIMER: Register = Register::new(
    "PROBE_TIMER",
    0x050,
    ReadWrite,
    "Least time from the last newer block or first send to a probe, units of 128 ns.",
)
.width(16);
/// Spacing of a probe train.
pub const PROBE_INTERVAL: Register = Register::new(
    "PROBE_INTERVAL",
    0x054,
    ReadWrite,
    "Time between the probes of a train, units of 128 ns.",
)
.width(16);
/// Back-off limit.
pub const PROBE_BACKOFF_MAX: Register = Register::new(
    "PROBE_BACKOFF_MAX",
    0x058,
    ReadWrite,
    "Highest exponent t of the back-off 1.024 us x 2^t; beyond it the connection is reported as failed.",
)
.width(4);
/// Delay of an ACK.
pub const ACK_DELAY: Register = Register::new(
    "ACK_DELAY",
    0x05c,
    ReadWrite,
    "Longest time from the first unacknowledged packet to an ACK, units of 128 ns.",
)
.width(16);
/// Placements begun.
pub const PLACEMENT_ISSUED: Register = Register::new(
    "PLACEMENT_ISSUED",
    0x060,
    ReadOnly,
    "Running count of placements whose key was checked. A host that deregisters memory invalidates the key, reads \
     this, and waits until PLACEMENT_DONE has reached it.",
);
/// Placements in memory.
pub const PLACEMENT_DONE: Register = Register::new(
    "PLACEMENT_DONE",
    0x064,
    ReadOnly,
    "Running count of placements whose writes were answered by the memory, or that were refused.",
);
/// CONTROL ring address, low half.
pub const CONTROL_RING_ADDRESS_LOW: Register = Register::new(
    "CONTROL_RING_ADDRESS_LOW",
    0x068,
    ReadWrite,
    "Bus address of the CONTROL ring, low half.",
);
/// CONTROL ring address, high half.
pub const CONTROL_RING_ADDRESS_HIGH: Register = Register::new(
    "CONTROL_RING_ADDRESS_HIGH",
    0x06c,
    ReadWrite,
    "Bus address of the CONTROL ring, high half.",
);
/// CONTROL ring size.
pub const CONTROL_RING_ENTRIES: Register = Register::new(
    "CONTROL_RING_ENTRIES",
    0x070,
    ReadWrite,
    "log2 of the CONTROL ring's entries of 256 bytes.",
)
.width(4);
/// Bound of sweeps.
pub const CONNECTIONS_IN_USE: Register = Register::new(
    "CONNECTIONS_IN_USE",
    0x074,
    ReadWrite,
    "Highest connection number in use + 1: bounds the sweeps over connections.",
)
.width(13);

/// Bytes of a CONTROL ring entry.
pub const CONTROL_ENTRY_BYTES: u32 = 256;

/// The block.
pub const BLOCK: Block = Block {
    name: "control",
    doc: "Enable, time, timers, the CONTROL ring.",
    registers: &[
        &CONTROL,
        &TIME_INCREMENT,
        &TIME,
        &UDP_PORT,
        &PROBE_TIMER,
        &PROBE_INTERVAL,
        &PROBE_BACKOFF_MAX,
        &ACK_DELAY,
        &PLACEMENT_ISSUED,
        &PLACEMENT_DONE,
        &CONTROL_RING_ADDRESS_LOW,
        &CONTROL_RING_ADDRESS_HIGH,
        &CONTROL_RING_ENTRIES,
        &CONNECTIONS_IN_USE,
    ],
};
