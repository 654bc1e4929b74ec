//! The default kernel (T-2.6): add 8 / B for each unmarked packet, take 0.05 for each marked one.
//!
//! Additive in both directions, a step a packet, from running counts: a lost ACK loses nothing. There is no gate
//! of one cut a round trip. A path on which packets hardly wait grows three times as fast: it is a path on which too
//! little was put when the connection started. The constants are those of the search on 64
//! flows at 100 Gb/s; B is the bandwidth-delay product of a plane in packets.

use super::{FRACTION_BITS, ONE_PACKET, Report};

/// Constants of the kernel for one connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Aimd {
    /// Added for each unmarked packet, in packets x 2^10.
    pub increase_q10: u32,
    /// Taken for each marked packet, in packets x 2^10.
    pub decrease_q10: u32,
    /// Least window, in packets x 2^10.
    pub floor_q10: u32,
    /// Largest window, in packets x 2^10.
    pub cap_q10: u32,
}

/// Packets that the increase adds while a bandwidth-delay product arrives.
pub const INCREASE_PACKETS: u32 = 8;
/// Taken for each marked packet: 0.05 packets (52 / 1024).
pub const DECREASE_Q10: u32 = 52;
/// Least window: a quarter of a packet.
pub const FLOOR_Q10: u32 = ONE_PACKET / 4;

impl Aimd {
    /// The constants for a plane whose bandwidth-delay product is `bdp_q10` packets x 2^10, and W.
    pub fn new(bdp_q10: u32, window: u16) -> Self {
        let scaled = u64::from(INCREASE_PACKETS) << (2 * FRACTION_BITS);
        Self {
            increase_q10: (scaled / u64::from(bdp_q10.max(1))).min(1 << 16) as u32,
            decrease_q10: DECREASE_Q10,
            floor_q10: FLOOR_Q10,
            cap_q10: u32::from(window) << FRACTION_BITS,
        }
    }

    /// The window after a report. It grows only while the path is in use.
    pub fn update(&self, window_q10: u32, report: Report) -> u32 {
        let marked = u32::from(report.marked.min(report.arrived));
        let unmarked = u32::from(report.arrived) - marked;
        let used = u32::from(report.in_flight) + u32::from(report.arrived) + 1;
        let empty = report.queue_ns < report.base_rtt_ns / 8;
        let step = self.increase_q10 * if empty { 3 } else { 1 };
        let grown = if used << FRACTION_BITS >= window_q10 {
            window_q10.saturating_add(unmarked.saturating_mul(step))
        } else {
            window_q10
        };
        grown
            .saturating_sub(marked.saturating_mul(self.decrease_q10))
            .clamp(self.floor_q10, self.cap_q10)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// The rule as T-2.6 writes it, in packets.
    fn formula(window: f64, bdp: f64, cap: f64, report: Report) -> f64 {
        let mut window = window;
        let (arrived, marked) = (f64::from(report.arrived), f64::from(report.marked));
        if f64::from(report.in_flight) + arrived + 1.0 >= window {
            let empty = f64::from(report.queue_ns) < f64::from(report.base_rtt_ns) / 8.0;
            window += if empty { 24.0 } else { 8.0 } / bdp * (arrived - marked);
        }
        (window - 0.05 * marked).clamp(0.25, cap)
    }

    proptest! {
        #[test]
        fn follows_the_formula(
            window_q10 in 256_u32..65536, bdp in 4.0_f64..600.0,
            arrived in 0_u16..64, marked in 0_u16..64, in_flight in 0_u16..64, queue_ns in 0_u32..8_000,
        ) {
            let marked = marked.min(arrived);
            let report = Report { arrived, marked, in_flight, queue_ns, base_rtt_ns: 8_000 };
            let kernel = Aimd::new((bdp * 1024.0) as u32, 64);
            let after = f64::from(kernel.update(window_q10, report)) / 1024.0;
            let expected = formula(f64::from(window_q10) / 1024.0, bdp, 64.0, report);
            // A step is off by less than 2^-10 packets (the increase's rounding grows with 1 / B).
            let tolerance = f64::from(arrived + 1) * 0.008;
            prop_assert!((after - expected).abs() <= tolerance, "{after} for {expected}");
        }
    }

    #[test]
    fn constants_at_100_gigabits_and_9_microseconds() {
        let kernel = Aimd::new((28.16 * 1024.0) as u32, 64);
        assert_eq!(kernel.increase_q10, 290, "0.28 packets");
        let report = Report {
            arrived: 1,
            marked: 0,
            in_flight: 3,
            queue_ns: 11_000,
            base_rtt_ns: 9_350,
        };
        assert_eq!(kernel.update(4096, report), 4386);
        let empty = Report {
            queue_ns: 100,
            ..report
        };
        assert_eq!(kernel.update(4096, empty), 4096 + 3 * 290, "no queue");
        let idle = Report {
            in_flight: 0,
            ..report
        };
        assert_eq!(
            kernel.update(4096, idle),
            4096,
            "2 + 0 packets do not use a window of 4"
        );
        let marked = Report {
            marked: 1,
            ..report
        };
        assert_eq!(kernel.update(4096, marked), 4096 - 52);
        assert_eq!(kernel.update(256, marked), 256, "the floor");
    }
}
