//! Who the device is: magic, version, map hash, capabilities. Nothing is written before all are right.

use super::{DeviceError, read};
use crate::bar::Bar;
use osprey_hls::regs::{MAP_HASH, MAP_VERSION, identity};

/// What the engine has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Capabilities {
    /// Planes.
    pub planes: u8,
    /// Paths of each plane.
    pub paths_per_plane: u8,
    /// Connections, connection 0 included.
    pub connections: u32,
    /// W, in bits.
    pub window: u16,
    /// Message slots of a connection.
    pub slots: u16,
    /// Entries of the key table.
    pub keys: u32,
    /// Entries of the page table.
    pub pages: u32,
    /// Bytes of a beat.
    pub beat_bytes: u8,
}

/// Reads the identity and refuses a device that this library does not know, naming both values.
pub fn identify<B: Bar + ?Sized>(device: &mut B) -> Result<Capabilities, DeviceError> {
    let found = read(device, &identity::MAGIC);
    let expected = identity::MAGIC_VALUE;
    if found == u32::MAX {
        return Err(DeviceError::Absent);
    }
    if found != expected {
        return Err(DeviceError::Magic { found, expected });
    }
    let (found, expected) = (read(device, &identity::VERSION), MAP_VERSION);
    if found != expected {
        return Err(DeviceError::Version { found, expected });
    }
    let (found, expected) = (read(device, &identity::MAP_HASH), MAP_HASH);
    if found != expected {
        return Err(DeviceError::MapHash { found, expected });
    }
    capabilities(
        read(device, &identity::CAPABILITIES),
        read(device, &identity::CAPABILITIES2),
    )
}

fn capabilities(first: u32, second: u32) -> Result<Capabilities, DeviceError> {
    let [planes, paths_per_plane, log2_connections, log2_window] = first.to_le_bytes();
    let [log2_slots, log2_keys, log2_pages, beat_bytes] = second.to_le_bytes();
    let sane = (1..=4).contains(&planes)
        && (1..=8).contains(&paths_per_plane)
        && (1..=12).contains(&log2_connections)
        && (6..=8).contains(&log2_window);
    if !sane {
        return Err(DeviceError::Capabilities { found: first });
    }
    if log2_slots > 15 || log2_keys > 12 || log2_pages > 20 {
        return Err(DeviceError::Capabilities { found: second });
    }
    Ok(Capabilities {
        planes,
        paths_per_plane,
        connections: 1 << log2_connections,
        window: 1 << log2_window,
        slots: 1 << log2_slots,
        keys: 1 << log2_keys,
        pages: 1 << log2_pages,
        beat_bytes,
    })
}
