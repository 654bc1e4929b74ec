//! Witness of memory: byte for byte what was written, and nothing beside it.

use super::Finding;

/// What a region must hold.
#[derive(Debug, Clone)]
pub struct Image {
    bytes: Vec<u8>,
    /// Bytes of all messages so far: what has been placed if nothing was placed twice.
    written: u64,
}

impl Image {
    /// A region of zeros.
    pub fn new(length: usize) -> Self {
        Self {
            bytes: vec![0; length],
            written: 0,
        }
    }

    /// Bytes of the region.
    pub fn len(&self) -> usize {
        self.bytes.len()
    }

    /// Whether the region has no bytes.
    pub fn is_empty(&self) -> bool {
        self.bytes.is_empty()
    }

    /// A message writes `bytes` at `offset`.
    pub fn write(&mut self, offset: usize, bytes: &[u8]) {
        self.bytes[offset..offset + bytes.len()].copy_from_slice(bytes);
        self.written += bytes.len() as u64;
    }

    /// Bytes of all messages.
    pub fn written(&self) -> u64 {
        self.written
    }

    /// Compares with what is there.
    pub fn compare(&self, found: &[u8]) -> Finding {
        if found.len() != self.bytes.len() {
            return Some(format!(
                "{} bytes were read of {}",
                found.len(),
                self.bytes.len()
            ));
        }
        let at = self
            .bytes
            .iter()
            .zip(found)
            .position(|(expected, found)| expected != found)?;
        let wrong = self
            .bytes
            .iter()
            .zip(found)
            .filter(|(expected, found)| expected != found)
            .count();
        Some(format!(
            "byte {at} is {:#04x} in place of {:#04x}, {wrong} bytes are wrong",
            found[at], self.bytes[at]
        ))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_byte_in_a_wrong_place_is_found() {
        let mut image = Image::new(100);
        image.write(10, &[1, 2, 3]);
        let mut found = vec![0; 100];
        assert!(
            image
                .compare(&found)
                .is_some_and(|text| text.contains("byte 10"))
        );
        found[10..13].copy_from_slice(&[1, 2, 3]);
        assert_eq!(image.compare(&found), None);
        found[99] = 1;
        assert!(image.compare(&found).is_some());
        assert!(image.compare(&found[..99]).is_some());
    }
}
