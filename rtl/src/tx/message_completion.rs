//! When a message has arrived whole, and in which order the host hears of it (design rule 9, clause T-6.2).
//!
//! Each acknowledged packet counts for its message; a message whose last packet is acknowledged sets its
//! bit in the connection's vector (indexed by slot, toggling with the lap, like a path's). Completions
//! leave in message order: the oldest message's bit decides. A completion is 32 bytes, written in one beat.
//! Two machines side by side: a packet every 3 cycles, a completion every 5.

use crate::bundle;
use crate::dma::WriteRecord;
use crate::stream::{Ram, SmallFifo};
use crate::tx::ack_processor::AckedPacket;
use rust_hdl::prelude::*;

bundle! {
    /// Where a connection's completions go.
    CompletionRing { address: 64, log_entries: 4 }
}

bundle! {
    /// A connection's messages: done bits by slot, oldest open message, completions written.
    MessageOrder { done: 64, head: 16, written: 32 }
}

bundle! {
    /// What a completion says beside its place.
    Notice { kind: 8, status: 8, connection: 12, index: 16, length: 16, plane: 2 }
}

bundle! {
    /// The 32 bytes of a completion, first byte first (clause T-6.2).
    CompletionWire {
        phase: 8, kind: 8, status: 8, opcode: 8, connection: 32, index: 32, length: 32, immediate: 32,
        message: 16, plane: 8, reserved0: 8, time: 32, reserved1: 32,
    }
}

#[derive(Copy, Clone, PartialEq, Debug, LogicState)]
pub enum Tally {
    Wait,
    Look,
    Write,
}

#[derive(Copy, Clone, PartialEq, Debug, LogicState)]
pub enum Deliver {
    Wait,
    Look,
    Mark,
    Check,
    Emit,
}

#[derive(LogicBlock, Default)]
pub struct MessageCompletion {
    pub clock: Signal<In, Clock>,
    pub reset: Signal<In, Bit>,
    pub time_now: Signal<In, Bits<32>>,
    pub acked: Signal<In, AckedPacket>,
    pub acked_valid: Signal<In, Bit>,
    pub acked_ready: Signal<Out, Bit>,
    /// A message, by the number of its last packet.
    pub load_address: Signal<In, Bits<18>>,
    pub load_last: Signal<In, Bits<18>>,
    pub load_valid: Signal<In, Bit>,
    pub ring_connection: Signal<In, Bits<12>>,
    pub ring: Signal<In, CompletionRing>,
    pub ring_write: Signal<In, Bit>,
    /// Something else to be told: a CONTROL packet received, an error.
    pub notice: Signal<In, Notice>,
    pub notice_valid: Signal<In, Bit>,
    pub notice_ready: Signal<Out, Bit>,
    /// Forget a slot, and with slot 0 the connection's order.
    pub clear_address: Signal<In, Bits<18>>,
    pub clear_valid: Signal<In, Bit>,
    pub clear_ready: Signal<Out, Bit>,
    pub record: Signal<Out, WriteRecord>,
    pub record_valid: Signal<Out, Bit>,
    pub record_ready: Signal<In, Bit>,
    /// The cycle after the order has moved.
    pub head_connection: Signal<Out, Bits<12>>,
    pub head_message: Signal<Out, Bits<16>>,
    pub head_valid: Signal<Out, Bit>,

