//! The first hole of a receive window behind the packet at its start: the next cumulative PSN.
//!
//! Goes by words of 32 bits, in the order of the PSNs: what is behind the packet in its own word, the other words in turn, what is
//! before it in its own word, and if nothing is missing its own place, a lap later. Of the other words the
//! first with a hole is picked before its bits are looked at, so there is one search in 32 bits. No loop: a
//! packet a cycle.
//!
//! Does not know whether the packet is new, nor where the window starts: of a packet that is not at its start the answer means nothing.
//! Both are known to `path_sequence`.

use crate::stream::FirstSet32;
use rust_hdl::prelude::*;

macro_rules! next_hole {
    ($(#[$meta:meta])* $name:ident, $w:tt, $index:tt, $lap:tt, $words:tt, $word_index:tt) => {
        $(#[$meta])*
        #[derive(LogicBlock, Default)]
        pub struct $name {
            pub clock: Signal<In, Clock>,
            /// PSN mod 2 W of the packet.
            pub psn: Signal<In, Bits<$lap>>,
            /// The window, a cycle after the PSN.
            pub vector: Signal<In, Bits<$w>>,
            /// The window once more, three cycles after the PSN: the caller holds it anyway.
            pub vector_late: Signal<In, Bits<$w>>,
            /// The packet's word of the window, two cycles after the PSN.
            pub own_word: Signal<Out, Bits<32>>,
            /// PSN mod W of the hole, seven cycles after the packet's.
            pub hole: Signal<Out, Bits<$index>>,
            /// With it: the hole lies in the next lap.
            pub wraps: Signal<Out, Bit>,

            // What waits in the stages; stage 1 is the cycle after the PSN.
            at: [DFF<Bits<$lap>>; 6],
            here: Signal<Local, Bits<$lap>>,
            own: Signal<Local, Bits<$word_index>>,
            one: Signal<Local, Bits<$words>>,
            ones: Signal<Local, Bits<$words>>,
            from_own: Signal<Local, Bits<$words>>,
            behind_own: Signal<Local, Bits<$words>>,
            pick_own: DFF<Bits<$words>>,
            // Of each word: how the bits of packets that are here stand.
            set: DFF<Bits<$words>>,
            part: [Signal<Local, Bits<32>>; $words],
            changes: [Signal<Local, Bits<32>>; $words],
            open: [DFF<Bit>; $words],
            picked: Signal<Local, Bits<32>>,
            word: DFF<Bits<32>>,
            here1: Signal<Local, Bits<$lap>>,
            spot1: Signal<Local, Bits<5>>,
            all: Signal<Local, Bits<32>>,
            from_spot: Signal<Local, Bits<32>>,
            above: DFF<Bits<32>>,
            here2: Signal<Local, Bits<$lap>>,
            own2: Signal<Local, Bits<$word_index>>,
            from_own2: Signal<Local, Bits<$words>>,
            behind_own2: Signal<Local, Bits<$words>>,
            turned: Signal<Local, Bits<32>>,
            later: DFF<Bits<32>>,
            earlier: DFF<Bits<32>>,
            found: Signal<Local, Bit>,
            first_later: [Signal<Local, Bit>; $words],
            first_earlier: [Signal<Local, Bit>; $words],
            pick_other: [DFF<Bit>; $words],
            other_later: [DFF<Bit>; 2],
            other_open: [DFF<Bit>; 2],
            own_later: DFF<Bit>,
            near: DFF<Bits<32>>,
            late_part: [Signal<Local, Bits<32>>; $words],
            late_picked: Signal<Local, Bits<32>>,
            far: DFF<Bits<32>>,
            other: DFF<Bits<$word_index>>,
            here4: Signal<Local, Bits<$lap>>,
            in_own: Signal<Local, Bit>,
            holes: Signal<Local, Bits<32>>,
            search: FirstSet32,
            hole_word: [DFF<Bits<$word_index>>; 2],
            next_lap: [DFF<Bit>; 2],
            here6: Signal<Local, Bits<$lap>>,
            spot: Signal<Local, Bits<5>>,
            low: Signal<Local, Bits<$index>>,
            high: Signal<Local, Bits<$index>>,
            hole_out: DFF<Bits<$index>>,
            wraps_out: DFF<Bit>,
        }

        impl Logic for $name {
            #[hdl_gen]
            fn update(&mut self) {
                dff_setup!(self, clock, pick_own, set, word, above, later, earlier, own_later, near, far,
                    other, hole_out, wraps_out);
                clock!(self, clock, search);
                for i in 0..6 {
                    self.at[i].clock.next = self.clock.val();
                }
                for i in 0..5 {
                    self.at[i + 1].d.next = self.at[i].q.val();
                }
                self.at[0].d.next = self.psn.val();
                for i in 0..$words {
                    self.open[i].clock.next = self.clock.val();
                    self.pick_other[i].clock.next = self.clock.val();
                }
                for i in 0..2 {
                    self.other_later[i].clock.next = self.clock.val();
                    self.other_open[i].clock.next = self.clock.val();
                    self.hole_word[i].clock.next = self.clock.val();
                    self.next_lap[i].clock.next = self.clock.val();
                }

                // Stage 0: the bit of a packet that is here is the inverse of its lap, which is one further for the
                // words before the packet's own.
                self.here.next = self.psn.val();
                self.own.next = self.here.val().get_bits::<$word_index>(5);
                self.one.next = 1.into();
                self.pick_own.d.next = self.one.val() << self.own.val();
                self.ones.next = 0.into();
                self.ones.next = !self.ones.val();
                self.from_own.next = self.ones.val() << self.own.val();
                self.behind_own.next = self.from_own.val() << 1;
                self.set.d.next = self.behind_own.val();
                if self.here.val().get_bit($index) {
                    self.set.d.next = !self.behind_own.val();
                }

                // Stage 1: the packet's own word. A word has a hole if two neighbours differ, or its lowest bit is one.
                self.picked.next = 0.into();
                for i in 0..$words {
                    self.part[i].next = self.vector.val().get_bits::<32>(i * 32);
                    if self.pick_own.q.val().get_bit(i) {
                        self.picked.next = self.picked.val() | self.part[i].val();
                    }
                    self.changes[i].next = self.part[i].val() >> 1;
                    self.changes[i].next = self.changes[i].val() ^ self.part[i].val();
                    self.open[i].d.next = self.changes[i].val().get_bits::<31>(0).any()
                        | (self.part[i].val().get_bit(0) ^ self.set.q.val().get_bit(i));
                }
                self.word.d.next = self.picked.val();
                self.own_word.next = self.word.q.val();
                self.here1.next = self.at[0].q.val();
                self.spot1.next = self.here1.val().get_bits::<5>(0);
                self.all.next = 0.into();
                self.all.next = !self.all.val();
                self.from_spot.next = self.all.val() << self.spot1.val();
                self.above.d.next = self.from_spot.val() << 1;

                // Stage 2: the holes of the packet's own word on either side of it, and the next other word that has one.
                self.here2.next = self.at[1].q.val();
                self.turned.next = self.word.q.val();
                if self.here2.val().get_bit($index) {
                    self.turned.next = !self.word.q.val();
                }
                self.earlier.d.next = self.turned.val() & !self.above.q.val();
                self.turned.next = !self.turned.val();
                self.later.d.next = self.turned.val() & self.above.q.val();
                self.own2.next = self.here2.val().get_bits::<$word_index>(5);
                self.from_own2.next = self.ones.val() << self.own2.val();
                self.behind_own2.next = self.from_own2.val() << 1;
                self.found.next = false;
                for i in 0..$words {
                    self.first_later[i].next = self.open[i].q.val() & self.behind_own2.val().get_bit(i) & !self.found.val();
                    self.found.next = self.found.val() | self.first_later[i].val();
                }
                self.other_later[0].d.next = self.found.val();
                for i in 0..$words {
                    self.first_earlier[i].next = self.open[i].q.val() & !self.from_own2.val().get_bit(i) & !self.found.val();
                    self.found.next = self.found.val() | self.first_earlier[i].val();
                    self.pick_other[i].d.next = self.first_later[i].val() | self.first_earlier[i].val();
                }
                self.other_open[0].d.next = self.found.val();

                // Stage 3: both words.
                self.own_later.d.next = self.later.q.val().any();
                self.near.d.next = self.earlier.q.val();
                if self.later.q.val().any() {
                    self.near.d.next = self.later.q.val();
                }
                self.late_picked.next = 0.into();
                self.other.d.next = 0.into();
                for i in 0..$words {
                    self.late_part[i].next = self.vector_late.val().get_bits::<32>(i * 32);
                    if self.pick_other[i].q.val() {
                        self.late_picked.next = self.late_picked.val() | self.late_part[i].val();
                        self.other.d.next = i.to_bits();
                    }
                }
                self.far.d.next = self.late_picked.val();
                self.other_later[1].d.next = self.other_later[0].q.val();
                self.other_open[1].d.next = self.other_open[0].q.val();

                // Stages 4 to 6: one of the two, and its first hole; without any the packet's own place.
                self.here4.next = self.at[3].q.val();
                self.in_own.next = self.own_later.q.val() | !self.other_open[1].q.val();
                self.holes.next = self.far.q.val();
                if self.here4.val().get_bit($index) ^ self.other_later[1].q.val() {
                    self.holes.next = !self.far.q.val();
                }
                self.hole_word[0].d.next = self.other.q.val();
                if self.in_own.val() {
                    self.holes.next = self.near.q.val();
                    self.hole_word[0].d.next = self.here4.val().get_bits::<$word_index>(5);
                }
                self.search.value.next = self.holes.val();
                self.next_lap[0].d.next = !self.own_later.q.val() & !self.other_later[1].q.val();
                self.hole_word[1].d.next = self.hole_word[0].q.val();
                self.next_lap[1].d.next = self.next_lap[0].q.val();
                self.here6.next = self.at[5].q.val();
                self.spot.next = self.here6.val().get_bits::<5>(0);
                if self.search.any.val() {
                    self.spot.next = self.search.index.val();
                }
                self.low.next = bit_cast::<$index, 5>(self.spot.val());
                self.high.next = bit_cast::<$index, $word_index>(self.hole_word[1].q.val());
                self.high.next = self.high.val() << 5;
                self.hole_out.d.next = self.high.val() | self.low.val();
                self.wraps_out.d.next = self.next_lap[1].q.val();
                self.hole.next = self.hole_out.q.val();
                self.wraps.next = self.wraps_out.q.val();
            }
        }
    };
}

next_hole!(
    /// In a window of 64 packets.
    NextHole64, 64, 6, 7, 2, 1
);
next_hole!(
    /// In a window of 256 packets.
    NextHole256, 256, 8, 9, 8, 3
);
