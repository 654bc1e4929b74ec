//! Host memory: keys and pages, reads and writes over one AXI4 master.

mod dma_read;
mod dma_write;
pub mod memory_translation;
mod write_bus;
mod write_plan;

pub use dma_read::{DmaRead, ReadCommand};
pub use dma_write::{DmaWrite, FrameRoute, WriteRecord};
pub use memory_translation::MemoryTranslation;
pub use write_bus::WriteBus;
pub use write_plan::{WritePlan, WritePlanner};
