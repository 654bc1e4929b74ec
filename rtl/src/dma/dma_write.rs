//! Writes host memory: payloads of good frames to their places, and single-beat records (completions).
//!
//! Jobs come in the order of the frames; each takes its frame's beats up to the last. A write's bytes go through the
//! aligner to the lanes of their address; where the frame crosses a 4 KiB boundary of virtual space the job has two
//! addresses. A forwarded frame goes to the ACK unit as it is. `placed` says that everything a write job wrote has been
//! answered; jobs of no bytes are placed in their turn. Records share the bus a burst at a time. About 12 cycles from
//! payload to bus; 1 beat a cycle.

use super::write_bus::{WriteBus, WritePlan};
use crate::bundle;
use crate::stream::{Aligner, AlignerJob, SmallFifo};
use rust_hdl::prelude::*;

bundle! {
    /// What to do with one frame.
    WriteJob {
        /// 0 drop it, 1 write, 2 forward to the ACK unit.
        kind: 2,
        /// Lane of the first byte in the frame's first beat.
        source: 6,
        length: 13,
        address0: 64,
        /// Bytes up to the end of the first address's 4 KiB page, or all.
        length0: 13,
        address1: 64,
        tag: 32,
    }
}

bundle! {
    /// A single-beat write.
    WriteRecord {
        address: 64,
        data: 512,
        strobe: 64,
        tag: 32,
    }
}

/// See the module page.
#[derive(LogicBlock, Default)]
pub struct DmaWrite {
    pub clock: Signal<In, Clock>,
    pub reset: Signal<In, Bit>,
    pub job: Signal<In, WriteJob>,
    pub job_valid: Signal<In, Bit>,
    pub job_ready: Signal<Out, Bit>,
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
    pub placed_tag: Signal<Out, Bits<32>>,
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
    plans: SmallFifo<WritePlan>,
    jobs: SmallFifo<AlignerJob>,
    busy: DFF<Bit>,
    kind: DFF<Bits<2>>,
    /// The aligner knows of the next job already.
    foreseen: DFF<Bit>,
    /// Beats that the aligner still wants of this frame.
    wanted: DFF<Bits<8>>,
    writes: Signal<Local, Bit>,
    accept: Signal<Local, Bit>,
    ending: Signal<Local, Bit>,
    foresees: Signal<Local, Bit>,
    room: Signal<Local, Bit>,
    feeds: Signal<Local, Bit>,
    forwards: Signal<Local, Bit>,
    taken: Signal<Local, Bit>,
    aligner_job: Signal<Local, AlignerJob>,
    plan: Signal<Local, WritePlan>,
    length: Signal<Local, Bits<13>>,
    length0: Signal<Local, Bits<13>>,
    length1: Signal<Local, Bits<13>>,
    up: Signal<Local, Bits<14>>,
    up0: Signal<Local, Bits<13>>,
    up1: Signal<Local, Bits<13>>,
    address0: Signal<Local, Bits<64>>,
    lane: Signal<Local, Bits<6>>,
    source: Signal<Local, Bits<6>>,
    split: Signal<Local, Bit>,
    some: Signal<Local, Bit>,
}

impl DmaWrite {
    /// With room for the jobs that the way to the bus holds.
    pub fn new() -> Self {
        Self {
            aligner: Aligner::new(),
            bus: WriteBus::new(),
            plans: SmallFifo::new(4),
            jobs: SmallFifo::new(4),
            ..Self::default()
        }
    }
}

