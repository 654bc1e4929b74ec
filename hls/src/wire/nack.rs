//! NACK (T-3.7): the common header and 16 bytes. A NACK takes no ordinal and no PSN.

use super::bytes::{get_u16, get_u64, put};
use super::{COMMON_LEN, Common, CommonPacket, PacketType, WireError, need};
use std::fmt;

/// Why something was refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum NackReason {
    /// No receive request is posted; retry after `detail` x 128 ns.
    NoReceiveRequest = 1,
    /// The key, its rights or its bounds forbid the access.
    Access = 2,
    /// No such connection.
    UnknownConnection = 3,
    /// The connection has begun another life.
    StaleIncarnation = 4,
    /// The transport version is not spoken; `detail` holds the highest one that is.
    Version = 5,
    /// A table is full.
    NoResource = 6,
    /// The request breaks a rule of the format.
    InvalidRequest = 7,
}

impl NackReason {
    /// The reason of a code, if it is defined.
    pub const fn from_code(code: u8) -> Option<Self> {
        Some(match code {
            1 => Self::NoReceiveRequest,
            2 => Self::Access,
            3 => Self::UnknownConnection,
            4 => Self::StaleIncarnation,
            5 => Self::Version,
            6 => Self::NoResource,
            7 => Self::InvalidRequest,
            _ => return None,
        })
    }
}

/// View of a NACK.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NackPacket<T: AsRef<[u8]>> {
    buffer: T,
}

mod field {
    pub const REASON: usize = 16;
    pub const STREAM: usize = 17;
    pub const MESSAGE: usize = 18;
    pub const DETAIL: usize = 20;
    pub const RESERVED: std::ops::Range<usize> = 28..32;
    pub const END: usize = 32;
}

impl<T: AsRef<[u8]>> NackPacket<T> {
    /// Bytes of the header, common header included.
    pub const HEADER_LEN: usize = field::END;

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
        need(self.buffer.as_ref().len(), field::END)
    }

    /// The common header.
    pub fn common(&self) -> CommonPacket<&[u8]> {
        CommonPacket::new_unchecked(&self.buffer.as_ref()[..COMMON_LEN])
    }

    /// Code of the reason, defined or not.
    pub fn reason_code(&self) -> u8 {
        self.buffer.as_ref()[field::REASON]
    }

    /// Stream of the refused message.
    pub fn stream(&self) -> u8 {
        self.buffer.as_ref()[field::STREAM]
    }

    /// Number of the refused message.
    pub fn message(&self) -> u16 {
        get_u16(self.buffer.as_ref(), field::MESSAGE)
    }

    /// Detail, by reason.
    pub fn detail(&self) -> u64 {
        get_u64(self.buffer.as_ref(), field::DETAIL)
    }
}

impl<T: AsRef<[u8]> + AsMut<[u8]>> NackPacket<T> {
    /// The common header, to be written.
    pub fn common_mut(&mut self) -> CommonPacket<&mut [u8]> {
        CommonPacket::new_unchecked(&mut self.buffer.as_mut()[..COMMON_LEN])
    }

    /// Sets the reason.
    pub fn set_reason(&mut self, reason: NackReason) {
        self.buffer.as_mut()[field::REASON] = reason as u8;
    }

    /// Sets the stream.
    pub fn set_stream(&mut self, stream: u8) {
        self.buffer.as_mut()[field::STREAM] = stream;
    }

    /// Sets the message number.
    pub fn set_message(&mut self, message: u16) {
        put(self.buffer.as_mut(), field::MESSAGE, &message.to_be_bytes());
    }

    /// Sets the detail.
    pub fn set_detail(&mut self, detail: u64) {
        put(self.buffer.as_mut(), field::DETAIL, &detail.to_be_bytes());
    }

    /// Zeroes the reserved bytes.
    pub fn clear_reserved(&mut self) {
        self.buffer.as_mut()[field::RESERVED].fill(0);
    }
}

/// A NACK as values.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Nack {
    /// The common header, of type NACK.
    pub common: Common,
    /// Why something was refused.
    pub reason: NackReason,
    /// Stream of the refused message.
    pub stream: u8,
    /// Number of the refused message.
    pub message: u16,
    /// Detail, by reason.
    pub detail: u64,
}

impl Nack {
    /// Reads a view; refuses other types and undefined reasons.
    pub fn parse<T: AsRef<[u8]>>(packet: &NackPacket<T>) -> Result<Self, WireError> {
        packet.check_len()?;
        let code = packet.reason_code();
        Ok(Self {
            common: Common::parse(&packet.common())?.expect(PacketType::Nack)?,
            reason: NackReason::from_code(code).ok_or(WireError::Field {
                field: "reason",
                found: code.into(),
            })?,
            stream: packet.stream(),
            message: packet.message(),
            detail: packet.detail(),
        })
    }

    /// Bytes of the packet.
    pub const fn buffer_len(&self) -> usize {
        field::END
    }

    /// Writes every byte of the packet.
    pub fn emit<T: AsRef<[u8]> + AsMut<[u8]>>(&self, packet: &mut NackPacket<T>) {
        self.common.emit(&mut packet.common_mut());
        packet.set_reason(self.reason);
        packet.set_stream(self.stream);
        packet.set_message(self.message);
        packet.set_detail(self.detail);
        packet.clear_reserved();
    }
}

impl fmt::Display for Nack {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{} {:?} stream={} message={} detail={:#x}",
            self.common, self.reason, self.stream, self.message, self.detail
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wire::{ConnectionId, Incarnation, PathId};

    const BYTES: [u8; 32] = [
        0x12, 0x00, 0xca, 0xfe, 0x01, 0x02, 0x03, 0x08, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00,
        0x00, //
        0x02, 0x01, 0x12, 0x34, 0x01, 0x02, 0x03, 0x04, 0x05, 0x06, 0x07, 0x08, 0x00, 0x00, 0x00,
        0x00,
    ];

    fn value() -> Nack {
        Nack {
            common: Common {
                incarnation: Incarnation(0xcafe),
                connection: ConnectionId::new(0x10203),
                path: PathId(8),
                ..Common::new(PacketType::Nack)
            },
            reason: NackReason::Access,
            stream: 1,
            message: 0x1234,
            detail: 0x0102_0304_0506_0708,
        }
    }

    #[test]
    fn both_ways_over_a_dirty_buffer() {
        assert_eq!(
            Nack::parse(&NackPacket::new_unchecked(&BYTES[..])),
            Ok(value())
        );
        let mut bytes = [0xa5; 32];
        value().emit(&mut NackPacket::new_unchecked(&mut bytes[..]));
        assert_eq!(bytes, BYTES);
    }

    #[test]
    fn every_truncated_length_is_refused() {
        for len in 0..32 {
            let error = WireError::Truncated {
                needed: 32,
                held: len,
            };
            assert_eq!(
                Nack::parse(&NackPacket::new_unchecked(&BYTES[..len])),
                Err(error)
            );
        }
    }

    #[test]
    fn undefined_reasons_are_refused() {
        for code in (0..=255).filter(|c| !(1..=7).contains(c)) {
            let mut bytes = BYTES;
            bytes[16] = code;
            let error = WireError::Field {
                field: "reason",
                found: code.into(),
            };
            assert_eq!(
                Nack::parse(&NackPacket::new_unchecked(&bytes[..])),
                Err(error)
            );
        }
    }
}
