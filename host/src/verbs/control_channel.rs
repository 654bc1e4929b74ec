//! Connection 0: CONTROL frames from host to host (T-6.3, T-6.4).

use super::completion_queue::{CompletionQueue, SendQueue};
use super::connection::set_rings;
use super::work_request::record;
use super::{Config, Error, MemoryRegion};
use crate::device::{Device, DeviceError, write, write_table};
use crate::dma::ring::Ring;
use crate::dma::{DmaBuffer, PageSize};
use osprey_hls::regs::{completion, control, doorbell, table, work_request};
use osprey_hls::wire::{CRC_LEN, Control, FRAME_HEADER_LEN, FrameHeader, PathId, PlaneAddress};
use std::collections::VecDeque;

/// log2 of the entries of the CONTROL ring and of the send ring of connection 0.
const LOG2_ENTRIES: u8 = 4;
/// Room for a frame in the send buffer.
const FRAME_BYTES: usize = 512;
/// UDP source port of CONTROL frames.
const SOURCE_PORT: u16 = 0xc000;

/// A message that waits for room in the send ring.
#[derive(Debug, Clone)]
struct Outgoing {
    plane: u8,
    to: PlaneAddress,
    message: Control,
}

/// The host's end of connection 0.
#[derive(Debug, Clone)]
pub(super) struct ControlChannel {
    send: SendQueue,
    completions: CompletionQueue,
    frames: DmaBuffer,
    region: MemoryRegion,
    ring_buffer: DmaBuffer,
    ring: Ring,
    outbox: VecDeque<Outgoing>,
    /// Entries that held no CONTROL message of the format.
    pub(super) malformed: u64,
}

impl ControlChannel {
    /// Bytes of the buffer that frames are sent from.
    pub(super) const FRAMES_BYTES: usize = FRAME_BYTES << LOG2_ENTRIES;

    /// Sets up the rings; `frames` is registered as `region`.
    pub(super) fn new<D: Device + ?Sized>(
        device: &mut D,
        frames: DmaBuffer,
        region: MemoryRegion,
    ) -> Result<Self, DeviceError> {
        let mut ring = Ring::new(LOG2_ENTRIES);
        let ring_buffer =
            device.allocate_contiguous((ring.entries() * control::CONTROL_ENTRY_BYTES) as usize)?;
        let send = SendQueue::new(device, LOG2_ENTRIES)?;
        // Sends and receipts together, so that completions cannot overflow.
        let completions = CompletionQueue::new(device, 0, LOG2_ENTRIES + 2)?;
        let address = ring_buffer.pages[0];
        write(device, &control::CONTROL_RING_ADDRESS_LOW, address as u32);
        write(
            device,
            &control::CONTROL_RING_ADDRESS_HIGH,
            (address >> 32) as u32,
        );
        write(device, &control::CONTROL_RING_ENTRIES, LOG2_ENTRIES.into());
        let mut words = [0; 16];
        table::connection::RECEIVE_ENABLE.set(&mut words, 1);
        table::connection::SEND_ENABLE.set(&mut words, 1);
        table::connection::MTU_SHIFT.set(&mut words, 12);
        set_rings(&mut words, &send, &completions);
        write_table(device, &table::CLEAR, 0, &[0; 16])?;
        write_table(device, &table::CONNECTION, 0, &words)?;
        while ring.free() > 0 {
            ring.push();
        }
        device.write32(doorbell::RECEIVE_PRODUCER.at(0), ring.produced());
        let outbox = VecDeque::new();
        Ok(Self {
            send,
            completions,
            frames,
            region,
            ring_buffer,
            ring,
            outbox,
            malformed: 0,
        })
    }

    /// Queues a message to the port at `to`, by `plane`.
    pub(super) fn send(&mut self, plane: u8, to: PlaneAddress, message: Control) {
        self.outbox.push_back(Outgoing { plane, to, message });
    }

