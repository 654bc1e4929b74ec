//! How many packets of a connection are lost lately, and how many probes make a tail's loss known then (T-2.4).

/// 1, as a rate.
const ONE: u32 = 1 << 24;
/// Packets over which the rate is a mean, as a shift: 256.
const MEAN_SHIFT: u32 = 8;
/// How often all probes behind a tail may be lost: once in a thousand times. So seldom is hardly ever.
const MISSED: u32 = ONE / 1000;

/// The part of a connection's packets that was lost lately.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct LossRate(u32);

impl LossRate {
    /// A packet has arrived or was lost.
    pub(super) fn note(&mut self, lost: bool) {
        self.0 -= self.0 >> MEAN_SHIFT;
        self.0 += u32::from(lost) * (ONE >> MEAN_SHIFT);
    }

    /// Whether packets are lost, more than one in a thousand.
    pub(super) const fn is_lossy(self) -> bool {
        self.0 > MISSED
    }

    /// So many probes, but `most`, are seldom all lost.
    pub(super) fn probes(self, most: u8) -> u8 {
        let (mut count, mut all_lost) = (1, u64::from(self.0));
        while count < most && all_lost > MISSED.into() {
            all_lost = all_lost * u64::from(self.0) / u64::from(ONE);
            count += 1;
        }
        count.min(most)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn after(packets: u32, lost_of_1000: u32) -> LossRate {
        let mut rate = LossRate::default();
        for packet in 0..packets {
            rate.note(packet * lost_of_1000 % 1000 < lost_of_1000);
        }
        rate
    }

    #[test]
    fn the_rate_is_that_of_the_last_packets() {
        for lost in [1, 10, 100, 500, 1000] {
            let rate = f64::from(after(5_000, lost).0) / f64::from(ONE);
            let exact = f64::from(lost) / 1000.0;
            assert!((rate - exact).abs() < 0.006, "{rate} for {exact}");
        }
        let mut rate = after(5_000, 1000);
        for _ in 0..5_000 {
            rate.note(false);
        }
        assert!(rate.0 < ONE / 10_000, "forgotten: {}", rate.0);
    }

    #[test]
    fn probes_are_seldom_all_lost() {
        let probes = |lost_of_1000| {
            let rate = LossRate((u64::from(ONE) * lost_of_1000 / 1000) as u32);
            [3, 8, 1, 0].map(|most| rate.probes(most))
        };
        assert_eq!(probes(0), [1, 1, 1, 0]);
        assert_eq!(probes(1), [1, 1, 1, 0]);
        assert_eq!(probes(10), [2, 2, 1, 0]);
        assert_eq!(probes(31), [2, 2, 1, 0]);
        assert_eq!(probes(32), [3, 3, 1, 0]);
        assert_eq!(probes(300), [3, 6, 1, 0]);
        assert_eq!(probes(1000), [3, 8, 1, 0]);
    }
}
