//! Work request: 64 bytes of a send ring in host memory.

use super::layout::{Entry, Field};

/// Bytes of a work request.
pub const BYTES: u32 = 64;
/// Opcode: write remote memory.
pub const OPCODE_WRITE: u8 = 0;
/// Opcode: send a CONTROL frame (connection 0 only).
pub const OPCODE_CONTROL: u8 = 0x80;

/// What is to be done.
pub const OPCODE: Field = Field::new(
    "OPCODE",
    0,
    0,
    8,
    "0 WRITE, 0x80 CONTROL (connection 0 only).",
);
/// Flags.
pub const FLAGS: Field = Field::new("FLAGS", 0, 8, 8, "Zero.");
/// Plane of a CONTROL frame.
pub const PLANE: Field = Field::new(
    "PLANE",
    0,
    16,
    8,
    "CONTROL: plane that the frame leaves by.",
);
/// Bytes.
pub const LENGTH: Field = Field::new(
    "LENGTH",
    1,
    0,
    32,
    "Bytes of the message, or of the CONTROL frame.",
);
/// Local address.
pub const LOCAL_ADDRESS: Field = Field::new(
    "LOCAL_ADDRESS",
    2,
    0,
    64,
    "Virtual address of the local buffer.",
);
/// Remote address.
pub const REMOTE_ADDRESS: Field =
    Field::new("REMOTE_ADDRESS", 4, 0, 64, "Virtual address at the peer.");
/// Local key.
pub const LOCAL_KEY: Field = Field::new("LOCAL_KEY", 6, 0, 32, "Key of the local buffer.");
/// Remote key.
pub const REMOTE_KEY: Field = Field::new("REMOTE_KEY", 7, 0, 32, "Key of the peer's memory.");
/// Immediate.
pub const IMMEDIATE: Field = Field::new("IMMEDIATE", 8, 0, 32, "Immediate value.");

/// The record.
pub const ENTRY: Entry = Entry {
    name: "WORK_REQUEST",
    words: 16,
    doc: "At send ring + 64 x (index mod entries). Bytes 36 to 63 are zero. Of CONTROL, the local buffer holds the \
          frame from the Ethernet header to the end of the body, without CRC, at most 42 + 256 bytes.",
    fields: &[
        &OPCODE,
        &FLAGS,
        &PLANE,
        &LENGTH,
        &LOCAL_ADDRESS,
        &REMOTE_ADDRESS,
        &LOCAL_KEY,
        &REMOTE_KEY,
        &IMMEDIATE,
    ],
};