impl Logic for DmaWrite {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clock, busy, kind, foreseen, wanted);
        clock!(self, clock, aligner, bus, plans, jobs);
        self.aligner.reset.next = self.reset.val();
        self.bus.reset.next = self.reset.val();
        self.plans.reset.next = self.reset.val();
        self.jobs.reset.next = self.reset.val();

        // Send the frame's beats where the job says; what is left over of a frame is dropped.
        self.feeds.next = (self.kind.q.val() == 1) & (self.wanted.q.val() != 0);
        self.forwards.next = self.kind.q.val() == 2;
        self.aligner.in_data.next = self.payload_data.val();
        self.aligner.in_valid.next =
            self.busy.q.val() & self.payload_valid.val() & self.feeds.val();
        self.ack_data.next = self.payload_data.val();
        self.ack_last.next = self.payload_last.val();
        self.ack_valid.next = self.busy.q.val() & self.payload_valid.val() & self.forwards.val();
        self.taken.next = self.busy.q.val()
            & self.payload_valid.val()
            & (!self.feeds.val() | self.aligner.in_ready.val())
            & (!self.forwards.val() | self.ack_ready.val());
        self.payload_ready.next = self.busy.q.val()
            & (!self.feeds.val() | self.aligner.in_ready.val())
            & (!self.forwards.val() | self.ack_ready.val());
        if self.taken.val() & self.feeds.val() {
            self.wanted.d.next = self.wanted.q.val() - 1;
        }
        self.ending.next = self.taken.val() & self.payload_last.val();
        if self.ending.val() {
            self.busy.d.next = false;
        }

        // Take a job: what the bus must know of it goes into its queue. The aligner is told while the frame before is
        // under way; the bus is not, for addresses without data would block it behind a frame that has to wait.
        self.writes.next = self.job.val().kind == 1;
        self.length.next = self.job.val().length;
        self.length0.next = self.job.val().length0;
        self.source.next = self.job.val().source;
        self.address0.next = self.job.val().address0;
        self.lane.next = self.address0.val().get_bits::<6>(0);
        self.some.next = self.length.val() != 0;
        self.length1.next = self.length.val() - self.length0.val();
        self.split.next = self.length1.val() != 0;
        self.up.next =
            bit_cast::<14, 13>(self.length.val()) + bit_cast::<14, 6>(self.source.val()) + 63;
        self.up0.next = self.length0.val() + bit_cast::<13, 6>(self.lane.val()) + 63;
        self.up1.next = self.length1.val() + 63;
        self.room.next = !self.plans.full.val() & !self.jobs.full.val();
        self.accept.next =
            self.job_valid.val() & (!self.busy.q.val() | self.ending.val()) & self.room.val();
        self.job_ready.next = (!self.busy.q.val() | self.ending.val()) & self.room.val();
        self.foresees.next = self.job_valid.val() & !self.foreseen.q.val() & !self.jobs.full.val();
        self.foreseen.d.next = (self.foreseen.q.val() | self.foresees.val()) & !self.accept.val();
        self.aligner_job.next.source = self.source.val();
        self.aligner_job.next.destination = self.lane.val();
        self.aligner_job.next.length = bit_cast::<14, 13>(self.length.val());
        self.jobs.write_data.next = self.aligner_job.val();
        self.jobs.write_enable.next = self.foresees.val() & self.writes.val() & self.some.val();
        self.plan.next.address0 = self.address0.val();
        self.plan.next.beats0 = self.up0.val().get_bits::<7>(6);
        self.plan.next.address1 = self.job.val().address1;
        self.plan.next.beats1 = self.up1.val().get_bits::<7>(6);
        self.plan.next.empty = !self.some.val();
        self.plan.next.split = self.split.val();
        self.plan.next.tag = self.job.val().tag;
        self.plans.write_data.next = self.plan.val();
        self.plans.write_enable.next = self.accept.val() & self.writes.val();
        self.aligner.job.next = self.jobs.read_data.val();
        self.aligner.job_valid.next = self.jobs.read_valid.val();
        self.jobs.read_ready.next = self.aligner.job_ready.val();
        if self.accept.val() {
            self.busy.d.next = true;
            self.kind.d.next = self.job.val().kind;
            self.wanted.d.next = 0.into();
            if self.some.val() {
                self.wanted.d.next = self.up.val().get_bits::<8>(6);
            }
        }
        if self.reset.val() {
            self.busy.d.next = false;
            self.foreseen.d.next = false;
        }

        self.bus.plan.next = self.plans.read_data.val();
        self.bus.plan_valid.next = self.plans.read_valid.val();
        self.plans.read_ready.next = self.bus.plan_ready.val();
        self.bus.data.next = self.aligner.out_data.val();
        self.bus.strobe.next = self.aligner.out_strobe.val();
        self.bus.data_valid.next = self.aligner.out_valid.val();
        self.aligner.out_ready.next = self.bus.data_ready.val();
        self.bus.record_address.next = self.record.val().address;
        self.bus.record_data.next = self.record.val().data;
        self.bus.record_strobe.next = self.record.val().strobe;
        self.bus.record_tag.next = self.record.val().tag;
        self.bus.record_valid.next = self.record_valid.val();
        self.record_ready.next = self.bus.record_ready.val();
        self.placed_valid.next = self.bus.placed_valid.val();
        self.placed_tag.next = self.bus.placed_tag.val();
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
