//! ACK and FENCE_ACK (T-3.6): a header of 16 bytes and one to four blocks, one a path.
//!
//! The length of a block depends on W, which the set-up fixes for a connection: a view is told W.

use super::bytes::{get_u16, get_u24, put, put_u24};
use super::common::field as common;
use super::{
    COMMON_LEN, CommonPacket, ConnectionId, Epoch, Flags, Incarnation, Ordinal, PacketType, PathId,
    Psn, WireError, need,
};
use arrayvec::ArrayVec;
use std::fmt;

/// Most blocks of an ACK.
pub const BLOCKS_MAX: usize = 4;
/// Status flag: the ACK says when it was sent.
pub const ACK_TIMED: u8 = 1;

/// Selective acknowledgement: W bits by absolute position that toggle with the lap.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Bitvector {
    /// W: 64, 128 or 256.
    window: u16,
    /// Least significant word first: bit i is bit (i mod 64) of word i / 64.
    words: [u64; 4],
}

impl Bitvector {
    /// The vector at the start of an epoch.
    ///
    /// # Panics
    /// When `window` is not 64, 128 or 256.
    pub fn new(window: u16) -> Self {
        assert!(
            matches!(window, 64 | 128 | 256),
            "W is 64, 128 or 256, not {window}"
        );
        Self {
            window,
            words: [0; 4],
        }
    }

    /// W, in bits.
    pub const fn window(&self) -> u16 {
        self.window
    }

    /// Bytes that a vector of `window` bits takes.
    const fn len(window: u16) -> usize {
        window as usize / 8
    }

    /// The bit at position `index`.
    pub fn bit(&self, index: u16) -> bool {
        assert!(
            index < self.window,
            "position {index} in a vector of {} bits",
            self.window
        );
        self.words[usize::from(index / 64)] >> (index % 64) & 1 == 1
    }

    /// Toggles the bit of `psn`.
    pub fn toggle(&mut self, psn: Psn) {
        let index = psn.value() % u32::from(self.window);
        self.words[index as usize / 64] ^= 1 << (index % 64);
    }

    /// Whether `psn` is received, by a block whose cumulative PSN is `cumulative`.
    /// PSNs before the cumulative one are, those from a window on are not.
    pub fn received(&self, psn: Psn, cumulative: Psn) -> bool {
        if psn.is_before(cumulative) {
            return true;
        }
        let window = u32::from(self.window);
        if psn.distance_from(cumulative) >= window {
            return false;
        }
        let lap = psn.value() / window % 2 == 1;
        self.bit((psn.value() % window) as u16) != lap
    }

    /// What the vector shows, counted from `cumulative`: bit i (of word i / 64) says whether PSN
    /// `cumulative` + i is received. The same as [`Self::received`], for all of the window at once.
    pub fn offsets(&self, cumulative: Psn) -> [u64; 4] {
        let window = u32::from(self.window);
        let position = cumulative.value() % window;
        let odd_lap = cumulative.value() / window % 2 == 1;
        let (count, shift) = (usize::from(self.window / 64), position % 64);
        let mut plain = [0; 4];
        for (index, word) in self.words[..count].iter().enumerate() {
            // Positions before the cumulative PSN's belong to the next lap.
            let next_lap = low_bits(position.saturating_sub(index as u32 * 64));
            plain[index] = word ^ if odd_lap { !next_lap } else { next_lap };
        }
        let mut turned = [0; 4];
        for (index, word) in turned[..count].iter_mut().enumerate() {
            let from = (index + position as usize / 64) % count;
            let above = plain[(from + 1) % count];
            *word = plain[from] >> shift | if shift == 0 { 0 } else { above << (64 - shift) };
        }
        turned
    }

    fn parse(bytes: &[u8]) -> Self {
        let mut vector = Self::new(bytes.len() as u16 * 8);
        for (word, chunk) in vector.words.iter_mut().zip(bytes.rchunks(8)) {
            *word = chunk
                .iter()
                .fold(0, |value, byte| value << 8 | u64::from(*byte));
        }
        vector
    }

