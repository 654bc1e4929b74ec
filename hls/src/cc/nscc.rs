//! NSCC, the sender's control of Ultra Ethernet (specification 1.0, 3.6.13): four quadrants of mark and delay.
//!
//! Not marked and under the target delay: grow in proportion to what is missing, or fast while there is no
//! queue at all. Not marked and over it: grow by the same for everybody. Marked and under: hold. Marked and
//! over: shrink by the excess, once a round trip. Growth is gathered and applied every 8 packets or round trip.
//!
//! Here a path has a window of its own, of which B / N packets are the bandwidth-delay product; bytes become
//! packets. Absent on purpose: Quick Adapt and the cut for a lost packet, since a loss says nothing of congestion
//! in this transport (T-2.5), and the receiver's penalty, whose place the share has.

use super::{ONE_PACKET, Report};

/// Constants of the kernel for one path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Nscc {
    /// Delay that queues should not pass.
    pub target_delay_ns: u32,
    /// Round trip of the empty network: least time between two cuts, and longest between two adjustments.
    pub base_rtt_ns: u32,
    /// alpha x target: growth for each packet without any delay, in packets^2 x 2^10.
    pub proportional_q10: u32,
    /// fi: growth for each packet over the target, in packets^2 x 2^10.
    pub fair_q10: u32,
    /// eta: added once in a period, in packets x 2^10.
    pub bonus_q10: u32,
    /// Least window, in packets x 2^10.
    pub floor_q10: u32,
    /// Largest window, in packets x 2^10.
    pub cap_q10: u32,
}

/// gamma = 0.8: part of the excess that a cut takes (819 / 1024).
pub const GAMMA_Q10: u64 = 819;
/// A cut leaves at least half (max_md_jump).
pub const CUT_MAX_Q10: u64 = 512;
/// adjust_bytes_threshold: packets that bring an adjustment.
pub const ADJUST_PACKETS: u16 = 8;
/// fi_scale: a quarter of a packet for each packet in fast increase.
const FAST_Q10: u32 = ONE_PACKET / 4;
/// A delay under a 32nd of the target counts as none.
const NO_DELAY_SHIFT: u32 = 5;
/// Gain of the mean delay: an eighth.
const MEAN_SHIFT: i64 = 3;
/// The constants of the specification are for 100 Gb/s and 12 us: bits that this makes.
const REFERENCE_BITS: u64 = 1_200_000;
const REFERENCE_DELAY_NS: u64 = 12_000;

/// What the kernel remembers of a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct State {
    /// Growth that has not been applied, in packets^2 x 2^20.
    gathered_q20: u64,
    /// Packets since the last adjustment.
    received: u16,
    last_adjust_ns: u64,
    last_cut_ns: u64,
    mean_delay_ns: u32,
    /// Packets in a row that found no queue.
    idle_packets: u32,
    fast: bool,
}

impl Nscc {
    /// The constants for a path of which `bdp_q10` packets x 2^10 are the bandwidth-delay product.
    pub fn new(bdp_q10: u32, packet_wire_bytes: u32, base_rtt_ns: u32, window: u16) -> Self {
        let bits = u64::from(bdp_q10) * u64::from(packet_wire_bytes) * 8 / 1024;
        let a_q10 = bits * 1024 / REFERENCE_BITS;
        let target_delay_ns = base_rtt_ns.max(1);
        let b_q10 = REFERENCE_DELAY_NS * 1024 / u64::from(target_delay_ns);
        let limited = |value: u64| value.clamp(1, 1 << 20) as u32;
        Self {
            target_delay_ns,
            base_rtt_ns,
            proportional_q10: limited(4 * a_q10 * b_q10 / 1024),
            fair_q10: limited(5 * a_q10),
            bonus_q10: limited(a_q10 * 15 / 100),
            floor_q10: ONE_PACKET / 4,
            cap_q10: (u64::from(bdp_q10) * 3 / 2).clamp(ONE_PACKET.into(), u64::from(window) << 10)
                as u32,
        }
    }

