//! Holds frames until their CRC is known and puts it behind their last byte.
//!
//! Beats wait in a small FIFO, a last beat until its CRC has come. The CRC, turned to the lane of its first byte, stands in
//! every fourth lane; a mask picks the four it belongs to. If they do not all lie in the last beat, one more beat follows.

use crate::stream::{BeatInfo, LaneMerge, SmallFifo};
use rust_hdl::prelude::*;

/// A beat that waits.
#[derive(Copy, Clone, PartialEq, Debug, Default, LogicStruct)]
pub struct WaitingBeat {
    pub data: Bits<512>,
    pub bytes: Bits<7>,
    pub first: Bit,
    pub last: Bit,
    pub plane: Bits<2>,
}

/// See the module page.
#[derive(LogicBlock, Default)]
pub struct CrcInsert {
    pub clock: Signal<In, Clock>,
    pub reset: Signal<In, Bit>,
    pub data: Signal<In, Bits<512>>,
    pub info: Signal<In, BeatInfo>,
    pub valid: Signal<In, Bit>,
    /// As it is sent: least significant byte first.
    pub crc: Signal<In, Bits<32>>,
    pub crc_valid: Signal<In, Bit>,
    pub out_data: Signal<Out, Bits<512>>,
    pub out_info: Signal<Out, BeatInfo>,
    pub out_valid: Signal<Out, Bit>,
    waiting: SmallFifo<WaitingBeat>,
    crcs: SmallFifo<Bits<32>>,
    merge: LaneMerge,
    beat1: DFF<WaitingBeat>,
    crc1: DFF<Bits<32>>,
    select1: DFF<Bits<64>>,
    valid1: DFF<Bit>,
    /// The CRC's end goes into the next beat.
    spill1: DFF<Bit>,
    out: DFF<Bits<512>>,
    info_out: DFF<BeatInfo>,
    valid_out: DFF<Bit>,
    written: Signal<Local, WaitingBeat>,
    go: Signal<Local, Bit>,
    tail: Signal<Local, Bit>,
    bytes: Signal<Local, Bits<7>>,
    over: Signal<Local, Bits<7>>,
    front: Signal<Local, Bits<32>>,
    by1: Signal<Local, Bits<32>>,
    by2: Signal<Local, Bits<32>>,
    four: Signal<Local, Bits<64>>,
    ones: Signal<Local, Bits<64>>,
    twice: Signal<Local, Bits<64>>,
    eight: Signal<Local, Bits<256>>,
}

impl CrcInsert {
    /// With as many places as the CRC's delay needs: it comes 10 cycles after a last beat, and a beat that a CRC adds falls
    /// into the gap that the sender leaves for it.
    pub fn new() -> Self {
        Self {
            waiting: SmallFifo::new(4),
            crcs: SmallFifo::new(4),
            ..Self::default()
        }
    }
}

impl Logic for CrcInsert {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(
            self, clock, beat1, crc1, select1, valid1, spill1, out, info_out, valid_out
        );
        clock!(self, clock, waiting, crcs);
        self.waiting.reset.next = self.reset.val();
        self.crcs.reset.next = self.reset.val();
        self.written.next.data = self.data.val();
        self.written.next.bytes = self.info.val().bytes;
        self.written.next.first = self.info.val().first;
        self.written.next.last = self.info.val().last;
        self.written.next.plane = self.info.val().plane;
        self.waiting.write_data.next = self.written.val();
        self.waiting.write_enable.next = self.valid.val();
        self.crcs.write_data.next = self.crc.val();
        self.crcs.write_enable.next = self.crc_valid.val();

        // The next beat, unless the one at hand is about to grow a tail.
        self.tail.next = self.valid1.q.val() & self.spill1.q.val();
        self.go.next = self.waiting.read_valid.val()
            & !self.tail.val()
            & (self.crcs.read_valid.val() | !self.waiting.read_data.val().last);
        self.waiting.read_ready.next = self.go.val();
        self.crcs.read_ready.next = self.go.val() & self.waiting.read_data.val().last;
        self.bytes.next = self.waiting.read_data.val().bytes;
        self.front.next = self.crcs.read_data.val();
        self.by1.next = self.front.val();
        if self.bytes.val().get_bit(0) {
            self.by1.next = (self.front.val() << 8) | (self.front.val() >> 24);
        }
        self.by2.next = self.by1.val();
        if self.bytes.val().get_bit(1) {
            self.by2.next = (self.by1.val() << 16) | (self.by1.val() >> 16);
        }
        self.four.next = 15.into();
        self.ones.next = 0xffff_ffff_ffff_ffff_u64.into();
        self.over.next = self.beat1.q.val().bytes - 60;
        self.valid1.d.next = (self.go.val() | self.tail.val()) & !self.reset.val();
        if self.go.val() {
            self.beat1.d.next = self.waiting.read_data.val();
            self.crc1.d.next = self.by2.val();
            self.select1.d.next = 0.into();
            self.spill1.d.next = false;
            if self.waiting.read_data.val().last {
                self.select1.d.next = self.four.val() << self.bytes.val();
                self.spill1.d.next = self.bytes.val() > 60;
            }
        }
        if self.tail.val() {
            self.beat1.d.next.data = 0.into();
            self.beat1.d.next.first = false;
            // Minus four: the bytes of a last beat are counted with the CRC below.
            self.beat1.d.next.bytes = self.over.val() - 4;
            self.select1.d.next = !(self.ones.val() << self.over.val());
            self.spill1.d.next = false;
        }

        self.twice.next =
            (bit_cast::<64, 32>(self.crc1.q.val()) << 32) | bit_cast::<64, 32>(self.crc1.q.val());
        self.eight.next = bit_cast::<256, 64>(self.twice.val())
            | (bit_cast::<256, 64>(self.twice.val()) << 64)
            | (bit_cast::<256, 64>(self.twice.val()) << 128)
            | (bit_cast::<256, 64>(self.twice.val()) << 192);
        self.merge.chosen.next = (bit_cast::<512, 256>(self.eight.val()) << 256)
            | bit_cast::<512, 256>(self.eight.val());
        self.merge.other.next = self.beat1.q.val().data;
        self.merge.select.next = self.select1.q.val();
        self.out.d.next = self.merge.merged.val();
        self.info_out.d.next.bytes = 64.into();
        if self.beat1.q.val().last & !self.spill1.q.val() {
            self.info_out.d.next.bytes = self.beat1.q.val().bytes + 4;
        }
        self.info_out.d.next.first = self.beat1.q.val().first;
        self.info_out.d.next.last = self.beat1.q.val().last & !self.spill1.q.val();
        self.info_out.d.next.error = false;
        self.info_out.d.next.plane = self.beat1.q.val().plane;
        self.info_out.d.next.index = 0.into();
        self.valid_out.d.next = self.valid1.q.val();
        self.out_data.next = self.out.q.val();
        self.out_info.next = self.info_out.q.val();
        self.out_valid.next = self.valid_out.q.val();
    }
}
