//! Work requests: what the caller says, and the 64 bytes that the engine fetches.

use super::connection::ConnectionState;
use super::{CallerError, ConnectionHandle, Context, Error};
use crate::device::Device;
use osprey_hls::regs::{doorbell, work_request};
use osprey_hls::wire::Key;

/// Most bytes of a message: what the wire and the engine count in 32 bits, with room to spare.
pub const MESSAGE_BYTES_MAX: u32 = 1 << 30;

/// A write of remote memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct WriteRequest {
    /// Key of the local region.
    pub local_key: Key,
    /// First local address.
    pub local_address: u64,
    /// Key of the peer's region.
    pub remote_key: Key,
    /// First address at the peer.
    pub remote_address: u64,
    /// Bytes.
    pub length: u32,
    /// The caller's own mark, found again in the completion.
    pub user: u64,
}

/// A work request as it stands in the ring.
pub(super) fn record(words: [u32; 16]) -> [u8; work_request::BYTES as usize] {
    let mut bytes = [0; work_request::BYTES as usize];
    for (chunk, word) in bytes.chunks_exact_mut(4).zip(words) {
        chunk.copy_from_slice(&word.to_le_bytes());
    }
    bytes
}

impl Context {
    /// Posts a write; its running index. A refused request takes no slot, number or credit (T-6.7).
    pub fn post_write<D: Device + ?Sized>(
        &mut self,
        device: &mut D,
        handle: ConnectionHandle,
        request: &WriteRequest,
    ) -> Result<u32, Error> {
        self.post_writes(device, handle, std::slice::from_ref(request))
    }

    /// Posts writes with one doorbell; the running index of the first. All are posted or none.
    pub fn post_writes<D: Device + ?Sized>(
        &mut self,
        device: &mut D,
        handle: ConnectionHandle,
        requests: &[WriteRequest],
    ) -> Result<u32, Error> {
        let connection = self.connections.get_mut(handle)?;
        if connection.state != ConnectionState::Established {
            return Err(CallerError::NotEstablished.into());
        }
        for request in requests {
            if request.length > MESSAGE_BYTES_MAX {
                let (length, max) = (request.length.into(), MESSAGE_BYTES_MAX.into());
                return Err(CallerError::Length { length, max }.into());
            }
            let (key, address) = (request.local_key, request.local_address);
            self.regions
                .check_local(key, address, request.length.into(), connection.domain)?;
        }
        let (ring, count) = (&connection.send.ring, requests.len());
        let limit = u32::from(connection.settled.map_or(0, |settled| settled.slots));
        if count > ring.free() as usize {
            let entries = ring.entries();
            return Err(CallerError::RingFull { entries }.into());
        }
        if ring.used() as usize + count > limit as usize {
            return Err(CallerError::TooManyOpen { limit }.into());
        }
        let first = ring.produced();
        for request in requests {
            let (words, length) = (record(write_words(request)), request.length);
            connection.send.push(device, words, request.user, length);
        }
        device.write32(
            doorbell::SEND_PRODUCER.at(connection.number.value()),
            connection.send.ring.produced(),
        );
        Ok(first)
    }
}

fn write_words(request: &WriteRequest) -> [u32; 16] {
    let mut words = [0; 16];
    work_request::OPCODE.set(&mut words, work_request::OPCODE_WRITE.into());
    work_request::LENGTH.set(&mut words, request.length.into());
    work_request::LOCAL_ADDRESS.set(&mut words, request.local_address);
    work_request::REMOTE_ADDRESS.set(&mut words, request.remote_address);
    work_request::LOCAL_KEY.set(&mut words, request.local_key.0.into());
    work_request::REMOTE_KEY.set(&mut words, request.remote_key.0.into());
    words
}
