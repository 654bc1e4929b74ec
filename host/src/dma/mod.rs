//! Memory that both the host and the device reach: allocation, bus addresses, rings.
//!
//! No Rust reference to such memory exists: everything goes through copies, since the device may write
//! at any time.

pub mod ring;

/// Why memory cannot be had.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum DmaError {
    /// No memory is left.
    #[error("no memory for a buffer of {bytes} bytes")]
    Exhausted {
        /// Bytes asked for.
        bytes: usize,
    },
    /// A page has no bus address: the process lacks the right to learn it, or the page is not in memory.
    #[error(
        "page at {address:#x} has no bus address; lock the memory and run with the right to read page maps"
    )]
    NoBusAddress {
        /// Virtual address of the page.
        address: u64,
    },
}

/// Sizes of the pages that the engine translates.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum PageSize {
    /// 4 KiB.
    Small = 0,
    /// 2 MiB.
    Huge = 1,
    /// 1 GiB.
    Giant = 2,
}

impl PageSize {
    /// From so many bytes on buffers have huge pages, to keep page tables short.
    const HUGE_FROM: usize = 1 << 20;

    /// The pages for a buffer of so many bytes.
    pub const fn for_length(bytes: usize) -> Self {
        if bytes < Self::HUGE_FROM {
            Self::Small
        } else {
            Self::Huge
        }
    }

    /// log2 of the bytes.
    pub const fn shift(self) -> u32 {
        match self {
            Self::Small => 12,
            Self::Huge => 21,
            Self::Giant => 30,
        }
    }

    /// Bytes of a page.
    pub const fn bytes(self) -> u64 {
        1 << self.shift()
    }
}

/// A buffer of whole pages, pinned for its life.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DmaBuffer {
    /// Virtual address of the first byte; aligned to the page size.
    pub address: u64,
    /// Bytes.
    pub length: usize,
    /// Size of its pages.
    pub page_size: PageSize,
    /// Bus address of each page. Neighbours need not be neighbours on the bus.
    pub pages: Vec<u64>,
}

impl DmaBuffer {
    /// Bus address of the first byte, if the whole buffer is contiguous on the bus.
    pub fn contiguous(&self) -> Option<u64> {
        let step = self.page_size.bytes();
        let follows = self.pages.windows(2).all(|pair| pair[0] + step == pair[1]);
        self.pages.first().copied().filter(|_| follows)
    }
}

/// Allocates and reaches memory of the host that the device reaches too.
pub trait DmaMemory {
    /// A buffer of at least `length` bytes in pages of `page_size`.
    fn allocate(&mut self, length: usize, page_size: PageSize) -> Result<DmaBuffer, DmaError>;

    /// A buffer that is contiguous on the bus, for a ring.
    fn allocate_contiguous(&mut self, length: usize) -> Result<DmaBuffer, DmaError>;

    /// Gives a buffer back. The device must not use it any more.
    fn release(&mut self, buffer: DmaBuffer);

    /// Copies from the buffer. A read that starts later sees all that the device wrote before what an
    /// earlier read saw.
    fn read(&self, buffer: &DmaBuffer, offset: usize, into: &mut [u8]);

    /// Copies into the buffer.
    fn write(&mut self, buffer: &DmaBuffer, offset: usize, from: &[u8]);
}
