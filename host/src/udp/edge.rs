//! The edge of a software NIC: where tests and `--loss` decide what becomes of a packet.
//!
//! Faults are made here, beside the transport, because the CRC covers addresses: a relay between two endpoints would have
//! to forge it.

use osprey_hls::endpoint::Packet;
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::net::SocketAddrV4;

/// What becomes of a packet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fate {
    /// It goes on.
    Pass,
    /// It disappears.
    Drop,
    /// It goes on with a congestion mark.
    Mark,
    /// It goes on twice.
    Twice,
    /// It goes on so many nanoseconds later; others overtake it.
    Late(u64),
    /// A bit of it flips, the one with this number modulo its length.
    Flip(u32),
}

/// Which way a packet goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Direction {
    /// Out of this NIC.
    Out,
    /// Into it.
    In,
}

/// Decides: direction, plane, packet, time in nanoseconds.
pub type Decide = Box<dyn FnMut(Direction, u8, &Packet, u64) -> Fate>;

/// A datagram that waits for its time.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Held {
    pub(super) due_ns: u64,
    pub(super) direction_in: bool,
    pub(super) plane: usize,
    pub(super) entropy: u16,
    pub(super) peer: SocketAddrV4,
    pub(super) bytes: Vec<u8>,
}

/// Datagrams that are late on purpose, the next one first.
#[derive(Debug, Default)]
pub(super) struct Late {
    heap: BinaryHeap<Reverse<Held>>,
}

impl Late {
    pub(super) fn hold(&mut self, held: Held) {
        self.heap.push(Reverse(held));
    }

    /// The next one whose time has come.
    pub(super) fn due(&mut self, now: u64) -> Option<Held> {
        let Reverse(first) = self.heap.peek()?;
        (first.due_ns <= now).then(|| self.heap.pop().map(|Reverse(held)| held))?
    }

    /// When the next one is due.
    pub(super) fn next(&self) -> Option<u64> {
        self.heap.peek().map(|Reverse(held)| held.due_ns)
    }
}

/// Flips one bit.
pub fn flip(bytes: &mut [u8], bit: u32) {
    if !bytes.is_empty() {
        let bit = bit as usize % (bytes.len() * 8);
        bytes[bit / 8] ^= 1 << (bit % 8);
    }
}
