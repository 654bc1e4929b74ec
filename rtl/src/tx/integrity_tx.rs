//! Puts the CRC behind each frame.
//!
//! The transport header of a sent frame is at byte 42, so what the CRC does not cover in the first beat is a constant
//! mask. The zeros that fill the last beat are taken back from the state step by step. Frames wait in a small FIFO until
//! their CRC is known; if fewer than four lanes are left in the last beat the CRC ends in a beat of its own, for which
//! the sender leaves a gap. While `poison` is set each CRC is wrong, so that no receiver takes a frame. 14 cycles for a last beat; 1 beat a cycle.

use super::crc_insert::CrcInsert;
use crate::stream::{BeatInfo, CrcFold, CrcStep, CrcUnwind, LaneMask};
use rust_hdl::prelude::*;

/// See the module page.
#[derive(LogicBlock, Default)]
pub struct IntegrityTx {
    pub clock: Signal<In, Clock>,
    pub reset: Signal<In, Bit>,
    /// Lanes behind the frame's end must be zero.
    pub data: Signal<In, Bits<512>>,
    pub info: Signal<In, BeatInfo>,
    pub valid: Signal<In, Bit>,
    /// What is sent is not to be believed.
    pub poison: Signal<In, Bit>,
    pub out_data: Signal<Out, Bits<512>>,
    pub out_info: Signal<Out, BeatInfo>,
    pub out_valid: Signal<Out, Bit>,
    mask: LaneMask,
    fold: CrcFold,
    step: CrcStep,
    unwind0: CrcUnwind,
    unwind1: CrcUnwind,
    unwind2: CrcUnwind,
    unwind3: CrcUnwind,
    unwind4: CrcUnwind,
    unwind5: CrcUnwind,
    insert: CrcInsert,
    valid1: DFF<Bit>,
    valid2: DFF<Bit>,
    valid3: DFF<Bit>,
    info1: DFF<BeatInfo>,
    info2: DFF<BeatInfo>,
    info3: DFF<BeatInfo>,
    state: DFF<Bits<32>>,
    zeros4: DFF<Bits<6>>,
    zeros5: DFF<Bits<6>>,
    zeros6: DFF<Bits<6>>,
    zeros7: DFF<Bits<6>>,
    zeros8: DFF<Bits<6>>,
    zeros9: DFF<Bits<6>>,
    ended4: DFF<Bit>,
    ended5: DFF<Bit>,
    ended6: DFF<Bit>,
    ended7: DFF<Bit>,
    ended8: DFF<Bit>,
    ended9: DFF<Bit>,
    ended10: DFF<Bit>,
    state5: DFF<Bits<32>>,
    state6: DFF<Bits<32>>,
    state7: DFF<Bits<32>>,
    state8: DFF<Bits<32>>,
    state9: DFF<Bits<32>>,
    state10: DFF<Bits<32>>,
    zeros: Signal<Local, Bits<7>>,
}

impl IntegrityTx {
    /// Six steps that take back 32 zeros, 16, and so on.
    pub fn new() -> Self {
        Self {
            unwind0: CrcUnwind::new(32),
            unwind1: CrcUnwind::new(16),
            unwind2: CrcUnwind::new(8),
            unwind3: CrcUnwind::new(4),
            unwind4: CrcUnwind::new(2),
            unwind5: CrcUnwind::new(1),
            insert: CrcInsert::new(),
            ..Self::default()
        }
    }
}

impl Logic for IntegrityTx {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(
            self, clock, valid1, valid2, valid3, info1, info2, info3, state, zeros4, zeros5,
            zeros6, zeros7, zeros8, zeros9, ended4, ended5, ended6, ended7, ended8, ended9,
            ended10, state5, state6, state7, state8, state9, state10
        );
        clock!(self, clock, fold, insert);
        // Covered in the first beat: IP addresses at bytes 26..34, the UDP destination port at 36, all from 42 on.
        self.mask.clock.next = self.clock.val();
        self.mask.data.next = self.data.val();
        self.mask.keep.next = 0xffff_ffff_ffff_ffff_u64.into();
        if self.info.val().first {
            self.mask.keep.next = 0xffff_fc33_fc00_0000_u64.into();
        }
        self.valid1.d.next = self.valid.val() & !self.reset.val();
        self.valid2.d.next = self.valid1.q.val();
        self.valid3.d.next = self.valid2.q.val();
        self.info1.d.next = self.info.val();
        self.info2.d.next = self.info1.q.val();
        self.info3.d.next = self.info2.q.val();
        self.fold.data.next = self.mask.masked.val();
        self.fold.valid.next = self.valid1.q.val();
        self.step.previous.next = self.state.q.val();
        self.step.first.next = self.info3.q.val().first;
        self.step.contribution.next = self.fold.contribution.val();
        if self.valid3.q.val() {
            self.state.d.next = self.step.after.val();
        }

        // Take the zeros back: 32, 16, 8, 4, 2, 1.
        self.zeros.next = !self.info3.q.val().bytes + 65;
        self.zeros4.d.next = self.zeros.val().get_bits::<6>(0);
        self.zeros5.d.next = self.zeros4.q.val();
        self.zeros6.d.next = self.zeros5.q.val();
        self.zeros7.d.next = self.zeros6.q.val();
        self.zeros8.d.next = self.zeros7.q.val();
        self.zeros9.d.next = self.zeros8.q.val();
        self.ended4.d.next = self.valid3.q.val() & self.info3.q.val().last;
        self.ended5.d.next = self.ended4.q.val();
        self.ended6.d.next = self.ended5.q.val();
        self.ended7.d.next = self.ended6.q.val();
        self.ended8.d.next = self.ended7.q.val();
        self.ended9.d.next = self.ended8.q.val();
        self.ended10.d.next = self.ended9.q.val();
        self.unwind0.previous.next = self.state.q.val();
        self.unwind0.enable.next = self.zeros4.q.val().get_bit(5);
        self.state5.d.next = self.unwind0.after.val();
        self.unwind1.previous.next = self.state5.q.val();
        self.unwind1.enable.next = self.zeros5.q.val().get_bit(4);
        self.state6.d.next = self.unwind1.after.val();
        self.unwind2.previous.next = self.state6.q.val();
        self.unwind2.enable.next = self.zeros6.q.val().get_bit(3);
        self.state7.d.next = self.unwind2.after.val();
        self.unwind3.previous.next = self.state7.q.val();
        self.unwind3.enable.next = self.zeros7.q.val().get_bit(2);
        self.state8.d.next = self.unwind3.after.val();
        self.unwind4.previous.next = self.state8.q.val();
        self.unwind4.enable.next = self.zeros8.q.val().get_bit(1);
        self.state9.d.next = self.unwind4.after.val();
        self.unwind5.previous.next = self.state9.q.val();
        self.unwind5.enable.next = self.zeros9.q.val().get_bit(0);
        self.state10.d.next = self.unwind5.after.val();

        self.insert.reset.next = self.reset.val();
        self.insert.data.next = self.data.val();
        self.insert.info.next = self.info.val();
        self.insert.valid.next = self.valid.val();
        self.insert.crc.next = !self.state10.q.val();
        if self.poison.val() {
            self.insert.crc.next = self.state10.q.val();
        }
        self.insert.crc_valid.next = self.ended10.q.val();
        self.out_data.next = self.insert.out_data.val();
        self.out_info.next = self.insert.out_info.val();
        self.out_valid.next = self.insert.out_valid.val();
    }
}
