//! Cuts the headers off: the transport header moves to lane 0.
//!
//! The header starts at byte 4 * word + 6 of the frame, so a beat is turned by 2, 6, 10 or 14 bytes and then by a multiple of
//! 16. An output beat is the rest of the beat before and the start of this one; the beat in which the header starts
//! gives none, so the flush behind a frame's last beat costs no cycle even if another frame follows at once. As many
//! beats come out as the transport's bytes need, if the frame has them. What is known of a beat comes two cycles after
//! the beat. 3 cycles from beat to beat out, and one beat.
//!
//! The first turn decides of twelve lanes only whether they come from the beat before or from this one; for all others that
//! follows from the second turn's amount, lane by lane. So both beats go into the second turn side by side, and
//! joining them costs next to nothing.

use crate::stream::{BeatInfo, LaneMerge};
use rust_hdl::prelude::*;

/// See the module page.
#[derive(LogicBlock, Default)]
pub struct Repacker {
    pub clock: Signal<In, Clock>,
    pub reset: Signal<In, Bit>,
    pub data: Signal<In, Bits<512>>,
    pub word: Signal<In, Bits<5>>,
    /// There is a beat; one cycle after `data`.
    pub early_valid: Signal<In, Bit>,
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
    /// The beat, turned by 2, 6, 10 or 14; and the one before.
    beat: DFF<Bits<512>>,
    held: DFF<Bits<512>>,
    /// Both joined, turned by 0 or 32, as many lanes as are wanted of them.
    half: DFF<Bits<640>>,
    out: DFF<Bits<512>>,
    /// By four bytes each, less than two of them.
    turns1: DFF<Bits<4>>,
    held_turns: DFF<Bits<4>>,
    half_turn: DFF<Bit>,
    word2: DFF<Bits<32>>,
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
    by32: Signal<Local, Bits<640>>,
    ahead: Signal<Local, Bits<640>>,
    of_beat: Signal<Local, Bits<64>>,
    fine: Signal<Local, Bits<2>>,
    coarse: Signal<Local, Bits<2>>,
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
            beat,
            held,
            half,
            out,
            turns1,
            held_turns,
            half_turn,
            word2,
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
        // Turn by 4 * (word + 1) + 2 mod 64: first by what 16 does not divide.
        self.turns.next = self.word.val().get_bits::<4>(0) + 1;
        self.by2.next = (self.data.val() >> 16) | (self.data.val() << 496);
        self.by4.next = self.by2.val();
        if self.turns.val().get_bit(0) {
            self.by4.next = (self.by2.val() >> 32) | (self.by2.val() << 480);
        }
        self.beat.d.next = self.by4.val();
        if self.turns.val().get_bit(1) {
            self.beat.d.next = (self.by4.val() >> 64) | (self.by4.val() << 448);
        }
        self.turns1.d.next = self.turns.val();

        // Then by the rest. The last 14 lanes or fewer of the beat before are this beat's first.
        self.coarse.next = self.turns1.q.val().get_bits::<2>(2);
        self.word2.d.next = self.beat.q.val().get_bits::<32>(8 * 58);
        if self.coarse.val() == 1 {
            self.word2.d.next = self.beat.q.val().get_bits::<32>(8 * 10);
        }
        if self.coarse.val() == 2 {
            self.word2.d.next = self.beat.q.val().get_bits::<32>(8 * 26);
        }
        if self.coarse.val() == 3 {
            self.word2.d.next = self.beat.q.val().get_bits::<32>(8 * 42);
        }
        self.turned.next = self.word2.q.val();
        if self.early_valid.val() {
            self.held.d.next = self.beat.q.val();
            self.held_turns.d.next = self.turns1.q.val();
        }
        self.fine.next = self.held_turns.q.val().get_bits::<2>(0);
        self.of_beat.next = 0xc000_0000_0000_0000_u64.into();
        if self.fine.val() == 1 {
            self.of_beat.next = 0xfc00_0000_0000_0000_u64.into();
        }
        if self.fine.val() == 2 {
            self.of_beat.next = 0xffc0_0000_0000_0000_u64.into();
        }
        if self.fine.val() == 3 {
            self.of_beat.next = 0xfffc_0000_0000_0000_u64.into();
        }
        self.merge.chosen.next = self.beat.q.val();
        self.merge.other.next = self.held.q.val();
        self.merge.select.next = self.of_beat.val();
        self.ahead.next = bit_cast::<640, 512>(self.beat.q.val());
        self.by32.next = bit_cast::<640, 512>(self.merge.merged.val()) | (self.ahead.val() << 512);
        if self.held_turns.q.val().get_bit(3) {
            self.by32.next =
                (bit_cast::<640, 512>(self.merge.merged.val()) >> 256) | (self.ahead.val() << 256);
        }
        self.half.d.next = self.by32.val();
        self.half_turn.d.next = self.held_turns.q.val().get_bit(2);
        self.skip1.d.next = self.word.val() >= 15;
        self.skip2.d.next = self.skip1.q.val();
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
            self.held_skip.d.next = self.skip2.q.val();
            self.held_beats.d.next = self.length.val().get_bits::<8>(6);
            if self.info.val().first {
                self.count.d.next = 0.into();
            }
        }
        self.out.d.next = self.half.q.val().get_bits::<512>(0);
        if self.half_turn.q.val() {
            self.out.d.next = self.half.q.val().get_bits::<512>(128);
        }
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
