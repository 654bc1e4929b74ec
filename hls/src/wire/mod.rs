//! The wire format, version 1 (`docs/transport.md`, chapter 3): one file a header.
//!
//! Each header has a zero-copy view `XxxPacket<T>` and an owned form `Xxx`. The contract of a view:
//! after [`check_len`](DataPacket::check_len) succeeded once, no getter panics. A view that is being
//! *emitted* is not checked: its fields do not hold a valid length yet, so the caller makes the buffer
//! as long as the owned form's `buffer_len` says. A view keeps nonsense, so that it can be logged; the
//! owned form holds only what the format allows, and `parse` says why it refused.
//!
//! Nothing here looks at connection state: whether a packet is *acceptable* is not decided here.

mod ack;
mod address;
mod bytes;
mod common;
mod control;
mod data;
mod frame;
mod integrity;
mod nack;
mod number;
mod probe;

pub use ack::{ACK_TIMED, Ack, AckBlock, AckBlockPacket, AckPacket, BLOCKS_MAX, Bitvector};
pub use address::{Ipv4Address, MacAddress, PlaneAddress};
pub use common::{Common, CommonPacket, Flags, PacketType, VERSION};
pub use control::{
    Accept, Bye, CONTROL_BODY_MAX, Control, ControlBody, Hello, Offer, Reject, RejectReason,
    RemoteRegion,
};
pub use data::{Data, DataPacket, Operation};
pub use frame::{DEFAULT_UDP_PORT, FRAME_HEADER_LEN, FrameHeader, Located, locate};
pub use integrity::{CRC_LEN, crc32c, frame_crc, seal, verify};
pub use nack::{Nack, NackPacket, NackReason};
pub use number::{ConnectionId, Epoch, Incarnation, Key, Ordinal, PathId, Psn};
pub use probe::{Probe, ProbePacket};

/// Bytes of the common header.
pub const COMMON_LEN: usize = 16;

/// Why bytes are not a packet of the format.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum WireError {
    /// The buffer ends before the header, or before what its length fields announce.
    #[error("truncated: {needed} bytes needed, {held} held")]
    Truncated {
        /// Bytes that the format asks for.
        needed: usize,
        /// Bytes that the buffer holds.
        held: usize,
    },
    /// The version nibble is not the one of this format.
    #[error("transport version {found}, this is version {VERSION}")]
    Version {
        /// Version found in the packet.
        found: u8,
    },
    /// The packet is of another type than the header that was to be read.
    #[error("packet type {found} where another was expected")]
    Type {
        /// Type nibble found in the packet.
        found: u8,
    },
    /// A field holds a value that the format does not define.
    #[error("{field} holds the undefined value {found}")]
    Field {
        /// Name of the field in the specification.
        field: &'static str,
        /// The value found.
        found: u64,
    },
}

/// `Ok` if `held` bytes are enough for `needed`.
pub(crate) fn need(held: usize, needed: usize) -> Result<(), WireError> {
    if held < needed {
        Err(WireError::Truncated { needed, held })
    } else {
        Ok(())
    }
}
