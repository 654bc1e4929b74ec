//! From a frame's class, its path's verdict and its addresses to what is done with it (design rules 1, 8).
//!
//! The three come at fixed distances from the frame: it waits 8 stages for them. A packet that its key or
//! bounds refuse is vetoed at its path's window in time to leave no trace there. Where a frame's beats go is told to
//! `dma_write` at once (`route`); what DATA and CONTROL write, or that they are to be discarded, is told in the order of
//! the frames when it is known (`plan`). What is dropped is dropped for exactly one counted reason.
//! CONTROL packets go to the next free entry of their ring in host memory. What only counters and notices wait for leaves
//! a cycle later.

use crate::bundle;
use crate::dma::memory_translation::Translated;
use crate::dma::{FrameRoute, WritePlan, WritePlanner};
use crate::rx::classifier::Classified;
use crate::rx::message_table::PlacedPacket;
use crate::rx::path_sequence::PathVerdict;
use crate::stream::SmallFifo;
use rust_hdl::prelude::*;

bundle! {
    /// Where CONTROL packets go: `1 << log_entries` entries of 256 bytes.
    ControlRing { address: 64, log_entries: 4 }
}

bundle! {
    /// A packet that its key or bounds refused; the peer is to be told (clause T-3.7).
    Refusal { pair: 17, message: 16 }
}

/// Drop reasons of this block, behind those of the classifier.
pub mod reason {
    /// Another epoch than the path's.
    pub const EPOCH: u64 = 24;
    /// A PSN beyond the window.
    pub const WINDOW: u64 = 25;
    /// A PSN that was received before.
    pub const DUPLICATE: u64 = 26;
    /// A key that is not valid or does not grant the right.
    pub const KEY: u64 = 27;
    /// Outside the region.
    pub const BOUNDS: u64 = 28;
    /// No free entry in the CONTROL ring.
    pub const CONTROL_RING: u64 = 29;
}

#[derive(LogicBlock, Default)]
pub struct Placement {
    pub clock: Signal<In, Clock>,
    pub reset: Signal<In, Bit>,
    pub frame: Signal<In, Classified>,
    pub frame_valid: Signal<In, Bit>,
    pub frame_room: Signal<Out, Bit>,
    /// 4 cycles after the frame.
    pub refused: Signal<In, Bit>,
    pub veto: Signal<Out, Bit>,
    pub verdict: Signal<In, PathVerdict>,
    /// 8 cycles after the frame.
    pub translated: Signal<In, Translated>,
    pub ring: Signal<In, ControlRing>,
    /// Entries that the host has given, running count.
    pub ring_given: Signal<In, Bits<16>>,
    pub ring_reset: Signal<In, Bit>,
    /// With the frame.
    pub route: Signal<Out, FrameRoute>,
    pub route_valid: Signal<Out, Bit>,
    pub route_room: Signal<In, Bit>,
    /// One for each frame of kind DATA or CONTROL.
    pub plan: Signal<Out, WritePlan>,
    pub plan_valid: Signal<Out, Bit>,
    pub plan_ready: Signal<In, Bit>,
    pub ordered: Signal<Out, PlacedPacket>,
    pub ordered_valid: Signal<Out, Bit>,
    pub order_room: Signal<In, Bit>,
    pub refusal: Signal<Out, Refusal>,
    pub refusal_valid: Signal<Out, Bit>,
    /// The peer refused a packet of this connection.
    pub nack_connection: Signal<Out, Bits<12>>,
    pub nack_valid: Signal<Out, Bit>,
    pub drop_reason: Signal<Out, Bits<5>>,
    pub drop_valid: Signal<Out, Bit>,
    /// Accepted: DATA, PROBE, ACK, CONTROL.
    pub accepted: Signal<Out, Bits<4>>,
    planner: WritePlanner,
    plans: SmallFifo<WritePlan>,
    stage: [DFF<Classified>; 8],
    valid: [DFF<Bit>; 8],
    judged: [DFF<PathVerdict>; 4],
    taken: DFF<Bits<16>>,
    /// No entry of the CONTROL ring is free; known a cycle late, and frames are three cycles apart.
    ring_full: DFF<Bit>,
    refusal_now: DFF<Refusal>,
    refusal_comes: DFF<Bit>,
    nack_now: DFF<Bits<12>>,
    nack_comes: DFF<Bit>,
    drop_now: DFF<Bits<5>>,
    drop_comes: DFF<Bit>,
    accept_now: DFF<Bits<4>>,
    at4: Signal<Local, Classified>,
    at8: Signal<Local, Classified>,
    seen: Signal<Local, PathVerdict>,
    mask: Signal<Local, Bits<16>>,
    entry: Signal<Local, Bits<16>>,
    entry_address: Signal<Local, Bits<64>>,
    why: Signal<Local, Bits<5>>,
    writes: Signal<Local, Bit>,
    ring_address: Signal<Local, Bits<64>>,
    is_control: Signal<Local, Bit>,
    now: Signal<Local, Bit>,
    accept: Signal<Local, Bits<4>>,
    pair: Signal<Local, Bits<17>>,
}

