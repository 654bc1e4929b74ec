//! Moves a run of bytes from one lane to another.
//!
//! A job says where its bytes start in the first input beat, where they must start in the first output beat, and how many
//! there are; the beats of successive jobs follow each other on the input. Output lanes outside the run have no strobe and
//! hold anything. Each input beat is turned by the difference of the lanes; an output beat is the end of the turned beat before
//! and the start of this one. If the run moves down, the first input beat gives no output, and shares its cycle with
//! the last output of the job before. A beat that is not taken at the output holds everything behind it. 4 cycles from beat
//! to beat; 1 beat a cycle, one more at a job's end if the next cannot share it.

use super::LaneMerge;
use crate::bundle;
use rust_hdl::prelude::*;

bundle! {
    /// One run of bytes; `length` is at least 1.
    AlignerJob {
        source: 6,
        destination: 6,
        length: 14,
    }
}

/// What must be known of a job beside each of its beats.
#[derive(Copy, Clone, PartialEq, Debug, Default, LogicStruct)]
pub struct AlignerPlan {
    /// Lanes to turn by.
    pub shift: Bits<6>,
    /// The first input beat gives no output.
    pub skip: Bit,
    /// One output beat more than input beats give.
    pub flush: Bit,
    pub beats_in: Bits<9>,
    /// One output beat in all.
    pub single: Bit,
    /// First lane of the first output beat, last lane of the last.
    pub from: Bits<6>,
    pub to: Bits<6>,
}

/// See the module page.
#[derive(LogicBlock, Default)]
pub struct Aligner {
    pub clock: Signal<In, Clock>,
    pub reset: Signal<In, Bit>,
    pub job: Signal<In, AlignerJob>,
    pub job_valid: Signal<In, Bit>,
    pub job_ready: Signal<Out, Bit>,
    pub in_data: Signal<In, Bits<512>>,
    pub in_valid: Signal<In, Bit>,
    pub in_ready: Signal<Out, Bit>,
    pub out_data: Signal<Out, Bits<512>>,
    pub out_strobe: Signal<Out, Bits<64>>,
    pub out_last: Signal<Out, Bit>,
    pub out_valid: Signal<Out, Bit>,
    pub out_ready: Signal<In, Bit>,
    merge: AlignerMerge,
    planner: AlignerPlanner,
    active: DFF<Bit>,
    plan: DFF<AlignerPlan>,
    taken: DFF<Bits<9>>,
    /// The job before still has a beat to flush in the cycle after its last.
    flushing: DFF<Bit>,
    /// No output beat is held up.
    moves: Signal<Local, Bit>,
    first: Signal<Local, Bit>,
    clash: Signal<Local, Bit>,
    take: Signal<Local, Bit>,
    ends: Signal<Local, Bit>,
    load: Signal<Local, Bit>,
    counted: Signal<Local, Bits<9>>,
}

impl Logic for Aligner {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clock, active, plan, taken, flushing);
        clock!(self, clock, merge, planner);
        self.merge.reset.next = self.reset.val();
        self.planner.reset.next = self.reset.val();
        self.planner.job.next = self.job.val();
        self.planner.job_valid.next = self.job_valid.val();
        self.job_ready.next = self.planner.job_ready.val();

        // Take a beat for the job at hand.
        self.moves.next = !self.merge.out_valid.val() | self.out_ready.val();
        self.first.next = self.taken.q.val() == 0;
        self.clash.next = self.flushing.q.val() & self.first.val() & !self.plan.q.val().skip;
        self.in_ready.next = self.active.q.val() & self.moves.val() & !self.clash.val();
        self.take.next =
            self.active.q.val() & self.moves.val() & !self.clash.val() & self.in_valid.val();
        self.counted.next = self.taken.q.val() + 1;
        self.ends.next = self.take.val() & (self.counted.val() == self.plan.q.val().beats_in);
        if self.moves.val() {
            self.flushing.d.next = self.ends.val() & self.plan.q.val().flush;
        }
        if self.take.val() {
            self.taken.d.next = self.counted.val();
        }
        self.load.next = self.planner.plan_valid.val() & (!self.active.q.val() | self.ends.val());
        self.planner.plan_ready.next = self.load.val();
        if self.ends.val() {
            self.active.d.next = false;
        }
        if self.load.val() {
            self.active.d.next = true;
            self.plan.d.next = self.planner.plan.val();
            self.taken.d.next = 0.into();
        }

        self.merge.moves.next = self.moves.val();
        self.merge.in_data.next = self.in_data.val();
        self.merge.plan.next = self.plan.q.val();
        self.merge.first.next = self.first.val();
        // The first output beat is that of the first input beat, or of the second.
        self.merge.begins.next = (self.first.val() & !self.plan.q.val().skip)
            | ((self.taken.q.val() == 1) & self.plan.q.val().skip);
        self.merge.ends.next = self.ends.val();
        self.merge.in_valid.next = self.take.val();
        self.out_data.next = self.merge.out_data.val();
        self.out_strobe.next = self.merge.out_strobe.val();
        self.out_last.next = self.merge.out_last.val();
        self.out_valid.next = self.merge.out_valid.val();
        if self.reset.val() {
            self.active.d.next = false;
            self.flushing.d.next = false;
        }
    }
}

