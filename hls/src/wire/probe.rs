//! PROBE and FENCE (T-3.5): the common header and 8 bytes.

use super::bytes::{get_u16, put};
use super::{COMMON_LEN, Common, CommonPacket, Epoch, PacketType, PathId, WireError, need};
use std::fmt;

/// View of a PROBE or FENCE.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ProbePacket<T: AsRef<[u8]>> {
    buffer: T,
}

mod field {
    pub const RETURN_MASK: usize = 16;
    pub const TRAIN: usize = 18;
    pub const FENCED_PATH: usize = 19;
    pub const FENCED_EPOCH: usize = 20;
    pub const RESERVED: std::ops::Range<usize> = 21..24;
    pub const END: usize = 24;
}

impl<T: AsRef<[u8]>> ProbePacket<T> {
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

    /// Return paths on which ACKs came lately.
    pub fn return_mask(&self) -> u16 {
        get_u16(self.buffer.as_ref(), field::RETURN_MASK)
    }

    /// Place in the train of unanswered probes, from 0.
    pub fn train(&self) -> u8 {
        self.buffer.as_ref()[field::TRAIN]
    }

    /// FENCE: the path whose epoch is closed.
    pub fn fenced_path(&self) -> PathId {
        PathId(self.buffer.as_ref()[field::FENCED_PATH])
    }

    /// FENCE: the epoch that is closed.
    pub fn fenced_epoch(&self) -> Epoch {
        Epoch(self.buffer.as_ref()[field::FENCED_EPOCH])
    }
}

impl<T: AsRef<[u8]> + AsMut<[u8]>> ProbePacket<T> {
    /// The common header, to be written.
    pub fn common_mut(&mut self) -> CommonPacket<&mut [u8]> {
        CommonPacket::new_unchecked(&mut self.buffer.as_mut()[..COMMON_LEN])
    }

    /// Sets the return mask.
    pub fn set_return_mask(&mut self, mask: u16) {
        put(
            self.buffer.as_mut(),
            field::RETURN_MASK,
            &mask.to_be_bytes(),
        );
    }

    /// Sets the place in the train.
    pub fn set_train(&mut self, train: u8) {
        self.buffer.as_mut()[field::TRAIN] = train;
    }

    /// Sets the fenced path and epoch.
    pub fn set_fenced(&mut self, path: PathId, epoch: Epoch) {
        self.buffer.as_mut()[field::FENCED_PATH] = path.0;
        self.buffer.as_mut()[field::FENCED_EPOCH] = epoch.0;
    }

    /// Zeroes the reserved bytes.
    pub fn clear_reserved(&mut self) {
        self.buffer.as_mut()[field::RESERVED].fill(0);
    }
}

/// A PROBE or FENCE as values.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Probe {
    /// The common header, of type PROBE or FENCE.
    pub common: Common,
    /// Return paths on which ACKs came lately.
    pub return_mask: u16,
    /// Place in the train of unanswered probes, from 0.
    pub train: u8,
    /// FENCE: the path whose epoch is closed; PROBE: 0.
    pub fenced_path: PathId,
    /// FENCE: the epoch that is closed; PROBE: 0.
    pub fenced_epoch: Epoch,
}

impl Probe {
    /// Reads a view; refuses other types. Reserved bytes are not looked at.
    pub fn parse<T: AsRef<[u8]>>(packet: &ProbePacket<T>) -> Result<Self, WireError> {
        packet.check_len()?;
        let common = Common::parse(&packet.common())?;
        if !matches!(common.kind, PacketType::Probe | PacketType::Fence) {
            return Err(WireError::Type {
                found: common.kind as u8,
            });
        }
        Ok(Self {
            common,
            return_mask: packet.return_mask(),
            train: packet.train(),
            fenced_path: packet.fenced_path(),
            fenced_epoch: packet.fenced_epoch(),
        })
    }

    /// Bytes of the packet.
    pub const fn buffer_len(&self) -> usize {
        field::END
    }

    /// Writes every byte of the packet.
    pub fn emit<T: AsRef<[u8]> + AsMut<[u8]>>(&self, packet: &mut ProbePacket<T>) {
        self.common.emit(&mut packet.common_mut());
        packet.set_return_mask(self.return_mask);
        packet.set_train(self.train);
        packet.set_fenced(self.fenced_path, self.fenced_epoch);
        packet.clear_reserved();
    }
}

impl fmt::Display for Probe {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} train={}", self.common, self.train)?;
        if self.common.kind == PacketType::Fence {
            write!(
                f,
                " closes path={} epoch={}",
                self.fenced_path, self.fenced_epoch
            )?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wire::{ConnectionId, Flags, Incarnation, Ordinal};

    // FENCE of path 3, epoch 0xfe, sent on path 9.
    const BYTES: [u8; 24] = [
        0x14, 0x01, 0x00, 0x07, 0x00, 0x00, 0x02, 0x09, 0x00, 0x00, 0x00, 0x01, 0x00, 0x00, 0x12,
        0x34, //
        0x0f, 0xf0, 0x05, 0x03, 0xfe, 0x00, 0x00, 0x00,
    ];

    fn value() -> Probe {
        Probe {
            common: Common {
                flags: Flags::ACK_REQUEST,
                incarnation: Incarnation(7),
                connection: ConnectionId::new(2),
                path: PathId(9),
                epoch: Epoch(1),
                ordinal: Ordinal(0),
                timestamp: 0x1234,
                ..Common::new(PacketType::Fence)
            },
            return_mask: 0x0ff0,
            train: 5,
            fenced_path: PathId(3),
            fenced_epoch: Epoch(0xfe),
        }
    }

    #[test]
    fn both_ways_over_a_dirty_buffer() {
        assert_eq!(
            Probe::parse(&ProbePacket::new_unchecked(&BYTES[..])),
            Ok(value())
        );
        let mut bytes = [0xa5; 24];
        value().emit(&mut ProbePacket::new_unchecked(&mut bytes[..]));
        assert_eq!(bytes, BYTES);
    }

    #[test]
    fn every_truncated_length_is_refused() {
        for len in 0..24 {
            let error = WireError::Truncated {
                needed: 24,
                held: len,
            };
            assert_eq!(
                Probe::parse(&ProbePacket::new_unchecked(&BYTES[..len])),
                Err(error)
            );
        }
    }

    #[test]
    fn only_probe_and_fence_are_read() {
        for kind in 0..7 {
            let mut bytes = BYTES;
            bytes[0] = 0x10 | kind;
            let parsed = Probe::parse(&ProbePacket::new_unchecked(&bytes[..]));
            assert_eq!(parsed.is_ok(), kind == 3 || kind == 4, "type {kind}");
        }
    }
}
