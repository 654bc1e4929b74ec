//! The common header (T-3.3): the first 16 bytes of every transport header.
//!
//! ACK and FENCE_ACK share its first 8 bytes and have their own meaning for the rest: see `ack.rs`.

use super::bytes::{get_u16, get_u24, put, put_u24};
use super::{COMMON_LEN, ConnectionId, Epoch, Incarnation, Ordinal, PathId, Psn, WireError, need};
use std::fmt;

/// Version of the wire format.
pub const VERSION: u8 = 1;

/// What a packet is: the low nibble of its first byte.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum PacketType {
    /// Payload with its destination.
    Data = 0,
    /// Selective acknowledgement of up to four paths.
    Ack = 1,
    /// Refusal of a message, a packet or a connection.
    Nack = 2,
    /// Asks for an ACK; bears an ordinal and no payload.
    Probe = 3,
    /// Closes an epoch of a path.
    Fence = 4,
    /// The closed epoch's final state.
    FenceAck = 5,
    /// Set-up messages between hosts.
    Control = 6,
}

impl PacketType {
    /// The type of a nibble, if it is defined.
    pub const fn from_nibble(nibble: u8) -> Option<Self> {
        Some(match nibble {
            0 => Self::Data,
            1 => Self::Ack,
            2 => Self::Nack,
            3 => Self::Probe,
            4 => Self::Fence,
            5 => Self::FenceAck,
            6 => Self::Control,
            _ => return None,
        })
    }

    /// First byte of a packet of this type.
    pub const fn first_byte(self) -> u8 {
        VERSION << 4 | self as u8
    }
}

/// The flags of byte 1.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct Flags(pub u8);

impl Flags {
    /// The receiver acknowledges at once.
    pub const ACK_REQUEST: Self = Self(1 << 0);
    /// This PSN was sent before.
    pub const RETRANSMISSION: Self = Self(1 << 1);
    /// Last packet of its message.
    pub const LAST: Self = Self(1 << 2);
    /// The immediate field counts.
    pub const IMMEDIATE: Self = Self(1 << 3);
    /// The sender has nothing more to send on the connection than what is on its way.
    pub const IDLE: Self = Self(1 << 4);

    /// Whether all flags of `other` are set.
    pub const fn contains(self, other: Self) -> bool {
        self.0 & other.0 == other.0
    }

    /// Both sets of flags.
    #[must_use]
    pub const fn with(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }
}

/// View of a common header.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CommonPacket<T: AsRef<[u8]>> {
    buffer: T,
}

pub(super) mod field {
    pub const KIND: usize = 0;
    pub const FLAGS: usize = 1;
    pub const INCARNATION: usize = 2;
    pub const CONNECTION: usize = 4;
    pub const PATH: usize = 7;
    pub const PSN: usize = 8;
    pub const EPOCH: usize = 11;
    pub const ORDINAL: usize = 12;
    pub const TIMESTAMP: usize = 14;
}

impl<T: AsRef<[u8]>> CommonPacket<T> {
    /// A view that has not been checked: for emission, or before `check_len`.
    pub const fn new_unchecked(buffer: T) -> Self {
        Self { buffer }
    }

    /// A view whose getters do not panic.
    pub fn new_checked(buffer: T) -> Result<Self, WireError> {
        let packet = Self::new_unchecked(buffer);
        packet.check_len()?;
        Ok(packet)
    }

    /// `Ok` if the buffer holds the header.
    pub fn check_len(&self) -> Result<(), WireError> {
        need(self.buffer.as_ref().len(), COMMON_LEN)
    }

    /// Version nibble.
    pub fn version(&self) -> u8 {
        self.buffer.as_ref()[field::KIND] >> 4
    }

    /// Type nibble, defined or not.
    pub fn type_nibble(&self) -> u8 {
        self.buffer.as_ref()[field::KIND] & 15
    }

    /// Flags.
    pub fn flags(&self) -> Flags {
        Flags(self.buffer.as_ref()[field::FLAGS])
    }

    /// Incarnation of the connection.
    pub fn incarnation(&self) -> Incarnation {
        Incarnation(get_u16(self.buffer.as_ref(), field::INCARNATION))
    }