/// Works out a job's plan while the job before is under way. Two cycles, a job every two.
#[derive(LogicBlock, Default)]
pub struct AlignerPlanner {
    pub clock: Signal<In, Clock>,
    pub reset: Signal<In, Bit>,
    pub job: Signal<In, AlignerJob>,
    pub job_valid: Signal<In, Bit>,
    pub job_ready: Signal<Out, Bit>,
    pub plan: Signal<Out, AlignerPlan>,
    pub plan_valid: Signal<Out, Bit>,
    pub plan_ready: Signal<In, Bit>,
    raw: DFF<AlignerJob>,
    raw_valid: DFF<Bit>,
    /// Ends of the run in the input and in the output, plus 63: whole beats above bit 6.
    end_in: DFF<Bits<15>>,
    end_out: DFF<Bits<15>>,
    done: DFF<AlignerPlan>,
    done_valid: DFF<Bit>,
    beats_in: Signal<Local, Bits<9>>,
    beats_out: Signal<Local, Bits<9>>,
    skips: Signal<Local, Bit>,
    flush: Signal<Local, Bit>,
    shift: Signal<Local, Bits<6>>,
    move_on: Signal<Local, Bit>,
    accept: Signal<Local, Bit>,
}

impl Logic for AlignerPlanner {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(
            self, clock, raw, raw_valid, end_in, end_out, done, done_valid
        );
        // Not in the cycle in which a plan is taken: whether it is hangs on the way out of the aligner.
        self.move_on.next = self.raw_valid.q.val() & !self.done_valid.q.val();
        self.accept.next = !self.raw_valid.q.val() | self.move_on.val();
        self.job_ready.next = self.accept.val();
        if self.accept.val() {
            self.raw.d.next = self.job.val();
            self.raw_valid.d.next = self.job_valid.val();
            self.end_in.d.next = bit_cast::<15, 6>(self.job.val().source)
                + bit_cast::<15, 14>(self.job.val().length)
                + 63;
            self.end_out.d.next = bit_cast::<15, 6>(self.job.val().destination)
                + bit_cast::<15, 14>(self.job.val().length)
                + 63;
        }
        self.beats_in.next = self.end_in.q.val().get_bits::<9>(6);
        self.beats_out.next = self.end_out.q.val().get_bits::<9>(6);
        self.skips.next = self.raw.q.val().destination < self.raw.q.val().source;
        self.shift.next = self.raw.q.val().destination - self.raw.q.val().source;
        // Input beats give as many output beats, one fewer if the first is skipped.
        self.flush.next = self.beats_out.val() > self.beats_in.val();
        if self.skips.val() {
            self.flush.next = self.beats_out.val() >= self.beats_in.val();
        }
        if self.plan_ready.val() {
            self.done_valid.d.next = false;
        }
        if self.move_on.val() {
            self.done_valid.d.next = true;
            self.done.d.next.shift = self.shift.val();
            self.done.d.next.skip = self.skips.val();
            self.done.d.next.flush = self.flush.val();
            self.done.d.next.beats_in = self.beats_in.val();
            self.done.d.next.single = self.beats_out.val() == 1;
            self.done.d.next.from = self.raw.q.val().destination;
            // One less than the end is 63 more, but for a whole beat.
            self.done.d.next.to = self.end_out.q.val().get_bits::<6>(0);
        }
        self.plan.next = self.done.q.val();
        self.plan_valid.next = self.done_valid.q.val();
        if self.reset.val() {
            self.raw_valid.d.next = false;
            self.done_valid.d.next = false;
        }
    }
}