    /// The window after a report that was measured with a queueing delay.
    pub fn update(
        &self,
        window_q10: u32,
        state: &mut State,
        report: Report,
        delay_ns: u32,
        now_ns: u64,
    ) -> u32 {
        let marked = report.marked.min(report.arrived);
        let unmarked = report.arrived - marked;
        let mean = i64::from(state.mean_delay_ns);
        state.mean_delay_ns = (mean + ((i64::from(delay_ns) - mean) >> MEAN_SHIFT)) as u32;
        state.received = state.received.saturating_add(report.arrived);
        let mut window = window_q10;
        if unmarked > 0 && delay_ns >= self.target_delay_ns {
            state.fast = false;
            let growth = u64::from(unmarked) * u64::from(self.fair_q10) << 10;
            state.gathered_q20 = state.gathered_q20.saturating_add(growth);
        } else if unmarked > 0 {
            window = self.grow(window, state, unmarked, delay_ns);
        }
        if marked > 0 && delay_ns >= self.target_delay_ns {
            window = self.cut(window, state, now_ns);
        }
        self.adjust(window, state, now_ns)
            .clamp(self.floor_q10, self.cap_q10)
    }

    /// proportional_increase and fast_increase.
    fn grow(&self, window_q10: u32, state: &mut State, unmarked: u16, delay_ns: u32) -> u32 {
        if delay_ns < self.target_delay_ns >> NO_DELAY_SHIFT {
            state.idle_packets = state.idle_packets.saturating_add(unmarked.into());
            if state.fast || u64::from(state.idle_packets) << 10 > u64::from(window_q10) {
                state.fast = true;
                return window_q10.saturating_add(u32::from(unmarked) * FAST_Q10);
            }
        } else {
            state.idle_packets = 0;
        }
        state.fast = false;
        let missing = u64::from(self.target_delay_ns - delay_ns);
        let most_q20 = u64::from(unmarked) * u64::from(self.proportional_q10) << 10;
        let growth = u128::from(most_q20) * u128::from(missing) / u128::from(self.target_delay_ns);
        state.gathered_q20 = state.gathered_q20.saturating_add(growth as u64);
        window_q10
    }

    /// multiplicative_decrease.
    fn cut(&self, window_q10: u32, state: &mut State, now_ns: u64) -> u32 {
        (state.fast, state.idle_packets) = (false, 0);
        let (mean, target) = (
            u64::from(state.mean_delay_ns),
            u64::from(self.target_delay_ns),
        );
        if mean <= target || now_ns - state.last_cut_ns <= self.base_rtt_ns.into() {
            return window_q10;
        }
        state.last_cut_ns = now_ns;
        let part_q10 = (GAMMA_Q10 * (mean - target) / mean).min(CUT_MAX_Q10);
        (u64::from(window_q10) * (1024 - part_q10) / 1024) as u32
    }

