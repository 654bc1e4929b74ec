//! What two sides settle on (T-4.3, T-4.6).

/// Smallest payload of a packet that may be settled on.
pub const MTU_MIN: u16 = 256;

/// What both sides will do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Settled {
    /// Transport version.
    pub version: u8,
    /// Features.
    pub features: u32,
    /// Payload bytes of a packet.
    pub mtu: u16,
    /// Planes.
    pub planes: u8,
    /// Paths of each plane.
    pub paths_per_plane: u8,
    /// W, in bits.
    pub window: u16,
    /// Streams.
    pub streams: u8,
    /// Message slots a stream.
    pub slots: u16,
}

impl Settled {
    /// Whether a NIC can do this.
    pub(super) fn is_within(&self, config: &super::Config) -> bool {
        usize::from(self.planes) == config.planes.len()
            && self.window == config.window
            && (MTU_MIN..=config.mtu).contains(&self.mtu)
            && (1..=config.paths_per_plane).contains(&self.paths_per_plane)
            && (1..=config.streams).contains(&self.streams)
            && (1..=config.slots).contains(&self.slots)
    }
}
