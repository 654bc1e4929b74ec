//! The pages. An access outside every allocation is a violation, recorded and harmless.

use crate::random::generator;
use osprey_host::dma::{DmaBuffer, DmaError, PageSize};
use rand::Rng;
use rand_chacha::ChaCha8Rng;
use std::collections::HashMap;

const PAGE: u64 = 4096;
/// Bus addresses lie below 2^BUS_BITS.
const BUS_BITS: u32 = 47;

/// A page, and how many bytes the device has written into it.
#[derive(Debug, Clone)]
struct Page {
    bytes: [u8; PAGE as usize],
    written: u64,
}

/// Memory of one host.
#[derive(Debug, Clone)]
pub struct HostMemory {
    pages: HashMap<u64, Box<Page>>,
    random: ChaCha8Rng,
    next_address: u64,
    /// Accesses outside every allocation, by what and where.
    pub violations: Vec<String>,
}

impl HostMemory {
    /// Empty memory whose page addresses come from `seed`.
    pub fn new(seed: u64, stream: u64) -> Self {
        Self {
            pages: HashMap::new(),
            random: generator(seed, stream),
            next_address: 0x7f00_0000_0000,
            violations: Vec::new(),
        }
    }

    /// Allocates: each page of `page_size` somewhere else on the bus, or all together.
    pub fn allocate(
        &mut self,
        length: usize,
        page_size: PageSize,
        contiguous: bool,
    ) -> Result<DmaBuffer, DmaError> {
        let size = page_size.bytes();
        let count = (length as u64).div_ceil(size).max(1);
        let address = self.next_address.next_multiple_of(size);
        self.next_address = address + (count + 1) * size;
        let pages = if contiguous {
            let first = self.free_run(count * size, size);
            (0..count).map(|page| first + page * size).collect()
        } else {
            (0..count).map(|_| self.free_run(size, size)).collect()
        };
        Ok(DmaBuffer {
            address,
            length,
            page_size,
            pages,
        })
    }

    /// A random free run of bytes, now taken; its neighbours on both sides are not allocated.
    fn free_run(&mut self, bytes: u64, align: u64) -> u64 {
        loop {
            let start = self.random.random_range(1..1 << BUS_BITS) / align * align;
            let guarded = (start.saturating_sub(PAGE)..start + bytes + PAGE).step_by(PAGE as usize);
            if start == 0 || guarded.clone().any(|page| self.pages.contains_key(&page)) {
                continue;
            }
            for page in (start..start + bytes).step_by(PAGE as usize) {
                let blank = Page {
                    bytes: [0; PAGE as usize],
                    written: 0,
                };
                self.pages.insert(page, Box::new(blank));
            }
            return start;
        }
    }

    /// Gives a buffer back; later accesses to it are violations.
    pub fn release(&mut self, buffer: &DmaBuffer) {
        for page in &buffer.pages {
            for small in (*page..page + buffer.page_size.bytes()).step_by(PAGE as usize) {
                self.pages.remove(&small);
            }
        }
    }

    /// Bytes that the device has written into a buffer, each as often as it was written.
    pub fn written(&self, buffer: &DmaBuffer) -> u64 {
        let small = |page: &u64| (*page..*page + buffer.page_size.bytes()).step_by(PAGE as usize);
        let pages = buffer.pages.iter().flat_map(small);
        pages
            .filter_map(|page| self.pages.get(&page))
            .map(|page| page.written)
            .sum()
    }

    /// Copies out of a buffer.
    pub fn copy_out(&self, buffer: &DmaBuffer, offset: usize, into: &mut [u8]) {
        let mut done = 0;
        while done < into.len() {
            let (bus, left) = place(buffer, offset + done);
            let count = left.min(into.len() - done);
            let page = self
                .pages
                .get(&(bus / PAGE * PAGE))
                .expect("the buffer is allocated");
            let at = (bus % PAGE) as usize;
            into[done..done + count].copy_from_slice(&page.bytes[at..at + count]);
            done += count;
        }
    }

