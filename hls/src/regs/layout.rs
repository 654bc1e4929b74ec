//! The declarative form of the map, and its hash.

/// Who may do what to a register.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Access {
    /// Read only: the engine's word.
    ReadOnly,
    /// Read and written by the host.
    ReadWrite,
    /// Written by the host; reads as 0.
    WriteOnly,
}

/// One 32-bit register, or a regular row of them.
#[derive(Debug, Clone, Copy)]
pub struct Register {
    /// Name, as in the specification.
    pub name: &'static str,
    /// Address of the first one, from the start of the AXI-Lite space.
    pub offset: u32,
    /// Bits in use, from bit 0.
    pub width: u8,
    /// Who may do what.
    pub access: Access,
    /// Value after reset.
    pub reset: u32,
    /// How many there are.
    pub count: u32,
    /// Bytes from one to the next.
    pub stride: u32,
    /// Meaning, unit, fields.
    pub doc: &'static str,
}

impl Register {
    /// A single register of 32 bits that resets to 0.
    pub const fn new(name: &'static str, offset: u32, access: Access, doc: &'static str) -> Self {
        Self {
            name,
            offset,
            width: 32,
            access,
            reset: 0,
            count: 1,
            stride: 4,
            doc,
        }
    }

    /// The same register with `width` bits in use.
    pub const fn width(mut self, width: u8) -> Self {
        self.width = width;
        self
    }

    /// The same register with a value after reset.
    pub const fn reset(mut self, reset: u32) -> Self {
        self.reset = reset;
        self
    }

    /// A row of `count` such registers, `stride` bytes apart.
    pub const fn row(mut self, count: u32, stride: u32) -> Self {
        self.count = count;
        self.stride = stride;
        self
    }

    /// Address of the register at `index` of the row.
    ///
    /// # Panics
    /// When the row has no such register.
    pub const fn at(&self, index: u32) -> u32 {
        assert!(index < self.count, "index beyond the row of registers");
        self.offset + index * self.stride
    }
}

/// Registers that belong together.
#[derive(Debug, Clone, Copy)]
pub struct Block {
    /// Name.
    pub name: &'static str,
    /// What it is for.
    pub doc: &'static str,
    /// Its registers, by address.
    pub registers: &'static [&'static Register],
}

/// A field of a table entry or of a record in host memory. Little-endian; may span two words.
#[derive(Debug, Clone, Copy)]
pub struct Field {
    /// Name, as in the specification.
    pub name: &'static str,
    /// 32-bit word that holds its least significant bit.
    pub word: u8,
    /// That bit's number in the word.
    pub bit: u8,
    /// Bits, at most 64.
    pub width: u8,
    /// Meaning and unit.
    pub doc: &'static str,
}

impl Field {
    /// A field.
    pub const fn new(name: &'static str, word: u8, bit: u8, width: u8, doc: &'static str) -> Self {
        Self {
            name,
            word,
            bit,
            width,
            doc,
        }
    }

    /// Number of the least significant bit in the whole entry.
    pub const fn lowest_bit(&self) -> u32 {
        self.word as u32 * 32 + self.bit as u32
    }

    /// The largest value.
    pub const fn max(&self) -> u64 {
        u64::MAX >> (64 - self.width)
    }

    /// The field's value in `words`.
    ///
    /// # Panics
    /// When the words end before the field.
    pub fn get(&self, words: &[u32]) -> u64 {
        let word = usize::from(self.word);
        let last = (self.lowest_bit() + u32::from(self.width) - 1) / 32;
        let wide = (word..=last as usize).rev().fold(0_u128, |value, index| {
            value << 32 | u128::from(words[index])
        });
        (wide >> self.bit) as u64 & self.max()
    }

    /// Puts `value` into the field of `words`; the other bits stay.
    ///
    /// # Panics
    /// When the value does not fit the field or the words end before it: an error of the caller.
    pub fn set(&self, words: &mut [u32], value: u64) {
        assert!(
            value <= self.max(),
            "{} holds {} bits, not {value:#x}",
            self.name,
            self.width
        );
        let mask = u128::from(self.max()) << self.bit;
        let wide = u128::from(value) << self.bit;
        let last = (self.lowest_bit() + u32::from(self.width) - 1) / 32;
        for (shift, index) in (usize::from(self.word)..=last as usize).enumerate() {
            let (mask, bits) = ((mask >> (32 * shift)) as u32, (wide >> (32 * shift)) as u32);
            words[index] = words[index] & !mask | bits;
        }
    }
}

/// The layout of a table entry or of a record in host memory.
#[derive(Debug, Clone, Copy)]
pub struct Entry {
    /// Name.
    pub name: &'static str,
    /// 32-bit words.
    pub words: u8,
    /// What it is for.
    pub doc: &'static str,
    /// Its fields, by place.
    pub fields: &'static [&'static Field],
}

/// A table of the engine, reached through TABLE_COMMAND.
#[derive(Debug, Clone, Copy)]
pub struct Table {
    /// Number in TABLE_COMMAND.
    pub id: u8,
    /// What the index is made of.
    pub index: &'static str,
    /// Whether the host may write.
    pub writable: bool,
    /// Whether the host may read.
    pub readable: bool,
    /// Layout of an entry.
    pub entry: Entry,
}

/// CRC-32C register over more bytes, at compile time.
const fn mix(mut state: u32, bytes: &[u8]) -> u32 {
    let mut at = 0;
    while at < bytes.len() {
        state ^= bytes[at] as u32;
        let mut bit = 0;
        while bit < 8 {
            state = state >> 1 ^ if state & 1 == 1 { 0x82f6_3b78 } else { 0 };
            bit += 1;
        }
        at += 1;
    }
    state
}

const fn mix_entry(mut state: u32, entry: &Entry) -> u32 {
    state = mix(mix(state, entry.name.as_bytes()), &[0, entry.words]);
    let mut at = 0;
    while at < entry.fields.len() {
        let field = entry.fields[at];
        state = mix(state, field.name.as_bytes());
        state = mix(state, &[0, field.word, field.bit, field.width]);
        at += 1;
    }
    state
}

/// The hash of a whole map.
pub(super) const fn hash(
    blocks: &[&Block],
    tables: &[Table],
    records: &[&Entry],
    counters: &[(&str, &str)],
) -> u32 {
    let mut state = !0;
    let mut at = 0;
    while at < blocks.len() {
        let mut index = 0;
        while index < blocks[at].registers.len() {
            let register = blocks[at].registers[index];
            state = mix(state, register.name.as_bytes());
            state = mix(state, &[0, register.width, register.access as u8]);
            state = mix(state, &register.offset.to_le_bytes());
            state = mix(state, &register.count.to_le_bytes());
            state = mix(state, &register.stride.to_le_bytes());
            index += 1;
        }
        at += 1;
    }
    at = 0;
    while at < tables.len() {
        let table = &tables[at];
        state = mix(
            state,
            &[table.id, table.writable as u8, table.readable as u8],
        );
        state = mix_entry(state, &table.entry);
        at += 1;
    }
    at = 0;
    while at < records.len() {
        state = mix_entry(state, records[at]);
        at += 1;
    }
    at = 0;
    while at < counters.len() {
        state = mix(mix(state, counters[at].0.as_bytes()), &[0]);
        at += 1;
    }
    !state
}
