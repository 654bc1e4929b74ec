//! What goes in and out of an endpoint: structured packets, not bytes.
//!
//! The owned forms of [`crate::wire`] are the packets; whoever moves real bytes parses and emits them there.
//! Payload is not in a packet: what is to be sent names local memory, what arrives comes as a slice.

use crate::wire::{Ack, Common, Control, ControlBody, Data, Nack, PacketType, PlaneAddress, Probe};
use crate::wire::{
    AckPacket, CONTROL_BODY_MAX, CommonPacket, ConnectionId, DataPacket, Incarnation, NackPacket,
    ProbePacket, WireError,
};

/// A packet of the transport.
// An ACK is the largest: boxing it would cost an allocation a packet.
#[allow(clippy::large_enum_variant)]
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Packet {
    /// Payload of a message.
    Data(Data),
    /// ACK or FENCE_ACK.
    Ack(Ack),
    /// A refusal.
    Nack(Nack),
    /// PROBE or FENCE.
    Probe(Probe),
    /// Set-up and end of connections.
    Control(Control),
}

impl Packet {
    /// Bytes of the transport header (of a CONTROL: header and body), without payload and CRC.
    pub fn header_len(&self) -> usize {
        match self {
            Self::Data(data) => data.buffer_len() - usize::from(data.payload_length),
            Self::Ack(ack) => ack.buffer_len(),
            Self::Nack(nack) => nack.buffer_len(),
            Self::Probe(probe) => probe.buffer_len(),
            Self::Control(control) => control.buffer_len(),
        }
    }

    /// Bytes of payload that follow the header.
    pub const fn payload_len(&self) -> usize {
        match self {
            Self::Data(data) => data.payload_length as usize,
            _ => 0,
        }
    }

    /// Reads a transport header; `bytes` go on to the end of the payload, without CRC. `window`: W of the NIC's
    /// connections. Says where the payload begins.
    pub fn parse(bytes: &[u8], window: u16) -> Result<(Self, usize), WireError> {
        let packet = match CommonPacket::new_checked(bytes)?.check_kind()? {
            PacketType::Data => Self::Data(Data::parse(&DataPacket::new_unchecked(bytes))?),
            PacketType::Ack | PacketType::FenceAck => {
                Self::Ack(Ack::parse(&AckPacket::new_unchecked(bytes, window))?)
            }
            PacketType::Nack => Self::Nack(Nack::parse(&NackPacket::new_unchecked(bytes))?),
            PacketType::Probe | PacketType::Fence => {
                Self::Probe(Probe::parse(&ProbePacket::new_unchecked(bytes))?)
            }
            PacketType::Control => Self::Control(Control::parse(bytes)?),
        };
        let payload_at = packet.header_len();
        Ok((packet, payload_at))
    }

    /// Writes the transport header; the payload, if any, is left to the caller.
    ///
    /// # Panics
    /// When `bytes` is shorter than [`Self::header_len`].
    pub fn emit(&self, bytes: &mut [u8]) {
        match self {
            Self::Data(data) => data.emit(&mut DataPacket::new_unchecked(bytes)),
            Self::Ack(ack) => ack.emit(bytes),
            Self::Nack(nack) => nack.emit(&mut NackPacket::new_unchecked(bytes)),
            Self::Probe(probe) => probe.emit(&mut ProbePacket::new_unchecked(bytes)),
            Self::Control(control) => control.emit(bytes),
        }
    }

    /// The connection that the packet is addressed to.
    pub const fn connection(&self) -> ConnectionId {
        match self {
            Self::Data(data) => data.common.connection,
            Self::Ack(ack) => ack.connection,
            Self::Nack(nack) => nack.common.connection,
            Self::Probe(probe) => probe.common.connection,
            Self::Control(_) => ConnectionId::CONTROL,
        }
    }

    /// The incarnation that the packet bears.
    pub(super) const fn incarnation(&self) -> Incarnation {
        match self {
            Self::Data(data) => data.common.incarnation,
            Self::Ack(ack) => ack.incarnation,
            Self::Nack(nack) => nack.common.incarnation,
            Self::Probe(probe) => probe.common.incarnation,
            Self::Control(_) => Incarnation(0),
        }
    }
}

/// Most bytes of a payload that is not in the host's memory.
pub const INLINE_MAX: usize = 48;

/// Payload of a packet to send.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Payload {
    /// No payload.
    None,
    /// Local memory, to be read when the packet leaves.
    Memory {
        /// First byte.
        address: u64,
        /// Bytes.
        length: u32,
    },
    /// Bytes that the transport made itself.
    Inline {
        /// The bytes; what lies beyond `length` means nothing.
        bytes: [u8; INLINE_MAX],
        /// Bytes in use.
        length: u8,
    },
}

/// A packet to be sent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Transmit {
    /// Plane that it leaves by.
    pub plane: u8,
    /// Where it goes.
    pub destination: PlaneAddress,
    /// UDP source port.
    pub entropy: u16,
    /// The packet.
    pub packet: Packet,
    /// Its payload.
    pub payload: Payload,
}

impl Default for Transmit {
    fn default() -> Self {
        Self {
            plane: 0,
            destination: PlaneAddress::default(),
            entropy: 0,
            packet: Packet::Probe(Probe {
                common: Common::new(PacketType::Probe),
                return_mask: 0,
                train: 0,
                fenced_path: crate::wire::PathId(0),
                fenced_epoch: crate::wire::Epoch(0),
            }),
            payload: Payload::None,
        }
    }
}

/// How a packet came.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Arrival {
    /// Plane that it came by.
    pub plane: u8,
    /// Who sent it.
    pub source: PlaneAddress,
    /// UDP source port.
    pub entropy: u16,
    /// Congestion experienced: a switch has marked it (ECN).
    pub marked: bool,
}

/// The host's memory. Every address was checked against a registered region before it comes here.
pub trait Memory {
    /// Puts `length` bytes at `address`. `payload` is empty in simulations that carry no bytes.
    fn place(&mut self, address: u64, length: u32, payload: &[u8]);
    /// The 64-bit word at `address`, for an atomic.
    fn load(&mut self, address: u64) -> u64;
    /// Sets the 64-bit word at `address`, for an atomic.
    fn store(&mut self, address: u64, value: u64);
}

/// A longest packet fits in this many bytes beside its payload.
pub const HEADER_LEN_MAX: usize = crate::wire::COMMON_LEN + CONTROL_BODY_MAX;

const _: () = assert!(std::mem::size_of::<ControlBody>() < std::mem::size_of::<Ack>());
