//! The write side of the AXI master: bursts of planned writes and single-beat records, by turns.
//!
//! Addresses go out as soon as they are planned; the data of each burst follow in the same order, and answers come in it
//! too, so three queues of one order are all that is kept. What is discarded takes its turn at the data and nothing
//! else. Knows nothing of frames.

use super::write_plan::WritePlan;
use crate::stream::SmallFifo;
use rust_hdl::prelude::*;

/// A burst whose data are to follow.
#[derive(Copy, Clone, PartialEq, Debug, Default, LogicStruct)]
pub struct WriteBurst {
    pub record: Bit,
    /// Take the data up to their last beat and drop them.
    pub discard: Bit,
    pub length: Bits<7>,
}

/// An answer that is waited for, or stands for itself if `empty`.
#[derive(Copy, Clone, PartialEq, Debug, Default, LogicStruct)]
pub struct WriteAnswer {
    pub record: Bit,
    /// The write is complete with it.
    pub complete: Bit,
    pub empty: Bit,
    pub tag: Bits<32>,
}

/// The data of a record: in the lower half of a beat, or in the upper one.
#[derive(Copy, Clone, PartialEq, Debug, Default, LogicStruct)]
pub struct RecordBeat {
    pub data: Bits<256>,
    pub upper: Bit,
}

/// See the module page.
#[derive(LogicBlock, Default)]
pub struct WriteBus {
    pub clock: Signal<In, Clock>,
    pub reset: Signal<In, Bit>,
    pub plan: Signal<In, WritePlan>,
    pub plan_valid: Signal<In, Bit>,
    pub plan_ready: Signal<Out, Bit>,
    pub data: Signal<In, Bits<512>>,
    pub strobe: Signal<In, Bits<64>>,
    pub data_last: Signal<In, Bit>,
    pub data_valid: Signal<In, Bit>,
    pub data_ready: Signal<Out, Bit>,
    pub record_address: Signal<In, Bits<64>>,
    pub record_data: Signal<In, Bits<256>>,
    pub record_tag: Signal<In, Bits<32>>,
    pub record_valid: Signal<In, Bit>,
    pub record_ready: Signal<Out, Bit>,
    pub placed_valid: Signal<Out, Bit>,
    pub record_done_valid: Signal<Out, Bit>,
    pub record_done_tag: Signal<Out, Bits<32>>,
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
    records: SmallFifo<RecordBeat>,
    bursts: SmallFifo<WriteBurst>,
    answers: SmallFifo<WriteAnswer>,
    /// The burst whose data are on the bus, or next.
    burst_now: DFF<WriteBurst>,
    burst_valid: DFF<Bit>,
    load_burst: Signal<Local, Bit>,
    address: DFF<Bits<64>>,
    length: DFF<Bits<7>>,
    valid: DFF<Bit>,
    /// The first burst of a split write is out.
    second: DFF<Bit>,
    /// Whose turn it is when both wait.
    record_turn: DFF<Bit>,
    sent: DFF<Bits<7>>,
    free: Signal<Local, Bit>,
    take_record: Signal<Local, Bit>,
    take_plan: Signal<Local, Bit>,
    finishes: Signal<Local, Bit>,
    burst: Signal<Local, WriteBurst>,
    answer: Signal<Local, WriteAnswer>,
    record_beat: Signal<Local, RecordBeat>,
    record_twice: Signal<Local, Bits<512>>,
    beats: Signal<Local, Bits<7>>,
    from_record: Signal<Local, Bit>,
    drops: Signal<Local, Bit>,
    moves: Signal<Local, Bit>,
    final_beat: Signal<Local, Bit>,
    answered: Signal<Local, Bit>,
}

impl WriteBus {
    /// With room for a few records; bursts and answers may be many.
    pub fn new() -> Self {
        Self {
            records: SmallFifo::new(2),
            bursts: SmallFifo::new(5),
            answers: SmallFifo::new(5),
            ..Self::default()
        }
    }
}

impl Logic for WriteBus {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(
            self,
            clock,
            address,
            length,
            valid,
            second,
            record_turn,
            sent,
            burst_now,
            burst_valid
        );
        clock!(self, clock, records, bursts, answers);
        self.records.reset.next = self.reset.val();
        self.bursts.reset.next = self.reset.val();
        self.answers.reset.next = self.reset.val();