impl Placement {
    /// With the depth of the queue of plans set.
    pub fn new() -> Self {
        Self {
            plans: SmallFifo::new(5),
            ..Default::default()
        }
    }
}

impl Logic for Placement {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(
            self,
            clock,
            taken,
            ring_full,
            refusal_now,
            refusal_comes,
            nack_now,
            nack_comes,
            drop_now,
            drop_comes,
            accept_now
        );
        clock!(self, clock, plans);
        self.plans.reset.next = self.reset.val();
        self.frame_room.next =
            (self.plans.level.val() < 16) & self.route_room.val() & self.order_room.val();
        for i in 0..8 {
            self.stage[i].clock.next = self.clock.val();
            self.valid[i].clock.next = self.clock.val();
        }
        for i in 0..7 {
            self.stage[i + 1].d.next = self.stage[i].q.val();
            self.valid[i + 1].d.next = self.valid[i].q.val() & !self.reset.val();
        }
        self.stage[0].d.next = self.frame.val();
        self.valid[0].d.next = self.frame_valid.val() & !self.reset.val();
        for i in 0..4 {
            self.judged[i].clock.next = self.clock.val();
        }
        for i in 0..3 {
            self.judged[i + 1].d.next = self.judged[i].q.val();
        }
        self.judged[0].d.next = self.verdict.val();
        self.at4.next = self.stage[3].q.val();
        self.veto.next = self.refused.val() & (self.at4.val().kind == 1);

        self.at8.next = self.stage[7].q.val();
        self.now.next = self.valid[7].q.val();
        self.seen.next = self.judged[3].q.val();
        self.is_control.next = self.at8.val().kind == 4;
        self.why.next = self.at8.val().reason;
        if (self.at8.val().kind == 1) | (self.at8.val().kind == 2) {
            // What the window does not want was refused by nobody: a key may be gone since its first copy came.
            if self.at8.val().kind == 1 {
                if self.translated.val().out_of_bounds.any() {
                    self.why.next = 28.into();
                }
                if self.translated.val().bad_key.any() {
                    self.why.next = 27.into();
                }
            }
            if self.seen.val().outside.any() {
                self.why.next = 25.into();
            }
            if self.seen.val().duplicate.any() {
                self.why.next = 26.into();
            }
            if self.seen.val().stale.any() {
                self.why.next = 24.into();
            }
        }
        self.ring_full.d.next = self.ring_given.val() == self.taken.q.val();
        if self.is_control.val() & self.ring_full.q.val() {
            self.why.next = 29.into();
        }
        self.writes.next = !self.why.val().any()
            & ((self.at8.val().kind == 1) | self.is_control.val())
            & self.now.val();
        self.pair.next = self.at8.val().pair;
        self.refusal_now.d.next.pair = self.pair.val();
        self.refusal_now.d.next.message = self.at8.val().message;
        self.refusal_comes.d.next = self.now.val()
            & (self.at8.val().kind == 1)
            & ((self.why.val() == 27) | (self.why.val() == 28));
        self.nack_now.d.next = self.pair.val().get_bits::<12>(5);
        self.nack_comes.d.next =
            self.now.val() & (self.at8.val().kind == 5) & !self.why.val().any();
        self.drop_now.d.next = self.why.val();
        self.drop_comes.d.next = self.now.val() & self.why.val().any();
        self.accept.next = 0.into();
        if self.now.val() & !self.why.val().any() {
            self.accept.next = self.accept.val().replace_bit(0, self.at8.val().kind == 1);
            self.accept.next = self.accept.val().replace_bit(1, self.at8.val().kind == 2);
            self.accept.next = self.accept.val().replace_bit(2, self.at8.val().kind == 3);
            self.accept.next = self.accept.val().replace_bit(3, self.is_control.val());
        }
        self.accept_now.d.next = self.accept.val();
        self.refusal.next = self.refusal_now.q.val();
        self.refusal_valid.next = self.refusal_comes.q.val();
        self.nack_connection.next = self.nack_now.q.val();
        self.nack_valid.next = self.nack_comes.q.val();
        self.drop_reason.next = self.drop_now.q.val();
        self.drop_valid.next = self.drop_comes.q.val();
        self.accepted.next = self.accept_now.q.val();

