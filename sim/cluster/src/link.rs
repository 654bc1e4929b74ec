//! One direction of a cable and the output queue before it.
//!
//! The queue is first in, first out and its line never rests while something waits, so its length follows from the
//! time at which the line will be free; no event is needed when a packet leaves. What a fault does to a packet is
//! decided in [`crate::fate`].

use crate::fate::Fate;

/// What a link is made of.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct LinkConfig {
    /// Time of a byte on the line, in picoseconds: 80 at 100 Gb/s.
    pub ps_per_byte: u64,
    /// From the last bit sent to the last bit received, in picoseconds.
    pub delay_ps: u64,
    /// Bytes that the queue holds; a packet that does not fit is dropped.
    pub queue_bytes: u64,
    /// Queue from which on packets are marked, in bytes.
    pub mark_low_bytes: u64,
    /// Queue from which on every packet is marked.
    pub mark_high_bytes: u64,
}

/// What became of a packet at a link.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Sent {
    /// It arrives at this time, in picoseconds; `marked` if the queue was long.
    Arrives {
        /// When its last bit is there.
        at_ps: u64,
        /// Whether this queue marked it.
        marked: bool,
    },
    /// The queue was full.
    QueueFull,
}

/// A link. All that a packet needs of it lies in one cache line: every hop of every packet comes here.
#[derive(Debug, Clone)]
#[repr(align(64))]
pub struct Link {
    /// When the line will have sent all that it has, in picoseconds.
    free_at_ps: u64,
    /// Time of a byte now, in picoseconds: more than the configuration's while the link is degraded.
    ps_per_byte: u64,
    /// Longest queue so far, in bytes.
    queue_bytes_max: u64,
    /// What faults do here, once one has.
    fate: Option<Box<Fate>>,
}

impl Link {
    /// An idle link.
    pub fn new(config: &LinkConfig) -> Self {
        Self {
            free_at_ps: 0,
            ps_per_byte: config.ps_per_byte,
            queue_bytes_max: 0,
            fate: None,
        }
    }

    /// Queues a packet of `bytes` at `now_ps`. `dice` is uniform over all u32 and decides about a mark in the ramp.
    #[inline]
    pub fn send(&mut self, config: &LinkConfig, now_ps: u64, bytes: u64, dice: u32) -> Sent {
        let wait_ps = self.free_at_ps.saturating_sub(now_ps);
        let queued = wait_ps / self.ps_per_byte;
        if queued + bytes > config.queue_bytes {
            return Sent::QueueFull;
        }
        self.free_at_ps = now_ps + wait_ps + bytes * self.ps_per_byte;
        self.queue_bytes_max = self.queue_bytes_max.max(queued + bytes);
        Sent::Arrives {
            at_ps: self.free_at_ps + config.delay_ps,
            marked: config.marks(queued, dice),
        }
    }

    /// When the line will be free, in picoseconds.
    pub fn free_at_ps(&self) -> u64 {
        self.free_at_ps
    }

    /// Longest queue so far, in bytes.
    pub fn queue_bytes_max(&self) -> u64 {
        self.queue_bytes_max
    }

    /// Sets the rate to `part` of the configured one, from the next packet on.
    pub fn set_rate(&mut self, config: &LinkConfig, part: f64) {
        let stretched = config.ps_per_byte as f64 / part;
        self.ps_per_byte = (stretched.round() as u64).max(1);
    }

    /// What faults do here, to be changed.
    pub fn fate_mut(&mut self) -> &mut Fate {
        self.fate.get_or_insert_default()
    }

    /// What faults do here, if anything can happen to a packet.
    #[inline]
    pub fn armed(&mut self) -> Option<&mut Fate> {
        self.fate.as_deref_mut().filter(|fate| fate.is_armed())
    }
}

impl LinkConfig {
    /// Whether a packet that finds `queued` bytes is marked: never under the ramp, always above it.
    #[inline]
    fn marks(&self, queued: u64, dice: u32) -> bool {
        let low = self.mark_low_bytes;
        if queued <= low {
            return false;
        }
        let span = self.mark_high_bytes.saturating_sub(low);
        queued - low >= span || u64::from(dice) * span < (queued - low) << 32
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const CONFIG: LinkConfig = LinkConfig {
        ps_per_byte: 80,
        delay_ps: 1_000_000,
        queue_bytes: 10_000,
        mark_low_bytes: 2_000,
        mark_high_bytes: 6_000,
    };

    #[test]
    fn packets_wait_for_each_other_and_a_full_queue_drops() {
        let mut link = Link::new(&CONFIG);
        let arrival = |sent| match sent {
            Sent::Arrives { at_ps, .. } => at_ps,
            Sent::QueueFull => 0,
        };
        assert_eq!(arrival(link.send(&CONFIG, 0, 4_000, 0)), 1_320_000);
        assert_eq!(arrival(link.send(&CONFIG, 0, 4_000, 0)), 1_640_000);
        assert_eq!(link.send(&CONFIG, 0, 4_000, 0), Sent::QueueFull);
        // 1,000 bytes have left.
        assert_eq!(arrival(link.send(&CONFIG, 80_000, 3_000, 0)), 1_880_000);
        assert_eq!(link.queue_bytes_max(), 10_000);
    }

    #[test]
    fn marks_follow_the_ramp() {
        assert!(!CONFIG.marks(2_000, 0));
        assert!(CONFIG.marks(4_000, u32::MAX / 2 - 1) && !CONFIG.marks(4_000, u32::MAX / 2 + 1));
        assert!(CONFIG.marks(6_000, u32::MAX));
    }

    #[test]
    fn a_degraded_line_takes_longer() {
        let mut link = Link::new(&CONFIG);
        link.set_rate(&CONFIG, 0.25);
        link.send(&CONFIG, 0, 1_000, 0);
        assert_eq!(link.free_at_ps(), 320_000);
    }
}