    fn emit(&self, bytes: &mut [u8]) {
        for (word, chunk) in self.words.iter().zip(bytes.rchunks_mut(8)) {
            chunk.copy_from_slice(&word.to_be_bytes());
        }
    }
}

/// A word whose lowest `count` bits are set.
const fn low_bits(count: u32) -> u64 {
    if count >= 64 {
        u64::MAX
    } else {
        (1 << count) - 1
    }
}

/// View of one path block.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AckBlockPacket<T: AsRef<[u8]>> {
    buffer: T,
}

mod field {
    pub const SHARE: usize = 8;
    pub const BLOCKS: usize = 10;
    pub const STATUS: usize = 11;
    pub const RESERVED: std::ops::Range<usize> = 12..14;
    pub const SENT: usize = 14;
}

mod block {
    pub const PATH: usize = 0;
    pub const EPOCH: usize = 1;
    pub const CUMULATIVE: usize = 2;
    pub const FLAGS: usize = 5;
    pub const ORDINAL: usize = 6;
    pub const TIMESTAMP: usize = 8;
    pub const DELAY: usize = 10;
    pub const MARKED: usize = 12;
    pub const RECEIVED: usize = 14;
    pub const BITVECTOR: usize = 16;
}

impl<T: AsRef<[u8]>> AckBlockPacket<T> {
    /// Bytes of a block with a vector of `window` bits.
    pub const fn len_for(window: u16) -> usize {
        block::BITVECTOR + Bitvector::len(window)
    }

    /// A view of exactly one block; the buffer's length says W.
    pub const fn new_unchecked(buffer: T) -> Self {
        Self { buffer }
    }

    /// The path that the block reports.
    pub fn path(&self) -> PathId {
        PathId(self.buffer.as_ref()[block::PATH])
    }

    /// The epoch that the block reports.
    pub fn epoch(&self) -> Epoch {
        Epoch(self.buffer.as_ref()[block::EPOCH])
    }

    /// The next PSN that the receiver expects.
    pub fn cumulative(&self) -> Psn {
        Psn::new(get_u24(self.buffer.as_ref(), block::CUMULATIVE))
    }

    /// Flags of the block; none is defined yet.
    pub fn flags(&self) -> u8 {
        self.buffer.as_ref()[block::FLAGS]
    }

    /// Highest ordinal seen.
    pub fn ordinal(&self) -> Ordinal {
        Ordinal(get_u16(self.buffer.as_ref(), block::ORDINAL))
    }

    /// Timestamp of the packet with the highest ordinal.
    pub fn timestamp(&self) -> u16 {
        get_u16(self.buffer.as_ref(), block::TIMESTAMP)
    }

    /// Time between that packet's receipt and this ACK, units of 128 ns.
    pub fn delay(&self) -> u16 {
        get_u16(self.buffer.as_ref(), block::DELAY)
    }

    /// Running count of marked packets.
    pub fn marked(&self) -> u16 {
        get_u16(self.buffer.as_ref(), block::MARKED)
    }

    /// Running count of received packets.
    pub fn received(&self) -> u16 {
        get_u16(self.buffer.as_ref(), block::RECEIVED)
    }

    /// The bitvector.
    pub fn bitvector(&self) -> Bitvector {
        Bitvector::parse(&self.buffer.as_ref()[block::BITVECTOR..])
    }
}

/// A path block as values.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AckBlock {
    /// The path that the block reports.
    pub path: PathId,
    /// The epoch that the block reports.
    pub epoch: Epoch,
    /// The next PSN that the receiver expects.
    pub cumulative: Psn,
    /// Flags of the block; none is defined yet.
    pub flags: u8,
    /// Highest ordinal seen.
    pub ordinal: Ordinal,
    /// Timestamp of the packet with the highest ordinal.
    pub timestamp: u16,
    /// Time between that packet's receipt and this ACK, units of 128 ns.
    pub delay: u16,
    /// Running count of marked packets.
    pub marked: u16,
    /// Running count of received packets.
    pub received: u16,
    /// The bitvector.
    pub bitvector: Bitvector,
}