    /// Copies into a buffer.
    pub fn copy_in(&mut self, buffer: &DmaBuffer, offset: usize, from: &[u8]) {
        let mut done = 0;
        while done < from.len() {
            let (bus, left) = place(buffer, offset + done);
            let count = left.min(from.len() - done);
            let page = self
                .pages
                .get_mut(&(bus / PAGE * PAGE))
                .expect("the buffer is allocated");
            let at = (bus % PAGE) as usize;
            page.bytes[at..at + count].copy_from_slice(&from[done..done + count]);
            done += count;
        }
    }

    /// The beat at a bus address that is a multiple of 64; `None` outside every allocation.
    pub fn read_beat(&mut self, address: u64) -> Option<[u8; 64]> {
        let at = (address % PAGE) as usize;
        let beat = self
            .pages
            .get(&(address / PAGE * PAGE))
            .and_then(|page| page.bytes[at..].first_chunk().copied());
        if beat.is_none() {
            self.violations
                .push(format!("read of {address:#x}, which is not allocated"));
        }
        beat
    }

    /// Writes the bytes of a beat that `strobe` names; whether they are allocated.
    pub fn write_beat(&mut self, address: u64, data: &[u8; 64], strobe: u64) -> bool {
        let at = (address % PAGE) as usize;
        let Some(page) = self.pages.get_mut(&(address / PAGE * PAGE)) else {
            self.violations
                .push(format!("write of {address:#x}, which is not allocated"));
            return false;
        };
        page.written += u64::from(strobe.count_ones());
        if strobe == u64::MAX {
            page.bytes[at..at + 64].copy_from_slice(data);
        } else {
            for lane in (0..64).filter(|lane| strobe >> lane & 1 == 1) {
                page.bytes[at + lane] = data[lane];
            }
        }
        true
    }
}

/// Bus address of a byte of a buffer, and how many bytes follow in its 4 KiB page.
fn place(buffer: &DmaBuffer, offset: usize) -> (u64, usize) {
    assert!(
        offset < buffer.length,
        "offset {offset} in a buffer of {} bytes",
        buffer.length
    );
    let size = buffer.page_size.bytes();
    let bus = buffer.pages[(offset as u64 / size) as usize] + offset as u64 % size;
    (bus, (PAGE - bus % PAGE) as usize)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn field_case_35_neighbour_pages_are_not_neighbours_on_the_bus() {
        let mut memory = HostMemory::new(1, 0);
        let buffer = memory.allocate(100_000, PageSize::Small, false).unwrap();
        assert_eq!(buffer.contiguous(), None);
        let ring = memory.allocate(100_000, PageSize::Small, true).unwrap();
        assert_eq!(ring.contiguous(), Some(ring.pages[0]));
        let data: Vec<u8> = (0..90_000_u32).map(|n| (n * 7) as u8).collect();
        memory.copy_in(&buffer, 4001, &data);
        let mut back = vec![0; data.len()];
        memory.copy_out(&buffer, 4001, &mut back);
        assert_eq!(back, data);
        assert_eq!(
            memory.read_beat(buffer.pages[1]).unwrap()[..],
            data[95..159]
        );
    }

    #[test]
    fn strobes_pick_bytes_and_strangers_are_violations() {
        let mut memory = HostMemory::new(1, 0);
        let buffer = memory.allocate(4096, PageSize::Small, false).unwrap();
        let bus = buffer.pages[0];
        assert!(memory.write_beat(bus, &[7; 64], 0b101));
        assert_eq!(memory.read_beat(bus).unwrap()[..4], [7, 0, 7, 0]);
        assert!(memory.write_beat(bus, &[7; 64], u64::MAX));
        assert_eq!(memory.written(&buffer), 66, "each byte as often as written");
        assert!(!memory.write_beat(bus + 4096, &[7; 64], 1));
        assert_eq!(memory.read_beat(bus - 64), None);
        memory.release(&buffer);
        assert!(!memory.write_beat(bus, &[7; 64], 1));
        assert_eq!(memory.violations.len(), 3);
    }
}
