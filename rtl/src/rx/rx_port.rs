//! One plane's way in: takes what the MAC sends, which cannot wait, and keeps whole frames.
//!
//! A frame is admitted at its first beat if the longest frame would still fit, else all of it is dropped; so a frame
//! never runs out of room half-way, and may leave before it is complete. Frames that the MAC marks bad, and frames
//! that are cut for length, end with `error`: the blocks behind drop them. Lanes behind a frame's end leave as they came.
//! What comes in is not registered but in the FIFO. Latency 4 cycles, throughput 1 beat a cycle.

use crate::stream::Fifo;
use rust_hdl::prelude::*;

/// The longest frame, in beats (9,344 bytes: an IP packet of 9,216 with every header we know).
pub const FRAME_BEATS_MAX: u64 = 146;
// The numbers that `update` must spell out. One beat may be on its way in when `room` is read.
const _: () = assert!(512 - FRAME_BEATS_MAX - 2 == 364 && FRAME_BEATS_MAX - 1 == 145);

/// What the FIFO keeps of a beat.
#[derive(Copy, Clone, PartialEq, Debug, Default, LogicStruct)]
pub struct PortWord {
    pub data: Bits<512>,
    pub bytes: Bits<7>,
    pub last: Bit,
    pub error: Bit,
}

/// See the module page.
#[derive(LogicBlock, Default)]
pub struct RxPort {
    pub clock: Signal<In, Clock>,
    pub reset: Signal<In, Bit>,
    pub tdata: Signal<In, Bits<512>>,
    pub tkeep: Signal<In, Bits<64>>,
    pub tvalid: Signal<In, Bit>,
    pub tlast: Signal<In, Bit>,
    pub tuser: Signal<In, Bit>,
    pub data: Signal<Out, Bits<512>>,
    pub bytes: Signal<Out, Bits<7>>,
    pub last: Signal<Out, Bit>,
    pub error: Signal<Out, Bit>,
    pub valid: Signal<Out, Bit>,
    pub ready: Signal<In, Bit>,
    /// At least one frame is complete.
    pub complete: Signal<Out, Bit>,
    /// At least two are.
    pub two_complete: Signal<Out, Bit>,
    /// A frame was dropped for want of room.
    pub drop_full: Signal<Out, Bit>,
    /// A frame ended with the MAC's error mark.
    pub drop_mac_error: Signal<Out, Bit>,
    /// A frame was cut because of its length.
    pub drop_oversize: Signal<Out, Bit>,
    fifo: Fifo<PortWord>,
    /// Within a frame that was admitted.
    admitted: DFF<Bit>,
    /// Within a frame whose rest is thrown away.
    skipping: DFF<Bit>,
    beats: DFF<Bits<8>>,
    frames: DFF<Bits<10>>,
    room: DFF<Bit>,
    keep_text: Signal<Local, Bits<64>>,
    half32: Signal<Local, Bits<32>>,
    half16: Signal<Local, Bits<16>>,
    half8: Signal<Local, Bits<8>>,
    half4: Signal<Local, Bits<4>>,
    half2: Signal<Local, Bits<2>>,
    count: Signal<Local, Bits<7>>,
    bad: Signal<Local, Bit>,
    oversize: Signal<Local, Bit>,
    admit: Signal<Local, Bit>,
    write: Signal<Local, Bit>,
    ends: Signal<Local, Bit>,
    popped: Signal<Local, Bit>,
    word: Signal<Local, PortWord>,
}

impl Logic for RxPort {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clock, admitted, skipping, beats, frames, room);
        self.fifo.clock.next = self.clock.val();
        self.fifo.reset.next = self.reset.val();

        // Count the lanes: `tkeep` is a run of ones from lane 0, so a binary search finds its length.
        self.keep_text.next = self.tkeep.val();
        self.half32.next = self.keep_text.val().get_bits::<32>(0);
        self.count.next = 0.into();
        if self.keep_text.val().get_bit(31) {
            self.half32.next = self.keep_text.val().get_bits::<32>(32);
            self.count.next = 32.into();
        }
        self.half16.next = self.half32.val().get_bits::<16>(0);
        if self.half32.val().get_bit(15) {
            self.half16.next = self.half32.val().get_bits::<16>(16);
            self.count.next = self.count.val() | 16;
        }
        self.half8.next = self.half16.val().get_bits::<8>(0);
        if self.half16.val().get_bit(7) {
            self.half8.next = self.half16.val().get_bits::<8>(8);
            self.count.next = self.count.val() | 8;
        }
        self.half4.next = self.half8.val().get_bits::<4>(0);
        if self.half8.val().get_bit(3) {
            self.half4.next = self.half8.val().get_bits::<4>(4);
            self.count.next = self.count.val() | 4;
        }
        self.half2.next = self.half4.val().get_bits::<2>(0);
        if self.half4.val().get_bit(1) {
            self.half2.next = self.half4.val().get_bits::<2>(2);
            self.count.next = self.count.val() | 2;
        }
        if self.half2.val().get_bit(0) {
            self.count.next = self.count.val() | 1;
        }
        if self.keep_text.val().get_bit(63) {
            self.count.next = 64.into();
        }

        // Admit, cut, mark.
        self.room.d.next = self.fifo.level.val() <= 364;
        self.oversize.next =
            self.admitted.q.val() & (self.beats.q.val() == 145) & !self.tlast.val();
        self.bad.next = self.tlast.val() & self.tuser.val();
        self.admit.next = self.admitted.q.val() | (!self.skipping.q.val() & self.room.q.val());
        self.write.next = self.tvalid.val() & self.admit.val();
        self.ends.next = self.tlast.val() | self.oversize.val();
        self.drop_full.next = self.tvalid.val()
            & !self.admitted.q.val()
            & !self.skipping.q.val()
            & !self.room.q.val();
        self.drop_mac_error.next = self.write.val() & self.bad.val();
        self.drop_oversize.next = self.write.val() & self.oversize.val();
        if self.tvalid.val() {
            self.admitted.d.next = self.admit.val() & !self.ends.val();
            self.skipping.d.next = !self.tlast.val() & (self.oversize.val() | !self.admit.val());
            self.beats.d.next = self.beats.q.val() + 1;
            if self.ends.val() {
                self.beats.d.next = 0.into();
            }
        }
        self.word.next.data = self.tdata.val();
        self.word.next.bytes = self.count.val();
        self.word.next.last = self.ends.val();
        self.word.next.error = self.bad.val() | self.oversize.val();
        self.fifo.write_data.next = self.word.val();
        self.fifo.write_enable.next = self.write.val();

        // The way out.
        self.data.next = self.fifo.read_data.val().data;
        self.bytes.next = self.fifo.read_data.val().bytes;
        self.last.next = self.fifo.read_data.val().last;
        self.error.next = self.fifo.read_data.val().error;
        self.valid.next = self.fifo.read_valid.val();
        self.fifo.read_ready.next = self.ready.val();
        self.popped.next =
            self.fifo.read_valid.val() & self.ready.val() & self.fifo.read_data.val().last;
        if self.write.val() & self.ends.val() & !self.popped.val() {
            self.frames.d.next = self.frames.q.val() + 1;
        }
        if self.popped.val() & !(self.write.val() & self.ends.val()) {
            self.frames.d.next = self.frames.q.val() - 1;
        }
        self.complete.next = self.frames.q.val() != 0;
        self.two_complete.next = self.frames.q.val() > 1;
        if self.reset.val() {
            self.admitted.d.next = false;
            self.skipping.d.next = false;
            self.beats.d.next = 0.into();
            self.frames.d.next = 0.into();
        }
    }
}
