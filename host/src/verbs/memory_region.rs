//! Memory regions: keys with random generations, page tables, and a deregistration that waits until no
//! placement under the key is on its way (T-6.6).

use super::{CallerError, Context, Error, OperationKind, Rights, unsupported};
use crate::device::{Capabilities, Device, FreeList, read, wait, write_table};
use crate::dma::{DmaBuffer, PageSize};
use osprey_hls::regs::{control, table};
use osprey_hls::wire::{Key, RemoteRegion};
use rand::Rng;
use std::collections::BTreeMap;

/// Groups regions and connections that may be used together. It is checked by this library: a key, once
/// told to a peer, opens its region to every connection of the engine.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct ProtectionDomain(pub(super) u32);

/// Registered memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MemoryRegion {
    /// Its key, new at each registration.
    pub key: Key,
    /// First virtual address.
    pub address: u64,
    /// Bytes.
    pub length: u64,
}

impl MemoryRegion {
    /// What a peer needs to reach the region.
    pub const fn remote(&self) -> RemoteRegion {
        RemoteRegion {
            address: self.address,
            length: self.length,
            key: self.key,
        }
    }
}

/// What the library remembers of a region.
#[derive(Debug, Clone)]
struct Registered {
    region: MemoryRegion,
    domain: ProtectionDomain,
    first_page: u32,
    pages: u32,
}

/// All regions of a context.
#[derive(Debug, Clone)]
pub(super) struct Regions {
    keys: FreeList,
    pages: FreeList,
    /// Last generation of each key.
    generations: Vec<u32>,
    /// By first address and key: memory may be registered more than once.
    by_address: BTreeMap<(u64, u32), Registered>,
}

impl Regions {
    pub(super) fn new(capabilities: &Capabilities) -> Self {
        Self {
            keys: FreeList::new(0, capabilities.keys),
            pages: FreeList::new(0, capabilities.pages),
            generations: vec![0; capabilities.keys as usize],
            by_address: BTreeMap::new(),
        }
    }

    /// Registers `length` bytes of `buffer` from `offset` on: page table first, then the key.
    pub(super) fn register<D: Device + ?Sized>(
        &mut self,
        device: &mut D,
        rng: &mut impl Rng,
        domain: ProtectionDomain,
        buffer: &DmaBuffer,
        (offset, length): (u64, u64),
        rights: Rights,
    ) -> Result<MemoryRegion, Error> {
        check_grantable(rights)?;
        check_bounds(offset, length, 0, buffer.length as u64)?;
        check_length(length)?;
        let shift = buffer.page_size.shift();
        let first = (offset >> shift) as usize;
        let pages = ((offset + length - 1) >> shift) as usize + 1 - first;
        let count = pages as u32;
        let no_pages = CallerError::NoPages {
            needed: count,
            free: self.pages.free(),
        };
        let first_page = self.pages.take(count).ok_or(no_pages)?;
        let Some(index) = self.keys.take(1) else {
            self.pages.give(first_page, count);
            return Err(CallerError::NoKey.into());
        };
        for (page, address) in (first_page..).zip(&buffer.pages[first..first + pages]) {
            let mut words = [0; 16];
            table::page::ADDRESS.set(&mut words, *address);
            write_table(device, &table::PAGE, page, &words)?;
        }
        let key = Key::new(self.new_generation(rng, index), index);
        let region = MemoryRegion {
            key,
            address: buffer.address + offset,
            length,
        };
        let words = key_words(&region, rights, first_page, buffer.page_size);
        write_table(device, &table::KEY, index, &words)?;
        self.by_address.insert(
            (region.address, key.0),
            Registered {
                region,
                domain,
                first_page,
                pages: count,
            },
        );
        Ok(region)
    }

    /// A generation that the key has not had last.
    fn new_generation(&mut self, rng: &mut impl Rng, index: u32) -> u32 {
        let last = &mut self.generations[index as usize];
        loop {
            let generation = rng.random_range(1..1 << Key::GENERATION_BITS);
            if generation != *last {
                *last = generation;
                return generation;
            }
        }
    }

