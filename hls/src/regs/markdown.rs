//! The reference page `docs/registers.md`, written from the map.

use super::counters::COUNTERS;
use super::{Access, BLOCKS, Block, Entry, MAP_HASH, MAP_VERSION, RECORDS, table};
use std::fmt::Write;

/// The whole page.
pub fn reference() -> String {
    let mut page = format!(
        "# Register map\n\n\
         Generated from `hls/src/regs`; `cargo run -p osprey-hls --bin registers` prints it anew. \
         Map version {MAP_VERSION}, hash `{MAP_HASH:#010x}`.\n\n\
         One AXI4-Lite space of 32-bit registers, little-endian. Address bit 24 is 0 for BAR0 and 1 for BAR2.\n"
    );
    for block in BLOCKS {
        write_block(&mut page, block);
    }
    write_counters(&mut page);
    page.push_str(
        "\n## Tables\n\nAn entry is 16 words; words and bits that are not listed are zero.\n",
    );
    for table in table::TABLES {
        let access = match (table.writable, table.readable) {
            (true, false) => "written",
            (false, true) => "read",
            _ => "written and read",
        };
        let note = format!(
            "Table {}, index: {}, {access} by the host. ",
            table.id, table.index
        );
        write_entry(&mut page, &table.entry, &note);
    }
    page.push_str("\n## Records of host memory\n\nLittle-endian.\n");
    for record in RECORDS {
        write_entry(
            &mut page,
            record,
            &format!("{} bytes. ", usize::from(record.words) * 4),
        );
    }
    page
}

fn write_block(page: &mut String, block: &Block) {
    let _ = write!(page, "\n## Block `{}`\n\n{}\n\n", block.name, block.doc);
    page.push_str(
        "| offset | name | bits | access | reset | meaning |\n|---|---|---|---|---|---|\n",
    );
    for register in block.registers {
        let access = match register.access {
            Access::ReadOnly => "ro",
            Access::ReadWrite => "rw",
            Access::WriteOnly => "wo",
        };
        let offset = match register.count {
            1 => format!("0x{:03x}", register.offset),
            count => format!(
                "0x{:03x} + 0x{:x} x n, n < {count}",
                register.offset, register.stride
            ),
        };
        let _ = writeln!(
            page,
            "| {offset} | {} | {} | {access} | {:#x} | {} |",
            register.name, register.width, register.reset, register.doc
        );
    }
}

fn write_counters(page: &mut String) {
    page.push_str(
        "\n### Counters by number\n\nNumbers from 1 to 31 are the reasons of receive drops.\n\n",
    );
    page.push_str("| number | name | counts |\n|---|---|---|\n");
    for (number, (name, doc)) in COUNTERS.iter().enumerate() {
        let _ = writeln!(page, "| {number} | {name} | {doc} |");
    }
}

fn write_entry(page: &mut String, entry: &Entry, note: &str) {
    let _ = write!(page, "\n### {}\n\n{note}{}\n", entry.name, entry.doc);
    if entry.fields.is_empty() {
        return;
    }
    page.push_str("\n| word | bits | name | meaning |\n|---|---|---|---|\n");
    for field in entry.fields {
        let last = u32::from(field.bit) + u32::from(field.width) - 1;
        let (word, bits) = match last {
            0..32 => (field.word.to_string(), format!("{last}:{}", field.bit)),
            _ => (
                format!("{}-{}", field.word, u32::from(field.word) + last / 32),
                format!("{last}:{}", field.bit),
            ),
        };
        let _ = writeln!(page, "| {word} | {bits} | {} | {} |", field.name, field.doc);
    }
}
