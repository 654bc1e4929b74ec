//! What the host is told beside the completion of its work: CONTROL packets received, connections that failed.
//!
//! Each source has a small queue. A failure also stops the connection's sending, at the moment it is told; it is told
//! once in a connection's life, what follows from it is not. One is chosen, looked at, and told, a cycle each: a notice is out
//! four cycles after it was queued, one every three.

use crate::rx::message_table::PlacedPacket;
use crate::stream::SmallFifo;
use crate::tx::message_completion::Notice;
use rust_hdl::prelude::*;

#[derive(Copy, Clone, PartialEq, Debug, LogicState)]
pub enum NoticeStep {
    Choose,
    Look,
    Tell,
}

#[derive(LogicBlock, Default)]
pub struct Notices {
    pub clock: Signal<In, Clock>,
    pub reset: Signal<In, Bit>,
    pub control: Signal<In, PlacedPacket>,
    pub control_valid: Signal<In, Bit>,
    /// Local memory that a send may not touch.
    pub local_connection: Signal<In, Bits<12>>,
    pub local_valid: Signal<In, Bit>,
    /// A work request that is not served.
    pub invalid_connection: Signal<In, Bits<12>>,
    pub invalid_valid: Signal<In, Bit>,
    /// A path that never answered.
    pub failed_connection: Signal<In, Bits<12>>,
    pub failed_valid: Signal<In, Bit>,
    /// A packet that the peer refused.
    pub nack_connection: Signal<In, Bits<12>>,
    pub nack_valid: Signal<In, Bit>,
    /// The connection is set up anew: it may fail again.
    pub set_connection: Signal<In, Bits<12>>,
    pub set_valid: Signal<In, Bit>,
    pub notice: Signal<Out, Notice>,
    pub notice_valid: Signal<Out, Bit>,
    pub notice_ready: Signal<In, Bit>,
    pub stop_connection: Signal<Out, Bits<12>>,
    pub stop_valid: Signal<Out, Bit>,
    controls: SmallFifo<PlacedPacket>,
    locals: SmallFifo<Bits<12>>,
    invalids: SmallFifo<Bits<12>>,
    failures: SmallFifo<Bits<12>>,
    nacks: SmallFifo<Bits<12>>,
    stopped: DFF<Bits<64>>,
    /// The connection set up anew, a cycle after.
    was_set: DFF<Bit>,
    set_before: DFF<Bits<12>>,
    chosen: DFF<Notice>,
    step: DFF<NoticeStep>,
    /// The connection is stopped already.
    known: DFF<Bit>,
    /// It is a failure.
    stops: DFF<Bit>,
    leaving: DFF<Notice>,
    leaving_valid: DFF<Bit>,
    next: Signal<Local, Notice>,
    free: Signal<Local, Bit>,
    source: Signal<Local, Bits<3>>,
    choose: Signal<Local, Bit>,
    tells: Signal<Local, Bit>,
    one: Signal<Local, Bits<64>>,
    told_bit: Signal<Local, Bits<64>>,
    set_bit: Signal<Local, Bits<64>>,
    shifted: Signal<Local, Bits<64>>,
    low6: Signal<Local, Bits<6>>,
    failing: Signal<Local, Bits<12>>,
    any: Signal<Local, Bit>,
}

impl Notices {
    /// With the depths set.
    pub fn new() -> Self {
        Self {
            controls: SmallFifo::new(6),
            locals: SmallFifo::new(5),
            invalids: SmallFifo::new(5),
            failures: SmallFifo::new(5),
            nacks: SmallFifo::new(5),
            ..Default::default()
        }
    }
}

impl Logic for Notices {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(
            self,
            clock,
            stopped,
            was_set,
            set_before,
            chosen,
            step,
            known,
            stops,
            leaving,
            leaving_valid
        );
        clock!(self, clock, controls, locals, invalids, failures, nacks);
        self.controls.reset.next = self.reset.val();
        self.locals.reset.next = self.reset.val();
        self.invalids.reset.next = self.reset.val();
        self.failures.reset.next = self.reset.val();
        self.nacks.reset.next = self.reset.val();
        self.controls.write_data.next = self.control.val();
        self.controls.write_enable.next = self.control_valid.val();
        self.locals.write_data.next = self.local_connection.val();
        self.locals.write_enable.next = self.local_valid.val();
        self.invalids.write_data.next = self.invalid_connection.val();
        self.invalids.write_enable.next = self.invalid_valid.val();
        self.failures.write_data.next = self.failed_connection.val();
        self.failures.write_enable.next = self.failed_valid.val();
        self.nacks.write_data.next = self.nack_connection.val();
        self.nacks.write_enable.next = self.nack_valid.val();

