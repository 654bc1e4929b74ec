//! The MACs of a port: the engine's beats become frames at line rate, and frames beats.
//!
//! A MAC cannot wait on the receiving side, and takes on the sending side only what the line carries:
//! preamble, frame check sequence, gap and padding included.

use crate::axi::{BEAT, StreamBeat, from_bytes, to_bytes};
use crate::random::Stalls;
use std::collections::VecDeque;

/// Bytes of a frame that no engine sees: preamble 8, frame check sequence 4, gap 12.
pub const OVERHEAD: u64 = 24;
/// Shortest frame without its frame check sequence.
pub const FRAME_MIN: usize = 60;

const FRACTION: u32 = 16;

/// A line rate: bytes a cycle in 2^-16.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Rate(u64);

impl Rate {
    /// A rate in Gbit/s under a clock in MHz.
    pub fn new(gbps: f64, clock_mhz: f64) -> Self {
        Self(((gbps * 1000.0 / 8.0 / clock_mhz) * f64::from(1_u32 << FRACTION)).round() as u64)
    }

    /// Bytes a cycle.
    pub fn bytes_per_cycle(self) -> f64 {
        self.0 as f64 / f64::from(1_u32 << FRACTION)
    }

    /// Cycles in 2^-16 that a frame of `length` bytes takes on the line.
    pub fn frame_time(self, length: usize) -> u64 {
        ((line_bytes(length) << (2 * FRACTION)) / self.0.max(1)).max(1)
    }

    /// The rate, times `numerator` / `denominator`.
    #[must_use]
    pub const fn scaled(self, numerator: u64, denominator: u64) -> Self {
        Self(self.0 * numerator / denominator)
    }
}

/// Whole cycles of a time in 2^-16 cycles, rounded up.
pub const fn whole_cycles(time: u64) -> u64 {
    time.div_ceil(1 << FRACTION)
}

/// A cycle as a time in 2^-16 cycles.
pub const fn as_time(cycle: u64) -> u64 {
    cycle << FRACTION
}

/// Bytes that a frame takes on the line.
pub const fn line_bytes(length: usize) -> u64 {
    let padded = if length < FRAME_MIN {
        FRAME_MIN
    } else {
        length
    };
    padded as u64 + OVERHEAD
}

/// A frame, Ethernet header to CRC of the transport.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Frame {
    /// The bytes.
    pub bytes: Vec<u8>,
    /// Its frame check sequence is wrong.
    pub bad: bool,
}

/// Bytes that the line has room for.
#[derive(Debug, Clone)]
struct Credit {
    rate: Rate,
    left: i64,
}

impl Credit {
    fn tick(&mut self) {
        self.left = (self.left + self.rate.0 as i64).min(self.rate.0 as i64);
    }

    fn spend(&mut self, bytes: u64) {
        self.left -= (bytes << FRACTION) as i64;
    }
}

/// Takes beats from the engine at line rate.
#[derive(Debug, Clone)]
pub struct TransmitMac {
    credit: Credit,
    stalls: Stalls,
    frame: Vec<u8>,
    ready: bool,
}

impl TransmitMac {
    /// A MAC of a line with this rate.
    pub fn new(rate: Rate, stalls: Stalls) -> Self {
        Self {
            credit: Credit { rate, left: 0 },
            stalls,
            frame: Vec::new(),
            ready: false,
        }
    }

    /// Whether to take a beat in this cycle.
    pub fn drive(&mut self) -> bool {
        self.credit.tick();
        self.ready = self.credit.left > 0 && !self.stalls.stall();
        self.ready
    }

    /// Whether a beat is taken in this cycle.
    pub const fn is_ready(&self) -> bool {
        self.ready
    }

    /// The engine's beat in this cycle, settled; yields the frame that it ends.
    pub fn sample(&mut self, beat: &StreamBeat) -> Option<Vec<u8>> {
        if !(beat.valid && self.ready) {
            return None;
        }
        let count = beat.keep.count_ones() as usize;
        self.frame.extend_from_slice(&to_bytes(&beat.data)[..count]);
        self.credit.spend(count as u64);
        if !beat.last {
            return None;
        }
        self.credit
            .spend(line_bytes(self.frame.len()) - self.frame.len() as u64);
        Some(std::mem::take(&mut self.frame))
    }
}

/// Gives frames to the engine as beats, a little above line rate so that nothing piles up here.
#[derive(Debug, Clone)]
pub struct ReceiveMac {
    credit: Credit,
    stalls: Stalls,
    frames: VecDeque<Frame>,
    /// Bytes of the first frame that were given.
    given: usize,
}

impl ReceiveMac {
    /// A MAC of a line with this rate.
    pub fn new(rate: Rate, stalls: Stalls) -> Self {
        let credit = Credit {
            rate: rate.scaled(9, 8),
            left: 0,
        };
        Self {
            credit,
            stalls,
            frames: VecDeque::new(),
            given: 0,
        }
    }

    /// A frame has arrived. Short ones are padded, as a sender's MAC does.
    pub fn push(&mut self, mut frame: Frame) {
        if frame.bytes.len() < FRAME_MIN {
            frame.bytes.resize(FRAME_MIN, 0);
        }
        self.frames.push_back(frame);
    }

    /// Frames that have not been given whole.
    pub fn waiting(&self) -> usize {
        self.frames.len()
    }

    /// What to drive in this cycle.
    pub fn drive(&mut self) -> StreamBeat {
        self.credit.tick();
        let Some(frame) = self.frames.front() else {
            return StreamBeat::default();
        };
        if self.credit.left <= 0 || self.stalls.stall() {
            return StreamBeat::default();
        }
        let left = &frame.bytes[self.given..];
        let count = left.len().min(BEAT);
        let last = count == left.len();
        let beat = StreamBeat {
            data: from_bytes(&left[..count]),
            keep: u64::MAX >> (BEAT - count),
            last,
            user: last && frame.bad,
            valid: true,
        };
        self.given += count;
        self.credit.spend(count as u64);
        if last {
            self.credit.spend(OVERHEAD);
            self.frames.pop_front();
            self.given = 0;
        }
        beat
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn frames_pass_at_line_rate_and_come_out_whole() {
        let rate = Rate::new(25.0, 250.0);
        assert_eq!(rate.bytes_per_cycle(), 12.5);
        let mut transmit = TransmitMac::new(rate, Stalls::new(1, 0, 20));
        let mut source = ReceiveMac::new(Rate::new(1000.0, 250.0), Stalls::new(1, 1, 0));
        let frames: Vec<Vec<u8>> = (0..100_usize)
            .map(|n| (0..60 + n * 37 % 4000).map(|b| (b * n) as u8).collect())
            .collect();
        for frame in &frames {
            source.push(Frame {
                bytes: frame.clone(),
                bad: false,
            });
        }
        let (mut out, mut beat, mut cycles) = (Vec::new(), StreamBeat::default(), 0_u64);
        while out.len() < frames.len() {
            if !beat.valid {
                beat = source.drive();
            }
            let ready = transmit.drive();
            out.extend(transmit.sample(&beat));
            if ready {
                beat.valid = false;
            }
            cycles += 1;
        }
        assert_eq!(out, frames);
        let line: u64 = frames.iter().map(|frame| line_bytes(frame.len())).sum();
        let used = line as f64 / (cycles as f64 * 12.5);
        assert!((0.95..=1.001).contains(&used), "{used} of the line");
    }
}
