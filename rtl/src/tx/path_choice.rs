//! Which of a plane's eight paths takes the next packet (design rule 2, clause T-2.2).
//!
//! Among the usable paths with room the one with the least (in flight + 1) x smoothed round trip, compared
//! as logarithms with three fraction bits. What room is says [`PathLimit`]. 4 cycles, one choice a cycle.

use crate::bundle;
use crate::stream::Log2;
use crate::tx::path_limit::PathLimit;
use rust_hdl::prelude::*;

bundle! {
    /// Running counts of a path, modulo 256: ordinals sent and walked, PSNs sent and acknowledged.
    PathCounts { ordinal: 8, walked: 8, psn: 8, cumulative: 8, srtt_log: 7 }
}

#[derive(LogicBlock, Default)]
pub struct PathChoice {
    pub clock: Signal<In, Clock>,
    pub counts: [Signal<In, PathCounts>; 8],
    pub usable: Signal<In, Bits<8>>,
    pub window: Signal<In, Bits<8>>,
    /// Four cycles after the counts.
    pub path: Signal<Out, Bits<3>>,
    pub found: Signal<Out, Bit>,
    /// Paths whose log has room for a probe, four cycles after the counts.
    pub log_room: Signal<Out, Bits<8>>,
    of: Signal<Local, PathCounts>,
    in_flight: [DFF<Bits<8>>; 8],
    span: [DFF<Bits<8>>; 8],
    srtt: [DFF<Bits<7>>; 8],
    limit: [PathLimit; 8],
    usable1: DFF<Bits<8>>,
    window1: DFF<Bits<8>>,
    one_more: Signal<Local, Bits<8>>,
    flying: Signal<Local, Bits<8>>,
    load_log: Signal<Local, Bits<7>>,
    srtt_log: Signal<Local, Bits<7>>,
    log2: [Log2; 8],
    open: [DFF<Bit>; 8],
    key: [DFF<Bits<8>>; 8],
    roomy: Signal<Local, Bit>,
    room_bits: Signal<Local, Bits<8>>,
    room2: DFF<Bits<8>>,
    room3: DFF<Bits<8>>,
    room4: DFF<Bits<8>>,
    left_key: Signal<Local, Bits<8>>,
    right_key: Signal<Local, Bits<8>>,
    open3: [DFF<Bit>; 4],
    key3: [DFF<Bits<8>>; 4],
    index3: [DFF<Bits<3>>; 4],
    open4: [DFF<Bit>; 2],
    key4: [DFF<Bits<8>>; 2],
    index4: [DFF<Bits<3>>; 2],
}

impl PathChoice {
    /// For paths with `1 << window_bits` open PSNs at most.
    pub fn new(window_bits: usize) -> Self {
        Self {
            limit: std::array::from_fn(|_| PathLimit::new(window_bits)),
            ..Default::default()
        }
    }
}

impl Logic for PathChoice {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clock, usable1, window1, room2, room3, room4);
        self.usable1.d.next = self.usable.val();
        self.window1.d.next = self.window.val();
        self.room_bits.next = 0.into();
        for i in 0..8 {
            self.in_flight[i].clock.next = self.clock.val();
            self.span[i].clock.next = self.clock.val();
            self.srtt[i].clock.next = self.clock.val();
            self.open[i].clock.next = self.clock.val();
            self.key[i].clock.next = self.clock.val();
            // Stage 1: the counts.
            self.of.next = self.counts[i].val();
            self.in_flight[i].d.next = self.of.val().ordinal - self.of.val().walked;
            self.span[i].d.next = self.of.val().psn - self.of.val().cumulative;
            self.srtt[i].d.next = self.of.val().srtt_log;
            // Stage 2: room and key. The path's own window will join the key here.
            self.flying.next = self.in_flight[i].q.val();
            self.limit[i].in_flight.next = self.flying.val();
            self.limit[i].span.next = self.span[i].q.val();
            self.limit[i].window.next = self.window1.q.val();
            self.open[i].d.next = self.usable1.q.val().get_bit(i) & self.limit[i].open.val();
            self.one_more.next = self.flying.val() + 1;
            self.log2[i].value.next = bit_cast::<16, 8>(self.one_more.val());
            self.load_log.next = self.log2[i].log.val();
            self.srtt_log.next = self.srtt[i].q.val();
            self.key[i].d.next =
                bit_cast::<8, 7>(self.load_log.val()) + bit_cast::<8, 7>(self.srtt_log.val());
            self.roomy.next = self.limit[i].log_room.val();
            self.room_bits.next = self.room_bits.val().replace_bit(i, self.roomy.val());
        }
        self.room2.d.next = self.room_bits.val();
        self.room3.d.next = self.room2.q.val();
        self.room4.d.next = self.room3.q.val();
        // Stage 3: eight to four.
        for i in 0..4 {
            self.open3[i].clock.next = self.clock.val();
            self.key3[i].clock.next = self.clock.val();
            self.index3[i].clock.next = self.clock.val();
            self.left_key.next = self.key[i].q.val();
            self.right_key.next = self.key[i + 4].q.val();
            self.open3[i].d.next = self.open[i].q.val() | self.open[i + 4].q.val();
            self.key3[i].d.next = self.left_key.val();
            self.index3[i].d.next = i.to_bits();
            if !self.open[i].q.val()
                | (self.open[i + 4].q.val() & (self.right_key.val() < self.left_key.val()))
            {
                self.key3[i].d.next = self.right_key.val();
                self.index3[i].d.next = (i + 4).to_bits();
            }
        }
        // Stage 4: four to two; the last comparison follows the registers.
        for i in 0..2 {
            self.open4[i].clock.next = self.clock.val();
            self.key4[i].clock.next = self.clock.val();
            self.index4[i].clock.next = self.clock.val();
            self.left_key.next = self.key3[i].q.val();
            self.right_key.next = self.key3[i + 2].q.val();
            self.open4[i].d.next = self.open3[i].q.val() | self.open3[i + 2].q.val();
            self.key4[i].d.next = self.left_key.val();
            self.index4[i].d.next = self.index3[i].q.val();
            if !self.open3[i].q.val()
                | (self.open3[i + 2].q.val() & (self.right_key.val() < self.left_key.val()))
            {
                self.key4[i].d.next = self.right_key.val();
                self.index4[i].d.next = self.index3[i + 2].q.val();
            }
        }
        self.left_key.next = self.key4[0].q.val();
        self.right_key.next = self.key4[1].q.val();
        self.path.next = self.index4[0].q.val();
        if !self.open4[0].q.val()
            | (self.open4[1].q.val() & (self.right_key.val() < self.left_key.val()))
        {
            self.path.next = self.index4[1].q.val();
        }
        self.found.next = self.open4[0].q.val() | self.open4[1].q.val();
        self.log_room.next = self.room4.q.val();
    }
}
