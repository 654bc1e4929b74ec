//! Identity: what a host reads before anything else.

use super::layout::Access::ReadOnly;
use super::layout::{Block, Register};

/// `OSPR` as a big-endian number.
pub const MAGIC_VALUE: u32 = 0x4f53_5052;

/// Says that this is the engine.
pub const MAGIC: Register =
    Register::new("MAGIC", 0x000, ReadOnly, "0x4F535052 (`OSPR`).").reset(MAGIC_VALUE);
/// Version of the map.
pub const VERSION: Register =
    Register::new("VERSION", 0x004, ReadOnly, "Version of the register map.")
        .reset(super::MAP_VERSION);
/// Hash of the map.
pub const MAP_HASH: Register = Register::new(
    "MAP_HASH",
    0x008,
    ReadOnly,
    "Hash of this map. A host refuses a device whose hash it does not know.",
);
/// Sizes.
pub const CAPABILITIES: Register = Register::new(
    "CAPABILITIES",
    0x00c,
    ReadOnly,
    "7:0 planes, 15:8 paths a plane, 23:16 log2 connections, 31:24 log2 W.",
);
/// More sizes.
pub const CAPABILITIES2: Register = Register::new(
    "CAPABILITIES2",
    0x010,
    ReadOnly,
    "7:0 log2 message slots, 15:8 log2 keys, 23:16 log2 pages, 31:24 data width in bytes.",
);

/// The block.
pub const BLOCK: Block = Block {
    name: "identity",
    doc: "What a host reads before anything else.",
    registers: &[&MAGIC, &VERSION, &MAP_HASH, &CAPABILITIES, &CAPABILITIES2],
};
