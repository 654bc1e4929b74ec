//! A host's memory that minds its edges: the endpoint checks every access, so one outside is a finding.

use osprey_hls::endpoint::Memory;
use std::ops::Range;

/// First address of everybody's memory.
pub const BASE: u64 = 0x10_0000;

/// Memory from [`BASE`] on.
pub struct Host {
    /// What it holds.
    pub bytes: Vec<u8>,
}

impl Host {
    /// Memory of `length` bytes that tell their place and whose they are.
    pub fn new(length: usize, end: usize) -> Self {
        let mut word = end as u64;
        let mut bytes = vec![0; length];
        for chunk in bytes.chunks_exact_mut(8) {
            word = word.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(1);
            chunk.copy_from_slice(&word.to_le_bytes());
        }
        Self { bytes }
    }

    /// Where a range lies.
    pub fn range(&self, address: u64, length: usize) -> Range<usize> {
        let at = address.checked_sub(BASE).expect("not below the memory") as usize;
        assert!(at + length <= self.bytes.len(), "not beyond the memory");
        at..at + length
    }
}

impl Memory for Host {
    fn place(&mut self, address: u64, length: u32, payload: &[u8]) {
        let range = self.range(address, length as usize);
        self.bytes[range].copy_from_slice(payload);
    }

    fn load(&mut self, address: u64) -> u64 {
        let range = self.range(address, 8);
        u64::from_le_bytes(self.bytes[range].try_into().expect("eight bytes"))
    }

    fn store(&mut self, address: u64, value: u64) {
        let range = self.range(address, 8);
        self.bytes[range].copy_from_slice(&value.to_le_bytes());
    }
}
