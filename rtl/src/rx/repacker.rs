//! Cuts the headers off: the transport header moves to lane 0.
//!
//! The header starts at byte 4 * word + 6 of the frame, so a beat is turned by two bytes and by one of 16 multiples
//! of four. An output beat is the rest of the beat before and the start of this one; the beat in which the header starts
//! gives none, so the flush behind a frame's last beat costs no cycle even if another frame follows at once. As many
//! beats come out as the transport's bytes need, if the frame has them. What is known of a beat comes two cycles after
//! the beat, when that is turned. 3 cycles from beat to beat out, and one beat.

use crate::stream::{BeatInfo, LaneMerge};
use rust_hdl::prelude::*;

/// See the module page.
#[derive(LogicBlock, Default)]
pub struct Repacker {
    pub clock: Signal<In, Clock>,
    pub reset: Signal<In, Bit>,
    pub data: Signal<In, Bits<512>>,
    pub word: Signal<In, Bits<5>>,
    /// What stands in lanes 58 to 61 of the turned beat; from here on, two cycles after `data`.
    pub turned: Signal<Out, Bits<32>>,
    pub info: Signal<In, BeatInfo>,
    pub valid: Signal<In, Bit>,
    pub udp_length: Signal<In, Bits<16>>,
    pub out_data: Signal<Out, Bits<512>>,
    pub out_first: Signal<Out, Bit>,
    pub out_last: Signal<Out, Bit>,
    pub out_valid: Signal<Out, Bit>,
    /// The frame has ended and given `frame_beats`; three cycles after its last beat came in, one before a beat that its
    /// end flushes out.
    pub frame_end: Signal<Out, Bit>,
    pub frame_beats: Signal<Out, Bits<8>>,
    merge: LaneMerge,
    turned1: DFF<Bits<512>>,
    turned2: DFF<Bits<512>>,
    held: DFF<Bits<512>>,
    out: DFF<Bits<512>>,
    turns1: DFF<Bits<4>>,
    rest2: DFF<Bits<64>>,
    held_rest: DFF<Bits<64>>,
    skip1: DFF<Bit>,
    skip2: DFF<Bit>,
    held_skip: DFF<Bit>,
    held_beats: DFF<Bits<8>>,
    count: DFF<Bits<8>>,
    flush: DFF<Bit>,
    out_valid_reg: DFF<Bit>,
    out_first_reg: DFF<Bit>,
    out_last_reg: DFF<Bit>,
    turns: Signal<Local, Bits<4>>,
    by2: Signal<Local, Bits<512>>,
    by4: Signal<Local, Bits<512>>,
    by16: Signal<Local, Bits<512>>,
    ones: Signal<Local, Bits<64>>,
    shift: Signal<Local, Bits<6>>,
    length: Signal<Local, Bits<16>>,
    more: Signal<Local, Bit>,
    follows: Signal<Local, Bit>,
    emit: Signal<Local, Bit>,
    counted: Signal<Local, Bits<8>>,
}

impl Logic for Repacker {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(
            self,
            clock,
            turned1,
            turned2,
            held,
            out,
            turns1,
            rest2,
            held_rest,
            skip1,
            skip2,
            held_skip,
            held_beats,
            count,
            flush,
            out_valid_reg,
            out_first_reg,
            out_last_reg
        );
        // Turn by 2, then by 4 * (word + 1) mod 64: 4 and 8 first, 16 and 32 a cycle later.
        self.turns.next = self.word.val().get_bits::<4>(0) + 1;
        self.by2.next = (self.data.val() >> 16) | (self.data.val() << 496);
        self.by4.next = self.by2.val();
        if self.turns.val().get_bit(0) {
            self.by4.next = (self.by2.val() >> 32) | (self.by2.val() << 480);
        }
        self.turned1.d.next = self.by4.val();
        if self.turns.val().get_bit(1) {
            self.turned1.d.next = (self.by4.val() >> 64) | (self.by4.val() << 448);
        }
        self.turns1.d.next = self.turns.val();
        self.skip1.d.next = self.word.val() >= 15;
        self.by16.next = self.turned1.q.val();
        if self.turns1.q.val().get_bit(2) {
            self.by16.next = (self.turned1.q.val() >> 128) | (self.turned1.q.val() << 384);
        }
        self.turned2.d.next = self.by16.val();
        if self.turns1.q.val().get_bit(3) {
            self.turned2.d.next = (self.by16.val() >> 256) | (self.by16.val() << 256);
        }
        self.skip2.d.next = self.skip1.q.val();
        self.ones.next = 0xffff_ffff_ffff_ffff_u64.into();
        self.shift.next = (bit_cast::<6, 4>(self.turns1.q.val()) << 2) + 2;
        self.rest2.d.next = self.ones.val() >> self.shift.val();
        self.turned.next = self.turned2.q.val().get_bits::<32>(8 * 58);
        // The transport's bytes are UDP's without its header and the CRC: 12 fewer; beats round up.
        self.length.next = self.udp_length.val() + 51;

        // What is held belongs to the frame before if this beat is a first one.
        self.more.next = self.count.q.val() < self.held_beats.q.val();
        self.follows.next = self.valid.val()
            & !self.info.val().first
            & (!self.held_skip.q.val() | (self.info.val().index != 1));
        self.emit.next = self.more.val() & (self.follows.val() | self.flush.q.val());
        self.counted.next = self.count.q.val();
        if self.emit.val() {
            self.counted.next = self.count.q.val() + 1;
        }
        self.count.d.next = self.counted.val();
        self.flush.d.next = self.valid.val() & self.info.val().last;
        if self.valid.val() {
            self.held.d.next = self.turned2.q.val();
            self.held_rest.d.next = self.rest2.q.val();
            self.held_skip.d.next = self.skip2.q.val();
            self.held_beats.d.next = self.length.val().get_bits::<8>(6);
            if self.info.val().first {
                self.count.d.next = 0.into();
            }
        }
        self.merge.chosen.next = self.held.q.val();
        self.merge.other.next = self.turned2.q.val();
        self.merge.select.next = self.held_rest.q.val();
        self.out.d.next = self.merge.merged.val();
        self.out_valid_reg.d.next = self.emit.val() & !self.reset.val();
        self.out_first_reg.d.next = self.count.q.val() == 0;
        self.out_last_reg.d.next =
            self.flush.q.val() | (self.counted.val() == self.held_beats.q.val());
        self.out_data.next = self.out.q.val();
        self.out_first.next = self.out_first_reg.q.val();
        self.out_last.next = self.out_last_reg.q.val();
        self.out_valid.next = self.out_valid_reg.q.val();
        self.frame_end.next = self.flush.q.val();
        self.frame_beats.next = self.counted.val();
    }
}