    /// fulfill_adjustment, when it is time.
    fn adjust(&self, window_q10: u32, state: &mut State, now_ns: u64) -> u32 {
        let period = now_ns - state.last_adjust_ns >= self.base_rtt_ns.into();
        if !period && state.received <= ADJUST_PACKETS {
            return window_q10;
        }
        let grown = state.gathered_q20 / u64::from(window_q10.max(1));
        (state.gathered_q20, state.received) = (0, 0);
        let mut window = window_q10.saturating_add(grown.min(u64::from(self.cap_q10)) as u32);
        if period {
            state.last_adjust_ns = now_ns;
            window = window.saturating_add(self.bonus_q10);
        }
        window
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// 3.6.13.5 and .6 as they are written, in packets and seconds, for one path.
    #[derive(Default)]
    struct Formula {
        window: f64,
        gathered: f64,
        received: f64,
        last_adjust: f64,
        last_cut: f64,
        mean: f64,
        idle: f64,
        fast: bool,
    }

    struct Constants {
        target: f64,
        rtt: f64,
        a: f64,
        b: f64,
        cap: f64,
    }

    impl Formula {
        fn on_ack(&mut self, c: &Constants, arrived: f64, marked: f64, delay: f64, now: f64) {
            self.received += arrived;
            self.mean += (delay - self.mean) / 8.0;
            let unmarked = arrived - marked;
            if unmarked > 0.0 && delay >= c.target {
                self.fast = false;
                self.gathered += 5.0 * c.a * unmarked;
            } else if unmarked > 0.0 {
                self.proportional_increase(c, unmarked, delay);
            }
            if marked > 0.0 && delay >= c.target {
                (self.fast, self.idle) = (false, 0.0);
                if self.mean > c.target && now - self.last_cut > c.rtt {
                    self.window *= (1.0 - 0.8 * (self.mean - c.target) / self.mean).max(0.5);
                    self.last_cut = now;
                }
            }
            let period = now - self.last_adjust >= c.rtt;
            if period || self.received > 8.0 {
                self.window += self.gathered / self.window;
                if period {
                    self.last_adjust = now;
                    self.window += 0.15 * c.a;
                }
                (self.gathered, self.received) = (0.0, 0.0);
            }
            self.window = self.window.clamp(0.25, c.cap);
        }

        fn proportional_increase(&mut self, c: &Constants, unmarked: f64, delay: f64) {
            if delay < c.target / 32.0 {
                self.idle += unmarked;
                if self.idle > self.window || self.fast {
                    self.window += unmarked * 0.25;
                    self.fast = true;
                    return;
                }
            } else {
                self.idle = 0.0;
            }
            self.fast = false;
            let alpha = 4.0 * c.a * c.b / c.target;
            self.gathered += alpha * unmarked * (c.target - delay);
        }
    }

    proptest! {
        #[test]
        fn follows_the_formula(
            acks in prop::collection::vec((1_u16..5, 0_u16..5, 0_u32..40_000, 200_u64..4_000), 1..60),
        ) {
            let (bdp_q10, wire, rtt_ns) = (8 * 1024, 4150, 9_600);
            let kernel = Nscc::new(bdp_q10, wire, rtt_ns, 64);
            let target = f64::from(rtt_ns);
            let constants = Constants {
                target,
                rtt: target,
                a: 8.0 * f64::from(wire) * 8.0 / 1_200_000.0,
                b: 12_000.0 / target,
                cap: 12.0,
            };
            let mut formula = Formula { window: 6.0, ..Formula::default() };
            let (mut window_q10, mut state, mut now) = (6 * 1024, State::default(), 20_000);
            for (arrived, marked, delay, gap) in acks {
                now += gap;
                let marked = marked.min(arrived);
                let report = Report { arrived, marked, in_flight: 4, ..Report::default() };
                window_q10 = kernel.update(window_q10, &mut state, report, delay, now);
                formula.on_ack(
                    &constants, arrived.into(), marked.into(), delay.into(), now as f64,
                );
                let kernel_window = f64::from(window_q10) / 1024.0;
                // Where a mean is at its threshold the two may part by one cut: follow the kernel then.
                let threshold = (formula.mean - target).abs() < 16.0;
                prop_assert!(
                    threshold || (kernel_window - formula.window).abs() < 0.05 + 0.02 * formula.window,
                    "{kernel_window} for {}", formula.window
                );
                formula.window = kernel_window;
                formula.mean = state.mean_delay_ns.into();
                formula.last_cut = state.last_cut_ns as f64;
                (formula.fast, formula.idle) = (state.fast, state.idle_packets.into());
            }
        }
    }

    #[test]
    fn the_four_quadrants() {
        let kernel = Nscc::new(8 * 1024, 4150, 9_600, 64);
        let after = |marked: u16, delay_ns: u32| {
            let mut state = State {
                mean_delay_ns: delay_ns,
                ..State::default()
            };
            let report = Report {
                arrived: 4,
                marked: 4 * marked,
                in_flight: 4,
                ..Report::default()
            };
            state.last_adjust_ns = 99_000;
            let window = kernel.update(6144, &mut state, report, delay_ns, 100_000);
            (window, state.gathered_q20)
        };
        let (window, proportional) = after(0, 4_800);
        assert_eq!(window, 6144);
        let (_, fair) = after(0, 12_000);
        assert!(proportional > 0 && fair > 0);
        assert_eq!(
            after(1, 4_800),
            (6144, 0),
            "marked and under the target: hold"
        );
        assert_eq!(
            after(1, 19_200),
            (3690, 0),
            "0.8 x half of the excess is cut"
        );
        assert_eq!(after(1, 9_600_000).0, 3072, "never more than half");
    }
}