/// Turns beats and joins each with the one before. Four cycles in which it `moves`.
#[derive(LogicBlock, Default)]
pub struct AlignerMerge {
    pub clock: Signal<In, Clock>,
    pub reset: Signal<In, Bit>,
    pub moves: Signal<In, Bit>,
    pub in_data: Signal<In, Bits<512>>,
    pub plan: Signal<In, AlignerPlan>,
    pub first: Signal<In, Bit>,
    pub begins: Signal<In, Bit>,
    pub ends: Signal<In, Bit>,
    pub in_valid: Signal<In, Bit>,
    pub out_data: Signal<Out, Bits<512>>,
    pub out_strobe: Signal<Out, Bits<64>>,
    pub out_last: Signal<Out, Bit>,
    pub out_valid: Signal<Out, Bit>,
    lanes: LaneMerge,
    turned1: DFF<Bits<512>>,
    turned2: DFF<Bits<512>>,
    turned3: DFF<Bits<512>>,
    held: DFF<Bits<512>>,
    joined: DFF<Bits<512>>,
    plan1: DFF<AlignerPlan>,
    plan2: DFF<AlignerPlan>,
    plan3: DFF<AlignerPlan>,
    held_plan: DFF<AlignerPlan>,
    first1: DFF<Bit>,
    first2: DFF<Bit>,
    first3: DFF<Bit>,
    begins1: DFF<Bit>,
    begins2: DFF<Bit>,
    begins3: DFF<Bit>,
    ends1: DFF<Bit>,
    ends2: DFF<Bit>,
    ends3: DFF<Bit>,
    valid1: DFF<Bit>,
    valid2: DFF<Bit>,
    valid3: DFF<Bit>,
    flush: DFF<Bit>,
    joined_valid: DFF<Bit>,
    joined_last: DFF<Bit>,
    strobe: DFF<Bits<64>>,
    by1: Signal<Local, Bits<512>>,
    by2: Signal<Local, Bits<512>>,
    by4: Signal<Local, Bits<512>>,
    by8: Signal<Local, Bits<512>>,
    by16: Signal<Local, Bits<512>>,
    by32: Signal<Local, Bits<512>>,
    shift0: Signal<Local, Bits<6>>,
    shift1: Signal<Local, Bits<6>>,
    shift2: Signal<Local, Bits<6>>,
    ones: Signal<Local, Bits<64>>,
    emit: Signal<Local, Bit>,
    opens: Signal<Local, Bit>,
    closes: Signal<Local, Bit>,
    now: Signal<Local, AlignerPlan>,
    from_mask: Signal<Local, Bits<64>>,
    to_mask: Signal<Local, Bits<64>>,
    unused: Signal<Local, Bits<6>>,
}

