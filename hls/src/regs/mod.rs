//! The register map, described once: registers, tables and the records of host memory, a file a block.
//!
//! From this come the RTL register file, the host's accessors, [`MAP_HASH`] and `docs/registers.md`.
//! The map is the same for every configuration of the engine; sizes that differ are in the capabilities.
//! Nothing here reads or writes a register.

pub mod completion;
pub mod control;
pub mod counters;
pub mod doorbell;
pub mod identity;
mod layout;
mod markdown;
pub mod plane;
pub mod table;
pub mod work_request;

pub use layout::{Access, Block, Entry, Field, Register, Table};
pub use markdown::reference;

/// Version of the register map's meaning; the hash tells finer differences.
pub const MAP_VERSION: u32 = 1;

/// Every block of registers, by address.
pub const BLOCKS: &[&Block] = &[
    &identity::BLOCK,
    &control::BLOCK,
    &table::BLOCK,
    &plane::BLOCK,
    &counters::BLOCK,
    &doorbell::BLOCK,
];

/// Every record of host memory.
pub const RECORDS: &[&Entry] = &[&work_request::ENTRY, &completion::ENTRY];

/// Hash of the map: names, places, widths and access of everything in it, documentation excepted.
pub const MAP_HASH: u32 = layout::hash(BLOCKS, table::TABLES, RECORDS, counters::COUNTERS);

#[cfg(test)]
mod tests;
