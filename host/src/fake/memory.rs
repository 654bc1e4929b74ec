//! Host memory of a fake engine: pages whose neighbours are not neighbours on the bus.

use crate::dma::{DmaBuffer, DmaError, PageSize};
use std::collections::BTreeMap;

const PAGE: usize = 4096;

/// Pages by bus address.
#[derive(Debug, Clone)]
pub struct FakeMemory {
    pages: BTreeMap<u64, Vec<u8>>,
    next_address: u64,
    next_bus: u64,
    /// Refuses any further allocation.
    pub exhausted: bool,
}

impl FakeMemory {
    pub(super) fn new() -> Self {
        let (next_address, next_bus) = (0x7f00_0000_0000, 0x1_0000_0000);
        Self {
            pages: BTreeMap::new(),
            next_address,
            next_bus,
            exhausted: false,
        }
    }

    pub(super) fn allocate(
        &mut self,
        length: usize,
        page_size: PageSize,
        contiguous: bool,
    ) -> Result<DmaBuffer, DmaError> {
        let bytes = length;
        if self.exhausted {
            return Err(DmaError::Exhausted { bytes });
        }
        let size = page_size.bytes();
        let count = (length as u64).div_ceil(size).max(1);
        let address = self.next_address.next_multiple_of(size);
        let bus = self.next_bus.next_multiple_of(size);
        self.next_address = address + (count + 1) * size;
        self.next_bus = bus + (count + 1) * size;
        let mut pages: Vec<u64> = (0..count).map(|page| bus + page * size).collect();
        if !contiguous {
            pages.reverse();
        }
        for small in pages
            .iter()
            .flat_map(|page| (*page..page + size).step_by(PAGE))
        {
            self.pages.insert(small, vec![0; PAGE]);
        }
        Ok(DmaBuffer {
            address,
            length,
            page_size,
            pages,
        })
    }

    pub(super) fn release(&mut self, buffer: &DmaBuffer) {
        for page in &buffer.pages {
            for small in (*page..page + buffer.page_size.bytes()).step_by(PAGE) {
                assert!(
                    self.pages.remove(&small).is_some(),
                    "page {small:#x} released twice"
                );
            }
        }
    }

    pub(super) fn copy_out(&self, buffer: &DmaBuffer, offset: usize, into: &mut [u8]) {
        for (at, byte) in (offset..).zip(into) {
            *byte = self.byte(bus(buffer, at)).expect("buffer is in memory");
        }
    }

    pub(super) fn copy_in(&mut self, buffer: &DmaBuffer, offset: usize, from: &[u8]) {
        for (at, byte) in (offset..).zip(from) {
            let bus = bus(buffer, at);
            self.pages
                .get_mut(&page_of(bus))
                .expect("buffer is in memory")[bus as usize % PAGE] = *byte;
        }
    }

    /// The byte at a bus address.
    pub fn byte(&self, bus: u64) -> Option<u8> {
        self.pages
            .get(&page_of(bus))
            .map(|page| page[bus as usize % PAGE])
    }

    /// Sets the byte at a bus address; whether there is one.
    pub fn set_byte(&mut self, bus: u64, value: u8) -> bool {
        let page = self.pages.get_mut(&page_of(bus));
        page.map(|page| page[bus as usize % PAGE] = value).is_some()
    }

    /// `length` bytes from a bus address on.
    pub(super) fn bytes(&self, bus: u64, length: usize) -> Vec<u8> {
        (bus..)
            .take(length)
            .map(|at| self.byte(at).expect("the device stays inside memory"))
            .collect()
    }
}

fn page_of(bus: u64) -> u64 {
    bus & !(PAGE as u64 - 1)
}

fn bus(buffer: &DmaBuffer, offset: usize) -> u64 {
    assert!(
        offset < buffer.length,
        "offset {offset} in a buffer of {} bytes",
        buffer.length
    );
    let size = buffer.page_size.bytes();
    buffer.pages[(offset as u64 / size) as usize] + offset as u64 % size
}
