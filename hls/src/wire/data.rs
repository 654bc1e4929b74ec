//! DATA (T-3.4): 48 bytes of header, then the payload. Every packet carries its destination.

use super::bytes::{get_u16, get_u32, get_u64, put};
use super::{COMMON_LEN, Common, CommonPacket, Key, PacketType, WireError, need};
use std::fmt;

/// What a message does at its receiver.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum Operation {
    /// Writes registered memory.
    Write = 0,
    /// Writes registered memory and completes at the receiver with an immediate.
    WriteImm = 1,
    /// Fills a receive request.
    Send = 2,
    /// Fills a receive request, with an immediate.
    SendImm = 3,
    /// Reads registered memory.
    Read = 4,
    /// Compares and swaps 64 bits.
    CompareSwap = 5,
    /// Adds to 64 bits.
    FetchAdd = 6,
    /// Answer to a READ.
    ReadResponse = 7,
    /// Answer to an atomic.
    AtomicResponse = 8,
}

impl Operation {
    /// The operation of a code, if it is defined.
    pub const fn from_code(code: u8) -> Option<Self> {
        Some(match code {
            0 => Self::Write,
            1 => Self::WriteImm,
            2 => Self::Send,
            3 => Self::SendImm,
            4 => Self::Read,
            5 => Self::CompareSwap,
            6 => Self::FetchAdd,
            7 => Self::ReadResponse,
            8 => Self::AtomicResponse,
            _ => return None,
        })
    }
}

/// View of a DATA packet: header and payload.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DataPacket<T: AsRef<[u8]>> {
    buffer: T,
}

mod field {
    pub const ADDRESS: usize = 16;
    pub const KEY: usize = 24;
    pub const PAYLOAD_LENGTH: usize = 28;
    pub const OPERATION: usize = 30;
    pub const STREAM: usize = 31;
    pub const MESSAGE: usize = 32;
    pub const RETURN_MASK: usize = 34;
    pub const MESSAGE_LENGTH: usize = 36;
    pub const OFFSET: usize = 40;
    pub const IMMEDIATE: usize = 44;
    pub const PAYLOAD: usize = 48;
}

impl<T: AsRef<[u8]>> DataPacket<T> {
    /// Bytes of the header, common header included.
    pub const HEADER_LEN: usize = field::PAYLOAD;

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

    /// `Ok` if the buffer holds the header and the payload that it announces.
    pub fn check_len(&self) -> Result<(), WireError> {
        let held = self.buffer.as_ref().len();
        need(held, field::PAYLOAD)?;
        need(held, field::PAYLOAD + usize::from(self.payload_length()))
    }

    /// The common header.
    pub fn common(&self) -> CommonPacket<&[u8]> {
        CommonPacket::new_unchecked(&self.buffer.as_ref()[..COMMON_LEN])
    }

    /// Where the payload goes; of a SEND: the receive request's number.
    pub fn address(&self) -> u64 {
        get_u64(self.buffer.as_ref(), field::ADDRESS)
    }

    /// Key of the memory.
    pub fn key(&self) -> Key {
        Key(get_u32(self.buffer.as_ref(), field::KEY))
    }

    /// Bytes of payload in this packet.
    pub fn payload_length(&self) -> u16 {
        get_u16(self.buffer.as_ref(), field::PAYLOAD_LENGTH)
    }

    /// Code of the operation, defined or not.
    pub fn operation_code(&self) -> u8 {
        self.buffer.as_ref()[field::OPERATION]
    }

    /// Stream of the message.
    pub fn stream(&self) -> u8 {
        self.buffer.as_ref()[field::STREAM]
    }

    /// Number of the message in its stream.
    pub fn message(&self) -> u16 {
        get_u16(self.buffer.as_ref(), field::MESSAGE)
    }

    /// Return paths on which ACKs came lately.
    pub fn return_mask(&self) -> u16 {
        get_u16(self.buffer.as_ref(), field::RETURN_MASK)
    }

    /// Bytes of the whole message.
    pub fn message_length(&self) -> u32 {
        get_u32(self.buffer.as_ref(), field::MESSAGE_LENGTH)
    }

    /// Where this payload starts in the message.
    pub fn offset(&self) -> u32 {
        get_u32(self.buffer.as_ref(), field::OFFSET)
    }

