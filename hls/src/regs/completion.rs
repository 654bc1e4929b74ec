//! Completion: 32 bytes of a completion ring in host memory, written in one beat.

use super::layout::{Entry, Field};

/// Bytes of a completion.
pub const BYTES: u32 = 32;
/// Kind: a work request is done.
pub const KIND_SEND: u8 = 0;
/// Kind: a CONTROL packet was received.
pub const KIND_CONTROL: u8 = 1;
/// Kind: the connection failed.
pub const KIND_CONNECTION_ERROR: u8 = 2;

/// Status: done.
pub const STATUS_OK: u8 = 0;
/// Status: the local key or its bounds forbid the access.
pub const STATUS_LOCAL: u8 = 1;
/// Status: the peer refused the access.
pub const STATUS_REMOTE_ACCESS: u8 = 2;
/// Status: nothing was answered.
pub const STATUS_RETRIES: u8 = 3;
/// Status: the peer found the request invalid.
pub const STATUS_REMOTE_INVALID: u8 = 4;

/// Phase.
pub const PHASE: Field = Field::new(
    "PHASE",
    0,
    0,
    1,
    "1 in the first lap of the ring, toggles with each.",
);
/// Kind.
pub const KIND: Field = Field::new(
    "KIND",
    0,
    8,
    8,
    "0 send, 1 CONTROL received, 2 connection error.",
);
/// Status.
pub const STATUS: Field = Field::new(
    "STATUS",
    0,
    16,
    8,
    "0 ok, 1 local key or bounds, 2 remote access, 3 retries exhausted, 4 remote invalid request.",
);
/// Opcode.
pub const OPCODE: Field = Field::new("OPCODE", 0, 24, 8, "Opcode of the work request.");
/// Connection.
pub const CONNECTION: Field = Field::new("CONNECTION", 1, 0, 32, "Number of the connection.");
/// Index.
pub const INDEX: Field = Field::new(
    "INDEX",
    2,
    0,
    32,
    "Running index of the work request, or of the CONTROL ring entry.",
);
/// Length.
pub const LENGTH: Field = Field::new(
    "LENGTH",
    3,
    0,
    32,
    "Bytes of the message, or of the CONTROL packet (header and body).",
);
/// Immediate.
pub const IMMEDIATE: Field = Field::new("IMMEDIATE", 4, 0, 32, "Immediate value.");
/// Message number.
pub const MESSAGE: Field = Field::new("MESSAGE", 5, 0, 16, "Message number.");
/// Plane.
pub const PLANE: Field = Field::new("PLANE", 5, 16, 8, "CONTROL: plane that the packet came by.");
/// Time.
pub const TIME: Field = Field::new("TIME", 6, 0, 32, "TIME when it was written.");

/// The record.
pub const ENTRY: Entry = Entry {
    name: "COMPLETION",
    words: 8,
    doc: "At completion ring + 32 x (index mod entries). Of the rest, everything is zero.",
    fields: &[
        &PHASE,
        &KIND,
        &STATUS,
        &OPCODE,
        &CONNECTION,
        &INDEX,
        &LENGTH,
        &IMMEDIATE,
        &MESSAGE,
        &PLANE,
        &TIME,
    ],
};
