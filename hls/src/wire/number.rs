//! The numbers of the protocol as types of their own, so that swapping two does not compile.

use std::fmt;

/// Packet sequence number of one path: 24 bits, ordered modulo 2^24.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct Psn(u32);

impl Psn {
    /// Bits of a PSN.
    pub const BITS: u32 = 24;
    const MASK: u32 = (1 << Self::BITS) - 1;

    /// The PSN with the low 24 bits of `value`.
    pub const fn new(value: u32) -> Self {
        Self(value & Self::MASK)
    }

    /// The number itself, below 2^24.
    pub const fn value(self) -> u32 {
        self.0
    }

    /// The PSN `count` packets later.
    #[must_use]
    pub const fn advance(self, count: u32) -> Self {
        Self::new(self.0.wrapping_add(count))
    }

    /// How many packets `self` lies after `base`, modulo 2^24.
    pub const fn distance_from(self, base: Psn) -> u32 {
        self.0.wrapping_sub(base.0) & Self::MASK
    }

    /// Whether `self` comes before `other` in wrapping order (the nearer way round decides).
    pub const fn is_before(self, other: Psn) -> bool {
        let ahead = other.distance_from(self);
        ahead != 0 && ahead < 1 << (Self::BITS - 1)
    }
}

impl fmt::Display for Psn {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.0)
    }
}

/// Counts the transmissions and probes of one path: 16 bits, ordered modulo 2^16.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct Ordinal(pub u16);

impl Ordinal {
    /// The ordinal of the next transmission.
    #[must_use]
    pub const fn next(self) -> Self {
        Self(self.0.wrapping_add(1))
    }

    /// Whether `self` is older than `other` (signed 16-bit difference).
    pub const fn is_before(self, other: Ordinal) -> bool {
        (self.0.wrapping_sub(other.0) as i16) < 0
    }
}

/// Epoch of a path: with the PSN it names a packet for good.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct Epoch(pub u8);

/// A path of a connection: a plane and a number inside it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, PartialOrd, Ord)]
pub struct PathId(pub u8);

impl PathId {
    /// Paths of a plane in engine version 1.
    pub const PER_PLANE: u8 = 8;

    /// Path `k` of `plane`.
    pub const fn new(plane: u8, k: u8) -> Self {
        Self(plane * Self::PER_PLANE + k)
    }

    /// The plane that the path belongs to.
    pub const fn plane(self) -> u8 {
        self.0 / Self::PER_PLANE
    }

    /// The number inside its plane.
    pub const fn k(self) -> u8 {
        self.0 % Self::PER_PLANE
    }
}

/// Number of a connection at the endpoint that receives the packet: 24 bits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, PartialOrd, Ord)]
pub struct ConnectionId(u32);

impl ConnectionId {
    /// Reserved: bears CONTROL frames only.
    pub const CONTROL: Self = Self(0);

    /// The connection with the low 24 bits of `value`.
    pub const fn new(value: u32) -> Self {
        Self(value & 0xff_ffff)
    }

    /// The number itself, below 2^24.
    pub const fn value(self) -> u32 {
        self.0
    }
}

/// Random number of one life of a connection, chosen by the receiver of the packets.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct Incarnation(pub u16);

/// Names registered memory: generation (20 bits) and index (12 bits).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct Key(pub u32);

impl Key {
    /// Bits of the index.
    pub const INDEX_BITS: u32 = 12;
    /// Bits of the generation.
    pub const GENERATION_BITS: u32 = 20;

    /// The key of `generation` in the table entry `index`.
    pub const fn new(generation: u32, index: u32) -> Self {
        Self(generation << Self::INDEX_BITS | index & ((1 << Self::INDEX_BITS) - 1))
    }

    /// Entry of the key table.
    pub const fn index(self) -> u32 {
        self.0 & ((1 << Self::INDEX_BITS) - 1)
    }

    /// Generation that the entry must hold.
    pub const fn generation(self) -> u32 {
        self.0 >> Self::INDEX_BITS
    }
}

macro_rules! display_inner {
    ($($name:ident),*) => {
        $(impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, "{}", self.0)
            }
        })*
    };
}
display_inner!(Ordinal, Epoch, PathId, ConnectionId);

impl fmt::Display for Incarnation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:#06x}", self.0)
    }
}

impl fmt::Display for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:#010x}", self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn psn_order_wraps_at_24_bits() {
        let last = Psn::new(0xff_ffff);
        assert_eq!(last.advance(1), Psn::new(0));
        assert!(last.is_before(Psn::new(0)));
        assert!(!Psn::new(0).is_before(last));
        assert!(!last.is_before(last));
        assert_eq!(Psn::new(5).distance_from(Psn::new(0xff_fffb)), 10);
        assert!(Psn::new(0).is_before(Psn::new(0x7f_ffff)));
        assert!(!Psn::new(0).is_before(Psn::new(0x80_0000)));
    }

    #[test]
    fn ordinal_order_is_a_signed_difference() {
        assert!(Ordinal(0xffff).is_before(Ordinal(0)));
        assert!(!Ordinal(0).is_before(Ordinal(0xffff)));
        assert_eq!(Ordinal(0xffff).next(), Ordinal(0));
    }

    #[test]
    fn key_and_path_split_as_the_contract_says() {
        let key = Key::new(0xabcde, 0x123);
        assert_eq!(key.0, 0xabcd_e123);
        assert_eq!((key.generation(), key.index()), (0xabcde, 0x123));
        let path = PathId::new(3, 5);
        assert_eq!((path.0, path.plane(), path.k()), (29, 3, 5));
    }
}