    /// Destination connection.
    pub fn connection(&self) -> ConnectionId {
        ConnectionId::new(get_u24(self.buffer.as_ref(), field::CONNECTION))
    }

    /// Path (of an ACK: the return path it travels on).
    pub fn path(&self) -> PathId {
        PathId(self.buffer.as_ref()[field::PATH])
    }

    /// Packet sequence number.
    pub fn psn(&self) -> Psn {
        Psn::new(get_u24(self.buffer.as_ref(), field::PSN))
    }

    /// Epoch of the path.
    pub fn epoch(&self) -> Epoch {
        Epoch(self.buffer.as_ref()[field::EPOCH])
    }

    /// Ordinal of this transmission.
    pub fn ordinal(&self) -> Ordinal {
        Ordinal(get_u16(self.buffer.as_ref(), field::ORDINAL))
    }

    /// Send time, units of 128 ns.
    pub fn timestamp(&self) -> u16 {
        get_u16(self.buffer.as_ref(), field::TIMESTAMP)
    }

    /// `Ok(kind)` if version and type are defined.
    pub fn check_kind(&self) -> Result<PacketType, WireError> {
        if self.version() != VERSION {
            return Err(WireError::Version {
                found: self.version(),
            });
        }
        PacketType::from_nibble(self.type_nibble()).ok_or(WireError::Type {
            found: self.type_nibble(),
        })
    }
}

impl<T: AsRef<[u8]> + AsMut<[u8]>> CommonPacket<T> {
    /// Sets version and type.
    pub fn set_kind(&mut self, kind: PacketType) {
        self.buffer.as_mut()[field::KIND] = kind.first_byte();
    }

    /// Sets the flags.
    pub fn set_flags(&mut self, flags: Flags) {
        self.buffer.as_mut()[field::FLAGS] = flags.0;
    }

    /// Sets the incarnation.
    pub fn set_incarnation(&mut self, incarnation: Incarnation) {
        put(
            self.buffer.as_mut(),
            field::INCARNATION,
            &incarnation.0.to_be_bytes(),
        );
    }

    /// Sets the destination connection.
    pub fn set_connection(&mut self, connection: ConnectionId) {
        put_u24(self.buffer.as_mut(), field::CONNECTION, connection.value());
    }

    /// Sets the path.
    pub fn set_path(&mut self, path: PathId) {
        self.buffer.as_mut()[field::PATH] = path.0;
    }

    /// Sets the packet sequence number.
    pub fn set_psn(&mut self, psn: Psn) {
        put_u24(self.buffer.as_mut(), field::PSN, psn.value());
    }

    /// Sets the epoch.
    pub fn set_epoch(&mut self, epoch: Epoch) {
        self.buffer.as_mut()[field::EPOCH] = epoch.0;
    }

    /// Sets the ordinal.
    pub fn set_ordinal(&mut self, ordinal: Ordinal) {
        put(
            self.buffer.as_mut(),
            field::ORDINAL,
            &ordinal.0.to_be_bytes(),
        );
    }

    /// Sets the send time.
    pub fn set_timestamp(&mut self, timestamp: u16) {
        put(
            self.buffer.as_mut(),
            field::TIMESTAMP,
            &timestamp.to_be_bytes(),
        );
    }
}

/// A common header as values.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Common {
    /// What the packet is.
    pub kind: PacketType,
    /// Flags of byte 1.
    pub flags: Flags,
    /// Incarnation of the connection, chosen by the receiver of the packet.
    pub incarnation: Incarnation,
    /// Destination connection.
    pub connection: ConnectionId,
    /// Path that the packet travels on.
    pub path: PathId,
    /// Packet sequence number of the path.
    pub psn: Psn,
    /// Epoch of the path.
    pub epoch: Epoch,
    /// Ordinal of this transmission.
    pub ordinal: Ordinal,
    /// Send time, units of 128 ns.
    pub timestamp: u16,
}

