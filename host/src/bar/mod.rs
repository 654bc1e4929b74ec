//! Registers of a device: 32-bit accesses by address in the engine's AXI-Lite space.
//!
//! [`MappedBar`] is the way to a real PCI function, [`FakeBar`] a plain memory of registers for tests.

mod fake;
mod mapped;

pub use fake::FakeBar;
pub use mapped::{MapError, MappedBar};

/// Reads and writes registers. Address bit 24 tells BAR2 (doorbells) from BAR0.
pub trait Bar {
    /// Reads the register at `offset`.
    fn read32(&mut self, offset: u32) -> u32;

    /// Writes the register at `offset`. Writes reach the device in the order of the calls, and after all
    /// earlier writes of this thread to DMA memory.
    fn write32(&mut self, offset: u32, value: u32);
}
