//! What the host is told beside the completion of its work: CONTROL packets received, connections that failed.
//!
//! Each source has a small queue. A failure also stops the connection's sending, at the moment it is told.

use crate::rx::message_table::PlacedPacket;
use crate::stream::SmallFifo;
use crate::tx::message_completion::Notice;
use rust_hdl::prelude::*;

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
    pub notice: Signal<Out, Notice>,
    pub notice_valid: Signal<Out, Bit>,
    pub notice_ready: Signal<In, Bit>,
    pub stop_connection: Signal<Out, Bits<12>>,
    pub stop_valid: Signal<Out, Bit>,
    controls: SmallFifo<PlacedPacket>,
    locals: SmallFifo<Bits<12>>,
    invalids: SmallFifo<Bits<12>>,
    failures: SmallFifo<Bits<12>>,
    source: Signal<Local, Bits<2>>,
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
            ..Default::default()
        }
    }
}

impl Logic for Notices {
    #[hdl_gen]
    fn update(&mut self) {
        clock!(self, clock, controls, locals, invalids, failures);
        self.controls.reset.next = self.reset.val();
        self.locals.reset.next = self.reset.val();
        self.invalids.reset.next = self.reset.val();
        self.failures.reset.next = self.reset.val();
        self.controls.write_data.next = self.control.val();
        self.controls.write_enable.next = self.control_valid.val();
        self.locals.write_data.next = self.local_connection.val();
        self.locals.write_enable.next = self.local_valid.val();
        self.invalids.write_data.next = self.invalid_connection.val();
        self.invalids.write_enable.next = self.invalid_valid.val();
        self.failures.write_data.next = self.failed_connection.val();
        self.failures.write_enable.next = self.failed_valid.val();

        self.source.next = 0.into();
        self.any.next = self.controls.read_valid.val();
        self.notice.next.kind = 1.into();
        self.notice.next.status = 0.into();
        self.notice.next.connection = 0.into();
        self.notice.next.index = self.controls.read_data.val().index;
        self.notice.next.length = bit_cast::<16, 13>(self.controls.read_data.val().length);
        self.notice.next.plane = self.controls.read_data.val().plane;
        if self.locals.read_valid.val() {
            self.source.next = 1.into();
            self.any.next = true;
            self.notice.next.status = 1.into();
            self.notice.next.connection = self.locals.read_data.val();
        }
        if self.invalids.read_valid.val() {
            self.source.next = 2.into();
            self.any.next = true;
            self.notice.next.status = 4.into();
            self.notice.next.connection = self.invalids.read_data.val();
        }
        if self.failures.read_valid.val() {
            self.source.next = 3.into();
            self.any.next = true;
            self.notice.next.status = 3.into();
            self.notice.next.connection = self.failures.read_data.val();
        }
        if self.source.val() != 0 {
            self.notice.next.kind = 2.into();
            self.notice.next.index = 0.into();
            self.notice.next.length = 0.into();
            self.notice.next.plane = 0.into();
        }
        self.notice_valid.next = self.any.val();
        self.controls.read_ready.next = self.notice_ready.val() & (self.source.val() == 0);
        self.locals.read_ready.next = self.notice_ready.val() & (self.source.val() == 1);
        self.invalids.read_ready.next = self.notice_ready.val() & (self.source.val() == 2);
        self.failures.read_ready.next = self.notice_ready.val() & (self.source.val() == 3);
        self.stop_connection.next = self.notice.val().connection;
        self.stop_valid.next = self.notice_ready.val() & self.any.val() & (self.source.val() != 0);
    }
}