    /// Immediate value.
    pub fn immediate(&self) -> u32 {
        get_u32(self.buffer.as_ref(), field::IMMEDIATE)
    }

    /// The payload.
    pub fn payload(&self) -> &[u8] {
        let end = field::PAYLOAD + usize::from(self.payload_length());
        &self.buffer.as_ref()[field::PAYLOAD..end]
    }
}

impl<T: AsRef<[u8]> + AsMut<[u8]>> DataPacket<T> {
    /// The common header, to be written.
    pub fn common_mut(&mut self) -> CommonPacket<&mut [u8]> {
        CommonPacket::new_unchecked(&mut self.buffer.as_mut()[..COMMON_LEN])
    }

    /// Sets the remote address.
    pub fn set_address(&mut self, address: u64) {
        put(self.buffer.as_mut(), field::ADDRESS, &address.to_be_bytes());
    }

    /// Sets the key.
    pub fn set_key(&mut self, key: Key) {
        put(self.buffer.as_mut(), field::KEY, &key.0.to_be_bytes());
    }

    /// Sets the payload's length.
    pub fn set_payload_length(&mut self, length: u16) {
        put(
            self.buffer.as_mut(),
            field::PAYLOAD_LENGTH,
            &length.to_be_bytes(),
        );
    }

    /// Sets the operation.
    pub fn set_operation(&mut self, operation: Operation) {
        self.buffer.as_mut()[field::OPERATION] = operation as u8;
    }

    /// Sets the stream.
    pub fn set_stream(&mut self, stream: u8) {
        self.buffer.as_mut()[field::STREAM] = stream;
    }

    /// Sets the message number.
    pub fn set_message(&mut self, message: u16) {
        put(self.buffer.as_mut(), field::MESSAGE, &message.to_be_bytes());
    }

    /// Sets the return mask.
    pub fn set_return_mask(&mut self, mask: u16) {
        put(
            self.buffer.as_mut(),
            field::RETURN_MASK,
            &mask.to_be_bytes(),
        );
    }

    /// Sets the message's length.
    pub fn set_message_length(&mut self, length: u32) {
        put(
            self.buffer.as_mut(),
            field::MESSAGE_LENGTH,
            &length.to_be_bytes(),
        );
    }

    /// Sets the offset in the message.
    pub fn set_offset(&mut self, offset: u32) {
        put(self.buffer.as_mut(), field::OFFSET, &offset.to_be_bytes());
    }

    /// Sets the immediate value.
    pub fn set_immediate(&mut self, immediate: u32) {
        put(
            self.buffer.as_mut(),
            field::IMMEDIATE,
            &immediate.to_be_bytes(),
        );
    }

    /// The payload, to be written; its length must have been set.
    pub fn payload_mut(&mut self) -> &mut [u8] {
        let end = field::PAYLOAD + usize::from(self.payload_length());
        &mut self.buffer.as_mut()[field::PAYLOAD..end]
    }
}

/// A DATA header as values.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Data {
    /// The common header, of type DATA.
    pub common: Common,
    /// Where the payload goes; of a SEND: the receive request's number.
    pub address: u64,
    /// Key of the memory.
    pub key: Key,
    /// Bytes of payload in this packet.
    pub payload_length: u16,
    /// What the message does.
    pub operation: Operation,
    /// Stream of the message.
    pub stream: u8,
    /// Number of the message in its stream.
    pub message: u16,
    /// Return paths on which ACKs came lately.
    pub return_mask: u16,
    /// Bytes of the whole message.
    pub message_length: u32,
    /// Where this payload starts in the message.
    pub offset: u32,
    /// Immediate value.
    pub immediate: u32,
}

impl Data {
    /// Reads a view; refuses other types and undefined operations.
    pub fn parse<T: AsRef<[u8]>>(packet: &DataPacket<T>) -> Result<Self, WireError> {
        packet.check_len()?;
        let code = packet.operation_code();
        Ok(Self {
            common: Common::parse(&packet.common())?.expect(PacketType::Data)?,
            address: packet.address(),
            key: packet.key(),
            payload_length: packet.payload_length(),
            operation: Operation::from_code(code).ok_or(WireError::Field {
                field: "operation",
                found: code.into(),
            })?,
            stream: packet.stream(),
            message: packet.message(),
            return_mask: packet.return_mask(),
            message_length: packet.message_length(),
            offset: packet.offset(),
            immediate: packet.immediate(),
        })
    }

