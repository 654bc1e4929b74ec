//! Addresses of a plane's port: MAC and IPv4.

use std::fmt;

/// An Ethernet MAC address, in the order of the wire.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct MacAddress(pub [u8; 6]);

impl MacAddress {
    /// The words of a register pair: octet 0 in bits 7:0 of the first, octets 4 and 5 in the second.
    pub const fn to_words(self) -> [u32; 2] {
        let o = self.0;
        [
            u32::from_le_bytes([o[0], o[1], o[2], o[3]]),
            u32::from_le_bytes([o[4], o[5], 0, 0]),
        ]
    }
}

impl fmt::Display for MacAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [a, b, c, d, e, g] = self.0;
        write!(f, "{a:02x}:{b:02x}:{c:02x}:{d:02x}:{e:02x}:{g:02x}")
    }
}

/// An IPv4 address, in the order of the wire.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct Ipv4Address(pub [u8; 4]);

impl Ipv4Address {
    /// The word of a register: first octet in bits 7:0.
    pub const fn to_word(self) -> u32 {
        u32::from_le_bytes(self.0)
    }
}

impl fmt::Display for Ipv4Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [a, b, c, d] = self.0;
        write!(f, "{a}.{b}.{c}.{d}")
    }
}

/// Where one plane of an endpoint is reached.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct PlaneAddress {
    /// MAC address of the port.
    pub mac: MacAddress,
    /// IPv4 address of the port.
    pub ipv4: Ipv4Address,
}
