//! The sending half of a stream: requests that wait, messages that are open, answers to the peer's requests.
//!
//! Messages are numbered from 0, 16 bits. No more are open than the peer has slots (T-2.9), and completions
//! come in the order of the numbers, whatever order packets arrive in. An answer bears the number of the
//! peer's request and takes none of ours. The receiving half is [`super::message_table`].

use super::message_table::Incoming;
use super::timers::{NEVER, Timer};
use super::tx_path::Unacked;
use super::work::{ReceiveRequest, Side, Status, WorkOperation, WorkRequest};
use crate::wire::{Key, Operation, Psn};
use std::collections::VecDeque;

/// A message that has a number and is not complete.
#[derive(Debug, Clone, Copy)]
pub(super) struct OpenMessage {
    pub id: u64,
    pub number: u16,
    pub operation: Operation,
    pub local: u64,
    /// READ and atomics: our key of the local memory, for the answer.
    pub local_key: Key,
    pub remote: u64,
    pub key: Key,
    /// Bytes that its packets carry: of a READ or atomic, the request.
    pub length: u32,
    pub immediate: u32,
    /// Operands of an atomic; of its answer, the first is the value.
    pub operands: [u64; 2],
    /// Packets of the message, at least 1.
    pub packets: u32,
    /// Packets that have been given to a path.
    pub taken: u32,
    /// Packets that have arrived.
    pub arrived: u32,
    /// Bytes of the answer, and how many of them are here. No answer: none are missing.
    pub answer_length: u32,
    pub answered: u32,
    /// The answer is here, or none is due.
    pub answer_complete: bool,
}

/// Bytes of a READ's payload: where the answer goes (T-3.4).
pub(super) const READ_LENGTH: u32 = 16;
/// Bytes of an atomic's payload: the same and two operands.
pub(super) const ATOMIC_REQUEST_LENGTH: u32 = 32;

impl OpenMessage {
    fn new(request: &WorkRequest, number: u16, send_number: u64, mtu: u16) -> Self {
        let operation = request.operation;
        let (remote, key) = operation.remote();
        let mut message = Self {
            id: request.id,
            number,
            operation: Operation::Write,
            local: operation.local(),
            local_key: operation.local_key().unwrap_or_default(),
            remote,
            key,
            length: operation.length(),
            immediate: 0,
            operands: [0; 2],
            packets: 1,
            taken: 0,
            arrived: 0,
            answer_length: operation.local_key().map_or(0, |_| operation.length()),
            answered: 0,
            answer_complete: operation.local_key().is_none(),
        };
        message.specialise(&operation, send_number);
        message.packets = message.length.div_ceil(mtu.into()).max(1);
        message
    }

    /// What differs by operation.
    fn specialise(&mut self, operation: &WorkOperation, send_number: u64) {
        match *operation {
            WorkOperation::Write { .. } => {}
            WorkOperation::WriteImm { immediate, .. } => {
                (self.operation, self.immediate) = (Operation::WriteImm, immediate);
            }
            WorkOperation::Send { .. } => {
                (self.operation, self.remote) = (Operation::Send, send_number);
            }
            WorkOperation::SendImm { immediate, .. } => {
                (self.operation, self.remote) = (Operation::SendImm, send_number);
                self.immediate = immediate;
            }
            WorkOperation::Read { .. } => {
                (self.operation, self.length) = (Operation::Read, READ_LENGTH);
            }
            WorkOperation::CompareSwap { compare, swap, .. } => {
                (self.operation, self.length) = (Operation::CompareSwap, ATOMIC_REQUEST_LENGTH);
                self.operands = [compare, swap];
            }
            WorkOperation::FetchAdd { add, .. } => {
                (self.operation, self.length) = (Operation::FetchAdd, ATOMIC_REQUEST_LENGTH);
                self.operands = [add, 0];
            }
        }
    }

    /// Whether the remote address of a packet moves with its offset: not of a SEND, whose address is the
    /// number of a receive request.
    pub(super) const fn has_memory_address(&self) -> bool {
        !matches!(self.operation, Operation::Send | Operation::SendImm)
    }

    /// Bytes that its completion tells.
    const fn completed_length(&self) -> u32 {
        match self.operation {
            Operation::Read | Operation::CompareSwap | Operation::FetchAdd => self.answer_length,
            _ => self.length,
        }
    }