impl Logic for AlignerMerge {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(
            self,
            clock,
            turned1,
            turned2,
            turned3,
            held,
            joined,
            plan1,
            plan2,
            plan3,
            held_plan,
            first1,
            first2,
            first3,
            ends1,
            ends2,
            ends3,
            valid1,
            valid2,
            valid3,
            flush,
            begins1,
            begins2,
            begins3,
            joined_valid,
            joined_last,
            strobe
        );
        // Three steps of two levels each.
        self.shift0.next = self.plan.val().shift;
        self.by1.next = self.in_data.val();
        if self.shift0.val().get_bit(0) {
            self.by1.next = (self.in_data.val() << 8) | (self.in_data.val() >> 504);
        }
        self.by2.next = self.by1.val();
        if self.shift0.val().get_bit(1) {
            self.by2.next = (self.by1.val() << 16) | (self.by1.val() >> 496);
        }
        self.shift1.next = self.plan1.q.val().shift;
        self.by4.next = self.turned1.q.val();
        if self.shift1.val().get_bit(2) {
            self.by4.next = (self.turned1.q.val() << 32) | (self.turned1.q.val() >> 480);
        }
        self.by8.next = self.by4.val();
        if self.shift1.val().get_bit(3) {
            self.by8.next = (self.by4.val() << 64) | (self.by4.val() >> 448);
        }
        self.shift2.next = self.plan2.q.val().shift;
        self.by16.next = self.turned2.q.val();
        if self.shift2.val().get_bit(4) {
            self.by16.next = (self.turned2.q.val() << 128) | (self.turned2.q.val() >> 384);
        }
        self.by32.next = self.by16.val();
        if self.shift2.val().get_bit(5) {
            self.by32.next = (self.by16.val() << 256) | (self.by16.val() >> 256);
        }
        // What is flushed belongs to the job before; its last beat is held.
        self.now.next = self.plan3.q.val();
        self.emit.next = self.flush.q.val()
            | (self.valid3.q.val() & !(self.first3.q.val() & self.plan3.q.val().skip));
        self.opens.next = self.begins3.q.val();
        self.closes.next = self.ends3.q.val() & !self.plan3.q.val().flush;
        if self.flush.q.val() {
            self.now.next = self.held_plan.q.val();
            self.opens.next = self.held_plan.q.val().single;
            self.closes.next = true;
        }
        self.ones.next = 0xffff_ffff_ffff_ffff_u64.into();
        self.lanes.chosen.next = self.held.q.val();
        self.lanes.other.next = self.turned3.q.val();
        self.lanes.select.next = !(self.ones.val() << self.now.val().shift);
        self.from_mask.next = self.ones.val();
        if self.opens.val() {
            self.from_mask.next = self.ones.val() << self.now.val().from;
        }
        self.unused.next = !self.now.val().to;
        self.to_mask.next = self.ones.val();
        if self.closes.val() {
            self.to_mask.next = self.ones.val() >> self.unused.val();
        }
        if self.moves.val() {
            self.turned1.d.next = self.by2.val();
            self.turned2.d.next = self.by8.val();
            self.turned3.d.next = self.by32.val();
            self.plan1.d.next = self.plan.val();
            self.plan2.d.next = self.plan1.q.val();
            self.plan3.d.next = self.plan2.q.val();
            self.first1.d.next = self.first.val();
            self.first2.d.next = self.first1.q.val();
            self.first3.d.next = self.first2.q.val();
            self.begins1.d.next = self.begins.val();
            self.begins2.d.next = self.begins1.q.val();
            self.begins3.d.next = self.begins2.q.val();
            self.ends1.d.next = self.ends.val();
            self.ends2.d.next = self.ends1.q.val();
            self.ends3.d.next = self.ends2.q.val();
            self.valid1.d.next = self.in_valid.val();
            self.valid2.d.next = self.valid1.q.val();
            self.valid3.d.next = self.valid2.q.val();
            self.flush.d.next = self.valid3.q.val() & self.ends3.q.val() & self.plan3.q.val().flush;
            if self.valid3.q.val() {
                self.held.d.next = self.turned3.q.val();
                self.held_plan.d.next = self.plan3.q.val();
            }
            self.joined.d.next = self.lanes.merged.val();
            self.joined_valid.d.next = self.emit.val();
            self.joined_last.d.next = self.closes.val();
            self.strobe.d.next = self.from_mask.val() & self.to_mask.val();
        }
        if self.reset.val() {
            self.valid1.d.next = false;
            self.valid2.d.next = false;
            self.valid3.d.next = false;
            self.flush.d.next = false;
            self.joined_valid.d.next = false;
        }
        self.out_data.next = self.joined.q.val();
        self.out_strobe.next = self.strobe.q.val();
        self.out_last.next = self.joined_last.q.val();
        self.out_valid.next = self.joined_valid.q.val();
    }
}