    /// The key under which a connection of `domain` may send `length` bytes at `address`.
    pub(super) fn local_key(
        &self,
        address: u64,
        length: u64,
        domain: ProtectionDomain,
    ) -> Result<Key, CallerError> {
        let before = self.by_address.range(..=(address, u32::MAX)).rev();
        let mut fault = CallerError::Unregistered { address, length };
        for (
            _,
            Registered {
                region, domain: of, ..
            },
        ) in before
        {
            match check_bounds(address, length, region.address, region.length) {
                Ok(()) if *of == domain => return Ok(region.key),
                Ok(()) => fault = CallerError::Domain,
                // It begins in this region.
                Err(bounds) if address - region.address < region.length => fault = bounds,
                Err(_) => {}
            }
        }
        Err(fault)
    }
}

/// `Ok` if the engine can grant these rights.
fn check_grantable(rights: Rights) -> Result<(), CallerError> {
    match rights {
        Rights { read: true, .. } => Err(unsupported(OperationKind::Read)),
        Rights { atomic: true, .. } => Err(unsupported(OperationKind::FetchAdd)),
        _ => Ok(()),
    }
}

/// Bytes of a region, if it can have so many: one at least.
pub(crate) fn check_length(length: u64) -> Result<usize, CallerError> {
    let max = isize::MAX as u64;
    if !(1..=max).contains(&length) {
        return Err(CallerError::RegionLength { length, max });
    }
    Ok(length as usize)
}

/// `Ok` if `length` bytes at `address` are inside the region; no sum can wrap.
pub(crate) fn check_bounds(
    address: u64,
    length: u64,
    region_address: u64,
    region_length: u64,
) -> Result<(), CallerError> {
    let inside = address
        .checked_sub(region_address)
        .is_some_and(|offset| offset <= region_length && length <= region_length - offset);
    if inside {
        Ok(())
    } else {
        Err(CallerError::Bounds {
            address,
            length,
            region_address,
            region_length,
        })
    }
}

impl Context {
    /// A new protection domain.
    pub fn protection_domain(&mut self) -> ProtectionDomain {
        self.domains += 1;
        ProtectionDomain(self.domains)
    }

    /// Registers `length` bytes of `buffer` from `offset` on.
    pub fn register<D: Device + ?Sized>(
        &mut self,
        device: &mut D,
        domain: ProtectionDomain,
        buffer: &DmaBuffer,
        range: (u64, u64),
        rights: Rights,
    ) -> Result<MemoryRegion, Error> {
        self.regions
            .register(device, &mut self.rng, domain, buffer, range, rights)
    }

    /// Ends a registration. When it returns, no byte will be written under the key any more.
    pub fn deregister<D: Device + ?Sized>(
        &mut self,
        device: &mut D,
        region: MemoryRegion,
    ) -> Result<(), Error> {
        let found = self
            .regions
            .by_address
            .remove(&(region.address, region.key.0))
            .ok_or(CallerError::UnknownKey(region.key))?;
        write_table(device, &table::KEY, region.key.index(), &[0; 16])?;
        let issued = read(device, &control::PLACEMENT_ISSUED);
        wait(device, "placements under a deregistered key", |device| {
            read(device, &control::PLACEMENT_DONE).wrapping_sub(issued) as i32 >= 0
        })?;
        self.regions.pages.give(found.first_page, found.pages);
        self.regions.keys.give(region.key.index(), 1);
        Ok(())
    }
}

fn key_words(
    region: &MemoryRegion,
    rights: Rights,
    first_page: u32,
    page_size: PageSize,
) -> [u32; 16] {
    let mut words = [0; 16];
    table::key::VALID.set(&mut words, 1);
    // Every region may be the source of sends.
    table::key::LOCAL.set(&mut words, 1);
    table::key::REMOTE_WRITE.set(&mut words, rights.write.into());
    table::key::PAGE_SIZE.set(&mut words, page_size as u64);
    table::key::GENERATION.set(&mut words, region.key.generation().into());
    table::key::FIRST_PAGE.set(&mut words, first_page.into());
    table::key::BASE.set(&mut words, region.address);
    table::key::LENGTH.set(&mut words, region.length);
    words
}
