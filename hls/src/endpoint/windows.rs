//! How much a connection may have in flight (T-2.6): its kernel, its cap by the share, its round trip.
//!
//! Windows of single paths stand with the paths; here is what is common to them.

use super::config::{Config, Congestion};
use super::settle::Settled;
use super::share::SHARE_ALL;
use super::timers::Timer;
use crate::cc::{ONE_PACKET, Report, aimd::Aimd, nscc, nscc::Nscc};

/// The kernel of a connection with its constants.
#[derive(Debug, Clone, Copy)]
pub(super) enum Kernel {
    Aimd(Aimd),
    Nscc(Nscc),
}

/// The part of a packet, x 2^10, that a cap may lack for the packet to leave.
const ROUNDED_UP_Q10: u64 = 256;

/// What bounds a connection.
#[derive(Debug)]
pub(super) struct Windows {
    kernel: Kernel,
    start_q10: u32,
    /// Most packets in flight, x 2^10: at least one.
    cap_q10: u32,
    /// The same without a least.
    exact_cap_q10: u32,
    /// The next packet waits for a timer (see [`Self::pace_ns`]).
    pub paced: bool,
    pub pace_timer: Timer,
    /// When the last packet left that was to be paced.
    pub paced_ns: u64,
    /// The cap at a share of 1, x 2^10.
    whole_q10: u32,
    /// What a smaller share is a part of, x 2^10.
    part_q10: u32,
    share: u16,
    /// Round trip of the empty network.
    pub base_rtt_ns: u32,
    /// Packets in flight on paths that count.
    pub in_flight: u32,
    pub srtt_ns: u32,
    /// Sum of the windows of live paths, and how many those are.
    pub sum_q10: u64,
    pub live: u32,
}

impl Windows {
    pub(super) fn new(config: &Config, settled: &Settled) -> Self {
        let bdp_q10 = config.bdp_q10();
        let kernel = kernel(config, settled);
        let start = u64::from(bdp_q10) * u64::from(config.start_window_per_mille)
            / (1000 * u64::from(settled.paths_per_plane));
        let most = u64::from(settled.window) << 10;
        let start_q10 = start.clamp(u64::from(ONE_PACKET / 4), most) as u32;
        let paths = u32::from(settled.planes) * u32::from(settled.paths_per_plane);
        let times = |gain_per_mille: u32| {
            let cap = u64::from(bdp_q10) * u64::from(gain_per_mille) / 1000;
            (cap * u64::from(settled.planes)).min(u32::MAX.into()) as u32
        };
        let mut windows = Self {
            kernel,
            start_q10,
            cap_q10: 0,
            exact_cap_q10: 0,
            paced: false,
            pace_timer: Timer::new(),
            paced_ns: 0,
            whole_q10: times(config.share.gain_per_mille),
            part_q10: times(config.share.part_gain_per_mille),
            share: SHARE_ALL,
            base_rtt_ns: config.base_rtt_ns,
            in_flight: 0,
            srtt_ns: config.base_rtt_ns,
            sum_q10: u64::from(start_q10) * u64::from(paths),
            live: paths,
        };
        windows.set_cap(SHARE_ALL.into());
        windows
    }

    fn set_cap(&mut self, share: u64) {
        let at_one = if share < u64::from(SHARE_ALL) {
            self.part_q10
        } else {
            self.whole_q10
        };
        self.exact_cap_q10 = (u64::from(at_one) * share / u64::from(SHARE_ALL)) as u32;
        self.cap_q10 = self.exact_cap_q10.max(ONE_PACKET);
    }

    /// First window of a path, packets x 2^10.
    pub(super) const fn start_q10(&self) -> u32 {
        self.start_q10
    }

    /// Whether one more packet may be in flight. One always may.
    pub(super) const fn has_room(&self) -> bool {
        let wanted = ((self.in_flight as u64 + 1) << 10) - ROUNDED_UP_Q10;
        !self.paced && wanted <= self.cap_q10 as u64
    }

    /// Time from one packet to the next where the cap is below one packet: a window of a quarter of a packet is one
    /// packet in four round trips.
    pub(super) fn pace_ns(&self) -> Option<u64> {
        let below = self.exact_cap_q10 < ONE_PACKET;
        below.then(|| (u64::from(self.srtt_ns) << 10) / u64::from(self.exact_cap_q10.max(1)))
    }

    /// Connections that share the peer's line, as its grant says.
    pub(super) fn sharers(&self) -> u64 {
        u64::from(SHARE_ALL / self.share.max(1))
    }

    /// Whether the cap is below `packets`.
    pub(super) const fn is_below(&self, packets: u32) -> bool {
        (self.cap_q10 as u64) < (packets as u64) << 10
    }

    /// Takes the peer's grant; says whether it changed.
    pub(super) fn set_share(&mut self, share: u16) -> bool {
        if share == self.share {
            return false;
        }
        self.share = share;
        self.set_cap(share.into());
        true
    }

    pub(super) const fn share(&self) -> u16 {
        self.share
    }

    /// The window of a path after a report; with the delay of its queues, where one was measured.
    pub(super) fn update(
        &self,
        window_q10: u32,
        state: &mut nscc::State,
        report: Report,
        delay_ns: Option<u32>,
        now: u64,
    ) -> u32 {
        match (&self.kernel, delay_ns) {
            (Kernel::Aimd(aimd), _) => aimd.update(window_q10, report),
            (Kernel::Nscc(nscc), Some(delay)) => nscc.update(window_q10, state, report, delay, now),
            (Kernel::Nscc(_), None) => window_q10,
        }
    }

    /// Takes a round trip: a quarter of the way up, a sixteenth down.
    pub(super) fn on_round_trip(&mut self, rtt_ns: u32) {
        if rtt_ns > self.srtt_ns {
            self.srtt_ns += (rtt_ns - self.srtt_ns) / 4;
        } else {
            self.srtt_ns -= (self.srtt_ns - rtt_ns) / 16;
        }
    }

    /// Mean window of the live paths.
    pub(super) fn mean_q10(&self) -> u32 {
        (self.sum_q10 / u64::from(self.live.max(1))) as u32
    }
}

fn kernel(config: &Config, settled: &Settled) -> Kernel {
    let bdp_q10 = config.bdp_q10();
    match config.congestion {
        Congestion::Aimd {
            increase_packets,
            decrease_q10,
            floor_q10,
        } => {
            let increase = (u64::from(increase_packets) << 20) / u64::from(bdp_q10);
            Kernel::Aimd(Aimd {
                increase_q10: increase.min(1 << 16) as u32,
                decrease_q10,
                floor_q10,
                ..Aimd::new(bdp_q10, settled.window)
            })
        }
        Congestion::Nscc => Kernel::Nscc(Nscc::new(
            bdp_q10 / u32::from(settled.paths_per_plane),
            config.packet_wire_bytes,
            config.base_rtt_ns,
            settled.window,
        )),
    }
}
