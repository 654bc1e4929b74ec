//! A port of a model: a named, width-checked place to read and write.
//!
//! A `Port` is found once by name and then costs a load or a store. It keeps its model alive.

use crate::fields::{self, Fields, Record};
use crate::model::Loaded;
use crate::{Direction, Value};
use std::rc::Rc;

#[derive(Clone, Copy)]
pub(crate) struct Handle {
    pub data: *mut u8,
    pub width: usize,
    pub direction: Direction,
}

/// One port. Values are unsigned; words are 32 bits, least significant first; bytes likewise (lane 0 first).
#[derive(Clone)]
pub struct Port {
    handle: Handle,
    name: Rc<str>,
    _owner: Rc<Loaded>,
}

impl Port {
    pub(crate) fn new(name: String, handle: Handle, owner: Rc<Loaded>) -> Self {
        Self {
            handle,
            name: name.into(),
            _owner: owner,
        }
    }

    /// Name as in the Verilog.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Width in bits.
    pub fn width(&self) -> usize {
        self.handle.width
    }

    /// Input or output.
    pub fn direction(&self) -> Direction {
        self.handle.direction
    }

    /// The value; a port of more than 64 bits needs [`Port::words`].
    pub fn get(&self) -> u64 {
        let data = self.handle.data;
        // SAFETY: the shim gave the address of a member of this size, which lives as long as `_owner`.
        unsafe {
            match self.handle.width {
                0..=8 => u64::from(data.read()),
                9..=16 => u64::from(data.cast::<u16>().read()),
                17..=32 => u64::from(data.cast::<u32>().read()),
                33..=64 => data.cast::<u64>().read(),
                width => panic!(
                    "port `{}` has {width} bits: read it with `words`",
                    self.name
                ),
            }
        }
    }

    /// The value as a truth value.
    pub fn is_set(&self) -> bool {
        self.get() != 0
    }

    /// Sets the value; a wide port is filled up with zeros.
    ///
    /// # Panics
    /// When the value does not fit, or the port is an output.
    pub fn set(&self, value: impl Value) {
        let value = value.value();
        let Handle {
            data,
            width,
            direction,
        } = self.handle;
        assert!(
            direction == Direction::Input,
            "port `{}` is an output",
            self.name
        );
        assert!(
            width >= 64 || value >> width == 0,
            "port `{}` has {width} bits: {value:#x} does not fit",
            self.name
        );
        // SAFETY: as in `get`; widths were checked against the value.
        unsafe {
            match width {
                0..=8 => data.write(value as u8),
                9..=16 => data.cast::<u16>().write(value as u16),
                17..=32 => data.cast::<u32>().write(value as u32),
                33..=64 => data.cast::<u64>().write(value),
                _ => {
                    let words = self.wide_mut();
                    words.fill(0);
                    words[0] = value as u32;
                    words[1] = (value >> 32) as u32;
                }
            }
        }
    }

    /// # Safety
    /// Only for ports of more than 64 bits, and no other slice of the port may be alive.
    #[allow(clippy::mut_from_ref)]
    unsafe fn wide_mut(&self) -> &mut [u32] {
        let words = self.handle.width.div_ceil(32);
        // SAFETY: wide ports are arrays of this many words.
        unsafe { std::slice::from_raw_parts_mut(self.handle.data.cast::<u32>(), words) }
    }

    /// Sets the value from words; missing ones are zero.
    ///
    /// # Panics
    /// When a bit beyond the width is set, or the port is an output.
    pub fn set_words(&self, value: &[u32]) {
        let width = self.handle.width;
        assert!(
            self.handle.direction == Direction::Input,
            "port `{}` is an output",
            self.name
        );
        let fits =
            value
                .iter()
                .enumerate()
                .all(|(index, &word)| match width.saturating_sub(32 * index) {
                    bits @ 0..=31 => word >> bits == 0,
                    _ => true,
                });
        assert!(
            fits,
            "port `{}` has {width} bits: {value:08x?} does not fit",
            self.name
        );
        if width <= 64 {
            let word = |index: usize| u64::from(value.get(index).copied().unwrap_or(0));
            return self.set(word(0) | word(1) << 32);
        }
        // SAFETY: the port is wide and this is the only slice.
        let words = unsafe { self.wide_mut() };
        let count = value.len().min(words.len());
        words[..count].copy_from_slice(&value[..count]);
        words[count..].fill(0);
    }

    /// The value as words.
    pub fn words(&self) -> Vec<u32> {
        let width = self.handle.width;
        if width <= 64 {
            let value = self.get();
            return [value as u32, (value >> 32) as u32][..width.div_ceil(32)].to_vec();
        }
        // SAFETY: the port is wide; the slice ends with this statement.
        unsafe { self.wide_mut() }.to_vec()
    }

    /// Copies the value of a wide port into `words` without allocating.
    ///
    /// # Panics
    /// When the port has 64 bits or fewer, or the lengths differ.
    pub fn read_into(&self, words: &mut [u32]) {
        assert!(
            self.handle.width > 64,
            "port `{}` is not wide: use `get`",
            self.name
        );
        // SAFETY: the port is wide; the slice ends with this statement.
        words.copy_from_slice(unsafe { self.wide_mut() });
    }

    /// Sets the value from bytes, lane 0 first; missing ones are zero.
    ///
    /// # Panics
    /// As [`Port::set_words`].
    pub fn set_bytes(&self, value: &[u8]) {
        let words: Vec<u32> = value
            .chunks(4)
            .map(|chunk| {
                let mut bytes = [0; 4];
                bytes[..chunk.len()].copy_from_slice(chunk);
                u32::from_le_bytes(bytes)
            })
            .collect();
        self.set_words(&words);
    }

    /// The value as bytes, lane 0 first.
    pub fn bytes(&self) -> Vec<u8> {
        let mut bytes: Vec<u8> = self
            .words()
            .iter()
            .flat_map(|word| word.to_le_bytes())
            .collect();
        bytes.truncate(self.handle.width.div_ceil(8));
        bytes
    }

    /// The value as a bundle.
    ///
    /// # Panics
    /// When the fields' widths do not add up to the port's.
    pub fn record(&self, fields: Fields) -> Record {
        Record::from_words(self.checked(fields), self.words())
    }

    /// Sets the value from a bundle.
    ///
    /// # Panics
    /// When the fields' widths do not add up to the port's.
    pub fn set_record(&self, record: &Record) {
        self.checked(record.fields());
        self.set_words(record.words());
    }

    /// One field of a bundle of up to 64 bits.
    pub fn field(&self, fields: Fields, name: &str) -> u64 {
        self.record(fields).get(name)
    }

    /// Changes one field of a bundle, leaves the others.
    pub fn set_field(&self, fields: Fields, name: &str, value: impl Value) {
        let mut record = self.record(fields);
        record.set(name, value);
        self.set_record(&record);
    }

    fn checked(&self, fields: Fields) -> Fields {
        let total = fields::width(fields);
        assert!(
            total == self.handle.width,
            "port `{}` has {} bits, its bundle {total}",
            self.name,
            self.handle.width
        );
        fields
    }
}
