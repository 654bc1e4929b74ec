//! The receiving half of a stream: messages that arrive, distinct bytes counted by message (T-2.9).
//!
//! A path's window lets each packet through once, so counting is enough; there is no map of which bytes
//! have come. What is done with a complete message is [`super::delivery`].

use super::stream::Stream;
use crate::wire::{Data, Key, Operation};

/// What a READ or atomic asks for (T-3.4).
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct RemoteRequest {
    /// What is read or changed here.
    pub address: u64,
    pub key: Key,
    /// Where the answer goes.
    pub answer_address: u64,
    pub answer_key: Key,
    pub length: u32,
    pub operands: [u64; 2],
}

/// A message of which something has arrived.
#[derive(Debug, Clone, Copy)]
pub(super) struct Message {
    pub operation: Operation,
    pub length: u32,
    pub immediate: u32,
    /// Of a SEND: the receive request.
    pub receive: u64,
    pub request: RemoteRequest,
    /// Bytes that have been placed.
    bytes: u32,
    /// Everything is there.
    complete: bool,
}

/// A slot: empty while nothing of its message has come.
pub(super) type Incoming = Option<Message>;

impl Stream {
    /// The slot of a message, if it is within the slots; `Some(None)`: nothing has come.
    fn slot(&self, message: u16, slots: u16) -> Option<&Incoming> {
        let ahead = message.wrapping_sub(self.expected);
        (ahead < slots).then(|| self.incoming.get(usize::from(ahead)).unwrap_or(&None))
    }

    /// Whether a packet fits the slot of its message: within the slots, and of one mind with what came.
    pub(super) fn admits(&self, data: &Data, slots: u16) -> bool {
        match self.slot(data.message, slots) {
            None => false,
            Some(None) => true,
            Some(Some(message)) => {
                !message.complete
                    && (message.operation, message.length) == (data.operation, data.message_length)
                    && u32::from(data.payload_length) <= message.length - message.bytes
            }
        }
    }

    /// Counts a packet that was accepted; says whether its message is now complete.
    pub(super) fn count(&mut self, data: &Data, request: RemoteRequest) -> bool {
        let ahead = usize::from(data.message.wrapping_sub(self.expected));
        while self.incoming.len() <= ahead {
            self.incoming.push_back(None);
        }
        let message = self.incoming[ahead].get_or_insert(Message {
            operation: data.operation,
            length: data.message_length,
            immediate: data.immediate,
            receive: data.address,
            request,
            bytes: 0,
            complete: false,
        });
        message.bytes += u32::from(data.payload_length);
        message.complete = message.bytes == message.length;
        message.complete
    }

    /// Takes the oldest message and its number if it is complete. `keep`: a planted fault, which leaves a slot behind.
    pub(super) fn take_complete(&mut self, keep: bool) -> Option<(u16, Message)> {
        let message = (*self.incoming.front()?).filter(|message| message.complete)?;
        self.incoming.pop_front();
        if keep {
            self.incoming.push_back(None);
        }
        let number = self.expected;
        self.expected = number.wrapping_add(1);
        Some((number, message))
    }
}
