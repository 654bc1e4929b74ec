//! Writes host memory: payloads of good frames to their places, and single-beat records (completions).
//!
//! A frame is known twice. Its `route`, from its header, says where its beats go: through the aligner to the lanes of
//! their address, to the ACK unit as they are, or nowhere. That needs no verdict, since no beat leaves the aligner
//! without a plan. Its `plan` comes 8 cycles later, for frames that go through the aligner: addresses, or to discard what
//! was aligned. `placed` says that everything a plan wrote has been answered; plans of no bytes are placed in their turn.
//! Records share the bus a burst at a time. 11 cycles from route to bus, 2 from plan to data; 1 beat a cycle.

use super::write_bus::WriteBus;
use super::write_plan::WritePlan;
use crate::bundle;
use crate::stream::{Aligner, AlignerJob, SmallFifo};
use rust_hdl::prelude::*;

bundle! {
    /// Where the beats of one frame go, in the order of the frames.
    FrameRoute {
        /// 0 drop it, 1 align it for a plan that follows, 2 forward to the ACK unit.
        kind: 2,
        /// Lane of the first byte in the frame's first beat.
        source: 6,
        /// Lane of the first byte in memory.
        lane: 6,
        length: 13,
    }
}

bundle! {
    /// 32 bytes, at a multiple of 32.
    WriteRecord {
        address: 64,
        data: 256,
        tag: 32,
    }
}

bundle! {
    /// A route as far as beats are concerned: how many of them the aligner wants.
    BeatRoute { kind: 2, wanted: 8 }
}

/// See the module page.
#[derive(LogicBlock, Default)]
pub struct DmaWrite {
    pub clock: Signal<In, Clock>,
    pub reset: Signal<In, Bit>,
    pub route: Signal<In, FrameRoute>,
    pub route_valid: Signal<In, Bit>,
    /// There is room for 16 more routes.
    pub route_room: Signal<Out, Bit>,
    pub plan: Signal<In, WritePlan>,
    pub plan_valid: Signal<In, Bit>,
    pub plan_ready: Signal<Out, Bit>,
    pub payload_data: Signal<In, Bits<512>>,
    pub payload_last: Signal<In, Bit>,
    pub payload_valid: Signal<In, Bit>,
    pub payload_ready: Signal<Out, Bit>,
    pub record: Signal<In, WriteRecord>,
    pub record_valid: Signal<In, Bit>,
    pub record_ready: Signal<Out, Bit>,
    pub ack_data: Signal<Out, Bits<512>>,
    pub ack_last: Signal<Out, Bit>,
    pub ack_valid: Signal<Out, Bit>,
    pub ack_ready: Signal<In, Bit>,
    pub placed_valid: Signal<Out, Bit>,
    pub record_done_valid: Signal<Out, Bit>,
    pub record_done_tag: Signal<Out, Bits<32>>,
    /// A write was answered with an error.
    pub write_error: Signal<Out, Bit>,
    pub awaddr: Signal<Out, Bits<64>>,
    pub awlen: Signal<Out, Bits<8>>,
    pub awvalid: Signal<Out, Bit>,
    pub awready: Signal<In, Bit>,
    pub wdata: Signal<Out, Bits<512>>,
    pub wstrb: Signal<Out, Bits<64>>,
    pub wlast: Signal<Out, Bit>,
    pub wvalid: Signal<Out, Bit>,
    pub wready: Signal<In, Bit>,
    pub bresp: Signal<In, Bits<2>>,
    pub bvalid: Signal<In, Bit>,
    pub bready: Signal<Out, Bit>,
    aligner: Aligner,
    bus: WriteBus,
    routes: SmallFifo<BeatRoute>,
    jobs: SmallFifo<AlignerJob>,
    busy: DFF<Bit>,
    kind: DFF<Bits<2>>,
    /// Beats that the aligner still wants of this frame.
    wanted: DFF<Bits<8>>,
    /// Frames that have begun to pass to the aligner and whose plans have not been taken.
    begun: DFF<Bits<6>>,
    ack_taken: DFF<Bit>,
    routed: DFF<FrameRoute>,
    routed_valid: DFF<Bit>,
    offers: Signal<Local, Bit>,
    begins: Signal<Local, Bit>,
    planned: Signal<Local, Bit>,
    may_plan: Signal<Local, Bit>,
    accept: Signal<Local, Bit>,
    ending: Signal<Local, Bit>,
    feeds: Signal<Local, Bit>,
    forwards: Signal<Local, Bit>,
    taken: Signal<Local, Bit>,
    beat_route: Signal<Local, BeatRoute>,
    aligner_job: Signal<Local, AlignerJob>,
    length: Signal<Local, Bits<13>>,
    up: Signal<Local, Bits<14>>,
    some: Signal<Local, Bit>,
}

impl DmaWrite {
    /// With room for the routes of frames that wait and of those behind the classifier.
    pub fn new() -> Self {
        Self {
            bus: WriteBus::new(),
            routes: SmallFifo::new(5),
            jobs: SmallFifo::new(5),
            ..Self::default()
        }
    }
}

impl Logic for DmaWrite {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(
            self,
            clock,
            busy,
            kind,
            wanted,
            begun,
            ack_taken,
            routed,
            routed_valid
        );
        clock!(self, clock, aligner, bus, routes, jobs);
        self.aligner.reset.next = self.reset.val();
        self.bus.reset.next = self.reset.val();
        self.routes.reset.next = self.reset.val();
        self.jobs.reset.next = self.reset.val();

