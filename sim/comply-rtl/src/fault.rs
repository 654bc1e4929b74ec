//! Faults of an engine, made where its bench begins, so that the suite can be seen to find them.

use osprey_hls::endpoint::Packet;
use osprey_hls::wire::{CRC_LEN, Located, seal};

/// A packet in so many is touched.
const EVERY: u64 = 40;

/// What an engine does wrong.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fault {
    /// It sends a wrong byte under a right CRC, as one that reads a wrong address does.
    WrongByte,
    /// It sends an offset outside of the message under a right CRC.
    WrongOffset,
    /// It counts DATA as sent that never leaves.
    NeverSent,
    /// It sends a frame that is none of the format.
    BadFrame,
    /// It tells of the first request twice.
    CompletesTwice,
    /// It writes a byte beside those that it was sent.
    StrayByte,
}

/// What a fault makes of the frames that leave the engine.
#[derive(Debug)]
pub(crate) struct Spoiler {
    fault: Option<Fault>,
    /// DATA packets so far.
    data: u64,
}

impl Spoiler {
    pub(crate) const fn new(fault: Option<Fault>) -> Self {
        Self { fault, data: 0 }
    }

    /// Whether the frame leaves; it may be changed.
    pub(crate) fn leaves(
        &mut self,
        frame: &mut Vec<u8>,
        located: &Located,
        packet: &Packet,
    ) -> bool {
        if !matches!(packet, Packet::Data(_)) {
            return true;
        }
        self.data += 1;
        if self.data % EVERY != 0 {
            return true;
        }
        let (transport, end) = (located.transport, located.end - CRC_LEN);
        match (self.fault, packet) {
            (Some(Fault::WrongByte), _) if packet.payload_len() > 0 => {
                frame[end - 1] ^= 0x10;
                seal_anew(frame, end);
            }
            (Some(Fault::WrongOffset), Packet::Data(data)) => {
                let mut spoilt = *data;
                spoilt.offset = u32::MAX;
                Packet::Data(spoilt).emit(&mut frame[transport..end]);
                seal_anew(frame, end);
            }
            (Some(Fault::BadFrame), _) => frame[transport] ^= 0xf0,
            (Some(Fault::NeverSent), _) => return false,
            _ => {}
        }
        true
    }
}

/// Puts a right CRC behind what ends at `end`.
fn seal_anew(frame: &mut Vec<u8>, end: usize) {
    frame.truncate(end);
    seal(frame).expect("a frame that was sealed before");
}
