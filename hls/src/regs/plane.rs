//! Planes: addresses and link state of each port.

use super::layout::Access::{ReadOnly, ReadWrite};
use super::layout::{Block, Register};

/// Most planes that the map has room for.
pub const PLANES_MAX: u32 = 4;
const STRIDE: u32 = 0x20;

/// MAC address, first octets.
pub const MAC_LOW: Register = Register::new(
    "PLANE_MAC_LOW",
    0x200,
    ReadWrite,
    "MAC address of the port, octet 0 in bits 7:0, octets 0-3.",
)
.row(PLANES_MAX, STRIDE);
/// MAC address, last octets.
pub const MAC_HIGH: Register = Register::new(
    "PLANE_MAC_HIGH",
    0x204,
    ReadWrite,
    "MAC address of the port, octets 4 and 5.",
)
.width(16)
.row(PLANES_MAX, STRIDE);
/// IPv4 address.
pub const IPV4: Register = Register::new(
    "PLANE_IPV4",
    0x208,
    ReadWrite,
    "IPv4 address of the port, first octet in bits 7:0.",
)
.row(PLANES_MAX, STRIDE);
/// Link state.
pub const LINK: Register = Register::new(
    "PLANE_LINK",
    0x20c,
    ReadOnly,
    "Bit 0: the port's link is up.",
)
.width(1)
.row(PLANES_MAX, STRIDE);

/// The block.
pub const BLOCK: Block = Block {
    name: "plane",
    doc: "Addresses and link state of each port. Addresses of a plane that the engine does not have read as 0.",
    registers: &[&MAC_LOW, &MAC_HIGH, &IPV4, &LINK],
};