    /// Packets of a message that were acknowledged, and the number of its last.
    counts: Ram<Bits<18>, 18>,
    lasts: Ram<Bits<18>, 18>,
    orders: Ram<MessageOrder, 12>,
    rings: Ram<CompletionRing, 12>,
    finished: SmallFifo<AckedPacket>,
    tally: DFF<Tally>,
    packet: DFF<AckedPacket>,
    count: DFF<Bits<18>>,
    last: DFF<Bits<18>>,
    one_more: Signal<Local, Bits<18>>,
    all: Signal<Local, Bit>,
    take: Signal<Local, Bit>,
    /// The order to clear, a cycle after it came.
    clear_comes: DFF<Bit>,
    cleared: DFF<Bit>,
    clears: Signal<Local, Bit>,
    clears_order: Signal<Local, Bit>,
    may_clear: Signal<Local, Bit>,
    /// Since a connection's start anew was asked for: packets counted, messages delivered; all of before are.
    counted_since: DFF<Bits<5>>,
    counted_all: DFF<Bit>,
    delivered_since: DFF<Bits<5>>,
    delivered_all: DFF<Bit>,
    waits_to_clear: Signal<Local, Bit>,
    base: Signal<Local, Bits<18>>,
    address: Signal<Local, Bits<18>>,
    held: DFF<Bits<18>>,
    deliver: DFF<Deliver>,
    connection: DFF<Bits<12>>,
    slot: DFF<Bits<6>>,
    said: DFF<Notice>,
    of_notice: DFF<Bit>,
    order: DFF<MessageOrder>,
    ring_now: DFF<CompletionRing>,
    one: Signal<Local, Bits<64>>,
    flip: Signal<Local, Bits<64>>,
    head: Signal<Local, Bits<16>>,
    told_connection: DFF<Bits<12>>,
    told_message: DFF<Bits<16>>,
    told: DFF<Bit>,
    written: Signal<Local, Bits<32>>,
    shifted: Signal<Local, Bits<64>>,
    oldest_done: Signal<Local, Bit>,
    emits: Signal<Local, Bit>,
    mask: Signal<Local, Bits<32>>,
    entry: Signal<Local, Bits<32>>,
    lap: Signal<Local, Bits<32>>,
    entry_bytes: Signal<Local, Bits<64>>,
    place: Signal<Local, Bits<64>>,
    wire_form: Signal<Local, CompletionWire>,
}

impl MessageCompletion {
    /// For `1 << connection_bits` connections of 64 message slots.
    pub fn new(connection_bits: usize) -> Self {
        Self {
            counts: Ram::new(connection_bits + 6),
            lasts: Ram::new(connection_bits + 6),
            orders: Ram::new(connection_bits),
            rings: Ram::new(connection_bits),
            finished: SmallFifo::new(4),
            ..Default::default()
        }
    }
}

impl Logic for MessageCompletion {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(
            self,
            clock,
            tally,
            packet,
            count,
            last,
            held,
            deliver,
            connection,
            slot,
            said,
            of_notice,
            order,
            ring_now,
            counted_since,
            told_connection,
            told_message,
            told,
            counted_all,
            delivered_since,
            delivered_all,
            clear_comes,
            cleared
        );
        clock!(self, clock, counts, lasts, orders, rings, finished);
        self.finished.reset.next = self.reset.val();

        // Count the packet for its message.
        self.base.next = bit_cast::<18, 12>(self.acked.val().connection) << 6;
        self.address.next = self.base.val() | bit_cast::<18, 6>(self.acked.val().slot);
        self.counts.read_address.next = self.address.val();
        self.counts.read_enable.next = true;
        self.lasts.read_address.next = self.address.val();
        self.lasts.read_enable.next = true;
        self.lasts.write_address.next = self.load_address.val();
        self.lasts.write_data.next = self.load_last.val();
        self.lasts.write_enable.next = self.load_valid.val();
        self.one_more.next = self.count.q.val() + 1;
        self.all.next = self.count.q.val() == self.last.q.val();
        self.take.next = false;
        self.clears.next = false;
        self.counts.write_address.next = self.held.q.val();
        self.counts.write_data.next = self.one_more.val();
        self.counts.write_enable.next = false;
        self.finished.write_data.next = self.packet.q.val();
        self.finished.write_enable.next = false;
        // The connection's order is cleared together with its slot 0, when what was there of its life before has been
        // counted and delivered: as many as the queues hold, or until they are empty. Others' packets wait meanwhile.
        self.clears_order.next = (self.clear_address.val() & 0x3f) == 0;
        self.waits_to_clear.next = self.clear_comes.q.val() & self.clears_order.val();
        self.may_clear.next = self.clear_comes.q.val()
            & (!self.clears_order.val() | (self.counted_all.q.val() & self.delivered_all.q.val()));
        match self.tally.q.val() {
            Tally::Wait => {
                self.take.next = self.acked_valid.val()
                    & (self.finished.level.val() < 14)
                    & !self.may_clear.val();
                if self.take.val() {
                    self.packet.d.next = self.acked.val();
                    self.held.d.next = self.address.val();
                    self.tally.d.next = Tally::Look;
                }
                self.clears.next = self.may_clear.val()
                    & (!self.clears_order.val()
                        | ((self.deliver.q.val() == Deliver::Wait) & !self.notice_valid.val()));
                self.counts.write_address.next = self.clear_address.val();
                self.counts.write_data.next = 0.into();
                self.counts.write_enable.next = self.clears.val();
            }
            Tally::Look => {
                self.count.d.next = self.counts.read_data.val();
                self.last.d.next = self.lasts.read_data.val();
                self.tally.d.next = Tally::Write;
            }
            Tally::Write => {
                self.counts.write_enable.next = true;
                if self.all.val() {
                    self.counts.write_data.next = 0.into();
                    self.finished.write_enable.next = true;
                }
                self.tally.d.next = Tally::Wait;
            }
            _ => {
                self.tally.d.next = Tally::Wait;
            }
        }
        self.acked_ready.next = self.take.val();
        self.cleared.d.next = self.clears.val();
        self.clear_ready.next = self.cleared.q.val();
        self.clear_comes.d.next =
            self.clear_valid.val() & !self.clears.val() & !self.cleared.q.val();
        if self.take.val() {
            self.counted_since.d.next = self.counted_since.q.val() + 1;
        }
        if (self.tally.q.val() == Tally::Wait)
            & (!self.acked_valid.val() | (self.counted_since.q.val() >= 20))
        {
            self.counted_all.d.next = true;
        }

