//! Cuts the headers off: the transport header moves to lane 0.
//!
//! The header starts at byte 4 * word + 6 of the frame, so a beat is turned by two bytes and by one of 16 multiples
//! of four. An output beat is the rest of the beat before and the start of this one; the beat in which the header starts
//! gives none, so the flush behind a frame's last beat costs no cycle even if another frame follows at once. As many
//! beats come out as the transport's bytes need, if the frame has them. Latency 4 cycles and one beat.

use crate::stream::{BeatInfo, LaneMerge};
use rust_hdl::prelude::*;

/// See the module page.
#[derive(LogicBlock, Default)]
pub struct Repacker {
    pub clock: Signal<In, Clock>,
    pub reset: Signal<In, Bit>,
    pub data: Signal<In, Bits<512>>,
    pub info: Signal<In, BeatInfo>,
    pub valid: Signal<In, Bit>,
    pub word: Signal<In, Bits<5>>,
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
    turned6: DFF<Bits<512>>,
    turned7: DFF<Bits<512>>,
    held: DFF<Bits<512>>,
    out: DFF<Bits<512>>,
    info6: DFF<BeatInfo>,
    info7: DFF<BeatInfo>,
    valid6: DFF<Bit>,
    valid7: DFF<Bit>,
    word6: DFF<Bits<4>>,
    rest7: DFF<Bits<64>>,
    held_rest: DFF<Bits<64>>,
    skip6: DFF<Bit>,
    skip7: DFF<Bit>,
    held_skip: DFF<Bit>,
    beats6: DFF<Bits<8>>,
    beats7: DFF<Bits<8>>,
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
            turned6,
            turned7,
            held,
            out,
            info6,
            info7,
            valid6,
            valid7,
            word6,
            rest7,
            held_rest,
            skip6,
            skip7,
            held_skip,
            beats6,
            beats7,
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
        self.turned6.d.next = self.by4.val();
        if self.turns.val().get_bit(1) {
            self.turned6.d.next = (self.by4.val() >> 64) | (self.by4.val() << 448);
        }
        self.info6.d.next = self.info.val();
        self.valid6.d.next = self.valid.val() & !self.reset.val();
        self.word6.d.next = self.turns.val();
        self.skip6.d.next = self.word.val() >= 15;
        // The transport's bytes are UDP's without its header and the CRC: 12 fewer; beats round up.
        self.length.next = self.udp_length.val() + 51;
        self.beats6.d.next = self.length.val().get_bits::<8>(6);

        self.by16.next = self.turned6.q.val();
        if self.word6.q.val().get_bit(2) {
            self.by16.next = (self.turned6.q.val() >> 128) | (self.turned6.q.val() << 384);
        }
        self.turned7.d.next = self.by16.val();
        if self.word6.q.val().get_bit(3) {
            self.turned7.d.next = (self.by16.val() >> 256) | (self.by16.val() << 256);
        }
        self.info7.d.next = self.info6.q.val();
        self.valid7.d.next = self.valid6.q.val();
        self.skip7.d.next = self.skip6.q.val();
        self.beats7.d.next = self.beats6.q.val();
        self.ones.next = 0xffff_ffff_ffff_ffff_u64.into();
        self.shift.next = (bit_cast::<6, 4>(self.word6.q.val()) << 2) + 2;
        self.rest7.d.next = self.ones.val() >> self.shift.val();

        // What is held belongs to the frame before if this beat is a first one.
        self.more.next = self.count.q.val() < self.held_beats.q.val();
        self.follows.next = self.valid7.q.val()
            & !self.info7.q.val().first
            & (!self.held_skip.q.val() | (self.info7.q.val().index != 1));
        self.emit.next = self.more.val() & (self.follows.val() | self.flush.q.val());
        self.counted.next = self.count.q.val();
        if self.emit.val() {
            self.counted.next = self.count.q.val() + 1;
        }
        self.count.d.next = self.counted.val();
        self.flush.d.next = self.valid7.q.val() & self.info7.q.val().last;
        if self.valid7.q.val() {
            self.held.d.next = self.turned7.q.val();
            self.held_rest.d.next = self.rest7.q.val();
            self.held_skip.d.next = self.skip7.q.val();
            self.held_beats.d.next = self.beats7.q.val();
            if self.info7.q.val().first {
                self.count.d.next = 0.into();
            }
        }
        self.merge.chosen.next = self.held.q.val();
        self.merge.other.next = self.turned7.q.val();
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
