//! Whose turn it is: connections with something to send, one after another on each plane.
//!
//! A connection is `active` while it has packets that were never sent, `busy` while a choice for it is in
//! the scheduler's stages. `fresh` remembers that work came while a choice was under way, so that the
//! choice's word 'nothing left' cannot put it to sleep. The next connection after the plane's last one
//! comes two cycles after the plane is asked for; `busy` has to be looked at again when it is taken. It holds
//! one cycle longer for that look: 8 cycles are a multiple of the planes, and the plane that had the connection
//! would find it free first, again and again.

use crate::stream::FirstSet64;
use rust_hdl::prelude::*;

#[derive(LogicBlock, Default)]
pub struct ConnectionTurn {
    pub clock: Signal<In, Clock>,
    pub reset: Signal<In, Bit>,
    pub plane: Signal<In, Bits<2>>,
    /// Two cycles after `plane`.
    pub candidate: Signal<Out, Bits<6>>,
    pub candidate_valid: Signal<Out, Bit>,
    pub asked: Signal<In, Bits<6>>,
    pub asked_busy: Signal<Out, Bit>,
    pub taken: Signal<In, Bits<6>>,
    pub taken_plane: Signal<In, Bits<2>>,
    pub taken_valid: Signal<In, Bit>,
    /// The taken connection moves the plane's turn: it was chosen, not forced.
    pub taken_turn: Signal<In, Bit>,
    pub released: Signal<In, Bits<6>>,
    pub released_valid: Signal<In, Bit>,
    /// The choice found nothing left to send.
    pub released_empty: Signal<In, Bit>,
    pub loaded: Signal<In, Bits<6>>,
    pub loaded_valid: Signal<In, Bit>,
    /// Work came for the released connection while it was in the stages.
    pub released_fresh: Signal<Out, Bit>,
    active: DFF<Bits<64>>,
    fresh: DFF<Bits<64>>,
    busy: DFF<Bits<64>>,
    lately: DFF<Bits<64>>,
    turn: [DFF<Bits<6>>; 4],
    here: Signal<Local, Bits<2>>,
    now: Signal<Local, Bits<6>>,
    one: Signal<Local, Bits<64>>,
    ready: Signal<Local, Bits<64>>,
    ones: Signal<Local, Bits<64>>,
    after: Signal<Local, Bits<64>>,
    first_after: FirstSet64,
    first_any: FirstSet64,
    occupied: Signal<Local, Bits<64>>,
    asked_bit: Signal<Local, Bits<64>>,
    taken_bit: Signal<Local, Bits<64>>,
    released_bit: Signal<Local, Bits<64>>,
    loaded_bit: Signal<Local, Bits<64>>,
    asleep: Signal<Local, Bits<64>>,
    still: Signal<Local, Bits<64>>,
}

impl Logic for ConnectionTurn {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clock, active, fresh, busy, lately);
        clock!(self, clock, first_after, first_any);
        self.one.next = 1.into();
        self.ones.next = 0.into();
        self.ones.next = !self.ones.val();

        self.now.next = 0.into();
        for i in 0..4 {
            self.here.next = i.to_bits();
            if self.plane.val() == self.here.val() {
                self.now.next = self.turn[i].q.val();
            }
        }
        // Those behind the last one first, then all.
        self.after.next = self.ones.val() << self.now.val();
        self.after.next = self.after.val() << 1;
        self.still.next = !self.busy.q.val();
        self.ready.next = self.active.q.val() & self.still.val();
        self.first_any.value.next = self.ready.val();
        self.first_after.value.next = self.ready.val() & self.after.val();
        self.candidate.next = self.first_any.index.val();
        if self.first_after.any.val() {
            self.candidate.next = self.first_after.index.val();
        }
        self.candidate_valid.next = self.first_any.any.val();

        self.asked_bit.next = self.one.val() << self.asked.val();
        self.occupied.next = self.busy.q.val() | self.lately.q.val();
        self.asked_busy.next = (self.occupied.val() & self.asked_bit.val()).any();

        self.taken_bit.next = 0.into();
        if self.taken_valid.val() {
            self.taken_bit.next = self.one.val() << self.taken.val();
        }
        self.released_bit.next = 0.into();
        if self.released_valid.val() {
            self.released_bit.next = self.one.val() << self.released.val();
        }
        self.loaded_bit.next = 0.into();
        if self.loaded_valid.val() {
            self.loaded_bit.next = self.one.val() << self.loaded.val();
        }
        self.released_fresh.next = (self.fresh.q.val() & self.released_bit.val()).any();
        self.asleep.next = 0.into();
        if self.released_empty.val() {
            self.asleep.next = self.released_bit.val() & !self.fresh.q.val();
        }
        self.busy.d.next = (self.busy.q.val() | self.taken_bit.val()) & !self.released_bit.val();
        self.lately.d.next = self.released_bit.val();
        self.fresh.d.next = (self.fresh.q.val() & !self.taken_bit.val()) | self.loaded_bit.val();
        self.active.d.next = (self.active.q.val() & !self.asleep.val()) | self.loaded_bit.val();
        for i in 0..4 {
            self.turn[i].clock.next = self.clock.val();
            self.turn[i].d.next = self.turn[i].q.val();
            self.here.next = i.to_bits();
            if self.taken_valid.val()
                & self.taken_turn.val()
                & (self.taken_plane.val() == self.here.val())
            {
                self.turn[i].d.next = self.taken.val();
            }
        }
        if self.reset.val() {
            self.busy.d.next = 0.into();
            self.active.d.next = 0.into();
            self.fresh.d.next = 0.into();
        }
    }
}
