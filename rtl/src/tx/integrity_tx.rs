//! The CRC of each frame that is sent.
//!
//! The transport header of a sent frame is at byte 42, so what the CRC does not cover in the first beat is a constant
//! mask. The zeros that fill the last beat are taken back from the state step by step. The CRC comes turned to the lanes
//! that it will stand in, all of which lie behind the frame's end: byte 0 of it in lane `bytes` modulo 4, and so on round.
//! While `poison` is set each CRC is wrong, so that no receiver takes a frame. 11 cycles from a last beat; 1 beat a cycle.

use crate::stream::{BeatInfo, CrcFold, CrcStep, CrcUnwind, LaneMask};
use rust_hdl::prelude::*;

/// A frame has ended: how many zeros fill its last beat, and its plane.
#[derive(Copy, Clone, PartialEq, Debug, Default, LogicStruct)]
pub struct FrameEnd {
    pub zeros: Bits<6>,
    pub plane: Bits<2>,
    pub valid: Bit,
}

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
    pub crc: Signal<Out, Bits<32>>,
    pub crc_plane: Signal<Out, Bits<2>>,
    pub crc_valid: Signal<Out, Bit>,
    mask: LaneMask,
    fold: CrcFold,
    step: CrcStep,
    unwind0: CrcUnwind,
    unwind1: CrcUnwind,
    unwind2: CrcUnwind,
    unwind3: CrcUnwind,
    unwind4: CrcUnwind,
    unwind5: CrcUnwind,
    valid1: DFF<Bit>,
    valid2: DFF<Bit>,
    valid3: DFF<Bit>,
    info1: DFF<BeatInfo>,
    info2: DFF<BeatInfo>,
    info3: DFF<BeatInfo>,
    state: DFF<Bits<32>>,
    end4: DFF<FrameEnd>,
    end5: DFF<FrameEnd>,
    end6: DFF<FrameEnd>,
    end7: DFF<FrameEnd>,
    end8: DFF<FrameEnd>,
    end9: DFF<FrameEnd>,
    end10: DFF<FrameEnd>,
    state5: DFF<Bits<32>>,
    state6: DFF<Bits<32>>,
    state7: DFF<Bits<32>>,
    state8: DFF<Bits<32>>,
    state9: DFF<Bits<32>>,
    state10: DFF<Bits<32>>,
    zeros: Signal<Local, Bits<7>>,
    filled: Signal<Local, Bits<6>>,
    value: Signal<Local, Bits<32>>,
    by1: Signal<Local, Bits<32>>,
    by2: Signal<Local, Bits<32>>,
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
            ..Self::default()
        }
    }
}

impl Logic for IntegrityTx {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(
            self, clock, valid1, valid2, valid3, info1, info2, info3, state, end4, end5, end6,
            end7, end8, end9, end10, state5, state6, state7, state8, state9, state10
        );
        clock!(self, clock, fold);
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
        self.end4.d.next.zeros = self.zeros.val().get_bits::<6>(0);
        self.end4.d.next.plane = self.info3.q.val().plane;
        self.end4.d.next.valid = self.valid3.q.val() & self.info3.q.val().last;
        self.end5.d.next = self.end4.q.val();
        self.end6.d.next = self.end5.q.val();
        self.end7.d.next = self.end6.q.val();
        self.end8.d.next = self.end7.q.val();
        self.end9.d.next = self.end8.q.val();
        self.end10.d.next = self.end9.q.val();
        self.unwind0.previous.next = self.state.q.val();
        self.filled.next = self.end4.q.val().zeros;
        self.unwind0.enable.next = self.filled.val().get_bit(5);
        self.state5.d.next = self.unwind0.after.val();
        self.unwind1.previous.next = self.state5.q.val();
        self.filled.next = self.end5.q.val().zeros;
        self.unwind1.enable.next = self.filled.val().get_bit(4);
        self.state6.d.next = self.unwind1.after.val();
        self.unwind2.previous.next = self.state6.q.val();
        self.filled.next = self.end6.q.val().zeros;
        self.unwind2.enable.next = self.filled.val().get_bit(3);
        self.state7.d.next = self.unwind2.after.val();
        self.unwind3.previous.next = self.state7.q.val();
        self.filled.next = self.end7.q.val().zeros;
        self.unwind3.enable.next = self.filled.val().get_bit(2);
        self.state8.d.next = self.unwind3.after.val();
        self.unwind4.previous.next = self.state8.q.val();
        self.filled.next = self.end8.q.val().zeros;
        self.unwind4.enable.next = self.filled.val().get_bit(1);
        self.state9.d.next = self.unwind4.after.val();
        self.unwind5.previous.next = self.state9.q.val();
        self.filled.next = self.end9.q.val().zeros;
        self.unwind5.enable.next = self.filled.val().get_bit(0);
        self.state10.d.next = self.unwind5.after.val();

        self.value.next = !self.state10.q.val();
        if self.poison.val() {
            self.value.next = self.state10.q.val();
        }
        self.filled.next = self.end10.q.val().zeros;
        self.by1.next = self.value.val();
        if self.filled.val().get_bit(0) {
            self.by1.next = (self.value.val() >> 8) | (self.value.val() << 24);
        }
        self.by2.next = self.by1.val();
        if self.filled.val().get_bit(1) {
            self.by2.next = (self.by1.val() >> 16) | (self.by1.val() << 16);
        }
        self.crc.next = self.by2.val();
        self.crc_plane.next = self.end10.q.val().plane;
        self.crc_valid.next = self.end10.q.val().valid;
    }
}
