//! The receive window of every path: which packets have arrived (design rule 8, clause T-2.8).
//!
//! One word of block RAM a (connection, path) holds the bitvector, the cumulative PSN and what an ACK
//! echoes, so an ACK can never show an ordinal or a count that is newer than its vector. The vector is
//! indexed by PSN mod W and toggles with the lap; it is never shifted and never cleared. The packet at the cumulative PSN
//! is never there: only its arrival moves the cumulative PSN on, and `next_hole` looks for where to.
//!
//! The work is spread over stages, and a packet waits while its path is in flight in them: consecutive
//! packets of a connection fall on different paths, so that costs nothing in the common case. One packet
//! a cycle over distinct paths, one every 12 cycles on one path. The verdict comes 5 cycles after the
//! event, the state is written (and the ACK event given) 11 cycles after it. `veto`, sampled 4 cycles
//! after the event, is the memory check's refusal: a new packet then leaves no trace. Of one that was received before it says
//! nothing: it is answered, for its key may have been given back since.

use super::in_flight::InFlight;
use super::next_hole::{NextHole64, NextHole256};
use crate::bundle;
use crate::stream::Ram;
use rust_hdl::prelude::*;

bundle! {
    /// A DATA or PROBE that has reached its path's window, or an order to start the path anew.
    PathEvent {
        pair: 17, psn: 24, epoch: 8, ordinal: 16, timestamp: 16, now: 16,
        data: 1, marked: 1, urgent: 1, clear: 1,
    }
}

bundle! {
    /// What the window said of an event.
    PathVerdict { fresh: 1, duplicate: 1, outside: 1, stale: 1 }
}

bundle! {
    /// A path that has something to acknowledge; `urgent`: at once.
    AckEvent { pair: 17, urgent: 1 }
}

