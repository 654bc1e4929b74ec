//! Is a frame's CRC right? One verdict for each frame, in order.
//!
//! Takes beats whose uncovered bytes are zero. The zeros behind the last covered byte go through the CRC like any byte;
//! a right CRC then leaves one of 64 constants, picked by the number of valid bytes. The verdict comes 5 cycles after
//! the last beat; 1 beat a cycle.

use crate::stream::{CrcFold, CrcResidue, CrcStep};
use rust_hdl::prelude::*;

/// See the module page.
#[derive(LogicBlock, Default)]
pub struct IntegrityRx {
    pub clock: Signal<In, Clock>,
    pub reset: Signal<In, Bit>,
    pub data: Signal<In, Bits<512>>,
    pub first: Signal<In, Bit>,
    pub last: Signal<In, Bit>,
    /// Covered bytes of the last beat.
    pub bytes: Signal<In, Bits<7>>,
    pub valid: Signal<In, Bit>,
    pub verdict_ok: Signal<Out, Bit>,
    pub verdict_valid: Signal<Out, Bit>,
    fold: CrcFold,
    step: CrcStep,
    residue: CrcResidue,
    valid1: DFF<Bit>,
    valid2: DFF<Bit>,
    first1: DFF<Bit>,
    first2: DFF<Bit>,
    last1: DFF<Bit>,
    last2: DFF<Bit>,
    bytes1: DFF<Bits<6>>,
    bytes2: DFF<Bits<6>>,
    state: DFF<Bits<32>>,
    expected: DFF<Bits<32>>,
    ended: DFF<Bit>,
    ok: DFF<Bit>,
    ok_valid: DFF<Bit>,
}

impl Logic for IntegrityRx {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(
            self, clock, valid1, valid2, first1, first2, last1, last2, bytes1, bytes2, state,
            expected, ended, ok, ok_valid
        );
        self.fold.clock.next = self.clock.val();
        self.fold.data.next = self.data.val();
        self.fold.valid.next = self.valid.val();
        self.valid1.d.next = self.valid.val() & !self.reset.val();
        self.first1.d.next = self.first.val();
        self.last1.d.next = self.last.val();
        self.bytes1.d.next = self.bytes.val().get_bits::<6>(0);
        self.valid2.d.next = self.valid1.q.val();
        self.first2.d.next = self.first1.q.val();
        self.last2.d.next = self.last1.q.val();
        self.bytes2.d.next = self.bytes1.q.val();

        self.step.previous.next = self.state.q.val();
        self.step.first.next = self.first2.q.val();
        self.step.contribution.next = self.fold.contribution.val();
        self.residue.bytes.next = self.bytes2.q.val();
        if self.valid2.q.val() {
            self.state.d.next = self.step.after.val();
            self.expected.d.next = self.residue.state.val();
        }
        self.ended.d.next = self.valid2.q.val() & self.last2.q.val();
        self.ok.d.next = self.state.q.val() == self.expected.q.val();
        self.ok_valid.d.next = self.ended.q.val();
        self.verdict_ok.next = self.ok.q.val();
        self.verdict_valid.next = self.ok_valid.q.val();
    }
}
