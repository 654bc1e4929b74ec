//! Between the endpoint's packets and the bytes of a datagram: transport header, payload, CRC (T-3.3 to T-3.9).
//!
//! The kernel writes and checks the Ethernet, IP and UDP headers; the CRC still covers the IP addresses and the
//! destination port, so both ends must see the same ones: no address translation between them. Nothing is decided here
//! about whether a packet is acceptable.

use osprey_hls::endpoint::{Packet, Payload};
use osprey_hls::wire::{COMMON_LEN, CRC_LEN, WireError};
use std::net::SocketAddrV4;

/// Why a datagram is no packet.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum CodecError {
    /// The CRC is wrong, or there is no room for one.
    #[error("the CRC is wrong")]
    Crc,
    /// The bytes are none of the format.
    #[error(transparent)]
    Wire(#[from] WireError),
}

/// Register of the CRC after the addresses and ports, complemented as the library keeps it.
fn addresses_crc(source: SocketAddrV4, destination: SocketAddrV4) -> u32 {
    let mut covered = [0; 16];
    covered[..4].copy_from_slice(&source.ip().octets());
    covered[4..8].copy_from_slice(&destination.ip().octets());
    covered[10..12].copy_from_slice(&destination.port().to_be_bytes());
    // The register starts at 0; the library takes and gives complements.
    crc32c::crc32c_append(!0, &covered)
}

/// CRC of a packet's bytes between two addresses, as it is sent: least significant byte first.
pub fn crc(bytes: &[u8], source: SocketAddrV4, destination: SocketAddrV4) -> [u8; CRC_LEN] {
    crc32c::crc32c_append(addresses_crc(source, destination), bytes).to_le_bytes()
}

/// Appends a packet to `datagram`. `read` copies from the host's memory.
pub fn encode(
    datagram: &mut Vec<u8>,
    packet: &Packet,
    payload: &Payload,
    source: SocketAddrV4,
    destination: SocketAddrV4,
    read: impl FnOnce(u64, &mut [u8]),
) {
    let start = datagram.len();
    let header = packet.header_len();
    let payload_length = packet.payload_len();
    datagram.resize(start + header + payload_length, 0);
    let (head, body) = datagram[start..].split_at_mut(header);
    packet.emit(head);
    match payload {
        Payload::None => {}
        Payload::Memory { address, .. } => read(*address, body),
        Payload::Inline { bytes, .. } => body.copy_from_slice(&bytes[..body.len()]),
    }
    let crc = crc(&datagram[start..], source, destination);
    datagram.extend_from_slice(&crc);
}

/// Reads a datagram: the packet and its payload.
pub fn decode(
    datagram: &[u8],
    source: SocketAddrV4,
    destination: SocketAddrV4,
) -> Result<(Packet, &[u8]), CodecError> {
    let length = datagram.len().checked_sub(CRC_LEN).ok_or(CodecError::Crc)?;
    let (bytes, found) = datagram.split_at(length);
    if found != crc(bytes, source, destination) {
        return Err(CodecError::Crc);
    }
    let (packet, start) = Packet::parse(bytes, window(bytes))?;
    let payload = &bytes[start..start + packet.payload_len()];
    Ok((packet, payload))
}

/// W of an ACK, from its length and its number of blocks: whether it is the connection's is the endpoint's question.
/// Of other packets, and of lengths that are no ACK's, the default.
fn window(bytes: &[u8]) -> u16 {
    let blocks = usize::from(bytes.get(10).copied().unwrap_or(0));
    let vectors = bytes.len().saturating_sub(COMMON_LEN).checked_div(blocks);
    match vectors.unwrap_or(0).saturating_sub(16) * 8 {
        window @ (128 | 256) => window as u16,
        _ => 64,
    }
}
