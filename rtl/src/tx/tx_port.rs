//! One plane's way out: keeps whole frames and gives them to the MAC without a gap.
//!
//! A frame starts when all of it is here, so `tvalid` never falls inside one. Room is the sender's business: each beat
//! that leaves is told by `freed`; beats that come without room are lost. Latency 6 cycles behind a frame's last beat,
//! throughput 1 beat a cycle.

use crate::stream::{BeatInfo, Fifo};
use rust_hdl::prelude::*;

/// A beat that waits for the MAC.
#[derive(Copy, Clone, PartialEq, Debug, Default, LogicStruct)]
pub struct TxWord {
    pub data: Bits<512>,
    pub bytes: Bits<7>,
    pub last: Bit,
}

/// Up to 512 beats.
#[derive(LogicBlock, Default)]
pub struct TxPort {
    pub clock: Signal<In, Clock>,
    pub reset: Signal<In, Bit>,
    pub data: Signal<In, Bits<512>>,
    pub info: Signal<In, BeatInfo>,
    pub valid: Signal<In, Bit>,
    pub tdata: Signal<Out, Bits<512>>,
    pub tkeep: Signal<Out, Bits<64>>,
    pub tlast: Signal<Out, Bit>,
    pub tvalid: Signal<Out, Bit>,
    pub tready: Signal<In, Bit>,
    pub freed: Signal<Out, Bit>,
    fifo: Fifo<TxWord>,
    frames: DFF<Bits<10>>,
    /// A frame's last beat was written; three cycles later it can stand at the FIFO's end.
    ended1: DFF<Bit>,
    ended2: DFF<Bit>,
    ended3: DFF<Bit>,
    word: Signal<Local, TxWord>,
    open: Signal<Local, Bit>,
    popped: Signal<Local, Bit>,
    popped_last: Signal<Local, Bit>,
    unused: Signal<Local, Bits<7>>,
    ones: Signal<Local, Bits<64>>,
}

impl Logic for TxPort {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clock, frames, ended1, ended2, ended3);
        self.fifo.clock.next = self.clock.val();
        self.fifo.reset.next = self.reset.val();
        self.word.next.data = self.data.val();
        self.word.next.bytes = self.info.val().bytes;
        self.word.next.last = self.info.val().last;
        self.fifo.write_data.next = self.word.val();
        self.fifo.write_enable.next = self.valid.val();
        self.ended1.d.next = self.valid.val() & self.info.val().last;
        self.ended2.d.next = self.ended1.q.val();
        self.ended3.d.next = self.ended2.q.val();

        self.open.next = self.frames.q.val() != 0;
        self.popped.next = self.fifo.read_valid.val() & self.open.val() & self.tready.val();
        self.popped_last.next = self.popped.val() & self.fifo.read_data.val().last;
        if self.ended3.q.val() & !self.popped_last.val() {
            self.frames.d.next = self.frames.q.val() + 1;
        }
        if self.popped_last.val() & !self.ended3.q.val() {
            self.frames.d.next = self.frames.q.val() - 1;
        }
        self.fifo.read_ready.next = self.open.val() & self.tready.val();
        self.ones.next = 0xffff_ffff_ffff_ffff_u64.into();
        self.unused.next = !self.fifo.read_data.val().bytes + 65;
        self.tdata.next = self.fifo.read_data.val().data;
        self.tkeep.next = self.ones.val() >> self.unused.val();
        self.tlast.next = self.fifo.read_data.val().last;
        self.tvalid.next = self.fifo.read_valid.val() & self.open.val();
        self.freed.next = self.popped.val();
        if self.reset.val() {
            self.frames.d.next = 0.into();
            self.ended1.d.next = false;
            self.ended2.d.next = false;
            self.ended3.d.next = false;
        }
    }
}
