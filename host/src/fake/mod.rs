//! Two engines that behave as the register map says, joined by a perfect or forgetful wire: for tests of
//! what stands above a device.
//!
//! There is no transport here: a WRITE is copied whole, or refused by key and bounds. Time goes on by one
//! unit a call of `idle`. Everything is deterministic.

mod engine;
mod memory;

use crate::bar::Bar;
use crate::device::{Device, DevicePair};
use crate::dma::{DmaBuffer, DmaError, DmaMemory, PageSize};
pub use engine::FakeEngine;
pub use memory::FakeMemory;

/// A pair of engines.
#[derive(Debug, Clone)]
pub struct FakePair {
    sides: [FakeEngine; 2],
    steps: u64,
}

/// One side of a pair, as a device.
#[derive(Debug)]
pub struct FakePort<'a> {
    pair: &'a mut FakePair,
    side: usize,
}

impl FakePair {
    /// A pair of engines with 2 planes, 8 paths a plane and 16 connections.
    pub fn new() -> Self {
        Self {
            sides: [FakeEngine::new(0), FakeEngine::new(1)],
            steps: 0,
        }
    }

    /// The engine of one side, to look into or to break.
    pub fn engine(&mut self, side: usize) -> &mut FakeEngine {
        &mut self.sides[side]
    }

    /// Units of time that have passed.
    pub const fn steps(&self) -> u64 {
        self.steps
    }

    /// Lets one unit of time pass.
    pub fn step(&mut self) {
        self.steps += 1;
        for side in 0..2 {
            let [first, second] = &mut self.sides;
            let (local, peer) = if side == 0 {
                (first, second)
            } else {
                (second, first)
            };
            local.step(peer);
        }
    }
}

impl DevicePair for FakePair {
    type Port<'a> = FakePort<'a>;

    fn port(&mut self, side: usize) -> FakePort<'_> {
        FakePort { pair: self, side }
    }
}

impl Default for FakePair {
    fn default() -> Self {
        Self::new()
    }
}

impl Bar for FakePort<'_> {
    fn read32(&mut self, offset: u32) -> u32 {
        self.pair.sides[self.side].read(offset)
    }

    fn write32(&mut self, offset: u32, value: u32) {
        self.pair.sides[self.side].write(offset, value);
    }
}

impl DmaMemory for FakePort<'_> {
    fn allocate(&mut self, length: usize, page_size: PageSize) -> Result<DmaBuffer, DmaError> {
        self.pair.sides[self.side]
            .memory
            .allocate(length, page_size, false)
    }

    fn allocate_contiguous(&mut self, length: usize) -> Result<DmaBuffer, DmaError> {
        self.pair.sides[self.side]
            .memory
            .allocate(length, PageSize::Small, true)
    }

    fn release(&mut self, buffer: DmaBuffer) {
        self.pair.sides[self.side].memory.release(&buffer);
    }

    fn read(&self, buffer: &DmaBuffer, offset: usize, into: &mut [u8]) {
        self.pair.sides[self.side]
            .memory
            .copy_out(buffer, offset, into);
    }

    fn write(&mut self, buffer: &DmaBuffer, offset: usize, from: &[u8]) {
        self.pair.sides[self.side]
            .memory
            .copy_in(buffer, offset, from);
    }
}

impl Device for FakePort<'_> {
    fn idle(&mut self) {
        self.pair.step();
    }
}
