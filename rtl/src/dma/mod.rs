//! Host memory: keys and pages, reads, writes.

pub mod memory_translation;
