//! One plane's way out: keeps whole frames, puts the CRC behind each and gives them to the MAC without a gap.
//!
//! A frame starts when its CRC is here, which comes last, so `tvalid` never falls inside one. The CRC is turned to its
//! lanes already and stands in every fourth; those behind the frame's end take it. If they do not all lie in the last beat, one
//! more beat follows, which was never kept. Room is the sender's business: each beat that leaves, that one too, is told by
//! `freed`; beats that come without room are lost. Latency 3 cycles behind a CRC, throughput 1 beat a cycle.

use crate::stream::{BeatInfo, Fifo, LaneMerge};
use rust_hdl::prelude::*;

/// A beat that waits for the MAC.
#[derive(Copy, Clone, PartialEq, Debug, Default, LogicStruct)]
pub struct TxWord {
    pub data: Bits<512>,
    pub bytes: Bits<7>,
    pub last: Bit,
}

/// Up to 512 beats, or none for a plane that is not there.
#[derive(LogicBlock, Default)]
pub struct TxPort {
    pub clock: Signal<In, Clock>,
    pub reset: Signal<In, Bit>,
    pub data: Signal<In, Bits<512>>,
    pub info: Signal<In, BeatInfo>,
    pub valid: Signal<In, Bit>,
    /// Of the oldest frame that has none yet; at least a cycle behind its last beat.
    pub crc: Signal<In, Bits<32>>,
    pub crc_valid: Signal<In, Bit>,
    pub tdata: Signal<Out, Bits<512>>,
    pub tkeep: Signal<Out, Bits<64>>,
    pub tlast: Signal<Out, Bit>,
    pub tvalid: Signal<Out, Bit>,
    pub tready: Signal<In, Bit>,
    pub freed: Signal<Out, Bit>,
    fifo: Fifo<TxWord>,
    crcs: Fifo<Bits<32>>,
    merge: LaneMerge,
    /// The beat at hand is out but for the end of its CRC.
    tail: DFF<Bit>,
    word: Signal<Local, TxWord>,
    waits: Signal<Local, Bit>,
    step: Signal<Local, Bit>,
    ends: Signal<Local, Bit>,
    spills: Signal<Local, Bit>,
    unused: Signal<Local, Bits<7>>,
    ones: Signal<Local, Bits<64>>,
    /// Lanes of the frame, and these with the four behind them.
    held: Signal<Local, Bits<64>>,
    longer: Signal<Local, Bits<64>>,
    twice: Signal<Local, Bits<64>>,
    eight: Signal<Local, Bits<256>>,
}

impl TxPort {
    /// The port of a plane that is not there: nothing is ever sent to it.
    pub fn absent() -> Self {
        Self {
            fifo: Fifo::absent(),
            crcs: Fifo::absent(),
            ..Self::default()
        }
    }
}

impl Logic for TxPort {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clock, tail);
        clock!(self, clock, fifo, crcs);
        self.fifo.reset.next = self.reset.val();
        self.crcs.reset.next = self.reset.val();
        self.word.next.data = self.data.val();
        self.word.next.bytes = self.info.val().bytes;
        self.word.next.last = self.info.val().last;
        self.fifo.write_data.next = self.word.val();
        self.fifo.write_enable.next = self.valid.val();
        self.crcs.write_data.next = self.crc.val();
        self.crcs.write_enable.next = self.crc_valid.val();

        // Only a last beat has fewer than 64 bytes, so the lanes of other beats are all held.
        self.ones.next = 0xffff_ffff_ffff_ffff_u64.into();
        self.unused.next = !self.fifo.read_data.val().bytes + 65;
        self.held.next = self.ones.val() >> self.unused.val();
        self.longer.next = (self.held.val() << 4) | 15;
        self.tkeep.next = self.longer.val();
        self.spills.next =
            self.fifo.read_data.val().last & self.held.val().get_bit(60) & !self.tail.q.val();
        self.merge.select.next = self.longer.val() & !self.held.val();
        if self.tail.q.val() {
            self.tkeep.next = self.held.val() >> 60;
            self.merge.select.next = self.held.val() >> 60;
        }
        self.twice.next = (bit_cast::<64, 32>(self.crcs.read_data.val()) << 32)
            | bit_cast::<64, 32>(self.crcs.read_data.val());
        self.eight.next = bit_cast::<256, 64>(self.twice.val())
            | (bit_cast::<256, 64>(self.twice.val()) << 64)
            | (bit_cast::<256, 64>(self.twice.val()) << 128)
            | (bit_cast::<256, 64>(self.twice.val()) << 192);
        self.merge.chosen.next = (bit_cast::<512, 256>(self.eight.val()) << 256)
            | bit_cast::<512, 256>(self.eight.val());
        self.merge.other.next = self.fifo.read_data.val().data;

        self.waits.next = self.fifo.read_valid.val() & self.crcs.read_valid.val();
        self.step.next = self.waits.val() & self.tready.val();
        self.ends.next = self.step.val() & !self.spills.val();
        self.fifo.read_ready.next = self.ends.val();
        self.crcs.read_ready.next = self.ends.val() & self.fifo.read_data.val().last;
        if self.step.val() {
            self.tail.d.next = self.spills.val();
        }
        self.freed.next = self.step.val();
        self.tdata.next = self.merge.merged.val();
        self.tlast.next = self.fifo.read_data.val().last & !self.spills.val();
        self.tvalid.next = self.waits.val();
        if self.reset.val() {
            self.tail.d.next = false;
        }
    }
}
