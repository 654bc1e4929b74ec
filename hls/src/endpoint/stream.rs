//! A stream's messages on both sides: requests that wait, messages that are open, messages that arrive.
//!
//! Messages are numbered from 0, 16 bits. No more are open than the peer has slots (T-2.9), and completions
//! come in the order of the numbers, whatever order packets arrive in.

use super::message_table::Incoming;
use super::tx_path::Unacked;
use super::work::{Status, WorkOperation, WorkRequest};
use crate::wire::{Key, Operation, Psn};
use std::collections::VecDeque;

/// A message that has a number and is not complete.
#[derive(Debug, Clone, Copy)]
pub(super) struct OpenMessage {
    pub id: u64,
    pub operation: Operation,
    pub local: u64,
    pub remote: u64,
    pub key: Key,
    pub length: u32,
    pub immediate: u32,
    /// Packets of the message, at least 1.
    pub packets: u32,
    /// Packets that have been given to a path.
    pub taken: u32,
    /// Packets that have arrived.
    pub arrived: u32,
}

impl OpenMessage {
    fn new(request: &WorkRequest, mtu: u16) -> Self {
        let WorkOperation::Write {
            local,
            length,
            remote,
            key,
        } = request.operation;
        Self {
            id: request.id,
            operation: Operation::Write,
            local,
            remote,
            key,
            length,
            immediate: 0,
            packets: length.div_ceil(mtu.into()).max(1),
            taken: 0,
            arrived: 0,
        }
    }
}

/// A message that is done, for its completion.
#[derive(Debug, Clone, Copy)]
pub(super) struct Done {
    pub id: u64,
    pub message: u16,
    pub length: u32,
    pub status: Status,
}

/// One stream of a connection.
#[derive(Debug, Default)]
pub(super) struct Stream {
    /// Requests without a number yet.
    pending: VecDeque<WorkRequest>,
    /// Open messages, oldest first.
    open: VecDeque<OpenMessage>,
    /// Number of the oldest open message.
    first: u16,
    /// Which open message is being cut: those before it have been given to paths entirely.
    cutting: usize,
    /// Number of the oldest message that has not arrived entirely.
    pub expected: u16,
    /// Messages from `expected` on.
    pub incoming: VecDeque<Incoming>,
}

impl Stream {
    /// Requests that wait or are open.
    pub(super) fn requests(&self) -> usize {
        self.pending.len() + self.open.len()
    }

    pub(super) fn post(&mut self, request: WorkRequest) {
        self.pending.push_back(request);
    }

    /// Number of the oldest open message.
    pub(super) fn oldest(&self) -> Option<u16> {
        (!self.open.is_empty()).then_some(self.first)
    }

    /// Whether it has a packet to give.
    pub(super) fn is_ready(&self, slots: u16) -> bool {
        self.cutting < self.open.len()
            || (!self.pending.is_empty() && self.open.len() < usize::from(slots))
    }

    /// Gives the next packet. Only of a stream that is ready.
    pub(super) fn take(&mut self, stream: u8, mtu: u16) -> Option<Unacked> {
        if self.cutting == self.open.len() {
            let request = self.pending.pop_front()?;
            self.open.push_back(OpenMessage::new(&request, mtu));
        }
        let message = &mut self.open[self.cutting];
        let packet = message.taken;
        message.taken += 1;
        let number = self.first.wrapping_add(self.cutting as u16);
        if message.taken == message.packets {
            self.cutting += 1;
        }
        Some(Unacked {
            psn: Psn::new(0),
            packet,
            message: number,
            stream,
        })
    }

    /// The open message of a number.
    pub(super) fn message(&self, number: u16) -> Option<&OpenMessage> {
        self.open.get(usize::from(number.wrapping_sub(self.first)))
    }

    /// A packet of message `number` has arrived; says whether the oldest message is complete.
    pub(super) fn on_arrived(&mut self, number: u16) -> bool {
        let index = usize::from(number.wrapping_sub(self.first));
        let Some(message) = self.open.get_mut(index) else {
            debug_assert!(false, "a packet in flight belongs to an open message");
            return false;
        };
        message.arrived += 1;
        debug_assert!(
            message.arrived <= message.packets,
            "no packet arrives twice"
        );
        index == 0 && message.arrived == message.packets
    }

    /// Takes the oldest message if it is complete.
    pub(super) fn complete(&mut self) -> Option<Done> {
        let message = self.open.front()?;
        if message.arrived < message.packets {
            return None;
        }
        Some(self.close_oldest(Status::Ok))
    }

    fn close_oldest(&mut self, status: Status) -> Done {
        let message = self.open.pop_front().expect("an open message");
        let number = self.first;
        self.first = self.first.wrapping_add(1);
        self.cutting = self.cutting.saturating_sub(1);
        Done {
            id: message.id,
            message: number,
            length: message.length,
            status,
        }
    }

    /// Takes the oldest request, open or not, that will never be done.
    pub(super) fn flush(&mut self, refused: Option<(u16, Status)>) -> Option<Done> {
        if self.open.is_empty() {
            let request = self.pending.pop_front()?;
            let WorkOperation::Write { length, .. } = request.operation;
            return Some(Done {
                id: request.id,
                message: 0,
                length,
                status: Status::Flushed,
            });
        }
        let status = match refused {
            Some((message, status)) if message == self.first => status,
            _ => Status::Flushed,
        };
        Some(self.close_oldest(status))
    }
}
