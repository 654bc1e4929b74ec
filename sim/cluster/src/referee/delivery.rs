//! Witness of delivery: every byte of every message is placed exactly once, in its own place, before its sender is told.
//!
//! At the scale of a cluster no bytes travel. Each message has an address range of its own, so the witness knows from
//! an address which part of which message was placed, and keeps a bit for each packet's worth.

use super::Findings;

/// Bits of an address within a message; the rest is the message's number plus one.
const OFFSET_BITS: u32 = 30;

/// A message that is to be delivered.
#[derive(Debug, Clone)]
pub struct Message {
    /// Host that receives it.
    to: u32,
    bytes: u64,
    placed: u64,
    /// A bit for each packet's worth.
    seen: Vec<u64>,
    completed: u32,
}

/// The witness.
#[derive(Debug, Clone)]
pub struct Delivery {
    /// Payload of a full packet, bytes.
    mtu: u64,
    messages: Vec<Message>,
    /// What was wrong.
    pub findings: Findings,
}

impl Delivery {
    /// A witness of messages cut into packets of `mtu` bytes.
    pub fn new(mtu: u16) -> Self {
        Self {
            mtu: mtu.into(),
            messages: Vec::new(),
            findings: Findings::default(),
        }
    }

    /// Expects a message of `bytes` bytes for host `to`. Returns the address to which it must be written.
    pub fn expect(&mut self, to: u32, bytes: u64) -> u64 {
        let packets = bytes.div_ceil(self.mtu) as usize;
        let seen = vec![0; packets.div_ceil(64)];
        self.messages.push(Message {
            to,
            bytes,
            placed: 0,
            seen,
            completed: 0,
        });
        (self.messages.len() as u64) << OFFSET_BITS
    }

    /// Host `host` has placed `length` bytes at `address`.
    #[inline]
    pub fn placed(&mut self, host: u32, address: u64, length: u32) {
        let number = (address >> OFFSET_BITS).wrapping_sub(1);
        let offset = address & ((1 << OFFSET_BITS) - 1);
        let Some(message) = self.messages.get_mut(number as usize) else {
            return self.findings.add(|| {
                format!(
                    "host {host} placed {length} bytes at {address:#x}, where nothing is expected"
                )
            });
        };
        let packet = (offset / self.mtu) as usize;
        let expected = self.mtu.min(message.bytes.saturating_sub(offset));
        if message.to != host || offset % self.mtu != 0 || u64::from(length) != expected {
            return self.findings.add(|| {
                format!("host {host} placed {length} bytes at offset {offset} of message {number}, which wants {expected} at host {}", message.to)
            });
        }
        let bit = 1u64 << (packet % 64);
        if length > 0 && message.seen[packet / 64] & bit != 0 {
            return self
                .findings
                .add(|| format!("packet {packet} of message {number} was placed twice"));
        }
        if length > 0 {
            message.seen[packet / 64] |= bit;
        }
        message.placed += u64::from(length);
    }

    /// The sender was told that message `number` is complete.
    pub fn completed(&mut self, number: u32) {
        let Some(message) = self.messages.get_mut(number as usize) else {
            return self
                .findings
                .add(|| format!("completion of message {number}, which was never sent"));
        };
        message.completed += 1;
        if message.completed > 1 {
            self.findings
                .add(|| format!("message {number} was completed {} times", message.completed));
        } else if message.placed != message.bytes {
            let (placed, bytes) = (message.placed, message.bytes);
            self.findings.add(|| {
                format!("message {number} was completed when {placed} of {bytes} bytes were placed")
            });
        }
    }

    /// At the end: what was never completed.
    pub fn finish(&mut self) {
        for (number, message) in self
            .messages
            .iter()
            .enumerate()
            .filter(|(_, message)| message.completed == 0)
        {
            self.findings.add(|| {
                format!(
                    "message {number} never ended: {} of {} bytes were placed",
                    message.placed, message.bytes
                )
            });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn witness() -> (Delivery, u64) {
        let mut witness = Delivery::new(1_000);
        let address = witness.expect(3, 2_500);
        (witness, address)
    }

    #[test]
    fn a_message_in_any_order_is_right() {
        let (mut witness, address) = witness();
        for (offset, length) in [(2_000, 500), (0, 1_000), (1_000, 1_000)] {
            witness.placed(3, address + offset, length);
        }
        witness.completed(0);
        witness.finish();
        assert!(witness.findings.is_empty(), "{:?}", witness.findings);
    }

    #[test]
    fn each_kind_of_wrong_delivery_is_found() {
        let wrong: [fn(&mut Delivery, u64); 7] = [
            |w, a| (0..2).for_each(|_| w.placed(3, a, 1_000)),
            |w, a| w.placed(4, a, 1_000),
            |w, a| w.placed(3, a + 1, 1_000),
            |w, a| w.placed(3, a + 2_000, 1_000),
            |w, _| w.placed(3, 0, 1),
            |w, _| w.completed(0),
            |w, _| w.completed(1),
        ];
        for (index, act) in wrong.iter().enumerate() {
            let (mut witness, address) = witness();
            act(&mut witness, address);
            assert_eq!(witness.findings.count, 1, "case {index}");
        }
        let (mut witness, _) = witness();
        witness.finish();
        assert_eq!(witness.findings.count, 1);
    }
}
