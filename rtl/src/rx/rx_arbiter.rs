//! Four planes' frames become one stream, a whole frame at a time.
//!
//! Takes turns among planes that have a complete frame; when it is idle and no plane has one, a plane whose frame has
//! begun (so an idle engine does not wait for the end of a frame). Frames start only while `grant_enable` says that the
//! longest frame has room behind. The stream cannot be stalled; it may have gaps. Lanes behind a frame's end are zero. Latency
//! 1 cycle; frames of two beats and more follow each other without a gap.

use crate::stream::{BeatInfo, LaneMask};
use rust_hdl::prelude::*;

/// See the module page.
#[derive(LogicBlock, Default)]
pub struct RxArbiter {
    pub clock: Signal<In, Clock>,
    pub reset: Signal<In, Bit>,
    pub data: [Signal<In, Bits<512>>; 4],
    pub bytes: [Signal<In, Bits<7>>; 4],
    pub last: [Signal<In, Bit>; 4],
    pub error: [Signal<In, Bit>; 4],
    pub valid: [Signal<In, Bit>; 4],
    pub complete: [Signal<In, Bit>; 4],
    pub two_complete: [Signal<In, Bit>; 4],
    pub ready: [Signal<Out, Bit>; 4],
    pub grant_enable: Signal<In, Bit>,
    pub out_data: Signal<Out, Bits<512>>,
    /// Its `index` counts the beats of the frame.
    pub out_info: Signal<Out, BeatInfo>,
    pub out_valid: Signal<Out, Bit>,
    busy: DFF<Bit>,
    plane: DFF<Bits<2>>,
    starting: DFF<Bit>,
    index: DFF<Bits<8>>,
    /// The plane that follows, if `next_valid`: chosen while the frame before is under way.
    next_valid: DFF<Bit>,
    next_plane: DFF<Bits<2>>,
    mask: LaneMask,
    info_out: DFF<BeatInfo>,
    valid_out: DFF<Bit>,
    whole: Signal<Local, Bits<4>>,
    begun: Signal<Local, Bits<4>>,
    candidates: Signal<Local, Bits<4>>,
    doubled: Signal<Local, Bits<8>>,
    turned: Signal<Local, Bits<8>>,
    distance: Signal<Local, Bits<2>>,
    shift: Signal<Local, Bits<2>>,
    picked: Signal<Local, Bits<2>>,
    unused: Signal<Local, Bits<7>>,
    ones: Signal<Local, Bits<64>>,
    chosen_data: Signal<Local, Bits<512>>,
    chosen: Signal<Local, BeatInfo>,
    chosen_valid: Signal<Local, Bit>,
    chosen_last: Signal<Local, Bit>,
    finishing: Signal<Local, Bit>,
    found: Signal<Local, Bit>,
}

impl Logic for RxArbiter {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(
            self, clock, busy, plane, starting, index, next_valid, next_plane, info_out, valid_out
        );
        clock!(self, clock, mask);
        // The beat of the plane whose turn it is.
        self.chosen_data.next = self.data[0].val();
        self.chosen_valid.next = false;
        self.chosen.next.bytes = self.bytes[0].val();
        self.chosen.next.last = self.last[0].val();
        self.chosen.next.error = self.error[0].val();
        self.chosen.next.plane = self.plane.q.val();
        self.chosen.next.first = self.starting.q.val();
        self.chosen.next.index = self.index.q.val();
        self.chosen_last.next = self.last[0].val();
        for i in 0..4 {
            self.ready[i].next = false;
            if self.plane.q.val() == i.to_bits() {
                self.chosen_data.next = self.data[i].val();
                self.chosen.next.bytes = self.bytes[i].val();
                self.chosen.next.last = self.last[i].val();
                self.chosen.next.error = self.error[i].val();
                self.chosen_last.next = self.last[i].val();
                self.chosen_valid.next = self.busy.q.val() & self.valid[i].val();
                self.ready[i].next = self.busy.q.val();
            }
        }
        self.unused.next = 64.into();
        self.unused.next = self.unused.val() - self.chosen.val().bytes;
        self.ones.next = 0xffff_ffff_ffff_ffff_u64.into();
        self.mask.data.next = self.chosen_data.val();
        self.mask.keep.next = self.ones.val() >> self.unused.val();
        self.info_out.d.next = self.chosen.val();
        self.valid_out.d.next = self.chosen_valid.val();
        self.out_data.next = self.mask.masked.val();
        self.out_info.next = self.info_out.q.val();
        self.out_valid.next = self.valid_out.q.val();
        self.finishing.next = self.chosen_valid.val() & self.chosen_last.val();
        if self.chosen_valid.val() {
            self.starting.d.next = false;
            self.index.d.next = self.index.q.val() + 1;
        }

        // Who is next: the frame under way still counts as one of its plane.
        self.whole.next = 0.into();
        self.begun.next = 0.into();
        for i in 0..4 {
            if self.complete[i].val() {
                self.whole.next = self.whole.val().replace_bit(i, true);
            }
            if self.busy.q.val() & (self.plane.q.val() == i.to_bits()) & !self.two_complete[i].val()
            {
                self.whole.next = self.whole.val().replace_bit(i, false);
            }
            if self.valid[i].val() & !self.busy.q.val() {
                self.begun.next = self.begun.val().replace_bit(i, true);
            }
        }
        self.candidates.next = self.whole.val();
        if !self.whole.val().any() {
            self.candidates.next = self.begun.val();
        }
        // Turn the candidates so that the plane after the current one stands at bit 0.
        self.shift.next = self.plane.q.val() + 1;
        self.doubled.next = bit_cast::<8, 4>(self.candidates.val())
            | (bit_cast::<8, 4>(self.candidates.val()) << 4);
        self.turned.next = self.doubled.val() >> bit_cast::<8, 2>(self.shift.val());
        self.distance.next = 3.into();
        if self.turned.val().get_bit(2) {
            self.distance.next = 2.into();
        }
        if self.turned.val().get_bit(1) {
            self.distance.next = 1.into();
        }
        if self.turned.val().get_bit(0) {
            self.distance.next = 0.into();
        }
        self.picked.next = self.shift.val() + self.distance.val();
        self.found.next = self.candidates.val().any() & self.grant_enable.val();
        self.next_valid.d.next = self.found.val() & self.busy.q.val() & !self.finishing.val();
        self.next_plane.d.next = self.picked.val();
        if self.finishing.val() {
            self.busy.d.next = self.next_valid.q.val();
            self.plane.d.next = self.next_plane.q.val();
            self.starting.d.next = true;
            self.index.d.next = 0.into();
        }
        if !self.busy.q.val() & self.found.val() {
            self.busy.d.next = true;
            self.plane.d.next = self.picked.val();
            self.starting.d.next = true;
            self.index.d.next = 0.into();
        }
        if self.reset.val() {
            self.busy.d.next = false;
            self.next_valid.d.next = false;
            self.valid_out.d.next = false;
        }
    }
}
