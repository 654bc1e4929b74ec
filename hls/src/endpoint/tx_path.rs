//! The sender's side of a path: what is in flight, in the order in which it was sent.
//!
//! The log is the only record of a packet in flight: each transmission stands in it once, by its ordinal, with
//! the message and packet that it carries, so there is no table by PSN. What the log has shown as lost waits in
//! `resend` and is logged again when it leaves. Who decides is elsewhere: [`super::loss`], [`super::spray`],
//! [`super::probe`], [`super::fence`].

use super::health::Health;
use super::silence::Slots;
use super::telemetry::PathCounts;
use super::timers::Timer;
use super::ways::Queue;
use crate::cc::nscc;
use crate::wire::{Bitvector, Epoch, Ordinal, Psn};
use std::collections::VecDeque;

/// Entries of a log for each PSN of the window: the packet, two probes behind it and one of a train.
pub(super) const LOG_ENTRIES_PER_PSN: usize = 4;

/// Room for entries that a path gets with its first packet; it grows when a burst asks for more.
const LOG_ENTRIES_FIRST: usize = 16;

/// A packet that has a PSN and has not arrived, as far as is known.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Unacked {
    pub psn: Psn,
    /// Which packet of the message.
    pub packet: u32,
    pub message: u16,
    pub stream: u8,
    /// Of the answer to the peer's message of that number, not of a message of our own.
    pub answer: bool,
}

/// One transmission.
#[derive(Debug, Clone, Copy)]
pub(super) struct LogEntry {
    pub unacked: Unacked,
    /// A PROBE: `unacked` means nothing.
    pub probe: bool,
    /// Low 32 bits of the time in nanoseconds.
    pub sent_ns: u32,
}

/// What a sender knows of one path.
#[derive(Debug)]
pub(super) struct TxPath {
    /// Transmissions that no echo has passed yet; the first has the ordinal `walked`.
    pub log: VecDeque<LogEntry>,
    /// Lost packets, to be sent again on this path.
    pub resend: VecDeque<Unacked>,
    /// Packets that found the receiver not ready: they join `resend` when their stream goes on.
    pub held: Vec<Unacked>,
    /// Ordinal of the log's first entry.
    pub walked: Ordinal,
    pub next_ordinal: Ordinal,
    pub next_psn: Psn,
    /// Cumulative PSN and vector of the newest block.
    pub cumulative: Psn,
    pub vector: Bitvector,
    /// Counts of the newest block.
    pub received: u16,
    pub marked: u16,
    /// Whether a block has come in this epoch, and its ordinal.
    pub echoed: Option<Ordinal>,
    pub epoch: Epoch,
    pub health: Health,
    /// Probes of the timer since the last newer block.
    pub unanswered: u8,
    /// When those were sent.
    pub probed: Slots,
    /// DATA packets lost in a row (see [`super::black_hole`]).
    pub barren: u32,
    /// Exponent of the back-off when the train was not answered and nothing is left to move to.
    pub backoff: u8,
    /// Whether its packets count in the connection's window.
    pub counted: bool,
    /// A poor path that takes no packets until it is empty (T-2.11).
    pub draining: bool,
    /// Probes that wait for the plane.
    pub probes_due: u8,
    /// Data packets in the log.
    pub in_flight: u16,
    /// Packets x 2^10; 0 while the path is not live.
    pub window_q10: u32,
    /// What the kernel `nscc` remembers.
    pub nscc: nscc::State,
    pub srtt_ns: u32,
    /// What its packets wait on the way there.
    pub queue: Queue,
    /// Last newer block, or first send after silence.
    pub since_ns: u64,
    pub timer: Timer,
    /// What was sent on it.
    pub counts: PathCounts,
    /// Packets since the entropy was drawn.
    pub packets_on_entropy: u32,
    /// Fences sent for this epoch; probes of a path that returns.
    pub attempts: u16,
    /// Next time at which the fence budget is whole again (see [`super::fence`]).
    pub fence_budget_ns: u64,
}

