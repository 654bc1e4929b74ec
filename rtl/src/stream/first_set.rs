//! Index of the lowest set bit, two cycles after the value.
//!
//! First the index inside each byte and whether the byte holds a bit, then the first byte that does:
//! two short stages in place of one long carry chain.

use rust_hdl::prelude::*;

macro_rules! first_set {
    ($(#[$meta:meta])* $name:ident, $width:tt, $bytes:tt, $index:tt, $last_byte:tt) => {
        $(#[$meta])*
        #[derive(LogicBlock, Default)]
        pub struct $name {
            pub clock: Signal<In, Clock>,
            pub value: Signal<In, Bits<$width>>,
            pub any: Signal<Out, Bit>,
            pub index: Signal<Out, Bits<$index>>,
            byte: [Signal<Local, Bits<8>>; $bytes],
            low: [Signal<Local, Bits<3>>; $bytes],
            byte_any: [DFF<Bit>; $bytes],
            byte_low: [DFF<Bits<3>>; $bytes],
            pick: Signal<Local, Bits<3>>,
            wide: Signal<Local, Bits<$index>>,
            high: Signal<Local, Bits<$index>>,
            found: Signal<Local, Bit>,
            any_out: DFF<Bit>,
            index_out: DFF<Bits<$index>>,
        }

        impl Logic for $name {
            #[hdl_gen]
            fn update(&mut self) {
                dff_setup!(self, clock, any_out, index_out);
                for i in 0..$bytes {
                    self.byte_any[i].clock.next = self.clock.val();
                    self.byte_low[i].clock.next = self.clock.val();
                    self.byte[i].next = self.value.val().get_bits::<8>(i * 8);
                    self.byte_any[i].d.next = self.byte[i].val().any();
                    self.low[i].next = 0.into();
                    for j in 0..8 {
                        if self.byte[i].val().get_bit(7 - j) {
                            self.low[i].next = (7 - j).to_bits();
                        }
                    }
                    self.byte_low[i].d.next = self.low[i].val();
                }
                self.found.next = false;
                self.high.next = 0.into();
                self.pick.next = 0.into();
                for i in 0..$bytes {
                    if self.byte_any[$last_byte - i].q.val() {
                        self.found.next = true;
                        self.high.next = ($last_byte - i).to_bits();
                        self.pick.next = self.byte_low[$last_byte - i].q.val();
                    }
                }
                self.wide.next = bit_cast::<$index, 3>(self.pick.val());
                self.any_out.d.next = self.found.val();
                self.index_out.d.next = (self.high.val() << 3) | self.wide.val();
                self.any.next = self.any_out.q.val();
                self.index.next = self.index_out.q.val();
            }
        }
    };
}

first_set!(
    /// Lowest set bit of 32.
    FirstSet32, 32, 4, 5, 3
);
first_set!(
    /// Lowest set bit of 64.
    FirstSet64, 64, 8, 6, 7
);