impl AckBlock {
    fn parse<T: AsRef<[u8]>>(packet: &AckBlockPacket<T>) -> Self {
        Self {
            path: packet.path(),
            epoch: packet.epoch(),
            cumulative: packet.cumulative(),
            flags: packet.flags(),
            ordinal: packet.ordinal(),
            timestamp: packet.timestamp(),
            delay: packet.delay(),
            marked: packet.marked(),
            received: packet.received(),
            bitvector: packet.bitvector(),
        }
    }

    /// Writes every byte of the block.
    fn emit(&self, bytes: &mut [u8]) {
        bytes[block::PATH] = self.path.0;
        bytes[block::EPOCH] = self.epoch.0;
        put_u24(bytes, block::CUMULATIVE, self.cumulative.value());
        bytes[block::FLAGS] = self.flags;
        put(bytes, block::ORDINAL, &self.ordinal.0.to_be_bytes());
        put(bytes, block::TIMESTAMP, &self.timestamp.to_be_bytes());
        put(bytes, block::DELAY, &self.delay.to_be_bytes());
        put(bytes, block::MARKED, &self.marked.to_be_bytes());
        put(bytes, block::RECEIVED, &self.received.to_be_bytes());
        self.bitvector.emit(&mut bytes[block::BITVECTOR..]);
    }
}

/// View of an ACK or FENCE_ACK of a connection whose W is known.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AckPacket<T: AsRef<[u8]>> {
    buffer: T,
    window: u16,
}

impl<T: AsRef<[u8]>> AckPacket<T> {
    /// Bytes of the header before the first block.
    pub const HEADER_LEN: usize = COMMON_LEN;

    /// A view that has not been checked; `window` is the connection's W.
    pub const fn new_unchecked(buffer: T, window: u16) -> Self {
        Self { buffer, window }
    }

    /// A view whose getters do not panic.
    pub fn new_checked(buffer: T, window: u16) -> Result<Self, WireError> {
        let packet = Self::new_unchecked(buffer, window);
        packet.check_len()?;
        Ok(packet)
    }

    /// `Ok` if the block count is 1 to 4 and the buffer holds them all.
    pub fn check_len(&self) -> Result<(), WireError> {
        let held = self.buffer.as_ref().len();
        need(held, COMMON_LEN)?;
        let blocks = self.block_count();
        if !(1..=BLOCKS_MAX).contains(&usize::from(blocks)) {
            return Err(WireError::Field {
                field: "block count",
                found: blocks.into(),
            });
        }
        need(held, COMMON_LEN + usize::from(blocks) * self.block_len())
    }

    fn block_len(&self) -> usize {
        AckBlockPacket::<T>::len_for(self.window)
    }

    /// The first 8 bytes are those of the common header; the rest of that view means nothing here.
    pub fn common(&self) -> CommonPacket<&[u8]> {
        CommonPacket::new_unchecked(&self.buffer.as_ref()[..COMMON_LEN])
    }

    /// What the receiver grants, in 1/65535 of the line rate.
    pub fn share(&self) -> u16 {
        get_u16(self.buffer.as_ref(), field::SHARE)
    }

    /// Blocks that follow.
    pub fn block_count(&self) -> u8 {
        self.buffer.as_ref()[field::BLOCKS]
    }

    /// Status flags: [`ACK_TIMED`].
    pub fn status(&self) -> u8 {
        self.buffer.as_ref()[field::STATUS]
    }

    /// When it was sent, by the receiver's clock in units of 128 ns, if it says so.
    pub fn sent(&self) -> Option<u16> {
        let timed = self.status() & ACK_TIMED != 0;
        timed.then(|| get_u16(self.buffer.as_ref(), field::SENT))
    }

