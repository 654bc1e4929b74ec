//! Messages that arrive: distinct bytes counted by message, delivered in order (T-2.9).
//!
//! A path's window lets each packet through once, so counting is enough; there is no map of which bytes
//! have come. A hole in one stream delays no other stream.

use super::stream::Stream;
use crate::wire::{Data, Operation};

/// A message of which something may have arrived.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Incoming {
    /// Operation and length, from the first packet that came.
    head: Option<(Operation, u32)>,
    /// Bytes that have been placed.
    bytes: u32,
    /// Everything is there.
    complete: bool,
}

impl Stream {
    /// Whether a packet fits the slot of its message: within the slots, and of one mind with what came.
    pub(super) fn admits(&self, data: &Data, slots: u16) -> bool {
        let ahead = data.message.wrapping_sub(self.expected);
        if ahead >= slots {
            return false;
        }
        match self.incoming.get(usize::from(ahead)) {
            None | Some(Incoming { head: None, .. }) => true,
            Some(Incoming { complete: true, .. }) => false,
            Some(Incoming {
                head: Some(head),
                bytes,
                ..
            }) => {
                *head == (data.operation, data.message_length)
                    && u32::from(data.payload_length) <= data.message_length - bytes
            }
        }
    }

    /// Counts a packet that was placed; says whether its message is now complete.
    pub(super) fn count(&mut self, data: &Data) -> bool {
        let ahead = usize::from(data.message.wrapping_sub(self.expected));
        while self.incoming.len() <= ahead {
            self.incoming.push_back(Incoming::default());
        }
        let slot = &mut self.incoming[ahead];
        slot.head = Some((data.operation, data.message_length));
        slot.bytes += u32::from(data.payload_length);
        slot.complete = slot.bytes == data.message_length;
        slot.complete
    }

    /// Moves past complete messages.
    pub(super) fn deliver(&mut self) {
        while self.incoming.front().is_some_and(|slot| slot.complete) {
            self.incoming.pop_front();
            self.expected = self.expected.wrapping_add(1);
        }
    }
}
