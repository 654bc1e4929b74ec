//! The named sizes of the engine (design section 4).

/// Sizes of one engine.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Configuration {
    /// Name, as in `osprey_engine_<name>`.
    pub name: &'static str,
    /// Planes, 2 or 4.
    pub planes: usize,
    /// log2 of the connections, at most 6.
    pub connection_bits: usize,
    /// log2 of the packets that a sender has open on a path at most; W is 64 nevertheless.
    pub window_bits: usize,
    /// log2 of the memory keys.
    pub key_bits: usize,
    /// log2 of the page table entries.
    pub page_bits: usize,
}

impl Configuration {
    /// Fits an ECP5-85.
    pub const EDGE: Self = Self {
        name: "edge",
        planes: 2,
        connection_bits: 4,
        window_bits: 5,
        key_bits: 9,
        page_bits: 11,
    };

    /// For simulation.
    pub const LAB: Self = Self {
        name: "lab",
        planes: 4,
        connection_bits: 6,
        window_bits: 6,
        key_bits: 8,
        page_bits: 16,
    };

    /// All named configurations.
    pub const ALL: [Self; 2] = [Self::EDGE, Self::LAB];

    /// log2 of the planes.
    pub const fn plane_bits(&self) -> usize {
        self.planes.ilog2() as usize
    }

    /// log2 of the (connection, path) pairs.
    pub const fn pair_bits(&self) -> usize {
        self.connection_bits + 5
    }

    /// The CAPABILITIES register.
    pub const fn capabilities(&self) -> u32 {
        self.planes as u32 | 8 << 8 | (self.connection_bits as u32) << 16 | 6 << 24
    }

    /// The CAPABILITIES2 register.
    pub const fn capabilities2(&self) -> u32 {
        6 | (self.key_bits as u32) << 8 | (self.page_bits as u32) << 16 | 64 << 24
    }
}
