//! Host memory: keys and pages, reads and writes over one AXI4 master.

mod dma_read;
mod dma_write;
pub mod memory_translation;
mod write_bus;

pub use dma_read::{DmaRead, ReadCommand};
pub use dma_write::{DmaWrite, WriteJob, WriteRecord};
pub use write_bus::{WriteBus, WritePlan};
