//! Starts a connection anew: clears its state in every block that keeps any (clause T-6.5).
//!
//! Goes through the connection's 32 paths, then its 64 message slots, so that what the paths' last walks tell meets the
//! slots before they are cleared; last its 4 planes. Each block takes the order through the same door as its ordinary
//! work, so no memory has a second writer; a step is over when all have taken it, which is known a cycle later. The paths may start at other numbers
//! than zero, for tests: PSN (a multiple of 2 W), epoch, ordinal. Then it waits until what was queued has passed the
//! scheduler, and until the ACKs that were held have left.

use crate::bundle;
use rust_hdl::prelude::*;

bundle! {
    /// The orders still open in this step.
    ClearOpen { window: 1, acks: 1, sender: 1, generator: 1, placed: 1, completion: 1, work: 1, telemetry: 1 }
}

#[derive(LogicBlock, Default)]
pub struct ClearSequencer {
    pub clock: Signal<In, Clock>,
    pub reset: Signal<In, Bit>,
    pub plane_last: Signal<In, Bits<2>>,
    pub start: Signal<In, Bit>,
    pub start_connection: Signal<In, Bits<12>>,
    pub start_psn: Signal<In, Bits<24>>,
    pub start_epoch: Signal<In, Bits<8>>,
    pub start_ordinal: Signal<In, Bits<16>>,
    /// The ACKs that `mark` found held have left.
    pub mark_gone: Signal<In, Bit>,
    pub mark: Signal<Out, Bit>,
    pub busy: Signal<Out, Bit>,
    pub open: Signal<Out, ClearOpen>,
    pub done: Signal<In, ClearOpen>,
    pub connection: Signal<Out, Bits<12>>,
    pub pair: Signal<Out, Bits<17>>,
    pub plane_slot: Signal<Out, Bits<14>>,
    pub message_slot: Signal<Out, Bits<18>>,
    pub psn: Signal<Out, Bits<24>>,
    pub epoch: Signal<Out, Bits<8>>,
    pub ordinal: Signal<Out, Bits<16>>,
    running: DFF<Bit>,
    settling: DFF<Bits<11>>,
    waiting: DFF<ClearOpen>,
    taken: DFF<ClearOpen>,
    opened: Signal<Local, ClearOpen>,
    index: DFF<Bits<7>>,
    index_next: Signal<Local, Bits<7>>,
    slot: Signal<Local, Bits<7>>,
    /// In time: a step's orders open two cycles after its index.
    message_slot_now: DFF<Bits<18>>,
    marking: DFF<Bit>,
    prepare: DFF<Bit>,
    connection_now: DFF<Bits<12>>,
    psn_now: DFF<Bits<24>>,
    epoch_now: DFF<Bits<8>>,
    ordinal_now: DFF<Bits<16>>,
    is_path: Signal<Local, Bit>,
    there: Signal<Local, Bit>,
    plane: Signal<Local, Bits<2>>,
    any: Signal<Local, Bit>,
    base17: Signal<Local, Bits<17>>,
    base14: Signal<Local, Bits<14>>,
    base18: Signal<Local, Bits<18>>,
}