        // Send the frame's beats where the job says; what is left over of a frame is dropped.
        self.feeds.next = (self.kind.q.val() == 1) & (self.wanted.q.val() != 0);
        self.forwards.next = self.kind.q.val() == 2;
        self.aligner.in_data.next = self.payload_data.val();
        self.aligner.in_valid.next =
            self.busy.q.val() & self.payload_valid.val() & self.feeds.val();
        self.ack_data.next = self.payload_data.val();
        self.ack_last.next = self.payload_last.val();
        // A beat of an ACK leaves the cycle after it was taken, so that nobody's readiness runs through here.
        self.offers.next = self.busy.q.val()
            & self.payload_valid.val()
            & self.forwards.val()
            & !self.ack_taken.q.val();
        self.ack_valid.next = self.offers.val();
        self.taken.next = self.busy.q.val()
            & self.payload_valid.val()
            & (!self.feeds.val() | self.aligner.in_ready.val())
            & (!self.forwards.val() | self.ack_taken.q.val());
        self.ack_taken.d.next = (self.offers.val() & self.ack_ready.val())
            | (self.ack_taken.q.val() & !self.taken.val());
        self.payload_ready.next = self.busy.q.val()
            & (!self.feeds.val() | self.aligner.in_ready.val())
            & (!self.forwards.val() | self.ack_taken.q.val());
        if self.taken.val() & self.feeds.val() {
            self.wanted.d.next = self.wanted.q.val() - 1;
        }
        self.ending.next = self.taken.val() & self.payload_last.val();
        if self.ending.val() {
            self.busy.d.next = false;
        }

        // Take a frame's route. The aligner's job is seen by its planner while the frame before is under way.
        self.routed.d.next = self.route.val();
        self.routed_valid.d.next = self.route_valid.val() & !self.reset.val();
        self.length.next = self.routed.q.val().length;
        self.some.next = self.length.val() != 0;
        self.up.next = bit_cast::<14, 13>(self.length.val())
            + bit_cast::<14, 6>(self.routed.q.val().source)
            + 63;
        self.beat_route.next.kind = self.routed.q.val().kind;
        self.beat_route.next.wanted = 0.into();
        if self.some.val() {
            self.beat_route.next.wanted = self.up.val().get_bits::<8>(6);
        }
        self.routes.write_data.next = self.beat_route.val();
        self.routes.write_enable.next = self.routed_valid.q.val();
        self.route_room.next = self.routes.level.val() < 16;
        self.aligner_job.next.source = self.routed.q.val().source;
        self.aligner_job.next.destination = self.routed.q.val().lane;
        self.aligner_job.next.length = bit_cast::<14, 13>(self.length.val());
        self.jobs.write_data.next = self.aligner_job.val();
        self.jobs.write_enable.next =
            self.routed_valid.q.val() & (self.routed.q.val().kind == 1) & self.some.val();
        self.aligner.job.next = self.jobs.read_data.val();
        self.aligner.job_valid.next = self.jobs.read_valid.val();
        self.jobs.read_ready.next = self.aligner.job_ready.val();
        self.accept.next = self.routes.read_valid.val() & (!self.busy.q.val() | self.ending.val());
        self.routes.read_ready.next = !self.busy.q.val() | self.ending.val();
        if self.accept.val() {
            self.busy.d.next = true;
            self.kind.d.next = self.routes.read_data.val().kind;
            self.wanted.d.next = self.routes.read_data.val().wanted;
        }

        // A plan goes to the bus when its frame has begun: addresses without data would block the bus behind a frame
        // that has to wait for the ACK unit.
        self.begins.next = self.accept.val() & (self.routes.read_data.val().kind == 1);
        self.may_plan.next = self.begun.q.val() != 0;
        self.bus.plan.next = self.plan.val();
        self.bus.plan_valid.next = self.plan_valid.val() & self.may_plan.val();
        self.plan_ready.next = self.bus.plan_ready.val();
        self.planned.next = self.bus.plan_ready.val();
        if self.begins.val() & !self.planned.val() {
            self.begun.d.next = self.begun.q.val() + 1;
        }
        if !self.begins.val() & self.planned.val() {
            self.begun.d.next = self.begun.q.val() - 1;
        }
        if self.reset.val() {
            self.busy.d.next = false;
            self.begun.d.next = 0.into();
            self.ack_taken.d.next = false;
        }

        self.bus.data.next = self.aligner.out_data.val();
        self.bus.strobe.next = self.aligner.out_strobe.val();
        self.bus.data_last.next = self.aligner.out_last.val();
        self.bus.data_valid.next = self.aligner.out_valid.val();
        self.aligner.out_ready.next = self.bus.data_ready.val();
        self.bus.record_address.next = self.record.val().address;
        self.bus.record_data.next = self.record.val().data;
        self.bus.record_tag.next = self.record.val().tag;
        self.bus.record_valid.next = self.record_valid.val();
        self.record_ready.next = self.bus.record_ready.val();
        self.placed_valid.next = self.bus.placed_valid.val();
        self.record_done_valid.next = self.bus.record_done_valid.val();
        self.record_done_tag.next = self.bus.record_done_tag.val();
        self.write_error.next = self.bus.write_error.val();
        self.awaddr.next = self.bus.awaddr.val();
        self.awlen.next = self.bus.awlen.val();
        self.awvalid.next = self.bus.awvalid.val();
        self.bus.awready.next = self.awready.val();
        self.wdata.next = self.bus.wdata.val();
        self.wstrb.next = self.bus.wstrb.val();
        self.wlast.next = self.bus.wlast.val();
        self.wvalid.next = self.bus.wvalid.val();
        self.bus.wready.next = self.wready.val();
        self.bus.bresp.next = self.bresp.val();
        self.bus.bvalid.next = self.bvalid.val();
        self.bready.next = self.bus.bready.val();
    }
}