        // Deliver in order.
        self.orders.read_address.next = self.finished.read_data.val().connection;
        self.orders.read_enable.next = true;
        self.rings.read_address.next = self.finished.read_data.val().connection;
        self.rings.read_enable.next = true;
        if self.notice_valid.val() {
            self.orders.read_address.next = self.notice.val().connection;
            self.rings.read_address.next = self.notice.val().connection;
        }
        self.rings.write_address.next = self.ring_connection.val();
        self.rings.write_data.next = self.ring.val();
        self.rings.write_enable.next = self.ring_write.val();
        self.one.next = 1.into();
        self.flip.next = self.one.val() << self.slot.q.val();
        self.head.next = self.order.q.val().head;
        self.written.next = self.order.q.val().written;
        self.shifted.next = self.order.q.val().done >> self.head.val().get_bits::<6>(0);
        // Not done: the bit equals the lap.
        self.oldest_done.next = self.shifted.val().get_bit(0) ^ self.head.val().get_bit(6);
        self.emits.next = (self.deliver.q.val() == Deliver::Emit) & self.record_ready.val();
        self.notice_ready.next = (self.deliver.q.val() == Deliver::Wait) & self.notice_valid.val();
        self.finished.read_ready.next =
            (self.deliver.q.val() == Deliver::Wait) & !self.notice_valid.val();
        if self.counted_all.q.val() & (self.deliver.q.val() == Deliver::Wait) {
            if !self.notice_valid.val() & self.finished.read_valid.val() {
                self.delivered_since.d.next = self.delivered_since.q.val() + 1;
            }
            if !self.finished.read_valid.val() | (self.delivered_since.q.val() >= 17) {
                self.delivered_all.d.next = true;
            }
        }
        if !self.waits_to_clear.val() {
            self.counted_since.d.next = 0.into();
            self.counted_all.d.next = false;
            self.delivered_since.d.next = 0.into();
            self.delivered_all.d.next = false;
        }
        self.orders.write_address.next = self.connection.q.val();
        self.orders.write_data.next = self.order.q.val();
        self.orders.write_enable.next = false;
        self.head_connection.next = self.told_connection.q.val();
        self.head_message.next = self.told_message.q.val();
        self.head_valid.next = self.told.q.val();
        self.told_connection.d.next = self.connection.q.val();
        self.told_message.d.next = self.head.val();
        self.told.d.next = false;
        match self.deliver.q.val() {
            Deliver::Wait => {
                self.connection.d.next = self.finished.read_data.val().connection;
                self.slot.d.next = self.finished.read_data.val().slot;
                self.said.d.next = self.notice.val();
                self.of_notice.d.next = self.notice_valid.val();
                if self.notice_valid.val() {
                    self.connection.d.next = self.notice.val().connection;
                }
                if self.notice_valid.val() | self.finished.read_valid.val() {
                    self.deliver.d.next = Deliver::Look;
                }
                if self.clears.val() & self.clears_order.val() {
                    self.orders.write_address.next =
                        bit_cast::<12, 18>(self.clear_address.val() >> 6);
                    self.orders.write_data.next.done = 0.into();
                    self.orders.write_data.next.head = 0.into();
                    self.orders.write_data.next.written = 0.into();
                    self.orders.write_enable.next = true;
                    self.told_connection.d.next = bit_cast::<12, 18>(self.clear_address.val() >> 6);
                    self.told_message.d.next = 0.into();
                    self.told.d.next = true;
                }
            }
            Deliver::Look => {
                self.order.d.next = self.orders.read_data.val();
                self.ring_now.d.next = self.rings.read_data.val();
                self.deliver.d.next = Deliver::Mark;
                if self.of_notice.q.val() {
                    self.deliver.d.next = Deliver::Emit;
                }
            }
            Deliver::Mark => {
                self.order.d.next.done = self.order.q.val().done ^ self.flip.val();
                self.deliver.d.next = Deliver::Check;
            }
            Deliver::Check => {
                if self.oldest_done.val() {
                    self.deliver.d.next = Deliver::Emit;
                } else {
                    self.orders.write_enable.next = true;
                    self.told.d.next = true;
                    self.deliver.d.next = Deliver::Wait;
                }
            }
            Deliver::Emit => {
                if self.emits.val() {
                    self.order.d.next.written = self.written.val() + 1;
                    if !self.of_notice.q.val() {
                        self.order.d.next.head = self.head.val() + 1;
                    }
                    self.of_notice.d.next = false;
                    self.deliver.d.next = Deliver::Check;
                }
            }
            _ => {
                self.deliver.d.next = Deliver::Wait;
            }
        }