    /// Bytes of header and payload.
    pub fn buffer_len(&self) -> usize {
        field::PAYLOAD + usize::from(self.payload_length)
    }

    /// Writes every byte of the header; the payload is the caller's.
    pub fn emit<T: AsRef<[u8]> + AsMut<[u8]>>(&self, packet: &mut DataPacket<T>) {
        self.common.emit(&mut packet.common_mut());
        packet.set_address(self.address);
        packet.set_key(self.key);
        packet.set_payload_length(self.payload_length);
        packet.set_operation(self.operation);
        packet.set_stream(self.stream);
        packet.set_message(self.message);
        packet.set_return_mask(self.return_mask);
        packet.set_message_length(self.message_length);
        packet.set_offset(self.offset);
        packet.set_immediate(self.immediate);
    }
}

impl fmt::Display for Data {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{} {:?} stream={} message={} offset={} length={}/{} address={:#x} key={}",
            self.common,
            self.operation,
            self.stream,
            self.message,
            self.offset,
            self.payload_length,
            self.message_length,
            self.address,
            self.key
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wire::{ConnectionId, Epoch, Flags, Incarnation, Ordinal, PathId, Psn};

    // A WRITE_IMM of 3 bytes at the end of a message of 4,099.
    const BYTES: [u8; 51] = [
        0x10, 0x0c, 0x12, 0x34, 0x00, 0x00, 0x05, 0x09, 0x01, 0x02, 0x03, 0x03, 0x00, 0x2a, 0x00,
        0x63, //
        0x01, 0x23, 0x45, 0x67, 0x89, 0xab, 0xcd, 0xef, 0xab, 0xcd, 0xe1, 0x23, 0x00, 0x03, 0x01,
        0x02, //
        0xff, 0xfd, 0x80, 0x01, 0x00, 0x00, 0x10, 0x03, 0x00, 0x00, 0x10, 0x00, 0xde, 0xad, 0xbe,
        0xef, //
        0x41, 0x42, 0x43,
    ];

    fn value() -> Data {
        Data {
            common: Common {
                flags: Flags::LAST.with(Flags::IMMEDIATE),
                incarnation: Incarnation(0x1234),
                connection: ConnectionId::new(5),
                path: PathId::new(1, 1),
                psn: Psn::new(0x10203),
                epoch: Epoch(3),
                ordinal: Ordinal(42),
                timestamp: 99,
                ..Common::new(PacketType::Data)
            },
            address: 0x0123_4567_89ab_cdef,
            key: Key(0xabcd_e123),
            payload_length: 3,
            operation: Operation::WriteImm,
            stream: 2,
            message: 0xfffd,
            return_mask: 0x8001,
            message_length: 4099,
            offset: 4096,
            immediate: 0xdead_beef,
        }
    }

    #[test]
    fn bytes_to_value() {
        let view = DataPacket::new_checked(&BYTES[..]).unwrap();
        assert_eq!(Data::parse(&view), Ok(value()));
        assert_eq!(view.payload(), b"ABC");
    }

    #[test]
    fn value_to_bytes_over_a_dirty_buffer() {
        let mut bytes = vec![0xa5; value().buffer_len()];
        let mut view = DataPacket::new_unchecked(&mut bytes[..]);
        value().emit(&mut view);
        view.payload_mut().copy_from_slice(b"ABC");
        assert_eq!(bytes, BYTES);
    }

    #[test]
    fn every_truncated_length_is_refused() {
        for len in 0..51 {
            let needed = if len < 48 { 48 } else { 51 };
            let error = WireError::Truncated { needed, held: len };
            assert_eq!(
                Data::parse(&DataPacket::new_unchecked(&BYTES[..len])),
                Err(error)
            );
        }
    }

    #[test]
    fn undefined_operations_and_other_types_are_refused() {
        let mut bytes = BYTES;
        bytes[30] = 9;
        let error = WireError::Field {
            field: "operation",
            found: 9,
        };
        assert_eq!(
            Data::parse(&DataPacket::new_unchecked(&bytes[..])),
            Err(error)
        );
        bytes[0] = 0x13;
        assert!(Data::parse(&DataPacket::new_unchecked(&bytes[..])).is_err());
        for code in 0..9 {
            assert_eq!(Operation::from_code(code).map(|o| o as u8), Some(code));
        }
    }
}
