//! How many beats each plane's transmit FIFO can still take.
//!
//! A frame reserves the most it could need before its payload is asked for, and gives back what it did not
//! use; so nothing behind the scheduler ever has to wait for a plane. Returns are added one cycle late,
//! reservations at once. What room there is is worked out with them, for the next cycle.

use rust_hdl::prelude::*;

#[derive(LogicBlock, Default)]
pub struct TransmitCredit {
    pub clock: Signal<In, Clock>,
    pub reset: Signal<In, Bit>,
    /// Reserve for a data frame.
    pub take_plane: Signal<In, Bits<2>>,
    pub take_valid: Signal<In, Bit>,
    pub refund_plane: Signal<In, Bits<2>>,
    pub refund_beats: Signal<In, Bits<7>>,
    pub returned_plane: Signal<In, Bits<2>>,
    pub returned_beats: Signal<In, Bits<7>>,
    pub ack_plane: Signal<In, Bits<2>>,
    pub ack_beats: Signal<In, Bits<2>>,
    pub freed: [Signal<In, Bit>; 4],
    /// Room for a data frame, and for an ACK.
    pub data_room: Signal<Out, Bits<4>>,
    pub ack_room: Signal<Out, Bits<4>>,
    started: DFF<Bit>,
    credit: [DFF<Bits<12>>; 4],
    plus: [DFF<Bits<12>>; 4],
    plus_now: Signal<Local, Bits<12>>,
    minus_now: Signal<Local, Bits<12>>,
    level: Signal<Local, Bits<12>>,
    left: Signal<Local, Bits<12>>,
    here: Signal<Local, Bits<2>>,
    data_bits: Signal<Local, Bits<4>>,
    ack_bits: Signal<Local, Bits<4>>,
    data_enough: Signal<Local, Bit>,
    ack_enough: Signal<Local, Bit>,
    data_now: DFF<Bits<4>>,
    ack_now: DFF<Bits<4>>,
}

impl Logic for TransmitCredit {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clock, started, data_now, ack_now);
        self.data_bits.next = 0.into();
        self.ack_bits.next = 0.into();
        for i in 0..4 {
            self.credit[i].clock.next = self.clock.val();
            self.plus[i].clock.next = self.clock.val();
            self.here.next = i.to_bits();
            self.plus_now.next = 0.into();
            if self.freed[i].val() {
                self.plus_now.next = 1.into();
            }
            if self.refund_plane.val() == self.here.val() {
                self.plus_now.next =
                    self.plus_now.val() + bit_cast::<12, 7>(self.refund_beats.val());
            }
            if self.returned_plane.val() == self.here.val() {
                self.plus_now.next =
                    self.plus_now.val() + bit_cast::<12, 7>(self.returned_beats.val());
            }
            self.plus[i].d.next = self.plus_now.val();
            self.minus_now.next = 0.into();
            if self.ack_plane.val() == self.here.val() {
                self.minus_now.next = bit_cast::<12, 2>(self.ack_beats.val());
            }
            if self.take_valid.val() & (self.take_plane.val() == self.here.val()) {
                self.minus_now.next = self.minus_now.val() + 67;
            }
            self.level.next = self.credit[i].q.val() + self.plus[i].q.val();
            self.left.next = self.level.val() - self.minus_now.val();
            // A data frame takes 67, and 8 more make room for the ACKs decided on meanwhile.
            self.data_enough.next = self.left.val() >= 75;
            self.ack_enough.next = self.left.val() >= 8;
            // The FIFO holds 512.
            if self.reset.val() | !self.started.q.val() {
                self.left.next = 500.into();
                self.data_enough.next = true;
                self.ack_enough.next = true;
                self.plus[i].d.next = 0.into();
            }
            self.credit[i].d.next = self.left.val();
            self.data_bits.next = self.data_bits.val().replace_bit(i, self.data_enough.val());
            self.ack_bits.next = self.ack_bits.val().replace_bit(i, self.ack_enough.val());
        }
        self.started.d.next = true;
        self.data_now.d.next = self.data_bits.val();
        self.ack_now.d.next = self.ack_bits.val();
        self.data_room.next = self.data_now.q.val();
        self.ack_room.next = self.ack_now.q.val();
    }
}
