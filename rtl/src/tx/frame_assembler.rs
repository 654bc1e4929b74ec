//! Headers and payload become one frame.
//!
//! Beats of headers alone come first; then each beat of aligned payload, the first with the end of the headers in the
//! lanes before it. Lanes behind the frame's end are zero: of each bit one LUT chooses and clears. The stream cannot be
//! stalled, but has gaps while payload has not come. 1 cycle from payload to beat; 1 beat a cycle.

use super::header_builder::FramePlan;
use crate::stream::{BeatInfo, LaneKeep, LaneMerge};
use rust_hdl::prelude::*;

/// See the module page.
#[derive(LogicBlock, Default)]
pub struct FrameAssembler {
    pub clock: Signal<In, Clock>,
    pub reset: Signal<In, Bit>,
    /// The next beat of headers.
    pub row: Signal<In, Bits<512>>,
    pub row_ready: Signal<Out, Bit>,
    pub plan: Signal<In, FramePlan>,
    pub plan_valid: Signal<In, Bit>,
    pub plan_ready: Signal<Out, Bit>,
    pub payload: Signal<In, Bits<512>>,
    pub payload_strobe: Signal<In, Bits<64>>,
    pub payload_valid: Signal<In, Bit>,
    pub payload_ready: Signal<Out, Bit>,
    pub out_data: Signal<Out, Bits<512>>,
    pub out_info: Signal<Out, BeatInfo>,
    pub out_valid: Signal<Out, Bit>,
    merge: LaneMerge,
    cut: LaneKeep,
    active: DFF<Bit>,
    here: DFF<FramePlan>,
    count: DFF<Bits<8>>,
    /// The beat at hand is the frame's last; it holds payload.
    last: DFF<Bit>,
    bodied: DFF<Bit>,
    /// It holds headers.
    headed: DFF<Bit>,
    /// Lanes of the beat at hand that belong to the frame.
    keep: DFF<Bits<64>>,
    out: DFF<Bits<512>>,
    info_out: DFF<BeatInfo>,
    valid_out: DFF<Bit>,
    sends: Signal<Local, Bit>,
    counted: Signal<Local, Bits<8>>,
    counted2: Signal<Local, Bits<8>>,
    load: Signal<Local, Bit>,
    ends_next: Signal<Local, Bit>,
    unused: Signal<Local, Bits<7>>,
    unused_loaded: Signal<Local, Bits<7>>,
    ones: Signal<Local, Bits<64>>,
    info: Signal<Local, BeatInfo>,
}

impl Logic for FrameAssembler {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(
            self, clock, active, here, count, last, bodied, headed, keep, out, info_out, valid_out
        );
        self.sends.next = self.active.q.val() & (!self.bodied.q.val() | self.payload_valid.val());
        self.payload_ready.next = self.active.q.val() & self.bodied.q.val();
        self.counted.next = self.count.q.val() + 1;
        self.counted2.next = self.count.q.val() + 2;
        self.load.next =
            self.plan_valid.val() & (!self.active.q.val() | (self.sends.val() & self.last.q.val()));
        self.plan_ready.next = self.load.val();
        self.ones.next = 0xffff_ffff_ffff_ffff_u64.into();
        self.ends_next.next = self.counted2.val() == bit_cast::<8, 7>(self.here.q.val().beats);
        self.unused.next = !self.here.q.val().last_bytes + 65;
        self.unused_loaded.next = !self.plan.val().last_bytes + 65;
        if self.sends.val() {
            self.count.d.next = self.counted.val();
            self.last.d.next = self.ends_next.val();
            self.keep.d.next = self.ones.val();
            if self.ends_next.val() {
                self.keep.d.next = self.ones.val() >> self.unused.val();
            }
            self.bodied.d.next =
                self.counted.val() >= bit_cast::<8, 2>(self.here.q.val().header_beats);
            self.headed.d.next = self.counted.val() < bit_cast::<8, 2>(self.here.q.val().rows);
            if self.last.q.val() {
                self.active.d.next = false;
            }
        }
        if self.load.val() {
            self.active.d.next = true;
            self.count.d.next = 0.into();
            self.last.d.next = self.plan.val().beats == 1;
            self.keep.d.next = self.ones.val();
            if self.plan.val().beats == 1 {
                self.keep.d.next = self.ones.val() >> self.unused_loaded.val();
            }
            self.bodied.d.next = self.plan.val().header_beats == 0;
            self.headed.d.next = self.plan.val().rows != 0;
            self.here.d.next = self.plan.val();
        }

        self.merge.chosen.next = self.payload.val();
        self.merge.other.next = self.row.val();
        self.row_ready.next = self.sends.val() & self.headed.q.val();
        self.merge.select.next = 0.into();
        if self.bodied.q.val() {
            self.merge.select.next = self.payload_strobe.val();
        }
        self.info.next.bytes = 64.into();
        if self.last.q.val() {
            self.info.next.bytes = self.here.q.val().last_bytes;
        }
        self.info.next.first = self.count.q.val() == 0;
        self.info.next.last = self.last.q.val();
        self.info.next.error = false;
        self.info.next.plane = self.here.q.val().plane;
        self.info.next.index = self.count.q.val();
        self.cut.data.next = self.merge.merged.val();
        self.cut.keep.next = self.keep.q.val();
        self.out.d.next = self.cut.kept.val();
        self.info_out.d.next = self.info.val();
        self.valid_out.d.next = self.sends.val() & !self.reset.val();
        self.out_data.next = self.out.q.val();
        self.out_info.next = self.info_out.q.val();
        self.out_valid.next = self.valid_out.q.val();
        if self.reset.val() {
            self.active.d.next = false;
        }
    }
}
