//! The scheduler's last stage: what a choice comes to (design rules 2 to 4).
//!
//! New data takes the path's next PSN and ordinal, a resend its old PSN and a new ordinal, a probe an
//! ordinal alone, a CONTROL frame nothing. A start anew sets the path's numbers and the connection's place. The last data
//! of a connection asks for an ACK and is followed by two probes. Combinational.

use crate::tx::ack_processor::{Forced, LogEntry, PacketRecord, PathSent};
use crate::tx::spray_scheduler::{SendPosition, TransmitJob};
use rust_hdl::prelude::*;

#[derive(LogicBlock, Default)]
pub struct ScheduleCommit {
    pub valid: Signal<In, Bit>,
    pub fixed: Signal<In, Bit>,
    pub order: Signal<In, Forced>,
    /// The path chosen, whether one was found, and whether its log has room for a probe.
    pub path: Signal<In, Bits<3>>,
    pub found: Signal<In, Bit>,
    pub log_room: Signal<In, Bit>,
    pub path_sent: Signal<In, PathSent>,
    pub position: Signal<In, SendPosition>,
    pub has_data: Signal<In, Bit>,
    /// The connection may send; what is forced on the paths of one that may not is dropped.
    pub enabled: Signal<In, Bit>,
    /// The packet ends its message; that message is the last one known.
    pub ends: Signal<In, Bit>,
    pub last: Signal<In, Bit>,
    pub tight: Signal<In, Bit>,
    pub fresh: Signal<In, Bit>,
    /// The connection has work requests that are not messages yet.
    pub pending: Signal<In, Bit>,
    pub job: Signal<Out, TransmitJob>,
    pub job_valid: Signal<Out, Bit>,
    pub empty: Signal<Out, Bit>,
    pub refund: Signal<Out, Bits<7>>,
    pub position_next: Signal<Out, SendPosition>,
    pub position_write: Signal<Out, Bit>,
    pub sent: Signal<Out, PathSent>,
    pub sent_valid: Signal<Out, Bit>,
    pub log_entry: Signal<Out, LogEntry>,
    pub log_address: Signal<Out, Bits<24>>,
    pub log_write: Signal<Out, Bit>,
    pub record: Signal<Out, PacketRecord>,
    pub record_address: Signal<Out, Bits<24>>,
    pub record_write: Signal<Out, Bit>,
    pub tail_valid: Signal<Out, Bit>,
    pub pair: Signal<Out, Bits<17>>,
    is_new: Signal<Local, Bit>,
    is_resend: Signal<Local, Bit>,
    is_probe: Signal<Local, Bit>,
    is_control: Signal<Local, Bit>,
    is_clear: Signal<Local, Bit>,
    sends: Signal<Local, Bit>,
    exhausted: Signal<Local, Bit>,
    order_pair: Signal<Local, Bits<17>>,
    pair_now: Signal<Local, Bits<17>>,
    psn: Signal<Local, Bits<24>>,
    ordinal: Signal<Local, Bits<16>>,
    message: Signal<Local, Bits<16>>,
    base24: Signal<Local, Bits<24>>,
    ordinal7: Signal<Local, Bits<7>>,
    psn7: Signal<Local, Bits<7>>,
}

