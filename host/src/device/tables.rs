//! FreeList of the engine, an entry at a time, through TABLE_COMMAND.

use super::{Device, DeviceError, read, wait};
use osprey_hls::regs::{Table, table};

/// Words of any entry.
pub type Words = [u32; 16];

/// Words of an entry that its fields reach into.
fn used_words(table: &Table) -> u32 {
    let end = |f: &&osprey_hls::regs::Field| (f.lowest_bit() + u32::from(f.width)).div_ceil(32);
    table.entry.fields.iter().map(end).max().unwrap_or(0)
}

fn command<D: Device + ?Sized>(
    device: &mut D,
    table: &Table,
    index: u32,
    operation: u32,
) -> Result<(), DeviceError> {
    assert!(
        index < 1 << table::COMMAND_INDEX_BITS,
        "index {index} of {}",
        table.entry.name
    );
    let id = u32::from(table.id) << table::COMMAND_TABLE_SHIFT;
    device.write32(table::COMMAND.at(0), index | id | operation);
    wait(device, "table access", |device| {
        read(device, &table::STATUS) & 1 == 0
    })
}

/// Writes an entry; returns when the engine has it.
///
/// # Panics
/// When the table is not for writing: an error of this library.
pub fn write_table<D: Device + ?Sized>(
    device: &mut D,
    table: &Table,
    index: u32,
    words: &Words,
) -> Result<(), DeviceError> {
    assert!(
        table.writable,
        "{} is not written by the host",
        table.entry.name
    );
    for word in 0..used_words(table) {
        device.write32(table::DATA.at(word), words[word as usize]);
    }
    command(device, table, index, table::COMMAND_WRITE)
}

/// Reads an entry.
///
/// # Panics
/// When the table is not for reading: an error of this library.
pub fn read_table<D: Device + ?Sized>(
    device: &mut D,
    table: &Table,
    index: u32,
) -> Result<Words, DeviceError> {
    assert!(
        table.readable,
        "{} is not read by the host",
        table.entry.name
    );
    command(device, table, index, table::COMMAND_READ)?;
    let mut words = [0; 16];
    for word in 0..used_words(table) {
        words[word as usize] = device.read32(table::DATA.at(word));
    }
    Ok(words)
}

/// Writes the same entry to every index below `count`.
///
/// # Panics
/// When the table is not for writing: an error of this library.
pub fn fill_table<D: Device + ?Sized>(
    device: &mut D,
    table: &Table,
    count: u32,
    words: &Words,
) -> Result<(), DeviceError> {
    assert!(
        table.writable,
        "{} is not written by the host",
        table.entry.name
    );
    for word in 0..used_words(table) {
        device.write32(table::DATA.at(word), words[word as usize]);
    }
    (0..count).try_for_each(|index| command(device, table, index, table::COMMAND_WRITE))
}