    /// Takes what has arrived, gives its entries back, and sends what is queued.
    /// Yields messages with the plane that they came by.
    pub(super) fn poll<D: Device + ?Sized>(
        &mut self,
        device: &mut D,
    ) -> Result<Vec<(u8, Control)>, Error> {
        let mut received = Vec::new();
        let (mut any, mut entries) = (false, false);
        while let Some(raw) = self.completions.next(device)? {
            any = true;
            match raw.kind {
                completion::KIND_SEND => {
                    self.send.end(&raw, 0)?;
                    while self.send.pop_ended() {}
                }
                completion::KIND_CONTROL => {
                    entries = true;
                    received.extend(self.take_entry(device, raw.index, raw.length, raw.plane)?);
                }
                _ => {
                    return Err(DeviceError::Completion {
                        connection: 0,
                        index: raw.index,
                    }
                    .into());
                }
            }
        }
        if any {
            self.completions.acknowledge(device);
        }
        if entries {
            device.write32(doorbell::RECEIVE_PRODUCER.at(0), self.ring.produced());
        }
        Ok(received)
    }

    fn take_entry<D: Device + ?Sized>(
        &mut self,
        device: &mut D,
        index: u32,
        length: u32,
        plane: u8,
    ) -> Result<Option<(u8, Control)>, Error> {
        if index != self.ring.consumed() || length > control::CONTROL_ENTRY_BYTES {
            return Err(DeviceError::Completion {
                connection: 0,
                index,
            }
            .into());
        }
        let mut bytes = vec![0; length as usize];
        let at = self.ring.slot(index) * control::CONTROL_ENTRY_BYTES as usize;
        device.read(&self.ring_buffer, at, &mut bytes);
        self.ring.pop();
        self.ring.push();
        match Control::parse(&bytes) {
            Ok(message) => Ok(Some((plane, message))),
            Err(_) => {
                self.malformed += 1;
                Ok(None)
            }
        }
    }

    /// Moves queued messages into the send ring.
    pub(super) fn flush<D: Device + ?Sized>(&mut self, device: &mut D, config: &Config) {
        let before = self.send.ring.produced();
        while self.send.ring.free() > 0 {
            let Some(Outgoing {
                plane,
                to,
                mut message,
            }) = self.outbox.pop_front()
            else {
                break;
            };
            message.common.path = PathId::new(plane, 0);
            let frame = frame(config, plane, to, &message);
            let slot = self.send.ring.slot(self.send.ring.produced());
            device.write(&self.frames, slot * FRAME_BYTES, &frame);
            let mut words = [0; 16];
            work_request::OPCODE.set(&mut words, work_request::OPCODE_CONTROL.into());
            work_request::PLANE.set(&mut words, plane.into());
            work_request::LENGTH.set(&mut words, frame.len() as u64);
            work_request::LOCAL_ADDRESS.set(
                &mut words,
                self.region.address + (slot * FRAME_BYTES) as u64,
            );
            work_request::LOCAL_KEY.set(&mut words, self.region.key.0.into());
            self.send.push(device, record(words), 0, frame.len() as u32);
        }
        if self.send.ring.produced() != before {
            device.write32(doorbell::SEND_PRODUCER.at(0), self.send.ring.produced());
        }
    }

    /// A buffer for [`Self::new`].
    pub(super) fn allocate_frames<D: Device + ?Sized>(
        device: &mut D,
    ) -> Result<DmaBuffer, DeviceError> {
        Ok(device.allocate(Self::FRAMES_BYTES, PageSize::Small)?)
    }
}

/// The frame without its CRC, which the length fields count.
fn frame(config: &Config, plane: u8, to: PlaneAddress, message: &Control) -> Vec<u8> {
    let header = FrameHeader {
        source: config.planes[usize::from(plane)],
        destination: to,
        source_port: SOURCE_PORT,
        destination_port: config.udp_port,
        payload_len: message.buffer_len() + CRC_LEN,
        traffic_class: 0,
        identification: 0,
    };
    let mut bytes = vec![0; FRAME_HEADER_LEN + message.buffer_len()];
    header.emit(&mut bytes);
    message.emit(&mut bytes[FRAME_HEADER_LEN..]);
    bytes
}