        // The completion and its place; two fit in a beat.
        self.mask.next = 0.into();
        self.mask.next = !self.mask.val();
        self.mask.next = self.mask.val() << self.ring_now.q.val().log_entries;
        self.entry.next = self.written.val() & !self.mask.val();
        self.lap.next = self.written.val() >> self.ring_now.q.val().log_entries;
        self.entry_bytes.next = bit_cast::<64, 32>(self.entry.val()) << 5;
        self.place.next = self.ring_now.q.val().address + self.entry_bytes.val();
        self.wire_form.next.phase = 1.into();
        if self.lap.val().get_bit(0) {
            self.wire_form.next.phase = 0.into();
        }
        self.wire_form.next.kind = 0.into();
        self.wire_form.next.status = 0.into();
        self.wire_form.next.opcode = 0.into();
        self.wire_form.next.connection = bit_cast::<32, 12>(self.connection.q.val());
        self.wire_form.next.index = bit_cast::<32, 16>(self.head.val());
        self.wire_form.next.length = 0.into();
        self.wire_form.next.immediate = 0.into();
        self.wire_form.next.message = self.head.val();
        self.wire_form.next.plane = 0.into();
        self.wire_form.next.reserved0 = 0.into();
        self.wire_form.next.time = self.time_now.val();
        self.wire_form.next.reserved1 = 0.into();
        if self.of_notice.q.val() {
            self.wire_form.next.kind = self.said.q.val().kind;
            self.wire_form.next.status = self.said.q.val().status;
            self.wire_form.next.index = bit_cast::<32, 16>(self.said.q.val().index);
            self.wire_form.next.length = bit_cast::<32, 16>(self.said.q.val().length);
            self.wire_form.next.plane = bit_cast::<8, 2>(self.said.q.val().plane);
        }
        self.record.next.address = self.place.val();
        self.record.next.data = self.wire_form.val().into();
        // What the answer is to be counted as: 0 a work request, 1 a notice.
        self.record.next.tag = 0.into();
        if self.of_notice.q.val() {
            self.record.next.tag = 1.into();
        }
        self.record_valid.next = self.deliver.q.val() == Deliver::Emit;
        if self.reset.val() {
            self.tally.d.next = Tally::Wait;
            self.deliver.d.next = Deliver::Wait;
            self.told.d.next = false;
        }
    }
}
