//! The checksum over an IPv4 header that may reach into the frame's second beat.
//!
//! The header always starts on an even byte, so the sum runs over the frame's own 16-bit words and needs no
//! alignment: a mask says which words count, and the others are reset on the way in. Six cycles from beat to `ok`; the
//! answer is that of the frame whose beat came in six cycles ago.

use crate::stream::{BeatInfo, LaneMask};
use rust_hdl::prelude::*;

/// See the module page.
#[derive(LogicBlock, Default)]
pub struct HeaderChecksum {
    pub clock: Signal<In, Clock>,
    pub data: Signal<In, Bits<512>>,
    pub info: Signal<In, BeatInfo>,
    pub valid: Signal<In, Bit>,
    /// The first word of the frame that belongs to the header, and the first behind it; words of 16 bits.
    pub first_word: Signal<In, Bits<6>>,
    pub end_word: Signal<In, Bits<6>>,
    pub ok: Signal<Out, Bit>,
    header: LaneMask,
    ones: Signal<Local, Bits<41>>,
    words: Signal<Local, Bits<41>>,
    here: Signal<Local, Bits<32>>,
    keep: Signal<Local, Bits<64>>,
    words4: [Signal<Local, Bits<16>>; 4],
    even: Signal<Local, Bits<34>>,
    odd: Signal<Local, Bits<34>>,
    two: Signal<Local, Bits<34>>,
    valid1: DFF<Bit>,
    valid2: DFF<Bit>,
    valid3: DFF<Bit>,
    first1: DFF<Bit>,
    first2: DFF<Bit>,
    first3: DFF<Bit>,
    parts: [DFF<Bits<18>>; 8],
    pairs: [DFF<Bits<20>>; 4],
    part: Signal<Local, Bits<18>>,
    other: Signal<Local, Bits<18>>,
    lower: Signal<Local, Bits<42>>,
    upper: Signal<Local, Bits<42>>,
    four: Signal<Local, Bits<42>>,
    sum_before: Signal<Local, Bits<22>>,
    total: DFF<Bits<22>>,
    low: Signal<Local, Bits<16>>,
    high: Signal<Local, Bits<6>>,
    folded: DFF<Bits<17>>,
    right: DFF<Bit>,
}

impl Logic for HeaderChecksum {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(
            self, clock, valid1, valid2, valid3, first1, first2, first3, total, folded, right
        );
        self.header.clock.next = self.clock.val();
        self.ones.next = 0x1ff_ffff_ffff_u64.into();
        self.words.next =
            (self.ones.val() << self.first_word.val()) & !(self.ones.val() << self.end_word.val());
        self.here.next = 0.into();
        if self.info.val().index == 0 {
            self.here.next = self.words.val().get_bits::<32>(0);
        }
        if self.info.val().index == 1 {
            self.here.next = bit_cast::<32, 9>(self.words.val().get_bits::<9>(32));
        }
        self.keep.next = 0.into();
        for i in 0..32 {
            self.keep.next = self
                .keep
                .val()
                .replace_bit(2 * i, self.here.val().get_bit(i));
            self.keep.next = self
                .keep
                .val()
                .replace_bit(2 * i + 1, self.here.val().get_bit(i));
        }
        self.header.data.next = self.data.val();
        self.header.keep.next = self.keep.val();
        self.valid1.d.next = self.valid.val();
        self.first1.d.next = self.info.val().first;

        // Four words each, then two of these. Two sums lie side by side in one adder, which keeps the mapper from
        // adding four words at once out of twice the LUTs.
        for i in 0..8 {
            self.words4[0].next = self.header.masked.val().get_bits::<16>(64 * i);
            self.words4[1].next = self.header.masked.val().get_bits::<16>(64 * i + 16);
            self.words4[2].next = self.header.masked.val().get_bits::<16>(64 * i + 32);
            self.words4[3].next = self.header.masked.val().get_bits::<16>(64 * i + 48);
            self.even.next = (bit_cast::<34, 16>(self.words4[2].val()) << 17)
                | bit_cast::<34, 16>(self.words4[0].val());
            self.odd.next = (bit_cast::<34, 16>(self.words4[3].val()) << 17)
                | bit_cast::<34, 16>(self.words4[1].val());
            self.two.next = self.even.val() + self.odd.val();
            self.parts[i].clock.next = self.clock.val();
            self.parts[i].d.next = bit_cast::<18, 17>(self.two.val().get_bits::<17>(0))
                + bit_cast::<18, 17>(self.two.val().get_bits::<17>(17));
        }
        self.valid2.d.next = self.valid1.q.val();
        self.first2.d.next = self.first1.q.val();
        for i in 0..4 {
            self.part.next = self.parts[2 * i].q.val();
            self.other.next = self.parts[2 * i + 1].q.val();
            self.pairs[i].clock.next = self.clock.val();
            self.pairs[i].d.next =
                bit_cast::<20, 18>(self.part.val()) + bit_cast::<20, 18>(self.other.val());
        }
        self.valid3.d.next = self.valid2.q.val();
        self.first3.d.next = self.first2.q.val();

        self.sum_before.next = 0.into();
        if !self.first3.q.val() {
            self.sum_before.next = self.total.q.val();
        }
        self.lower.next = (bit_cast::<42, 20>(self.pairs[2].q.val()) << 21)
            | bit_cast::<42, 20>(self.pairs[0].q.val());
        self.upper.next = (bit_cast::<42, 20>(self.pairs[3].q.val()) << 21)
            | bit_cast::<42, 20>(self.pairs[1].q.val());
        self.four.next = self.lower.val() + self.upper.val();
        if self.valid3.q.val() {
            self.total.d.next = self.sum_before.val()
                + bit_cast::<22, 21>(self.four.val().get_bits::<21>(0))
                + bit_cast::<22, 21>(self.four.val().get_bits::<21>(21));
        }

        // Fold once; the second fold can only add the carry.
        self.low.next = self.total.q.val().get_bits::<16>(0);
        self.high.next = self.total.q.val().get_bits::<6>(16);
        self.folded.d.next =
            bit_cast::<17, 16>(self.low.val()) + bit_cast::<17, 6>(self.high.val());
        self.right.d.next = (self.folded.q.val() == 0xffff) | (self.folded.q.val() == 0x1fffe);
        self.ok.next = self.right.q.val();
    }
}
