//! Memory: inside the written ranges exactly the source's bytes, outside nothing has changed.

/// What a buffer must look like.
#[derive(Debug, Clone)]
pub struct MemoryReferee {
    /// The value that every byte had before.
    background: Vec<u8>,
    expected: Vec<u8>,
}

impl MemoryReferee {
    /// A buffer whose bytes are `background` now.
    pub fn new(background: Vec<u8>) -> Self {
        Self {
            expected: background.clone(),
            background,
        }
    }

    /// From now on the bytes from `offset` on must be `bytes`.
    pub fn expect(&mut self, offset: usize, bytes: &[u8]) {
        for (at, byte) in (offset..).zip(bytes) {
            self.expected[at] = *byte;
        }
    }

    /// What is wrong with `found`, at most a few places.
    pub fn judge(&self, found: &[u8]) -> Vec<String> {
        let mut verdict = Vec::new();
        if found.len() != self.expected.len() {
            verdict.push(format!(
                "{} bytes instead of {}",
                found.len(),
                self.expected.len()
            ));
        }
        let wrong = |at: &usize| found[*at] != self.expected[*at];
        let places: Vec<usize> = (0..found.len().min(self.expected.len()))
            .filter(wrong)
            .collect();
        for at in places.iter().take(4) {
            let (is, must, was) = (found[*at], self.expected[*at], self.background[*at]);
            verdict.push(format!(
                "byte {at:#x} is {is:#04x}, must be {must:#04x}, was {was:#04x}"
            ));
        }
        if places.len() > 4 {
            verdict.push(format!("{} bytes are wrong in all", places.len()));
        }
        verdict
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn missing_stray_and_wrong_bytes_are_found() {
        let mut referee = MemoryReferee::new(vec![0xcc; 64]);
        referee.expect(10, &[1, 2, 3]);
        let mut found = vec![0xcc; 64];
        found[10..13].copy_from_slice(&[1, 2, 3]);
        assert_eq!(referee.judge(&found), [""; 0]);
        for at in 0..64 {
            let mut broken = found.clone();
            broken[at] ^= 1;
            assert_eq!(referee.judge(&broken).len(), 1, "byte {at}");
        }
        assert_eq!(referee.judge(&found[1..]).len(), 1 + 4);
    }
}
