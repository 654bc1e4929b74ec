//! The memory that peers may reach: buffers with addresses of their own.
//!
//! Addresses are the NIC's, not the process's: nothing that a peer sends can name memory outside of a buffer, whatever the
//! endpoint's checks say. Buffers lie apart, so an access that leaves one hits nothing.

use crate::dma::DmaError;
use crate::verbs::{CallerError, check_bounds};
use memmap2::MmapMut;
use osprey_hls::endpoint::Memory;

/// Buffers are this far apart, or further.
const GAP: u64 = 1 << 20;

#[derive(Debug)]
struct Buffer {
    address: u64,
    bytes: MmapMut,
}

/// All buffers of a NIC.
#[derive(Debug, Default)]
pub struct Buffers {
    /// By address.
    buffers: Vec<Buffer>,
    /// Addresses below this were given out, and are never given out again.
    end: u64,
    /// Accesses by the transport that hit no buffer: must stay 0.
    missed: u64,
    /// Bytes that the transport has placed.
    placed: u64,
}

impl Buffers {
    /// A new buffer of zeros; its address.
    ///
    /// # Panics
    /// When there is no such memory: see [`Self::try_allocate`].
    pub fn allocate(&mut self, length: usize) -> u64 {
        self.try_allocate(length).expect("the system has memory")
    }

    /// A new buffer of zeros, untouched pages of the system; its address.
    pub fn try_allocate(&mut self, bytes: usize) -> Result<u64, DmaError> {
        let pages = MmapMut::map_anon(bytes).map_err(|_| DmaError::Exhausted { bytes })?;
        let address = (self.end + GAP).next_multiple_of(GAP);
        self.end = address + bytes as u64;
        self.buffers.push(Buffer {
            address,
            bytes: pages,
        });
        Ok(address)
    }

    /// Gives a buffer back.
    pub fn release(&mut self, address: u64) {
        self.buffers.retain(|buffer| buffer.address != address);
    }

    /// The buffer that a range is in, and the range's offset there.
    fn find(&self, address: u64, length: u64) -> Result<(usize, usize), CallerError> {
        let unregistered = CallerError::Unregistered { address, length };
        let behind = |buffer: &Buffer| buffer.address <= address;
        let Some(index) = self.buffers.partition_point(behind).checked_sub(1) else {
            return Err(unregistered);
        };
        let (start, held) = (
            self.buffers[index].address,
            self.buffers[index].bytes.len() as u64,
        );
        match check_bounds(address, length, start, held) {
            Ok(()) => Ok((index, (address - start) as usize)),
            // It begins in this buffer.
            Err(bounds) if address - start < held => Err(bounds),
            Err(_) => Err(unregistered),
        }
    }

    /// The bytes of a range.
    pub fn get(&self, address: u64, length: usize) -> Result<&[u8], CallerError> {
        let (index, offset) = self.find(address, length as u64)?;
        Ok(&self.buffers[index].bytes[offset..offset + length])
    }

    /// The bytes of a range, to be changed.
    pub fn get_mut(&mut self, address: u64, length: usize) -> Result<&mut [u8], CallerError> {
        let (index, offset) = self.find(address, length as u64)?;
        Ok(&mut self.buffers[index].bytes[offset..offset + length])
    }

    /// Accesses by the transport that hit no buffer.
    pub fn missed(&self) -> u64 {
        self.missed
    }

    /// Bytes that the transport has placed; more than arrived in messages means that some were placed twice.
    pub fn placed(&self) -> u64 {
        self.placed
    }
}

impl Memory for Buffers {
    fn place(&mut self, address: u64, _length: u32, payload: &[u8]) {
        self.placed += payload.len() as u64;
        match self.get_mut(address, payload.len()) {
            Ok(bytes) => bytes.copy_from_slice(payload),
            Err(_) => self.missed += 1,
        }
    }

    fn load(&mut self, address: u64) -> u64 {
        let word = self
            .get(address, 8)
            .ok()
            .and_then(|bytes| bytes.try_into().ok());
        self.missed += u64::from(word.is_none());
        word.map_or(0, u64::from_le_bytes)
    }

    fn store(&mut self, address: u64, value: u64) {
        match self.get_mut(address, 8) {
            Ok(bytes) => bytes.copy_from_slice(&value.to_le_bytes()),
            Err(_) => self.missed += 1,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_end_with_their_buffer() {
        let mut buffers = Buffers::default();
        let (a, b) = (buffers.allocate(100), buffers.allocate(8));
        assert!(b >= a + 100 + GAP / 2);
        assert!(buffers.get(a, 100).is_ok() && buffers.get(a + 100, 0).is_ok());
        assert!(buffers.get(a, 101).is_err() && buffers.get(a - 1, 1).is_err());
        assert!(buffers.get(u64::MAX, 1).is_err() && buffers.get(0, 0).is_err());
        buffers.store(b, 7);
        assert_eq!((buffers.load(b), buffers.load(b + 1)), (7, 0));
        assert_eq!(buffers.missed(), 1);
        buffers.release(a);
        assert!(buffers.get(a, 1).is_err() && buffers.get(b, 8).is_ok());
        buffers.release(b);
        assert!(
            buffers.allocate(8) > b,
            "an address names one buffer for ever"
        );
    }
}