        // Choose the next burst.
        self.free.next = (!self.valid.q.val() | self.awready.val())
            & !self.bursts.full.val()
            & !self.answers.full.val()
            & !self.records.full.val();
        self.take_record.next = self.free.val()
            & self.record_valid.val()
            & (self.record_turn.q.val() | !self.plan_valid.val());
        self.take_plan.next = self.free.val() & self.plan_valid.val() & !self.take_record.val();
        self.record_ready.next = self.take_record.val();
        self.finishes.next = !self.plan.val().split | self.second.q.val() | self.plan.val().discard;
        self.plan_ready.next = self.take_plan.val() & self.finishes.val();
        self.beats.next = self.plan.val().beats0;
        if self.second.q.val() {
            self.beats.next = self.plan.val().beats1;
        }
        if self.awready.val() {
            self.valid.d.next = false;
        }
        self.burst.next.record = self.take_record.val();
        self.burst.next.discard = self.take_plan.val() & self.plan.val().discard;
        self.burst.next.length = self.beats.val() - 1;
        if self.take_record.val() {
            self.burst.next.length = 0.into();
        }
        if self.take_plan.val() {
            self.record_turn.d.next = true;
            self.second.d.next = !self.finishes.val();
            self.address.d.next = self.plan.val().address0;
            if self.second.q.val() {
                self.address.d.next = self.plan.val().address1;
            }
            self.valid.d.next = !self.plan.val().empty & !self.plan.val().discard;
        }
        self.answer.next.tag = 0.into();
        if self.take_record.val() {
            self.answer.next.tag = self.record_tag.val();
            self.record_turn.d.next = false;
            self.address.d.next = self.record_address.val();
            self.valid.d.next = true;
        }
        if self.take_plan.val() | self.take_record.val() {
            self.length.d.next = self.burst.val().length;
        }
        self.bursts.write_data.next = self.burst.val();
        self.bursts.write_enable.next =
            self.take_record.val() | (self.take_plan.val() & !self.plan.val().empty);
        self.answer.next.record = self.take_record.val();
        self.answer.next.complete = self.take_record.val() | self.finishes.val();
        self.answer.next.empty = self.take_plan.val() & self.plan.val().empty;
        self.answers.write_data.next = self.answer.val();
        self.answers.write_enable.next =
            self.take_record.val() | (self.take_plan.val() & !self.plan.val().discard);
        self.record_beat.next.data = self.record_data.val();
        self.record_beat.next.upper = self.record_address.val().get_bit(5);
        self.records.write_data.next = self.record_beat.val();
        self.records.write_enable.next = self.take_record.val();
        // The bus wants addresses of whole beats; the strobes say which bytes count.
        self.awaddr.next = (self.address.q.val() >> 6) << 6;
        self.awlen.next = bit_cast::<8, 7>(self.length.q.val());
        self.awvalid.next = self.valid.q.val();

        // Data, burst by burst.
        self.from_record.next = self.burst_now.q.val().record;
        self.record_twice.next = bit_cast::<512, 256>(self.records.read_data.val().data)
            | (bit_cast::<512, 256>(self.records.read_data.val().data) << 256);
        self.wdata.next = self.data.val();
        self.wstrb.next = self.strobe.val();
        self.drops.next = self.burst_now.q.val().discard;
        self.wvalid.next = self.burst_valid.q.val() & self.data_valid.val() & !self.drops.val();
        self.moves.next = self.burst_valid.q.val()
            & self.data_valid.val()
            & (self.wready.val() | self.drops.val());
        if self.from_record.val() {
            self.wdata.next = self.record_twice.val();
            self.wstrb.next = 0xffff_ffff_u64.into();
            if self.records.read_data.val().upper {
                self.wstrb.next = 0xffff_ffff_0000_0000_u64.into();
            }
            self.wvalid.next = self.burst_valid.q.val() & self.records.read_valid.val();
            self.moves.next =
                self.burst_valid.q.val() & self.records.read_valid.val() & self.wready.val();
        }
        self.final_beat.next = self.sent.q.val() == self.burst_now.q.val().length;
        if self.drops.val() {
            self.final_beat.next = self.data_last.val();
        }
        self.wlast.next = self.final_beat.val();
        self.data_ready.next = self.burst_valid.q.val()
            & (self.wready.val() | self.drops.val())
            & !self.from_record.val();
        self.records.read_ready.next =
            self.burst_valid.q.val() & self.wready.val() & self.from_record.val();
        self.load_burst.next =
            !self.burst_valid.q.val() | (self.moves.val() & self.final_beat.val());
        self.bursts.read_ready.next = self.load_burst.val();
        if self.load_burst.val() {
            self.burst_now.d.next = self.bursts.read_data.val();
            self.burst_valid.d.next = self.bursts.read_valid.val();
        }
        if self.moves.val() {
            self.sent.d.next = self.sent.q.val() + 1;
            if self.final_beat.val() {
                self.sent.d.next = 0.into();
            }
        }

        // Answers. A write of nothing is answered when everything before it is.
        self.bready.next = self.answers.read_valid.val() & !self.answers.read_data.val().empty;
        self.answered.next = self.answers.read_valid.val()
            & (self.answers.read_data.val().empty | self.bvalid.val());
        self.answers.read_ready.next = self.answered.val();
        self.placed_valid.next = self.answered.val()
            & self.answers.read_data.val().complete
            & !self.answers.read_data.val().record;
        self.record_done_valid.next = self.answered.val() & self.answers.read_data.val().record;
        self.record_done_tag.next = self.answers.read_data.val().tag;
        self.write_error.next = self.bvalid.val() & (self.bresp.val() != 0);
        if self.reset.val() {
            self.valid.d.next = false;
            self.burst_valid.d.next = false;
            self.second.d.next = false;
            self.sent.d.next = 0.into();
        }
    }
}
