//! The checksum over an IPv4 header that may reach into the frame's second beat.
//!
//! The header always starts on an even byte, so the sum runs over the frame's own 16-bit words and needs no
//! alignment: a mask says which words count. Four cycles from beat to `ok`; the answer is that of the frame whose beat
//! came in four cycles ago.

use crate::stream::BeatInfo;
use rust_hdl::prelude::*;

/// See the module page.
#[derive(LogicBlock, Default)]
pub struct HeaderChecksum {
    pub clock: Signal<In, Clock>,
    pub data: Signal<In, Bits<512>>,
    pub info: Signal<In, BeatInfo>,
    pub valid: Signal<In, Bit>,
    /// Words of the frame that belong to the header.
    pub words: Signal<In, Bits<41>>,
    pub ok: Signal<Out, Bit>,
    mask: Signal<Local, Bits<32>>,
    word: [Signal<Local, Bits<16>>; 32],
    term: Signal<Local, Bits<16>>,
    sum: [Signal<Local, Bits<20>>; 4],
    part0: DFF<Bits<20>>,
    part1: DFF<Bits<20>>,
    part2: DFF<Bits<20>>,
    part3: DFF<Bits<20>>,
    valid1: DFF<Bit>,
    first1: DFF<Bit>,
    together: Signal<Local, Bits<22>>,
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
            self, clock, part0, part1, part2, part3, valid1, first1, total, folded, right
        );
        self.mask.next = 0.into();
        if self.info.val().index == 0 {
            self.mask.next = self.words.val().get_bits::<32>(0);
        }
        if self.info.val().index == 1 {
            self.mask.next = bit_cast::<32, 9>(self.words.val().get_bits::<9>(32));
        }
        for i in 0..32 {
            self.word[i].next = 0.into();
            if self.mask.val().get_bit(i) {
                self.word[i].next = self.data.val().get_bits::<16>(16 * i);
            }
        }
        for i in 0..4 {
            self.sum[i].next = 0.into();
        }
        for i in 0..8 {
            self.term.next = self.word[i].val();
            self.sum[0].next = self.sum[0].val() + bit_cast::<20, 16>(self.term.val());
            self.term.next = self.word[i + 8].val();
            self.sum[1].next = self.sum[1].val() + bit_cast::<20, 16>(self.term.val());
            self.term.next = self.word[i + 16].val();
            self.sum[2].next = self.sum[2].val() + bit_cast::<20, 16>(self.term.val());
            self.term.next = self.word[i + 24].val();
            self.sum[3].next = self.sum[3].val() + bit_cast::<20, 16>(self.term.val());
        }
        self.part0.d.next = self.sum[0].val();
        self.part1.d.next = self.sum[1].val();
        self.part2.d.next = self.sum[2].val();
        self.part3.d.next = self.sum[3].val();
        self.valid1.d.next = self.valid.val();
        self.first1.d.next = self.info.val().first;

        self.together.next = bit_cast::<22, 20>(self.part0.q.val())
            + bit_cast::<22, 20>(self.part1.q.val())
            + bit_cast::<22, 20>(self.part2.q.val())
            + bit_cast::<22, 20>(self.part3.q.val());
        if self.valid1.q.val() {
            self.total.d.next = self.total.q.val() + self.together.val();
            if self.first1.q.val() {
                self.total.d.next = self.together.val();
            }
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