    const fn is_complete(&self) -> bool {
        self.arrived == self.packets && self.answer_complete
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
#[derive(Debug)]
pub(super) struct Stream {
    /// Requests without a number yet.
    pending: VecDeque<WorkRequest>,
    /// Open messages, oldest first; their numbers are consecutive.
    open: VecDeque<OpenMessage>,
    /// Number of the oldest open message.
    first: u16,
    /// Which open message is being cut: those before it have been given to paths entirely.
    cutting: usize,
    /// SENDs that have a number: the next one's receive request.
    sends: u64,
    /// Answers to the peer's requests, oldest first; their numbers grow, with gaps.
    answers: VecDeque<OpenMessage>,
    /// Which answer is being cut.
    cutting_answer: usize,
    /// The receiver was not ready for this message: nothing new is taken until the timer.
    pub held: Option<u16>,
    pub hold_timer: Timer,
    /// Times that the receiver was not ready, since a message was completed.
    pub holds: u32,

    // The receiving half.
    /// Number of the oldest message that has not arrived entirely.
    pub expected: u16,
    /// Messages from `expected` on.
    pub incoming: VecDeque<Incoming>,
    /// Receive requests that are not filled, and the number of the first.
    pub receives: VecDeque<ReceiveRequest>,
    pub first_receive: u64,
    /// Completions that the host has not taken, by [`Side`].
    pub untaken: [u32; 3],
}

impl Stream {
    pub(super) fn new() -> Self {
        Self {
            pending: VecDeque::new(),
            open: VecDeque::new(),
            first: 0,
            cutting: 0,
            sends: 0,
            answers: VecDeque::new(),
            cutting_answer: 0,
            held: None,
            hold_timer: Timer::new(),
            holds: 0,
            expected: 0,
            incoming: VecDeque::new(),
            receives: VecDeque::new(),
            first_receive: 0,
            untaken: [0; 3],
        }
    }

    /// Requests that wait or are open.
    pub(super) fn requests(&self) -> usize {
        self.pending.len() + self.open.len()
    }

    /// Completions that the host has not taken.
    pub(super) const fn untaken(&self, side: Side) -> usize {
        self.untaken[side as usize] as usize
    }

    /// Messages and answers that are open, and their packets that have a path and have not arrived.
    pub(super) fn outstanding(&self) -> [usize; 3] {
        let packets = |table: &VecDeque<OpenMessage>| {
            let of = |message: &OpenMessage| (message.taken - message.arrived) as usize;
            table.iter().map(of).sum::<usize>()
        };
        let packets = packets(&self.open) + packets(&self.answers);
        [self.open.len(), self.answers.len(), packets]
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
        self.cutting_answer < self.answers.len() || self.has_message_packet(slots)
    }

    /// Packets that have not been given to a path, if they belong to one message, the last one that is known.
    pub(super) fn packets_left(&self) -> Option<u32> {
        let last = self.cutting_answer == self.answers.len()
            && self.pending.is_empty()
            && self.cutting + 1 >= self.open.len();
        let left = |message: &OpenMessage| message.packets - message.taken;
        last.then(|| self.open.get(self.cutting).map_or(0, left))
    }

    fn has_message_packet(&self, slots: u16) -> bool {
        self.held.is_none()
            && (self.cutting < self.open.len()
                || (!self.pending.is_empty() && self.open.len() < usize::from(slots)))
    }

    /// Gives the next packet, of an answer before those of messages.
    pub(super) fn take(&mut self, stream: u8, mtu: u16, slots: u16) -> Option<Unacked> {
        let answer = self.cutting_answer < self.answers.len();
        let message = if answer {
            &mut self.answers[self.cutting_answer]
        } else if self.has_message_packet(slots) {
            self.open_next(mtu);
            &mut self.open[self.cutting]
        } else {
            return None;
        };
        let (packet, number) = (message.taken, message.number);
        message.taken += 1;
        if message.taken == message.packets {
            *(if answer {
                &mut self.cutting_answer
            } else {
                &mut self.cutting
            }) += 1;
        }
        Some(Unacked {
            psn: Psn::new(0),
            packet,
            message: number,
            stream,
            answer,
        })
    }

    /// Gives a number to the next request, if all open messages have been cut.
    fn open_next(&mut self, mtu: u16) {
        if self.cutting < self.open.len() {
            return;
        }
        let Some(request) = self.pending.pop_front() else {
            return;
        };
        let number = self.first.wrapping_add(self.open.len() as u16);
        let message = OpenMessage::new(&request, number, self.sends, mtu);
        self.sends += u64::from(!message.has_memory_address());
        self.open.push_back(message);
    }

    fn index_of(&self, number: u16, answer: bool) -> Option<usize> {
        if !answer {
            let index = usize::from(number.wrapping_sub(self.first));
            return (index < self.open.len()).then_some(index);
        }
        let oldest = self.answers.front()?.number;
        let ahead = |n: u16| n.wrapping_sub(oldest);
        self.answers
            .binary_search_by_key(&ahead(number), |a| ahead(a.number))
            .ok()
    }

    /// What a packet in flight belongs to.
    pub(super) fn source(&self, unacked: &Unacked) -> Option<&OpenMessage> {
        let index = self.index_of(unacked.message, unacked.answer)?;
        if unacked.answer {
            self.answers.get(index)
        } else {
            self.open.get(index)
        }
    }

    /// The open message of a number.
    pub(super) fn open_message(&mut self, number: u16) -> Option<&mut OpenMessage> {
        let index = self.index_of(number, false)?;
        self.open.get_mut(index)
    }

    /// The open request of a number that waits for its answer.
    pub(super) fn open_request(&self, number: u16) -> Option<&OpenMessage> {
        let message = self.open.get(self.index_of(number, false)?)?;
        (!message.answer_complete).then_some(message)
    }

    /// A packet has arrived at the peer; says whether the oldest message is complete.
    pub(super) fn on_arrived(&mut self, unacked: &Unacked) -> bool {
        let Some(index) = self.index_of(unacked.message, unacked.answer) else {
            debug_assert!(
                false,
                "a packet in flight belongs to a message that is open"
            );
            return false;
        };
        let table = if unacked.answer {
            &mut self.answers
        } else {
            &mut self.open
        };
        let message = &mut table[index];
        message.arrived += 1;
        debug_assert!(
            message.arrived <= message.packets,
            "no packet arrives twice"
        );
        if unacked.answer {
            while self.answers.front().is_some_and(OpenMessage::is_complete) {
                self.answers.pop_front();
                self.cutting_answer -= 1;
            }
            return false;
        }
        index == 0 && message.is_complete()
    }

    /// Takes the oldest message if it is complete.
    pub(super) fn complete(&mut self) -> Option<Done> {
        self.open.front().filter(|message| message.is_complete())?;
        self.holds = 0;
        self.close_oldest(Status::Ok)
    }

    fn close_oldest(&mut self, status: Status) -> Option<Done> {
        let message = self.open.pop_front()?;
        self.first = self.first.wrapping_add(1);
        self.cutting = self.cutting.saturating_sub(1);
        Some(Done {
            id: message.id,
            message: message.number,
            length: message.completed_length(),
            status,
        })
    }

    /// Takes the oldest request, open or not, that will never be done.
    pub(super) fn flush(&mut self, refused: Option<(u16, Status)>) -> Option<Done> {
        let status = match refused {
            Some((message, status)) if message == self.first => status,
            _ => Status::Flushed,
        };
        if let Some(done) = self.close_oldest(status) {
            return Some(done);
        }
        let request = self.pending.pop_front()?;
        let length = request.operation.length();
        Some(Done {
            id: request.id,
            message: 0,
            length,
            status: Status::Flushed,
        })
    }

    /// Forgets answers and messages that were arriving.
    pub(super) fn forget_peer(&mut self) {
        self.answers.clear();
        self.cutting_answer = 0;
        self.incoming.clear();
        self.held = None;
        self.hold_timer.deadline = NEVER;
    }

    /// Whether there is room for one more answer.
    pub(super) fn has_answer_room(&self, max: usize) -> bool {
        self.answers.len() < max
    }

    /// Opens an answer.
    pub(super) fn answer(&mut self, answer: OpenMessage) {
        self.answers.push_back(answer);
    }
}
