//! How long packets wait on the way there (T-2.2): a round trip's queues without those of the way back.
//!
//! An ACK says when it was sent, by the receiver's clock: so its way back is known, and the packet's way there is
//! the round trip less that, both but for the difference of the clocks. The least one seen on a plane stands
//! for that difference and the empty way; what is above it are queues. Clocks drift, so the least rises
//! by 128 ns in about a millisecond: by more than two bad crystals differ.

use super::wire_time::UNIT_SHIFT;

/// Bits of a difference of clocks, in nanoseconds: what 16 bits of time on the wire can tell.
const BITS: u32 = 16 + UNIT_SHIFT;
/// Time in which the least of a plane rises by a unit of time on the wire, as a shift of nanoseconds: 1.05 ms.
const RISE_SHIFT: u32 = 20;
/// Samples after which the newest one weighs no less: then it is a sixteenth.
const SAMPLES_MAX: u8 = 30;

/// The least time of all ways of a plane there, in nanoseconds by two clocks.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct LeastWay {
    least: Option<u32>,
    /// When it last rose, in times of a rise.
    risen: u64,
}

impl LeastWay {
    /// What a packet has waited on the way there, in nanoseconds: from its round trip, without the wait at the receiver,
    /// and the time on the wire at which its ACK, here `now`, was `sent`.
    pub(super) fn queue_ns(&mut self, rtt_ns: u32, sent: u16, now: u64) -> u32 {
        let back = (now as u32).wrapping_sub(u32::from(sent) << UNIT_SHIFT);
        let way = rtt_ns.wrapping_sub(back);
        let rise = (now >> RISE_SHIFT).saturating_sub(self.risen);
        self.risen = now >> RISE_SHIFT;
        let least = self
            .least
            .map_or(way, |least| least.wrapping_add((rise as u32) << UNIT_SHIFT));
        // Nobody waits longer than the whole round trip: then a clock was set, and this is the least.
        let above = ahead(way, least);
        let possible = above >= 0 && above as u32 <= rtt_ns;
        self.least = Some(if possible { least } else { way });
        if possible { above as u32 } else { 0 }
    }
}

/// How far `a` is ahead of `b`, of which the lower bits count.
const fn ahead(a: u32, b: u32) -> i32 {
    ((a.wrapping_sub(b) << (32 - BITS)) as i32) >> (32 - BITS)
}

/// The mean of what packets of a path have waited lately.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Queue {
    /// Nanoseconds.
    pub mean_ns: u32,
    samples: u8,
}

impl Queue {
    /// Takes a sample: the first one counts whole, later ones ever less, down to a sixteenth.
    pub(super) fn note(&mut self, queue_ns: u32) {
        let step = i64::from(queue_ns) - i64::from(self.mean_ns);
        let weight = 1 + i64::from(self.samples / 2);
        self.mean_ns = (i64::from(self.mean_ns) + step / weight) as u32;
        self.samples = (self.samples + 1).min(SAMPLES_MAX);
    }

    /// The path takes another way: the next sample counts whole.
    pub(super) fn restart(&mut self) {
        self.samples = 0;
    }
}

#[cfg(test)]
mod tests {
    use super::super::wire_time::wire_time;
    use super::*;

    #[test]
    fn queues_of_the_way_there_count_and_those_back_do_not() {
        for offset in [0, 1, 77_777, 8_388_000, u64::MAX - 5_000_000] {
            let mut least = LeastWay::default();
            let mut now = 1_000_000_u64;
            for (there, back) in [(0, 0), (0, 9_000), (5_000, 0), (5_000, 20_000), (900, 3)] {
                now += 20_000 + there + back;
                let sent = wire_time((now - 4_500 - back).wrapping_add(offset));
                let queue = least.queue_ns((9_000 + there + back) as u32, sent, now);
                let off = u64::from(queue).abs_diff(there);
                assert!(off < 256, "offset {offset}: {queue} for {there}");
            }
        }
    }

    #[test]
    fn the_least_follows_a_clock_that_drifts_or_is_set() {
        // What the other clock is ahead after so many milliseconds: 100 ppm fast, and slow.
        for ahead in [|ms: u64| 100_000 + ms * 100, |ms: u64| 200_000 - ms * 100] {
            let mut least = LeastWay::default();
            for ms in 0..1_000 {
                let now = 5_000_000 + ms * 1_000_000;
                let queue = least.queue_ns(9_000, wire_time(now - 4_500 + ahead(ms)), now);
                assert!(queue < 512, "{queue} after {ms} ms");
            }
        }
        // Set back or forth by 2 ms: what comes then is the least.
        for set in [7_000_000, 11_000_000] {
            let mut least = LeastWay::default();
            least.queue_ns(9_000, wire_time(8_995_500), 9_000_000);
            assert_eq!(least.queue_ns(9_000, wire_time(set), 9_004_500), 0);
            let queue = least.queue_ns(9_300, wire_time(set + 5_000), 9_009_500);
            assert!((172..428).contains(&queue), "{queue}");
        }
    }

    #[test]
    fn whatever_the_times_say_a_wait_is_no_longer_than_the_round_trip() {
        let mut least = LeastWay::default();
        let mut any = 1_u32;
        for now in 0..10_000_u64 {
            any = any.wrapping_mul(0x9e37_79b9).wrapping_add(1);
            let queue = least.queue_ns(any, (any >> 7) as u16, now << (now % 40));
            assert!(queue <= any);
        }
    }

    #[test]
    fn the_first_samples_are_a_mean_and_later_ones_a_sixteenth() {
        let mut queue = Queue::default();
        queue.note(1_000);
        assert_eq!(queue.mean_ns, 1_000);
        queue.note(2_000);
        assert_eq!(queue.mean_ns, 2_000, "of two the second");
        for _ in 0..100 {
            queue.note(2_000);
        }
        queue.note(3_600);
        assert_eq!(queue.mean_ns, 2_100);
        queue.restart();
        queue.note(500);
        assert_eq!(queue.mean_ns, 500);
    }
}
