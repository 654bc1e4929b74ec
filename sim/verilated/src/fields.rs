//! Bundles by field name: the layout is data, so that a test never repeats an offset.

use crate::Value;

/// Name and width in bits of each field, least significant first.
pub type Fields = &'static [(&'static str, usize)];

/// The width of the whole bundle.
pub(crate) fn width(fields: Fields) -> usize {
    fields.iter().map(|(_, width)| width).sum()
}

/// The value of one bundle.
#[derive(Clone, PartialEq, Eq)]
pub struct Record {
    fields: Fields,
    words: Vec<u32>,
}

impl Record {
    /// All zeros.
    pub fn new(fields: Fields) -> Self {
        Self {
            fields,
            words: vec![0; width(fields).div_ceil(32)],
        }
    }

    /// From the words of a port.
    pub fn from_words(fields: Fields, words: Vec<u32>) -> Self {
        assert_eq!(
            words.len(),
            width(fields).div_ceil(32),
            "a bundle needs exactly its own words"
        );
        Self { fields, words }
    }

    /// The layout.
    pub fn fields(&self) -> Fields {
        self.fields
    }

    /// The value, least significant word first.
    pub fn words(&self) -> &[u32] {
        &self.words
    }

    /// The same with one field changed; for building in one expression.
    #[must_use]
    pub fn with(mut self, name: &str, value: impl Value) -> Self {
        self.set(name, value);
        self
    }

    /// Sets a field; a field of more than 64 bits is filled up with zeros.
    ///
    /// # Panics
    /// When there is no such field or the value does not fit.
    pub fn set(&mut self, name: &str, value: impl Value) {
        let value = value.value();
        let (_, width) = self.place(name);
        assert!(
            width >= 64 || value >> width == 0,
            "field `{name}` has {width} bits: {value:#x} does not fit"
        );
        self.set_words(name, &[value as u32, (value >> 32) as u32]);
    }

    /// Sets a field of any width from words; missing ones are zero.
    ///
    /// # Panics
    /// When there is no such field or a bit beyond its width is set.
    pub fn set_words(&mut self, name: &str, value: &[u32]) {
        let (offset, width) = self.place(name);
        for bit in 0..width.max(32 * value.len()) {
            let set = value
                .get(bit / 32)
                .is_some_and(|word| word >> (bit % 32) & 1 == 1);
            assert!(
                bit < width || !set,
                "field `{name}` has {width} bits: {value:08x?} does not fit"
            );
            if bit < width {
                let at = offset + bit;
                let word = &mut self.words[at / 32];
                *word = *word & !(1 << (at % 32)) | u32::from(set) << (at % 32);
            }
        }
    }

    /// A field of up to 64 bits.
    ///
    /// # Panics
    /// When there is no such field or it is wider.
    pub fn get(&self, name: &str) -> u64 {
        let (_, width) = self.place(name);
        assert!(
            width <= 64,
            "field `{name}` has {width} bits: read it with `get_words`"
        );
        let words = self.get_words(name);
        words
            .iter()
            .rev()
            .fold(0, |value, &word| value << 32 | u64::from(word))
    }

    /// A field of any width as words.
    ///
    /// # Panics
    /// When there is no such field.
    pub fn get_words(&self, name: &str) -> Vec<u32> {
        let (offset, width) = self.place(name);
        let mut words = vec![0; width.div_ceil(32)];
        for bit in 0..width {
            let at = offset + bit;
            words[bit / 32] |= (self.words[at / 32] >> (at % 32) & 1) << (bit % 32);
        }
        words
    }

    fn place(&self, name: &str) -> (usize, usize) {
        let mut offset = 0;
        for &(field, width) in self.fields {
            if field == name {
                return (offset, width);
            }
            offset += width;
        }
        let names: Vec<_> = self.fields.iter().map(|(field, _)| *field).collect();
        panic!("no field `{name}`; fields are: {}", names.join(", "));
    }
}

impl std::fmt::Debug for Record {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let mut shown = f.debug_struct("Record");
        for &(name, width) in self.fields {
            if width <= 64 {
                shown.field(name, &format_args!("{:#x}", self.get(name)));
            } else {
                shown.field(name, &format_args!("{:08x?}", self.get_words(name)));
            }
        }
        shown.finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const FIELDS: Fields = &[("valid", 1), ("psn", 24), ("vector", 72), ("address", 64)];

    #[test]
    fn fields_lie_least_significant_first() {
        let mut record = Record::new(FIELDS)
            .with("valid", 1u8)
            .with("psn", 0xabcdefu32);
        record.set_words("vector", &[1, 2, 0x83]);
        record.set("address", 0x0123_4567_89ab_cdef_u64);
        assert_eq!(record.words()[0], 1 | 0xabcdef << 1 | 1 << 25);
        assert_eq!(record.get("psn"), 0xabcdef);
        assert_eq!(record.get_words("vector"), [1, 2, 0x83]);
        assert_eq!(record.get("address"), 0x0123_4567_89ab_cdef);
    }

    #[test]
    #[should_panic(expected = "field `psn` has 24 bits: 0x1000000 does not fit")]
    fn a_value_too_wide_is_refused() {
        Record::new(FIELDS).set("psn", 1u32 << 24);
    }

    #[test]
    #[should_panic(expected = "no field `ordinal`; fields are: valid, psn")]
    fn an_unknown_field_is_refused() {
        Record::new(FIELDS).get("ordinal");
    }
}
