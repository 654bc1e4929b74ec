//! A device: registers and memory, opened only if its identity is known.

mod free_list;
mod identity;
mod pair;
mod tables;

pub use free_list::FreeList;
pub use identity::{Capabilities, identify};
pub use pair::{DevicePair, SharedPort};
pub use tables::{Words, fill_table, read_table, write_table};

use crate::bar::Bar;
use crate::dma::{DmaError, DmaMemory};
use osprey_hls::regs::{Register, control};

/// The way to an engine.
pub trait Device: Bar + DmaMemory {
    /// Called whenever the library has nothing to do but wait: lets a simulated device's time go on.
    fn idle(&mut self);
}

/// The device does not do what it must.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum DeviceError {
    /// Registers read as all ones.
    #[error(
        "the device does not answer (registers read as all ones): rescan the bus from the bridge above it, or reboot"
    )]
    Absent,
    /// Something else is behind the BAR.
    #[error("not an Osprey engine: magic {found:#010x}, expected {expected:#010x}")]
    Magic {
        /// What the device says.
        found: u32,
        /// What an engine says.
        expected: u32,
    },
    /// Another version of the map.
    #[error("register map version {found}, this library knows version {expected}")]
    Version {
        /// What the device says.
        found: u32,
        /// What this library knows.
        expected: u32,
    },
    /// Another map.
    #[error(
        "register map hash {found:#010x}, this library knows {expected:#010x}: bitstream and library differ"
    )]
    MapHash {
        /// What the device says.
        found: u32,
        /// What this library knows.
        expected: u32,
    },
    /// Capabilities that make no sense.
    #[error("the device states impossible capabilities {found:#010x}")]
    Capabilities {
        /// What the device says.
        found: u32,
    },
    /// A wait took longer than the device can need.
    #[error("the device is stuck: {what} after {waits} waits")]
    Stuck {
        /// What was waited for.
        what: &'static str,
        /// How often.
        waits: u32,
    },
    /// A completion that nothing was posted for.
    #[error("completion of connection {connection} names index {index}, which is not outstanding")]
    Completion {
        /// The connection.
        connection: u32,
        /// The index.
        index: u32,
    },
    /// A status that the register map does not define.
    #[error(
        "completion of connection {connection} bears status {status}, which the map does not define"
    )]
    Status {
        /// The connection.
        connection: u32,
        /// The status.
        status: u8,
    },
    /// The system refuses to send, receive or wait.
    #[error("sockets: {kind}")]
    Socket {
        /// What the system says.
        kind: std::io::ErrorKind,
    },
    /// No memory for regions or the library's own rings.
    #[error(transparent)]
    Memory(#[from] DmaError),
}

/// Most calls of `idle` in one wait: a simulated device passes at least a cycle in each, a real one a
/// microsecond or so; either is far beyond what the engine needs.
const WAITS_MAX: u32 = 1_000_000;

/// Reads the single register `register`.
pub(crate) fn read<B: Bar + ?Sized>(device: &mut B, register: &Register) -> u32 {
    device.read32(register.at(0))
}

/// Writes the single register `register`.
pub(crate) fn write<D: Device + ?Sized>(device: &mut D, register: &Register, value: u32) {
    device.write32(register.at(0), value);
}

/// Calls `done` until it holds, idling in between.
pub(crate) fn wait<D: Device + ?Sized>(
    device: &mut D,
    what: &'static str,
    mut done: impl FnMut(&mut D) -> bool,
) -> Result<(), DeviceError> {
    for _ in 0..WAITS_MAX {
        if done(device) {
            return Ok(());
        }
        device.idle();
    }
    Err(DeviceError::Stuck {
        what,
        waits: WAITS_MAX,
    })
}

/// Device time, units of 128 ns; wraps.
pub fn time<D: Device + ?Sized>(device: &mut D) -> u32 {
    read(device, &control::TIME)
}
