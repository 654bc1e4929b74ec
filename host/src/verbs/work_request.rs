//! Work requests: what the caller says, and the 64 bytes that the engine fetches.

use super::{
    CallerError, ConnectionHandle, ConnectionState, Context, Error, OperationKind, WorkOperation,
    WorkRequest, unsupported,
};
use crate::device::Device;
use osprey_hls::endpoint::MESSAGE_LENGTH_MAX;
use osprey_hls::regs::{doorbell, work_request};
use osprey_hls::wire::Key;

/// A work request as it stands in the ring.
pub(super) fn record(words: [u32; 16]) -> [u8; work_request::BYTES as usize] {
    let mut bytes = [0; work_request::BYTES as usize];
    for (chunk, word) in bytes.chunks_exact_mut(4).zip(words) {
        chunk.copy_from_slice(&word.to_le_bytes());
    }
    bytes
}

impl Context {
    /// Posts a request; its running index. A refused request takes no slot, number or credit (T-6.7).
    pub fn post_send<D: Device + ?Sized>(
        &mut self,
        device: &mut D,
        handle: ConnectionHandle,
        request: &WorkRequest,
    ) -> Result<u32, Error> {
        self.post_sends(device, handle, std::slice::from_ref(request))
    }

    /// Posts requests with one doorbell; the running index of the first. All are posted or none.
    pub fn post_sends<D: Device + ?Sized>(
        &mut self,
        device: &mut D,
        handle: ConnectionHandle,
        requests: &[WorkRequest],
    ) -> Result<u32, Error> {
        let connection = self.connections.get_mut(handle)?;
        if connection.state != ConnectionState::Established {
            return Err(CallerError::NotEstablished.into());
        }
        let records: Vec<_> = requests
            .iter()
            .map(|request| {
                let operation = &request.operation;
                let (local, length) = (operation.local(), operation.length());
                let WorkOperation::Write { .. } = operation else {
                    return Err(unsupported(OperationKind::of(operation)));
                };
                if length > MESSAGE_LENGTH_MAX {
                    let (length, max) = (length.into(), MESSAGE_LENGTH_MAX.into());
                    return Err(CallerError::Length { length, max });
                }
                let domain = connection.domain;
                let key = self.regions.local_key(local, length.into(), domain)?;
                Ok(record(write_words(operation, key)))
            })
            .collect::<Result<_, _>>()?;
        let (ring, slots) = (
            &connection.send.ring,
            connection.settled.map_or(0, |s| s.slots),
        );
        let max = ring.entries().min(slots.into());
        if ring.used() as usize + requests.len() > max as usize {
            return Err(CallerError::Full { max }.into());
        }
        let first = ring.produced();
        for (request, record) in requests.iter().zip(records) {
            let length = request.operation.length();
            connection.send.push(device, record, request.id, length);
        }
        device.write32(
            doorbell::SEND_PRODUCER.at(connection.number.value()),
            connection.send.ring.produced(),
        );
        Ok(first)
    }
}

fn write_words(operation: &WorkOperation, local_key: Key) -> [u32; 16] {
    let (mut words, (remote, remote_key)) = ([0; 16], operation.remote());
    work_request::OPCODE.set(&mut words, work_request::OPCODE_WRITE.into());
    work_request::LENGTH.set(&mut words, operation.length().into());
    work_request::LOCAL_ADDRESS.set(&mut words, operation.local());
    work_request::REMOTE_ADDRESS.set(&mut words, remote);
    work_request::LOCAL_KEY.set(&mut words, local_key.0.into());
    work_request::REMOTE_KEY.set(&mut words, remote_key.0.into());
    words
}