impl Logic for ClearSequencer {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(
            self,
            clock,
            running,
            settling,
            waiting,
            taken,
            index,
            marking,
            prepare,
            connection_now,
            psn_now,
            epoch_now,
            ordinal_now,
            message_slot_now
        );
        self.index_next.next = self.index.q.val() + 1;
        self.is_path.next = self.index.q.val() < 32;
        self.plane.next = self.index.q.val().get_bits::<2>(3);
        // Both sides of a path's sending, or neither: planes that the engine lacks are never started, and a path of
        // which only one side were would look as if something were in flight.
        self.there.next = self.is_path.val() & (self.plane.val() <= self.plane_last.val());
        self.any.next = self.waiting.q.val().window.any()
            | self.waiting.q.val().acks.any()
            | self.waiting.q.val().sender.any()
            | self.waiting.q.val().generator.any()
            | self.waiting.q.val().placed.any()
            | self.waiting.q.val().completion.any()
            | self.waiting.q.val().work.any()
            | self.waiting.q.val().telemetry.any();
        self.opened.next.window = self.waiting.q.val().window & !self.taken.q.val().window;
        self.waiting.d.next.window = self.opened.val().window;
        self.taken.d.next.window = self.opened.val().window & self.done.val().window;
        self.opened.next.acks = self.waiting.q.val().acks & !self.taken.q.val().acks;
        self.waiting.d.next.acks = self.opened.val().acks;
        self.taken.d.next.acks = self.opened.val().acks & self.done.val().acks;
        self.opened.next.sender = self.waiting.q.val().sender & !self.taken.q.val().sender;
        self.waiting.d.next.sender = self.opened.val().sender;
        self.taken.d.next.sender = self.opened.val().sender & self.done.val().sender;
        self.opened.next.generator = self.waiting.q.val().generator & !self.taken.q.val().generator;
        self.waiting.d.next.generator = self.opened.val().generator;
        self.taken.d.next.generator = self.opened.val().generator & self.done.val().generator;
        self.opened.next.placed = self.waiting.q.val().placed & !self.taken.q.val().placed;
        self.waiting.d.next.placed = self.opened.val().placed;
        self.taken.d.next.placed = self.opened.val().placed & self.done.val().placed;
        self.opened.next.completion =
            self.waiting.q.val().completion & !self.taken.q.val().completion;
        self.waiting.d.next.completion = self.opened.val().completion;
        self.taken.d.next.completion = self.opened.val().completion & self.done.val().completion;
        self.opened.next.work = self.waiting.q.val().work & !self.taken.q.val().work;
        self.waiting.d.next.work = self.opened.val().work;
        self.taken.d.next.work = self.opened.val().work & self.done.val().work;
        self.opened.next.telemetry = self.waiting.q.val().telemetry & !self.taken.q.val().telemetry;
        self.waiting.d.next.telemetry = self.opened.val().telemetry;
        self.taken.d.next.telemetry = self.opened.val().telemetry & self.done.val().telemetry;
        self.prepare.d.next = false;
        self.marking.d.next = false;
        if self.prepare.q.val() {
            self.waiting.d.next.window = self.is_path.val().into();
            self.waiting.d.next.acks = self.there.val().into();
            self.waiting.d.next.sender = self.there.val().into();
            self.waiting.d.next.telemetry = self.is_path.val().into();
            self.waiting.d.next.generator = (self.index.q.val() >= 92).into();
            self.waiting.d.next.work = (self.index.q.val() == 0).into();
            self.waiting.d.next.placed = (!self.is_path.val()).into();
            self.waiting.d.next.completion = (!self.is_path.val()).into();
        } else {
            if self.running.q.val() & !self.any.val() {
                self.index.d.next = self.index_next.val();
                self.prepare.d.next = true;
                if self.index.q.val() == 95 {
                    self.running.d.next = false;
                    self.prepare.d.next = false;
                    self.marking.d.next = true;
                    self.settling.d.next = 1024.into();
                }
            }
        }
        if self.settling.q.val().any() {
            self.settling.d.next = self.settling.q.val() - 1;
        }
        if self.start.val() {
            self.running.d.next = true;
            self.prepare.d.next = true;
            self.index.d.next = 0.into();
            self.connection_now.d.next = self.start_connection.val();
            self.psn_now.d.next = self.start_psn.val();
            self.epoch_now.d.next = self.start_epoch.val();
            self.ordinal_now.d.next = self.start_ordinal.val();
        }
        self.mark.next = self.marking.q.val();
        self.busy.next = self.running.q.val() | self.settling.q.val().any() | !self.mark_gone.val();
        self.open.next = self.opened.val();
        self.connection.next = self.connection_now.q.val();
        self.base17.next = bit_cast::<17, 12>(self.connection_now.q.val()) << 5;
        self.pair.next = self.base17.val() | (bit_cast::<17, 7>(self.index.q.val()) & 0x1f);
        self.base14.next = bit_cast::<14, 12>(self.connection_now.q.val()) << 2;
        self.plane_slot.next = self.base14.val() | (bit_cast::<14, 7>(self.index.q.val()) & 0x3);
        self.base18.next = bit_cast::<18, 12>(self.connection_now.q.val()) << 6;
        self.slot.next = self.index.q.val() - 32;
        self.message_slot.next = self.message_slot_now.q.val();
        self.message_slot_now.d.next =
            self.base18.val() | bit_cast::<18, 6>(self.slot.val().get_bits::<6>(0));
        self.psn.next = self.psn_now.q.val();
        self.epoch.next = self.epoch_now.q.val();
        self.ordinal.next = self.ordinal_now.q.val();
        if self.reset.val() {
            self.running.d.next = false;
            self.settling.d.next = 0.into();
            self.marking.d.next = false;
            self.waiting.d.next.window = 0.into();
            self.waiting.d.next.acks = 0.into();
            self.waiting.d.next.sender = 0.into();
            self.waiting.d.next.telemetry = 0.into();
            self.waiting.d.next.generator = 0.into();
            self.waiting.d.next.work = 0.into();
            self.waiting.d.next.placed = 0.into();
            self.waiting.d.next.completion = 0.into();
        }
    }
}