        self.mask.next = 0.into();
        self.mask.next = !self.mask.val();
        self.mask.next = self.mask.val() << self.ring.val().log_entries;
        self.entry.next = self.taken.q.val() & !self.mask.val();
        self.entry_address.next = bit_cast::<64, 16>(self.entry.val()) << 8;
        self.entry_address.next = self.entry_address.val() + self.ring.val().address;
        if self.writes.val() & self.is_control.val() {
            self.taken.d.next = self.taken.q.val() + 1;
        }
        self.planner.address0.next = self.translated.val().address0;
        self.planner.length0.next = self.translated.val().length0;
        self.planner.address1.next = self.translated.val().address1;
        self.planner.length.next = self.at8.val().length;
        if self.is_control.val() {
            self.planner.address0.next = self.entry_address.val();
            self.planner.length0.next = self.at8.val().transport_bytes;
            self.planner.length.next = self.at8.val().transport_bytes;
        }
        self.planner.discard.next = self.why.val().any();
        self.plans.write_data.next = self.planner.plan.val();
        self.plans.write_enable.next =
            self.now.val() & ((self.at8.val().kind == 1) | self.is_control.val());
        self.plan.next = self.plans.read_data.val();
        self.plan_valid.next = self.plans.read_valid.val();
        self.plans.read_ready.next = self.plan_ready.val();

        self.ring_address.next = self.ring.val().address;
        self.route.next.kind = 0.into();
        self.route.next.source = 48.into();
        self.route.next.lane = self.frame.val().lane;
        self.route.next.length = self.frame.val().length;
        if self.frame.val().kind == 1 {
            self.route.next.kind = 1.into();
        }
        if self.frame.val().kind == 3 {
            self.route.next.kind = 2.into();
        }
        if self.frame.val().kind == 4 {
            self.route.next.kind = 1.into();
            self.route.next.source = 0.into();
            // An entry is a whole number of beats behind the ring's start.
            self.route.next.lane = self.ring_address.val().get_bits::<6>(0);
            self.route.next.length = self.frame.val().transport_bytes;
        }
        self.route_valid.next = self.frame_valid.val();

        self.ordered.next.pair = self.at8.val().pair;
        self.ordered.next.message = self.at8.val().message;
        self.ordered.next.length = self.at8.val().length;
        self.ordered.next.total = self.at8.val().total;
        self.ordered.next.control = self.is_control.val().into();
        self.ordered.next.index = self.taken.q.val();
        self.ordered.next.plane = self.at8.val().plane;
        if self.is_control.val() {
            self.ordered.next.length = self.at8.val().transport_bytes;
        }
        self.ordered_valid.next = self.writes.val();
        if self.ring_reset.val() | self.reset.val() {
            self.taken.d.next = 0.into();
        }
        if self.reset.val() {
            self.refusal_comes.d.next = false;
            self.nack_comes.d.next = false;
            self.drop_comes.d.next = false;
            self.accept_now.d.next = 0.into();
        }
    }
}