impl Logic for ScheduleCommit {
    #[hdl_gen]
    fn update(&mut self) {
        self.is_resend.next =
            self.valid.val() & self.fixed.val() & (self.order.val().kind == 0) & self.enabled.val();
        self.is_probe.next = self.valid.val()
            & self.fixed.val()
            & (self.order.val().kind == 1)
            & self.enabled.val()
            & self.log_room.val();
        self.is_control.next = self.valid.val() & self.fixed.val() & (self.order.val().kind == 2);
        self.is_clear.next = self.valid.val() & self.fixed.val() & (self.order.val().kind == 3);
        self.is_new.next =
            self.valid.val() & !self.fixed.val() & self.found.val() & self.has_data.val();
        self.sends.next = self.is_new.val() | self.is_resend.val() | self.is_probe.val();
        self.order_pair.next = self.order.val().pair;
        self.pair_now.next = self.order_pair.val();
        if !self.fixed.val() {
            self.pair_now.next = self.order_pair.val() | bit_cast::<17, 3>(self.path.val());
        }
        self.pair.next = self.pair_now.val();
        self.exhausted.next = self.is_new.val() & self.ends.val() & self.last.val();
        self.empty.next =
            self.valid.val() & !self.fixed.val() & (!self.has_data.val() | self.exhausted.val());
        self.tail_valid.next = self.exhausted.val() & !self.pending.val() & !self.fresh.val();

        // A whole frame was reserved; a probe needs 2 beats, a CONTROL frame at most 5.
        self.refund.next = 0.into();
        if self.valid.val() {
            self.refund.next = 67.into();
        }
        if self.is_probe.val() {
            self.refund.next = 65.into();
        }
        if self.is_control.val() {
            self.refund.next = 62.into();
        }
        if self.is_new.val() | self.is_resend.val() {
            self.refund.next = 0.into();
        }

        self.psn.next = self.path_sent.val().next_psn;
        if self.fixed.val() {
            self.psn.next = self.order.val().psn;
        }
        self.ordinal.next = self.path_sent.val().next_ordinal;
        self.sent.next = self.path_sent.val();
        if self.sends.val() {
            self.sent.next.next_ordinal = self.path_sent.val().next_ordinal + 1;
        }
        if self.is_new.val() {
            self.sent.next.next_psn = self.path_sent.val().next_psn + 1;
        }
        if self.is_clear.val() {
            self.sent.next.next_psn = self.order.val().psn;
            self.sent.next.next_ordinal = self.order.val().ordinal;
            self.sent.next.epoch = self.order.val().epoch;
        }
        self.sent_valid.next = self.sends.val() | self.is_clear.val();

        self.message.next = self.position.val().message;
        self.position_next.next.message = self.message.val();
        self.position_next.next.index = self.position.val().index + 1;
        if self.ends.val() {
            self.position_next.next.message = self.message.val() + 1;
            self.position_next.next.index = 0.into();
        }
        if self.is_clear.val() {
            self.position_next.next.message = 0.into();
            self.position_next.next.index = 0.into();
        }
        self.position_write.next = self.is_new.val() | self.is_clear.val();

        self.job.next.kind = 0.into();
        if self.fixed.val() {
            self.job.next.kind = self.order.val().kind;
        }
        self.job.next.pair = self.pair_now.val();
        self.job.next.psn = self.psn.val();
        self.job.next.epoch = self.path_sent.val().epoch;
        self.job.next.ordinal = self.ordinal.val();
        self.job.next.slot = self.message.val().get_bits::<6>(0);
        self.job.next.index = self.position.val().index;
        if self.fixed.val() {
            self.job.next.slot = self.order.val().slot;
            self.job.next.index = self.order.val().index;
        }
        self.job.next.train = self.order.val().train;
        self.job.next.resend = self.is_resend.val().into();
        self.job.next.ack_request =
            (self.is_resend.val() | self.exhausted.val() | self.tight.val()).into();
        self.job_valid.next = self.sends.val() | self.is_control.val();

        self.ordinal7.next = self.ordinal.val().get_bits::<7>(0);
        self.base24.next = bit_cast::<24, 17>(self.pair_now.val()) << 7;
        self.log_address.next = self.base24.val() | bit_cast::<24, 7>(self.ordinal7.val());
        self.log_entry.next.psn = self.psn.val().get_bits::<8>(0);
        if self.is_probe.val() {
            self.log_entry.next.psn = bit_cast::<8, 1>(self.order.val().timeout);
        }
        self.log_entry.next.probe = self.is_probe.val().into();
        self.log_write.next = self.sends.val();
        self.psn7.next = self.psn.val().get_bits::<7>(0);
        self.record_address.next = self.base24.val() | bit_cast::<24, 7>(self.psn7.val());
        self.record.next.slot = self.message.val().get_bits::<6>(0);
        self.record.next.index = self.position.val().index;
        self.record_write.next = self.is_new.val();
    }
}