impl TxPath {
    pub(super) fn new(window: u16, window_q10: u32, srtt_ns: u32) -> Self {
        Self {
            log: VecDeque::new(),
            resend: VecDeque::new(),
            held: Vec::new(),
            walked: Ordinal(0),
            next_ordinal: Ordinal(0),
            next_psn: Psn::new(0),
            cumulative: Psn::new(0),
            vector: Bitvector::new(window),
            received: 0,
            marked: 0,
            echoed: None,
            epoch: Epoch(0),
            health: Health::Good,
            unanswered: 0,
            probed: Slots::default(),
            barren: 0,
            backoff: 0,
            counted: true,
            draining: false,
            probes_due: 0,
            in_flight: 0,
            window_q10,
            nscc: nscc::State::default(),
            srtt_ns,
            queue: Queue::default(),
            since_ns: 0,
            timer: Timer::new(),
            counts: PathCounts::default(),
            packets_on_entropy: 0,
            attempts: 0,
            fence_budget_ns: 0,
        }
    }

    /// Lets the epoch of a path that has sent nothing start with other numbers than 0 (T-6.5).
    pub(super) fn start_at(&mut self, epoch: Epoch, psn: Psn, ordinal: Ordinal) {
        self.epoch = epoch;
        (self.next_psn, self.cumulative) = (psn, psn);
        (self.next_ordinal, self.walked) = (ordinal, ordinal);
    }

    /// Starts the next epoch: PSN 0, ordinal 0, nothing known. The log must have been emptied.
    pub(super) fn start_epoch(&mut self) {
        debug_assert!(self.log.is_empty(), "an epoch ends with its packets moved");
        debug_assert!(
            self.resend.is_empty(),
            "an epoch ends with its losses moved"
        );
        self.epoch = Epoch(self.epoch.0.wrapping_add(1));
        self.walked = Ordinal(0);
        self.next_ordinal = Ordinal(0);
        self.next_psn = Psn::new(0);
        self.cumulative = Psn::new(0);
        self.vector = Bitvector::new(self.vector.window());
        (self.received, self.marked) = (0, 0);
        self.echoed = None;
        self.unanswered = 0;
        self.backoff = 0;
        self.draining = false;
        self.probes_due = 0;
        self.packets_on_entropy = 0;
        self.queue.restart();
    }

    /// Whether the sequence has room for one more PSN (T-2.6) and the log for its entry.
    pub(super) fn has_sequence_room(&self) -> bool {
        self.next_psn.distance_from(self.cumulative) < u32::from(self.vector.window())
            && self.has_log_room()
    }

    pub(super) fn has_log_room(&self) -> bool {
        self.log.len() < usize::from(self.vector.window()) * LOG_ENTRIES_PER_PSN
    }

    /// Whether data has been sent that nothing is known of.
    pub(super) fn is_waiting(&self) -> bool {
        self.in_flight > 0
    }

    /// Whether nothing at all is outstanding.
    pub(super) fn is_idle(&self) -> bool {
        self.in_flight == 0 && self.resend.is_empty() && self.held.is_empty()
    }

    /// Gives the next ordinal to a transmission and logs it.
    pub(super) fn log(&mut self, unacked: Option<Unacked>, now: u64) -> Ordinal {
        debug_assert!(
            self.log.len() < 1 << 14,
            "ordinals are compared by signed difference"
        );
        if self.log.capacity() == 0 {
            self.log.reserve_exact(LOG_ENTRIES_FIRST);
            self.resend.reserve_exact(LOG_ENTRIES_FIRST / 2);
        }
        let ordinal = self.next_ordinal;
        self.next_ordinal = ordinal.next();
        let none = Unacked {
            psn: Psn::new(0),
            packet: 0,
            message: 0,
            stream: 0,
            answer: false,
        };
        self.log.push_back(LogEntry {
            unacked: unacked.unwrap_or(none),
            probe: unacked.is_none(),
            sent_ns: now as u32,
        });
        ordinal
    }
}
