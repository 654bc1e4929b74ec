//! Completion rings, and the queue of work requests that are matched with them.
//!
//! Completions are handed out in the order of posting, whatever order the device writes them in.

use super::{ConnectionHandle, Error, Side, Status};
use crate::device::{Device, DeviceError};
use crate::dma::DmaBuffer;
use crate::dma::ring::Ring;
use osprey_hls::regs::{completion, doorbell, work_request};
use std::collections::VecDeque;

/// What a status of the register map means.
fn status(connection: u32, code: u8) -> Result<Status, DeviceError> {
    Ok(match code {
        completion::STATUS_OK => Status::Ok,
        completion::STATUS_LOCAL => Status::LocalAccess,
        completion::STATUS_REMOTE_ACCESS => Status::RemoteAccess,
        completion::STATUS_RETRIES => Status::RetriesExhausted,
        completion::STATUS_REMOTE_INVALID => Status::RemoteInvalid,
        status => return Err(DeviceError::Status { connection, status }),
    })
}

/// A request that is done, or a message that has arrived.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Completion {
    /// The connection.
    pub connection: ConnectionHandle,
    /// The request's own number; 0 of a WRITE_IMM that arrived.
    pub id: u64,
    /// The stream.
    pub stream: u8,
    /// Send or receive.
    pub side: Side,
    /// How it ended.
    pub status: Status,
    /// Bytes of the message.
    pub length: u32,
    /// The sender's immediate value.
    pub immediate: Option<u32>,
}

/// A completion as the device wrote it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct RawCompletion {
    pub(super) kind: u8,
    pub(super) status: Status,
    pub(super) index: u32,
    pub(super) length: u32,
    pub(super) plane: u8,
}

/// The host's end of a completion ring.
#[derive(Debug, Clone)]
pub(super) struct CompletionQueue {
    connection: u32,
    buffer: DmaBuffer,
    ring: Ring,
}

impl CompletionQueue {
    /// A ring of 2^`log2_entries` completions; the memory is cleared, so that no phase bit is set.
    pub(super) fn new<D: Device + ?Sized>(
        device: &mut D,
        connection: u32,
        log2_entries: u8,
    ) -> Result<Self, DeviceError> {
        let ring = Ring::new(log2_entries);
        let length = (ring.entries() * completion::BYTES) as usize;
        let buffer = device.allocate_contiguous(length)?;
        device.write(&buffer, 0, &vec![0; length]);
        Ok(Self {
            connection,
            buffer,
            ring,
        })
    }

    pub(super) fn bus_address(&self) -> u64 {
        self.buffer.pages[0]
    }

    pub(super) fn log2_entries(&self) -> u8 {
        self.ring.log2_entries()
    }

    /// The next completion, if it is there. The phase is read before the rest.
    pub(super) fn next<D: Device + ?Sized>(
        &mut self,
        device: &mut D,
    ) -> Result<Option<RawCompletion>, DeviceError> {
        let index = self.ring.consumed();
        let at = self.ring.slot(index) * completion::BYTES as usize;
        let mut first = [0; 4];
        device.read(&self.buffer, at, &mut first);
        let phase = first[0] & 1 == 1;
        if phase != self.ring.phase(index) {
            return Ok(None);
        }
        let mut bytes = [0; completion::BYTES as usize];
        device.read(&self.buffer, at, &mut bytes);
        self.ring.push();
        self.ring.pop();
        let words: Vec<u32> = bytes
            .chunks_exact(4)
            .map(|b| u32::from_le_bytes([b[0], b[1], b[2], b[3]]))
            .collect();
        Ok(Some(RawCompletion {
            kind: completion::KIND.get(&words) as u8,
            status: status(self.connection, completion::STATUS.get(&words) as u8)?,
            index: completion::INDEX.get(&words) as u32,
            length: completion::LENGTH.get(&words) as u32,
            plane: completion::PLANE.get(&words) as u8,
        }))
    }

    /// Tells the device how many completions were taken.
    pub(super) fn acknowledge<D: Device + ?Sized>(&self, device: &mut D) {
        device.write32(
            doorbell::COMPLETION_CONSUMER.at(self.connection),
            self.ring.consumed(),
        );
    }

    pub(super) fn release<D: Device + ?Sized>(self, device: &mut D) {
        device.release(self.buffer);
    }
}

/// A posted work request.
#[derive(Debug, Clone, Copy)]
struct Posted {
    id: u64,
    length: u32,
    /// How it ended, once it has.
    ended: Option<Status>,
}

/// A send ring and what is outstanding in it.
#[derive(Debug, Clone)]
pub(super) struct SendQueue {
    buffer: DmaBuffer,
    pub(super) ring: Ring,
    /// One for each full entry of the ring, oldest first.
    posted: VecDeque<Posted>,
}

impl SendQueue {
    pub(super) fn new<D: Device + ?Sized>(
        device: &mut D,
        log2_entries: u8,
    ) -> Result<Self, DeviceError> {
        let ring = Ring::new(log2_entries);
        let buffer = device.allocate_contiguous((ring.entries() * work_request::BYTES) as usize)?;
        Ok(Self {
            buffer,
            ring,
            posted: VecDeque::new(),
        })
    }

    pub(super) fn bus_address(&self) -> u64 {
        self.buffer.pages[0]
    }

    /// Writes a request into the ring; the doorbell is the caller's.
    pub(super) fn push<D: Device + ?Sized>(
        &mut self,
        device: &mut D,
        record: [u8; work_request::BYTES as usize],
        id: u64,
        length: u32,
    ) -> u32 {
        let index = self.ring.push();
        device.write(&self.buffer, self.ring.slot(index) * record.len(), &record);
        self.posted.push_back(Posted {
            id,
            length,
            ended: None,
        });
        index
    }

    /// Notes that a request has ended.
    pub(super) fn end(&mut self, raw: &RawCompletion, connection: u32) -> Result<(), Error> {
        let place = raw.index.wrapping_sub(self.ring.consumed()) as usize;
        match self.posted.get_mut(place) {
            Some(posted) if posted.ended.is_none() => posted.ended = Some(raw.status),
            _ => {
                return Err(DeviceError::Completion {
                    connection,
                    index: raw.index,
                }
                .into());
            }
        }
        Ok(())
    }

    /// Ends every request that has not ended.
    pub(super) fn flush(&mut self) {
        for posted in &mut self.posted {
            posted.ended.get_or_insert(Status::Flushed);
        }
    }

    /// The oldest request, if it has ended; its entry is free then.
    pub(super) fn pop(&mut self, connection: ConnectionHandle) -> Option<Completion> {
        let Posted { id, length, ended } = *self.posted.front()?;
        let status = ended?;
        self.posted.pop_front();
        self.ring.pop();
        Some(Completion {
            connection,
            id,
            stream: 0,
            side: Side::Send,
            status,
            length,
            immediate: None,
        })
    }

    /// Drops the oldest request, if it has ended; whether it had.
    pub(super) fn pop_ended(&mut self) -> bool {
        let ended = self
            .posted
            .front()
            .is_some_and(|posted| posted.ended.is_some());
        if ended {
            self.posted.pop_front();
            self.ring.pop();
        }
        ended
    }

    pub(super) fn release<D: Device + ?Sized>(self, device: &mut D) {
        device.release(self.buffer);
    }
}