    /// The block at `index`.
    pub fn block(&self, index: usize) -> AckBlockPacket<&[u8]> {
        let start = COMMON_LEN + index * self.block_len();
        AckBlockPacket::new_unchecked(&self.buffer.as_ref()[start..start + self.block_len()])
    }
}

/// An ACK or FENCE_ACK as values.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ack {
    /// `Ack` or `FenceAck`.
    pub kind: PacketType,
    /// Flags of byte 1.
    pub flags: Flags,
    /// Incarnation of the connection.
    pub incarnation: Incarnation,
    /// Destination connection.
    pub connection: ConnectionId,
    /// Return path that the packet travels on.
    pub return_path: PathId,
    /// What the receiver grants, in 1/65535 of the line rate.
    pub share: u16,
    /// When it was sent, by the receiver's clock in units of 128 ns, if it says so.
    pub sent: Option<u16>,
    /// One to four blocks of one W.
    pub blocks: ArrayVec<AckBlock, BLOCKS_MAX>,
}

impl Ack {
    /// Reads a view; refuses other types.
    pub fn parse<T: AsRef<[u8]>>(packet: &AckPacket<T>) -> Result<Self, WireError> {
        need(packet.buffer.as_ref().len(), COMMON_LEN)?;
        let head = packet.common();
        let kind = head.check_kind()?;
        if !matches!(kind, PacketType::Ack | PacketType::FenceAck) {
            return Err(WireError::Type { found: kind as u8 });
        }
        packet.check_len()?;
        Ok(Self {
            kind,
            flags: head.flags(),
            incarnation: head.incarnation(),
            connection: head.connection(),
            return_path: head.path(),
            share: packet.share(),
            sent: packet.sent(),
            blocks: (0..usize::from(packet.block_count()))
                .map(|index| AckBlock::parse(&packet.block(index)))
                .collect(),
        })
    }

    /// Bytes of the packet.
    pub fn buffer_len(&self) -> usize {
        let window = self
            .blocks
            .first()
            .map_or(0, |block| block.bitvector.window());
        COMMON_LEN + self.blocks.len() * AckBlockPacket::<&[u8]>::len_for(window)
    }

    /// Writes every byte of the packet.
    ///
    /// # Panics
    /// Without one to four blocks of one W, or when the buffer is shorter than `buffer_len`.
    pub fn emit(&self, bytes: &mut [u8]) {
        assert!(
            (1..=BLOCKS_MAX).contains(&self.blocks.len()),
            "{} blocks",
            self.blocks.len()
        );
        bytes[common::KIND] = self.kind.first_byte();
        bytes[common::FLAGS] = self.flags.0;
        put(
            bytes,
            common::INCARNATION,
            &self.incarnation.0.to_be_bytes(),
        );
        put_u24(bytes, common::CONNECTION, self.connection.value());
        bytes[common::PATH] = self.return_path.0;
        put(bytes, field::SHARE, &self.share.to_be_bytes());
        bytes[field::BLOCKS] = self.blocks.len() as u8;
        bytes[field::STATUS] = self.sent.map_or(0, |_| ACK_TIMED);
        bytes[field::RESERVED].fill(0);
        put(bytes, field::SENT, &self.sent.unwrap_or(0).to_be_bytes());
        let window = self.blocks[0].bitvector.window();
        let len = AckBlockPacket::<&[u8]>::len_for(window);
        for (block, bytes) in self.blocks.iter().zip(bytes[COMMON_LEN..].chunks_mut(len)) {
            assert_eq!(block.bitvector.window(), window, "one W a connection");
            block.emit(bytes);
        }
    }
}

impl fmt::Display for Ack {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{:?} connection={} return_path={} share={}",
            self.kind, self.connection, self.return_path, self.share
        )?;
        for block in &self.blocks {
            write!(
                f,
                " [path={} epoch={} cumulative={} ordinal={} received={}]",
                block.path, block.epoch, block.cumulative, block.ordinal, block.received
            )?;
        }
        Ok(())
    }
}

#[cfg(test)]
#[path = "ack_tests.rs"]
mod tests;
