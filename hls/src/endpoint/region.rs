//! Registered memory: keys, generations and bounds (T-5.3, T-6.6).
//!
//! A key is an index and a generation; a deregistered key fails from the moment that the call returns, since
//! its generation has moved on. Bounds are compared without a sum that could wrap.

use super::config::REGIONS_MAX;
use super::rng::Rng;
use super::work::{PostError, Region};
use crate::wire::Key;

/// What a packet wants to do with memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Access {
    Write,
    Read,
    Atomic,
    /// An answer to a request of our own.
    Answer,
}

/// Why memory may not be touched.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum AccessError {
    Key,
    Bounds,
}

#[derive(Debug, Clone, Copy)]
struct Entry {
    generation: u32,
    /// `None`: deregistered.
    region: Option<Region>,
}

/// The table of keys.
#[derive(Debug, Default)]
pub(super) struct Regions {
    entries: Vec<Entry>,
    free: Vec<u32>,
}

const GENERATION_MASK: u32 = (1 << Key::GENERATION_BITS) - 1;

impl Regions {
    pub(super) fn register(&mut self, region: Region, rng: &mut Rng) -> Result<Key, PostError> {
        let last = region.length.saturating_sub(1);
        if region.address.checked_add(last).is_none() {
            return Err(PostError::Address {
                address: region.address,
                length: region.length,
            });
        }
        let index = match self.free.pop() {
            Some(index) => index,
            None if self.entries.len() < REGIONS_MAX as usize => {
                let generation = rng.next() as u32 & GENERATION_MASK;
                self.entries.push(Entry {
                    generation,
                    region: None,
                });
                self.entries.len() as u32 - 1
            }
            None => return Err(PostError::Regions { max: REGIONS_MAX }),
        };
        let entry = &mut self.entries[index as usize];
        entry.region = Some(region);
        Ok(Key::new(entry.generation, index))
    }

    pub(super) fn deregister(&mut self, key: Key) -> Result<(), PostError> {
        match self.entries.get_mut(key.index() as usize) {
            Some(entry) if entry.generation == key.generation() && entry.region.is_some() => {
                entry.region = None;
                entry.generation = (entry.generation + 1) & GENERATION_MASK;
                self.free.push(key.index());
                Ok(())
            }
            _ => Err(PostError::Key(key)),
        }
    }

    /// `Ok` if `key` grants `access` to `length` bytes from `address`.
    pub(super) fn check(
        &self,
        key: Key,
        access: Access,
        address: u64,
        length: u32,
    ) -> Result<(), AccessError> {
        let entry = self
            .entries
            .get(key.index() as usize)
            .ok_or(AccessError::Key)?;
        let region = match &entry.region {
            Some(region) if entry.generation == key.generation() => region,
            _ => return Err(AccessError::Key),
        };
        let granted = match access {
            Access::Write => region.rights.write,
            Access::Read => region.rights.read,
            Access::Atomic => region.rights.atomic,
            Access::Answer => true,
        };
        if !granted {
            return Err(AccessError::Key);
        }
        let offset = address.wrapping_sub(region.address);
        if address >= region.address
            && offset <= region.length
            && u64::from(length) <= region.length - offset
        {
            Ok(())
        } else {
            Err(AccessError::Bounds)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::work::Rights;
    use super::*;

    fn region(address: u64, length: u64) -> Region {
        Region {
            address,
            length,
            rights: Rights::ALL,
        }
    }

    #[test]
    fn field_case_26_bounds_do_not_wrap() {
        let (mut regions, mut rng) = (Regions::default(), Rng::new(1));
        let low = regions.register(region(0x10, 0x1000), &mut rng).unwrap();
        let high = regions
            .register(region(0xffff_ffff_ffff_f000, 0x1000), &mut rng)
            .unwrap();
        let check = |key, address, length| regions.check(key, Access::Write, address, length);
        assert_eq!(
            check(low, 0xffff_ffff_ffff_ffc0, 0x60),
            Err(AccessError::Bounds)
        );
        assert_eq!(check(low, 0xf, 1), Err(AccessError::Bounds));
        assert_eq!(check(low, 0x1010, 0), Ok(()));
        assert_eq!(check(low, 0x1010, 1), Err(AccessError::Bounds));
        assert_eq!(check(high, 0xffff_ffff_ffff_f000, 0x1000), Ok(()));
        assert_eq!(
            check(high, 0xffff_ffff_ffff_ffff, 2),
            Err(AccessError::Bounds)
        );
        assert!(regions.register(region(u64::MAX, 2), &mut rng).is_err());
    }

    #[test]
    fn field_case_31_a_deregistered_key_fails_at_once_and_for_good() {
        let (mut regions, mut rng) = (Regions::default(), Rng::new(1));
        let old = regions.register(region(0, 64), &mut rng).unwrap();
        regions.deregister(old).unwrap();
        assert_eq!(
            regions.check(old, Access::Write, 0, 1),
            Err(AccessError::Key)
        );
        let new = regions.register(region(0, 64), &mut rng).unwrap();
        assert_eq!(new.index(), old.index());
        assert_eq!(
            regions.check(old, Access::Write, 0, 1),
            Err(AccessError::Key)
        );
        assert_eq!(regions.check(new, Access::Write, 0, 1), Ok(()));
        assert_eq!(regions.deregister(old), Err(PostError::Key(old)));
    }

    #[test]
    fn rights_are_kept_apart() {
        let (mut regions, mut rng) = (Regions::default(), Rng::new(1));
        let rights = Rights {
            read: true,
            ..Rights::default()
        };
        let key = regions
            .register(
                Region {
                    rights,
                    ..region(0, 64)
                },
                &mut rng,
            )
            .unwrap();
        assert_eq!(regions.check(key, Access::Read, 0, 64), Ok(()));
        assert_eq!(
            regions.check(key, Access::Write, 0, 1),
            Err(AccessError::Key)
        );
        assert_eq!(
            regions.check(key, Access::Atomic, 0, 8),
            Err(AccessError::Key)
        );
    }
}
