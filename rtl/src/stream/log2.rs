//! Logarithm to base 2 with three fraction bits, combinational.
//!
//! Four integer bits from the position of the highest set bit, then the three bits below it: the straight
//! line between powers of two, at most 0.09 under the true value. The logarithm of 0 is 0.

use rust_hdl::prelude::*;

#[derive(LogicBlock, Default)]
pub struct Log2 {
    pub value: Signal<In, Bits<16>>,
    /// 4 integer and 3 fraction bits.
    pub log: Signal<Out, Bits<7>>,
    shifted8: Signal<Local, Bits<16>>,
    shifted4: Signal<Local, Bits<16>>,
    shifted2: Signal<Local, Bits<16>>,
    shifted1: Signal<Local, Bits<16>>,
    whole: Signal<Local, Bits<7>>,
    fraction: Signal<Local, Bits<3>>,
}

impl Logic for Log2 {
    #[hdl_gen]
    fn update(&mut self) {
        self.whole.next = 0.into();
        self.shifted8.next = self.value.val() << 8;
        if self.value.val().get_bits::<8>(8).any() {
            self.shifted8.next = self.value.val();
            self.whole.next = 64.into();
        }
        self.shifted4.next = self.shifted8.val() << 4;
        if self.shifted8.val().get_bits::<4>(12).any() {
            self.shifted4.next = self.shifted8.val();
            self.whole.next = self.whole.val() | 32;
        }
        self.shifted2.next = self.shifted4.val() << 2;
        if self.shifted4.val().get_bits::<2>(14).any() {
            self.shifted2.next = self.shifted4.val();
            self.whole.next = self.whole.val() | 16;
        }
        self.shifted1.next = self.shifted2.val() << 1;
        if self.shifted2.val().get_bit(15) {
            self.shifted1.next = self.shifted2.val();
            self.whole.next = self.whole.val() | 8;
        }
        self.fraction.next = self.shifted1.val().get_bits::<3>(12);
        self.log.next = self.whole.val() | bit_cast::<7, 3>(self.fraction.val());
    }
}
