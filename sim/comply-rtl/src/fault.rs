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
        match self.fault {
            Some(Fault::WrongByte) if packet.payload_len() > 0 => {
                frame[located.end - CRC_LEN - 1] ^= 0x10;
                frame.truncate(located.end - CRC_LEN);
                seal(frame).expect("a frame that was sealed before");
            }
            Some(Fault::BadFrame) => frame[located.transport] ^= 0xf0,
            Some(Fault::NeverSent) => return false,
            _ => {}
        }
        true
    }
}
