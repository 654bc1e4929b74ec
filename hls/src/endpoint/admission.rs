//! Whether a fresh DATA packet may be taken: its slot, its memory, the request it fills (T-5.3).
//!
//! Nothing is changed here. A packet that is refused leaves no trace in its path's sequence, is answered
//! with a NACK and comes again; each copy is refused anew.

use super::connection::Connection;
use super::core::Core;
use super::counters::Counter;
use super::message_table::RemoteRequest;
use super::region::{Access, AccessError};
use super::stream::{ATOMIC_REQUEST_LENGTH, READ_LENGTH, Stream};
use super::wire_time::delay_units;
use super::work::{ATOMIC_LENGTH, MESSAGE_LENGTH_MAX, Side};
use crate::wire::{Data, Key, NackReason, Operation};

/// Answers of a stream that may be open, for each slot: the peer may have taken an answer whole and gone on
/// while our ACK of it is on its way.
pub(super) const ANSWERS_PER_SLOT: usize = 2;

/// Why a packet is not taken: what the peer is told, and what is counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Refusal {
    pub reason: NackReason,
    pub detail: u64,
    pub counter: Counter,
}

/// What an admitted packet does.
#[derive(Debug, Clone, Copy)]
pub(super) enum Admitted {
    /// Its payload goes to this address; it counts for a message.
    Place(u64),
    /// It asks for something, in message order.
    Request(RemoteRequest),
    /// It is part of the answer to a request of our own.
    Answer,
}

const INVALID: Refusal = Refusal {
    reason: NackReason::InvalidRequest,
    detail: 0,
    counter: Counter::DropMessageSlot,
};

impl From<AccessError> for Refusal {
    fn from(error: AccessError) -> Self {
        let counter = match error {
            AccessError::Key => Counter::DropKey,
            AccessError::Bounds => Counter::DropBounds,
        };
        Self {
            reason: NackReason::Access,
            detail: 0,
            counter,
        }
    }
}

impl Connection {
    /// Judges a fresh packet.
    pub(super) fn admit(
        &self,
        core: &Core,
        data: &Data,
        payload: &[u8],
    ) -> Result<Admitted, Refusal> {
        let stream = &self.streams[usize::from(data.stream)];
        if matches!(
            data.operation,
            Operation::ReadResponse | Operation::AtomicResponse
        ) {
            return admit_answer(stream, core, data);
        }
        if !stream.admits(data, self.settled.slots) || data.message_length > MESSAGE_LENGTH_MAX {
            return Err(INVALID);
        }
        match data.operation {
            Operation::Write | Operation::WriteImm => admit_write(stream, core, data),
            Operation::Send | Operation::SendImm => admit_send(stream, core, data),
            _ => self.admit_request(stream, core, data, payload),
        }
    }

    /// A READ or atomic: one packet that says what and where to.
    fn admit_request(
        &self,
        stream: &Stream,
        core: &Core,
        data: &Data,
        payload: &[u8],
    ) -> Result<Admitted, Refusal> {
        let read = data.operation == Operation::Read;
        let expected = if read {
            READ_LENGTH
        } else {
            ATOMIC_REQUEST_LENGTH
        };
        if data.message_length != expected || payload.len() != expected as usize {
            return Err(INVALID);
        }
        let request = parse_request(data, payload);
        let access = if read { Access::Read } else { Access::Atomic };
        core.regions
            .check(data.key, access, data.address, request.length)?;
        let whole = read
            || (request.length == ATOMIC_LENGTH && data.address % u64::from(ATOMIC_LENGTH) == 0);
        if !whole || request.length > MESSAGE_LENGTH_MAX {
            return Err(INVALID);
        }
        let answers_max = usize::from(self.settled.slots) * ANSWERS_PER_SLOT;
        if !stream.has_answer_room(answers_max) {
            return Err(not_ready(core, NackReason::NoResource));
        }
        Ok(Admitted::Request(request))
    }
}

/// A WRITE: its memory is there, and the host takes the completions of those that have one.
fn admit_write(stream: &Stream, core: &Core, data: &Data) -> Result<Admitted, Refusal> {
    let length = data.payload_length.into();
    core.regions
        .check(data.key, Access::Write, data.address, length)?;
    // Counted when it is delivered: were it counted here, later messages could keep the oldest out for ever.
    if data.operation == Operation::WriteImm
        && stream.untaken(Side::WriteImm) >= core.config.receive_requests_max as usize
    {
        return Err(not_ready(core, NackReason::NoReceiveRequest));
    }
    Ok(Admitted::Place(data.address))
}

/// A SEND: its receive request has been posted and is long enough.
fn admit_send(stream: &Stream, core: &Core, data: &Data) -> Result<Admitted, Refusal> {
    let Some(ahead) = data.address.checked_sub(stream.first_receive) else {
        return Err(INVALID);
    };
    let Some(receive) = usize::try_from(ahead)
        .ok()
        .and_then(|n| stream.receives.get(n))
    else {
        return Err(not_ready(core, NackReason::NoReceiveRequest));
    };
    if data.message_length > receive.length {
        return Err(INVALID);
    }
    Ok(Admitted::Place(receive.address + u64::from(data.offset)))
}

/// An answer: to an open request of ours, of its kind and length, to where we have asked for it.
fn admit_answer(stream: &Stream, core: &Core, data: &Data) -> Result<Admitted, Refusal> {
    let Some(open) = stream.open_request(data.message) else {
        return Err(INVALID);
    };
    let kind = match open.operation {
        Operation::Read => Operation::ReadResponse,
        _ => Operation::AtomicResponse,
    };
    let fits = data.operation == kind
        && data.message_length == open.answer_length
        && data.key == open.local_key
        && data.address == open.local.wrapping_add(data.offset.into())
        && u32::from(data.payload_length) <= open.answer_length - open.answered;
    if !fits {
        return Err(INVALID);
    }
    let length = data.payload_length.into();
    core.regions
        .check(data.key, Access::Answer, data.address, length)?;
    Ok(Admitted::Answer)
}

fn not_ready(core: &Core, reason: NackReason) -> Refusal {
    let detail = delay_units(core.config.rnr_retry_ns).into();
    Refusal {
        reason,
        detail,
        counter: Counter::NotReady,
    }
}

fn parse_request(data: &Data, payload: &[u8]) -> RemoteRequest {
    let word = |at: usize| match payload.get(at..at + 8) {
        Some(bytes) => u64::from_be_bytes(bytes.try_into().unwrap_or_default()),
        None => 0,
    };
    RemoteRequest {
        address: data.address,
        key: data.key,
        answer_address: word(0),
        answer_key: Key((word(8) >> 32) as u32),
        length: word(8) as u32,
        operands: [word(16), word(24)],
    }
}
