//! Two devices that are joined, as one value or as two.
//!
//! A simulated or fake pair is one state machine; an application wants a device that it owns. Nothing of the devices
//! themselves is here.

use super::Device;
use crate::bar::Bar;
use crate::dma::{DmaBuffer, DmaError, DmaMemory, PageSize};
use std::cell::RefCell;
use std::rc::Rc;

/// Two joined devices.
pub trait DevicePair {
    /// One side, as a device.
    type Port<'a>: Device
    where
        Self: 'a;

    /// The device of side 0 or 1.
    fn port(&mut self, side: usize) -> Self::Port<'_>;
}

/// One side of a pair that is shared: a device to be owned.
#[derive(Debug)]
pub struct SharedPort<P> {
    pair: Rc<RefCell<P>>,
    side: usize,
}

impl<P: DevicePair> SharedPort<P> {
    /// Both sides of a pair.
    pub fn both(pair: &Rc<RefCell<P>>) -> [Self; 2] {
        [0, 1].map(|side| Self {
            pair: Rc::clone(pair),
            side,
        })
    }
}

impl<P: DevicePair> Bar for SharedPort<P> {
    fn read32(&mut self, offset: u32) -> u32 {
        self.pair.borrow_mut().port(self.side).read32(offset)
    }

    fn write32(&mut self, offset: u32, value: u32) {
        let mut pair = self.pair.borrow_mut();
        pair.port(self.side).write32(offset, value);
    }
}

impl<P: DevicePair> DmaMemory for SharedPort<P> {
    fn allocate(&mut self, length: usize, page_size: PageSize) -> Result<DmaBuffer, DmaError> {
        let mut pair = self.pair.borrow_mut();
        pair.port(self.side).allocate(length, page_size)
    }

    fn allocate_contiguous(&mut self, length: usize) -> Result<DmaBuffer, DmaError> {
        let mut pair = self.pair.borrow_mut();
        pair.port(self.side).allocate_contiguous(length)
    }

    fn release(&mut self, buffer: DmaBuffer) {
        self.pair.borrow_mut().port(self.side).release(buffer);
    }

    fn read(&self, buffer: &DmaBuffer, offset: usize, into: &mut [u8]) {
        let mut pair = self.pair.borrow_mut();
        pair.port(self.side).read(buffer, offset, into);
    }

    fn write(&mut self, buffer: &DmaBuffer, offset: usize, from: &[u8]) {
        let mut pair = self.pair.borrow_mut();
        pair.port(self.side).write(buffer, offset, from);
    }
}

impl<P: DevicePair> Device for SharedPort<P> {
    fn idle(&mut self) {
        self.pair.borrow_mut().port(self.side).idle();
    }
}