impl Common {
    /// A header of `kind` with every other field zero.
    pub const fn new(kind: PacketType) -> Self {
        Self {
            kind,
            flags: Flags(0),
            incarnation: Incarnation(0),
            connection: ConnectionId::CONTROL,
            path: PathId(0),
            psn: Psn::new(0),
            epoch: Epoch(0),
            ordinal: Ordinal(0),
            timestamp: 0,
        }
    }

    /// Reads a checked view; refuses another version and undefined types.
    pub fn parse<T: AsRef<[u8]>>(packet: &CommonPacket<T>) -> Result<Self, WireError> {
        packet.check_len()?;
        Ok(Self {
            kind: packet.check_kind()?,
            flags: packet.flags(),
            incarnation: packet.incarnation(),
            connection: packet.connection(),
            path: packet.path(),
            psn: packet.psn(),
            epoch: packet.epoch(),
            ordinal: packet.ordinal(),
            timestamp: packet.timestamp(),
        })
    }

    /// Writes every byte of the header.
    pub fn emit<T: AsRef<[u8]> + AsMut<[u8]>>(&self, packet: &mut CommonPacket<T>) {
        packet.set_kind(self.kind);
        packet.set_flags(self.flags);
        packet.set_incarnation(self.incarnation);
        packet.set_connection(self.connection);
        packet.set_path(self.path);
        packet.set_psn(self.psn);
        packet.set_epoch(self.epoch);
        packet.set_ordinal(self.ordinal);
        packet.set_timestamp(self.timestamp);
    }

    /// `Ok` if the packet is of `kind`.
    pub(super) fn expect(self, kind: PacketType) -> Result<Self, WireError> {
        if self.kind == kind {
            Ok(self)
        } else {
            Err(WireError::Type {
                found: self.kind as u8,
            })
        }
    }
}

impl fmt::Display for Common {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{:?} connection={} path={} epoch={} psn={} ordinal={} flags={:#04x}",
            self.kind, self.connection, self.path, self.epoch, self.psn, self.ordinal, self.flags.0
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    // version 1 PROBE, flags ack request + last, incarnation beef, connection 00abcd, path 0x1d,
    // PSN 123456, epoch 7, ordinal fffe, timestamp 8001
    const BYTES: [u8; 16] = [
        0x13, 0x05, 0xbe, 0xef, 0x00, 0xab, 0xcd, 0x1d, 0x12, 0x34, 0x56, 0x07, 0xff, 0xfe, 0x80,
        0x01,
    ];

    fn value() -> Common {
        Common {
            kind: PacketType::Probe,
            flags: Flags::ACK_REQUEST.with(Flags::LAST),
            incarnation: Incarnation(0xbeef),
            connection: ConnectionId::new(0xabcd),
            path: PathId::new(3, 5),
            psn: Psn::new(0x123456),
            epoch: Epoch(7),
            ordinal: Ordinal(0xfffe),
            timestamp: 0x8001,
        }
    }

    #[test]
    fn bytes_to_value() {
        assert_eq!(
            Common::parse(&CommonPacket::new_unchecked(&BYTES[..])),
            Ok(value())
        );
    }

    #[test]
    fn value_to_bytes_over_a_dirty_buffer() {
        let mut bytes = [0xa5; 16];
        value().emit(&mut CommonPacket::new_unchecked(&mut bytes[..]));
        assert_eq!(bytes, BYTES);
    }

    #[test]
    fn every_truncated_length_is_refused() {
        for len in 0..16 {
            let view = CommonPacket::new_unchecked(&BYTES[..len]);
            assert_eq!(
                Common::parse(&view),
                Err(WireError::Truncated {
                    needed: 16,
                    held: len
                })
            );
        }
    }

    #[test]
    fn other_versions_and_types_are_named() {
        let mut bytes = BYTES;
        bytes[0] = 0x23;
        let parse = |b: &[u8]| Common::parse(&CommonPacket::new_unchecked(b));
        assert_eq!(parse(&bytes), Err(WireError::Version { found: 2 }));
        for nibble in 7..16 {
            bytes[0] = 0x10 | nibble;
            assert_eq!(parse(&bytes), Err(WireError::Type { found: nibble }));
        }
    }
}