        self.source.next = 0.into();
        self.any.next = self.controls.read_valid.val();
        self.next.next.kind = 1.into();
        self.next.next.status = 0.into();
        self.next.next.connection = 0.into();
        self.next.next.index = self.controls.read_data.val().index;
        self.next.next.length = bit_cast::<16, 13>(self.controls.read_data.val().length);
        self.next.next.plane = self.controls.read_data.val().plane;
        if self.locals.read_valid.val() {
            self.source.next = 1.into();
            self.any.next = true;
            self.next.next.status = 1.into();
            self.next.next.connection = self.locals.read_data.val();
        }
        if self.invalids.read_valid.val() {
            self.source.next = 2.into();
            self.any.next = true;
            self.next.next.status = 4.into();
            self.next.next.connection = self.invalids.read_data.val();
        }
        if self.failures.read_valid.val() {
            self.source.next = 3.into();
            self.any.next = true;
            self.next.next.status = 3.into();
            self.next.next.connection = self.failures.read_data.val();
        }
        if self.nacks.read_valid.val() {
            self.source.next = 4.into();
            self.any.next = true;
            self.next.next.status = 2.into();
            self.next.next.connection = self.nacks.read_data.val();
        }
        if self.source.val() != 0 {
            self.next.next.kind = 2.into();
            self.next.next.index = 0.into();
            self.next.next.length = 0.into();
            self.next.next.plane = 0.into();
        }

        // A failure of a connection that is stopped already is passed over.
        self.one.next = 1.into();
        self.failing.next = self.chosen.q.val().connection;
        self.low6.next = bit_cast::<6, 12>(self.failing.val());
        self.told_bit.next = self.one.val() << self.low6.val();
        self.shifted.next = self.stopped.q.val() >> self.low6.val();
        self.was_set.d.next = self.set_valid.val();
        self.set_before.d.next = self.set_connection.val();
        self.low6.next = bit_cast::<6, 12>(self.set_before.q.val());
        self.set_bit.next = 0.into();
        if self.was_set.q.val() {
            self.set_bit.next = self.one.val() << self.low6.val();
        }
        self.free.next = !self.leaving_valid.q.val() | self.notice_ready.val();
        if self.free.val() {
            self.leaving_valid.d.next = false;
        }
        self.choose.next = false;
        self.tells.next = false;
        match self.step.q.val() {
            NoticeStep::Choose => {
                self.choose.next = true;
                self.chosen.d.next = self.next.val();
                self.stops.d.next = self.source.val() != 0;
                if self.any.val() {
                    self.step.d.next = NoticeStep::Look;
                }
            }
            NoticeStep::Look => {
                self.known.d.next = self.stops.q.val() & self.shifted.val().get_bit(0);
                self.step.d.next = NoticeStep::Tell;
            }
            NoticeStep::Tell => {
                // Not in the cycle in which a connection is set: both would write its settings.
                if self.known.q.val() {
                    self.step.d.next = NoticeStep::Choose;
                } else {
                    if self.free.val() & !self.set_valid.val() {
                        self.tells.next = true;
                        self.leaving.d.next = self.chosen.q.val();
                        self.leaving_valid.d.next = true;
                        self.step.d.next = NoticeStep::Choose;
                    }
                }
            }
            _ => {
                self.step.d.next = NoticeStep::Choose;
            }
        }
        self.notice.next = self.leaving.q.val();
        self.notice_valid.next = self.leaving_valid.q.val();
        self.stop_connection.next = self.failing.val();
        self.stop_valid.next = self.tells.val() & self.stops.q.val();
        self.stopped.d.next = self.stopped.q.val() & !self.set_bit.val();
        if self.stop_valid.val() {
            self.stopped.d.next =
                (self.stopped.q.val() & !self.set_bit.val()) | self.told_bit.val();
        }
        self.controls.read_ready.next = self.choose.val() & (self.source.val() == 0);
        self.locals.read_ready.next = self.choose.val() & (self.source.val() == 1);
        self.invalids.read_ready.next = self.choose.val() & (self.source.val() == 2);
        self.failures.read_ready.next = self.choose.val() & (self.source.val() == 3);
        self.nacks.read_ready.next = self.choose.val() & (self.source.val() == 4);
        if self.reset.val() {
            self.stopped.d.next = 0.into();
            self.was_set.d.next = false;
            self.leaving_valid.d.next = false;
            self.step.d.next = NoticeStep::Choose;
        }
    }
}