macro_rules! path_sequence {
    ($(#[$meta:meta])* $name:ident, $state:ident, $next_hole:ident, $w:tt, $index:tt, $lap:tt, $words:tt, $word_index:tt, $last_word:tt) => {
        bundle! {
            /// All that the receiver knows of a path.
            $state {
                cumulative: 24, epoch: 8, next_ordinal: 16, echo: 16, arrival: 16,
                marked: 16, received: 16, vector: $w,
            }
        }

        $(#[$meta])*
        #[derive(LogicBlock, Default)]
        pub struct $name {
            pub clock: Signal<In, Clock>,
            pub reset: Signal<In, Bit>,
            pub packet: Signal<In, PathEvent>,
            pub packet_valid: Signal<In, Bit>,
            pub packet_ready: Signal<Out, Bit>,
            /// Sampled 4 cycles after the event was taken.
            pub veto: Signal<In, Bit>,
            pub verdict: Signal<Out, PathVerdict>,
            pub verdict_valid: Signal<Out, Bit>,
            pub ack: Signal<Out, AckEvent>,
            pub ack_valid: Signal<Out, Bit>,
            /// Second read port, for the ACK generator; the state comes one cycle after the address.
            pub read_pair: Signal<In, Bits<17>>,
            pub read_state: Signal<Out, $state>,

            states: Ram<$state, 17>,
            snapshot: Ram<$state, 17>,
            // What waits in the stages behind the RAM; stage 1 is the cycle after the event.
            stage: [DFF<PathEvent>; 11],
            valid: [DFF<Bit>; 11],
            state: [DFF<$state>; 9],
            in_flight: InFlight,
            take: Signal<Local, Bit>,
            delta: DFF<Bits<24>>,
            difference: Signal<Local, Bits<24>>,
            coming: Signal<Local, Bits<24>>,
            psn: Signal<Local, Bits<24>>,
            place: Signal<Local, Bits<5>>,
            shifted: Signal<Local, Bits<32>>,
            was_set: Signal<Local, Bit>,
            first: DFF<Bit>,
            ordinal_ahead: Signal<Local, Bits<16>>,
            ahead: DFF<Bits<16>>,
            same_epoch: DFF<Bit>,
            in_window: Signal<Local, Bit>,
            old: Signal<Local, Bit>,
            counts: Signal<Local, Bit>,
            judged: DFF<PathVerdict>,
            gap: DFF<Bit>,
            newer: DFF<Bit>,
            apply: DFF<Bit>,
            newer5: DFF<Bit>,
            gap5: DFF<Bit>,
            urgent6: [DFF<Bit>; 6],
            apply6: [DFF<Bit>; 6],
            psn4: Signal<Local, Bits<24>>,
            place4: Signal<Local, Bits<5>>,
            word4: Signal<Local, Bits<$word_index>>,
            one_bit: Signal<Local, Bits<32>>,
            one_word: Signal<Local, Bits<$words>>,
            flip_bit: DFF<Bits<32>>,
            flip_word: DFF<Bits<$words>>,
            old_vector: Signal<Local, Bits<$w>>,
            word: Signal<Local, Bits<32>>,
            wide: Signal<Local, Bits<$w>>,
            vector: Signal<Local, Bits<$w>>,
            next_hole: $next_hole,
            advances: [DFF<Bit>; 4],
            bound: Signal<Local, Bits<24>>,
            lap: Signal<Local, Bits<24>>,
            hole: Signal<Local, Bits<24>>,
            written: Signal<Local, $state>,
        }

        impl $name {
            /// Windows of `1 << pair_bits` paths.
            pub fn new(pair_bits: usize) -> Self {
                Self {
                    // A path in the stages is not read.
                    states: Ram::new(pair_bits).without_collisions(),
                    snapshot: Ram::new(pair_bits),
                    in_flight: InFlight::new(pair_bits),
                    ..Default::default()
                }
            }
        }

        impl Logic for $name {
            #[hdl_gen]
            fn update(&mut self) {
                dff_setup!(self, clock, delta, ahead, same_epoch, judged, first, gap, newer, apply, newer5,
                    gap5, flip_bit, flip_word);
                clock!(self, clock, states, snapshot, in_flight, next_hole);

                // Stage 0: take the event unless its path is in flight.
                self.in_flight.reset.next = self.reset.val();
                self.in_flight.pair.next = self.packet.val().pair;
                self.packet_ready.next = !self.in_flight.busy.val();
                self.take.next = self.packet_valid.val() & !self.in_flight.busy.val();
                self.in_flight.take.next = self.take.val();
                for i in 0..11 {
                    self.stage[i].clock.next = self.clock.val();
                    self.valid[i].clock.next = self.clock.val();
                }
                for i in 0..9 {
                    self.state[i].clock.next = self.clock.val();
                }
                for i in 0..10 {
                    self.stage[i + 1].d.next = self.stage[i].q.val();
                    self.valid[i + 1].d.next = self.valid[i].q.val() & !self.reset.val();
                }
                for i in 0..8 {
                    self.state[i + 1].d.next = self.state[i].q.val();
                }
                self.stage[0].d.next = self.packet.val();
                self.valid[0].d.next = self.take.val() & !self.reset.val();
                self.states.read_address.next = self.packet.val().pair;
                self.states.read_enable.next = true;

                // Stage 1: the word goes straight into a register; a path that starts anew forgets it.
                self.state[0].d.next = self.states.read_data.val();
                if self.stage[0].q.val().clear.any() {
                    self.state[0].d.next.marked = 0.into();
                    self.state[0].d.next.received = 0.into();
                    self.state[0].d.next.vector = 0.into();
                    self.state[0].d.next.echo = 0.into();
                    self.state[0].d.next.arrival = 0.into();
                    self.state[0].d.next.cumulative = self.stage[0].q.val().psn;
                    self.state[0].d.next.epoch = self.stage[0].q.val().epoch;
                    self.state[0].d.next.next_ordinal = self.stage[0].q.val().ordinal;
                }

                self.coming.next = self.stage[0].q.val().psn;
                self.next_hole.psn.next = self.coming.val().get_bits::<$lap>(0);

                // Stage 2: distance from the cumulative PSN, the packet's word, the ordinal's distance.
                self.difference.next = self.stage[1].q.val().psn - self.state[0].q.val().cumulative;
                self.delta.d.next = self.difference.val();
                self.next_hole.vector.next = self.state[0].q.val().vector;
                self.ordinal_ahead.next = self.stage[1].q.val().ordinal - self.state[0].q.val().next_ordinal;
                self.ahead.d.next = self.ordinal_ahead.val();
                self.same_epoch.d.next = self.stage[1].q.val().epoch == self.state[0].q.val().epoch;

                // Stage 3: the packet's bit and the verdict.
                self.psn.next = self.stage[2].q.val().psn;
                self.place.next = self.psn.val().get_bits::<5>(0);
                self.shifted.next = self.next_hole.own_word.val() >> self.place.val();
                self.was_set.next = self.shifted.val().get_bit(0) ^ self.psn.val().get_bit($index);
                self.first.d.next = !self.delta.q.val().any();
                self.in_window.next = self.delta.q.val() < $w;
                self.old.next = self.delta.q.val().get_bit(23) | (self.in_window.val() & self.was_set.val());
                self.judged.d.next.stale = (!self.same_epoch.q.val()).into();
                self.judged.d.next.duplicate = (self.stage[2].q.val().data.any() & self.same_epoch.q.val() & self.old.val()).into();
                self.judged.d.next.outside = (self.stage[2].q.val().data.any() & self.same_epoch.q.val() & !self.old.val() & !self.in_window.val()).into();
                self.judged.d.next.fresh = (self.stage[2].q.val().data.any() & self.same_epoch.q.val() & !self.old.val() & self.in_window.val()).into();
                self.newer.d.next = !self.ahead.q.val().get_bit(15);
                self.gap.d.next = self.ahead.q.val().any();

                // Stage 4: the memory check may still refuse; what is left changes the path.
                self.verdict.next = self.judged.q.val();
                self.verdict_valid.next = self.valid[3].q.val() & !self.stage[3].q.val().clear.any();
                self.counts.next = !self.judged.q.val().stale.any()
                    & !self.judged.q.val().outside.any()
                    & !(self.veto.val() & self.judged.q.val().fresh.any());
                self.apply.d.next = self.valid[3].q.val() & self.counts.val() & !self.stage[3].q.val().clear.any();
                self.newer5.d.next = self.newer.q.val();
                self.gap5.d.next = self.gap.q.val() | self.judged.q.val().duplicate.any() | self.stage[3].q.val().urgent.any();

                self.next_hole.vector_late.next = self.state[2].q.val().vector;
                // A new packet changes its bit and the counts; one at the cumulative PSN moves that on.
                self.state[3].d.next = self.state[2].q.val();
                self.psn4.next = self.stage[3].q.val().psn;
                self.place4.next = self.psn4.val().get_bits::<5>(0);
                self.word4.next = self.psn4.val().get_bits::<$word_index>(5);
                self.one_bit.next = 1.into();
                self.flip_bit.d.next = self.one_bit.val() << self.place4.val();
                self.one_word.next = 1.into();
                self.flip_word.d.next = 0.into();
                if self.judged.q.val().fresh.any() {
                    self.flip_word.d.next = self.one_word.val() << self.word4.val();
                    self.state[3].d.next.received = self.state[2].q.val().received + 1;
                    if self.stage[3].q.val().marked.any() {
                        self.state[3].d.next.marked = self.state[2].q.val().marked + 1;
                    }
                }
                for i in 0..4 {
                    self.advances[i].clock.next = self.clock.val();
                }
                for i in 0..3 {
                    self.advances[i + 1].d.next = self.advances[i].q.val();
                }
                self.advances[0].d.next = self.judged.q.val().fresh.any() & self.first.q.val();

                // Stage 5: the packet's bit turns; the echo moves with the newest ordinal.
                self.old_vector.next = self.state[3].q.val().vector;
                self.vector.next = 0.into();
                for i in 0..$words {
                    self.word.next = self.old_vector.val().get_bits::<32>(($last_word - i) * 32);
                    if self.flip_word.q.val().get_bit($last_word - i) {
                        self.word.next = self.word.val() ^ self.flip_bit.q.val();
                    }
                    self.wide.next = bit_cast::<$w, 32>(self.word.val());
                    self.vector.next = self.vector.val() << 32;
                    self.vector.next = self.vector.val() | self.wide.val();
                }
                self.state[4].d.next = self.state[3].q.val();
                self.state[4].d.next.vector = self.vector.val();
                if self.newer5.q.val() & self.apply.q.val() {
                    self.state[4].d.next.next_ordinal = self.stage[4].q.val().ordinal + 1;
                    self.state[4].d.next.echo = self.stage[4].q.val().timestamp;
                    self.state[4].d.next.arrival = self.stage[4].q.val().now;
                }
                for i in 0..6 {
                    self.urgent6[i].clock.next = self.clock.val();
                    self.apply6[i].clock.next = self.clock.val();
                }
                for i in 0..5 {
                    self.urgent6[i + 1].d.next = self.urgent6[i].q.val();
                    self.apply6[i + 1].d.next = self.apply6[i].q.val();
                }
                self.urgent6[0].d.next = self.gap5.q.val();
                self.apply6[0].d.next = self.apply.q.val();

                // Stage 8: the cumulative PSN has never come, so that only its own packet moves it: to the next hole.
                self.bound.next = self.state[6].q.val().cumulative;
                self.lap.next = self.bound.val() >> $index;
                if self.next_hole.wraps.val() {
                    self.lap.next = self.lap.val() + 1;
                }
                self.lap.next = self.lap.val() << $index;
                self.hole.next = bit_cast::<24, $index>(self.next_hole.hole.val());
                self.state[7].d.next = self.state[6].q.val();
                if self.advances[3].q.val() {
                    self.state[7].d.next.cumulative = self.lap.val() | self.hole.val();
                }

                // Stage 10: write.
                self.written.next = self.state[8].q.val();
                self.states.write_address.next = self.stage[9].q.val().pair;
                self.states.write_data.next = self.written.val();
                self.states.write_enable.next = self.valid[9].q.val() & (self.apply6[4].q.val() | self.stage[9].q.val().clear.any());
                self.snapshot.write_address.next = self.stage[9].q.val().pair;
                self.snapshot.write_data.next = self.written.val();
                self.snapshot.write_enable.next = self.valid[9].q.val() & (self.apply6[4].q.val() | self.stage[9].q.val().clear.any());
                self.snapshot.read_address.next = self.read_pair.val();
                self.snapshot.read_enable.next = true;
                self.read_state.next = self.snapshot.read_data.val();

                // One cycle behind the write, so that the ACK generator reads what it is told of.
                self.ack.next.pair = self.stage[10].q.val().pair;
                self.ack.next.urgent = self.urgent6[5].q.val().into();
                self.ack_valid.next = self.valid[10].q.val() & self.apply6[5].q.val();
            }
        }
    };
}

path_sequence!(
    /// Receive windows of 64 packets.
    PathSequence, PathReceiveState, NextHole64, 64, 6, 7, 2, 1, 1
);
path_sequence!(
    /// Receive windows of 256 packets.
    PathSequence256, PathReceiveState256, NextHole256, 256, 8, 9, 8, 3, 7
);
