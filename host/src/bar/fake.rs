//! A BAR without a device: registers that keep what was written.

use super::Bar;
use std::collections::BTreeMap;

/// Registers as a map; one that was never written reads as `unmapped`.
#[derive(Debug, Clone)]
pub struct FakeBar {
    registers: BTreeMap<u32, u32>,
    unmapped: u32,
    /// Every write, in order.
    pub writes: Vec<(u32, u32)>,
}

impl FakeBar {
    /// Registers that read as 0.
    pub fn new() -> Self {
        Self::reading(0)
    }

    /// Registers that read as `unmapped` until they are written.
    pub fn reading(unmapped: u32) -> Self {
        Self {
            registers: BTreeMap::new(),
            unmapped,
            writes: Vec::new(),
        }
    }

    /// Sets a register from the device's side.
    pub fn set(&mut self, offset: u32, value: u32) {
        self.registers.insert(offset, value);
    }

    /// Looks at a register from the device's side.
    pub fn get(&self, offset: u32) -> u32 {
        self.registers
            .get(&offset)
            .copied()
            .unwrap_or(self.unmapped)
    }
}

impl Default for FakeBar {
    fn default() -> Self {
        Self::new()
    }
}

impl Bar for FakeBar {
    fn read32(&mut self, offset: u32) -> u32 {
        self.get(offset)
    }

    fn write32(&mut self, offset: u32, value: u32) {
        self.writes.push((offset, value));
        self.set(offset, value);
    }
}
