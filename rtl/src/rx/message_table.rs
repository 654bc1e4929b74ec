//! How much of each message has been placed (design rule 9, clause T-2.9).
//!
//! A word a (connection, message slot) counts the distinct payload bytes that have reached memory: a path's
//! window lets each packet through once, so counting is enough. The word bears the lap of the message
//! number, so the slot's next message starts from zero by itself. When the count reaches the length the
//! message is complete; the ACK generator is told at once. One placed packet every 3 cycles.
//! It does not deliver completions: WRITE has none at the receiver.

use crate::bundle;
use crate::stream::{Fifo, Ram};
use rust_hdl::prelude::*;

bundle! {
    /// A packet whose bytes are on their way to memory.
    PlacedPacket { pair: 17, message: 16, length: 13, total: 32, control: 1, index: 16, plane: 2 }
}

bundle! {
    /// Bytes placed of the message in a slot; `lap` is the message number above the slot bits.
    SlotState { lap: 10, used: 1, bytes: 32 }
}

#[derive(Copy, Clone, PartialEq, Debug, LogicState)]
pub enum Count {
    Wait,
    Look,
    Write,
}

#[derive(LogicBlock, Default)]
pub struct MessageTable {
    pub clock: Signal<In, Clock>,
    pub reset: Signal<In, Bit>,
    /// A packet whose write has been ordered, in order.
    pub ordered: Signal<In, PlacedPacket>,
    pub ordered_valid: Signal<In, Bit>,
    pub room: Signal<Out, Bit>,
    /// The oldest ordered packet's bytes are in memory.
    pub placed_valid: Signal<In, Bit>,
    pub clear_address: Signal<In, Bits<18>>,
    pub clear_valid: Signal<In, Bit>,
    pub clear_ready: Signal<Out, Bit>,
    pub complete_pair: Signal<Out, Bits<17>>,
    pub complete_valid: Signal<Out, Bit>,
    /// A CONTROL frame is in its ring entry.
    pub control: Signal<Out, PlacedPacket>,
    pub control_valid: Signal<Out, Bit>,
    /// Running counts: writes ordered and writes answered.
    pub issued: Signal<Out, Bits<32>>,
    pub done: Signal<Out, Bits<32>>,

    orders: Fifo<PlacedPacket>,
    pending: DFF<Bits<8>>,
    slots: Ram<SlotState, 18>,
    step: DFF<Count>,
    packet: DFF<PlacedPacket>,
    state: DFF<SlotState>,
    issued_count: DFF<Bits<32>>,
    done_count: DFF<Bits<32>>,
    first_slot: Signal<Local, Bit>,
    clears: Signal<Local, Bit>,
    counted_since: DFF<Bits<7>>,
    counted_all: DFF<Bit>,
    complete_now: DFF<Bit>,
    control_now: DFF<Bit>,
    take: Signal<Local, Bit>,
    front_pair: Signal<Local, Bits<17>>,
    front_message: Signal<Local, Bits<16>>,
    slot_base: Signal<Local, Bits<18>>,
    address: Signal<Local, Bits<18>>,
    held: DFF<Bits<18>>,
    lap: Signal<Local, Bits<10>>,
    message: Signal<Local, Bits<16>>,
    counted: Signal<Local, Bits<32>>,
    so_far: Signal<Local, Bits<32>>,
    whole: Signal<Local, Bit>,
}

impl MessageTable {
    /// For `1 << connection_bits` connections of 64 slots.
    pub fn new(connection_bits: usize) -> Self {
        Self {
            orders: Fifo::new(6),
            // Read and written in turn.
            slots: Ram::new(connection_bits + 6).without_collisions(),
            ..Default::default()
        }
    }
}

impl Logic for MessageTable {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(
            self,
            clock,
            pending,
            step,
            packet,
            state,
            issued_count,
            done_count,
            held,
            counted_since,
            counted_all,
            complete_now,
            control_now
        );
        clock!(self, clock, orders, slots);
        self.orders.reset.next = self.reset.val();
        self.orders.write_data.next = self.ordered.val();
        self.orders.write_enable.next = self.ordered_valid.val();
        self.room.next = self.orders.level.val() < 40;
        // A slot is cleared before the next packet is counted; slot 0, the first of a connection that starts anew, when
        // all that was ordered of its life before has been: as many as the queue holds, or until it is empty.
        self.first_slot.next = (self.clear_address.val() & 0x3f) == 0;
        self.clears.next = self.clear_valid.val()
            & (!self.first_slot.val() | self.counted_all.q.val())
            & (self.step.q.val() == Count::Wait);
        self.take.next = (self.step.q.val() == Count::Wait)
            & self.pending.q.val().any()
            & self.orders.read_valid.val()
            & !self.clears.val();
        if self.take.val() {
            self.counted_since.d.next = self.counted_since.q.val() + 1;
        }
        if (self.step.q.val() == Count::Wait)
            & (!self.orders.level.val().any() | (self.counted_since.q.val() >= 65))
        {
            self.counted_all.d.next = true;
        }
        if !self.clear_valid.val() | !self.first_slot.val() {
            self.counted_since.d.next = 0.into();
            self.counted_all.d.next = false;
        }
        self.orders.read_ready.next = self.take.val();
        if self.placed_valid.val() & !self.take.val() {
            self.pending.d.next = self.pending.q.val() + 1;
        }
        if !self.placed_valid.val() & self.take.val() {
            self.pending.d.next = self.pending.q.val() - 1;
        }
        if self.ordered_valid.val() {
            self.issued_count.d.next = self.issued_count.q.val() + 1;
        }
        if self.placed_valid.val() {
            self.done_count.d.next = self.done_count.q.val() + 1;
        }
        self.issued.next = self.issued_count.q.val();
        self.done.next = self.done_count.q.val();

        self.front_pair.next = self.orders.read_data.val().pair;
        self.front_message.next = self.orders.read_data.val().message;
        self.slot_base.next = bit_cast::<18, 17>(self.front_pair.val() >> 5) << 6;
        self.address.next =
            self.slot_base.val() | (bit_cast::<18, 16>(self.front_message.val()) & 0x3f);
        self.slots.read_address.next = self.address.val();
        self.slots.read_enable.next = true;
        self.message.next = self.packet.q.val().message;
        self.lap.next = self.message.val().get_bits::<10>(6);
        self.so_far.next = 0.into();
        if self.state.q.val().used.any() & (self.state.q.val().lap == self.lap.val()) {
            self.so_far.next = self.state.q.val().bytes;
        }
        self.counted.next = self.so_far.val() + bit_cast::<32, 13>(self.packet.q.val().length);
        self.whole.next = self.counted.val() == self.packet.q.val().total;
        self.complete_now.d.next = false;
        self.control_now.d.next = false;
        self.clear_ready.next = false;
        self.slots.write_address.next = self.held.q.val();
        self.slots.write_data.next.lap = self.lap.val();
        self.slots.write_data.next.used = 1.into();
        self.slots.write_data.next.bytes = self.counted.val();
        self.slots.write_enable.next = false;
        match self.step.q.val() {
            Count::Wait => {
                if self.take.val() {
                    self.packet.d.next = self.orders.read_data.val();
                    self.held.d.next = self.address.val();
                    self.step.d.next = Count::Look;
                } else {
                    self.clear_ready.next = self.clears.val();
                    self.slots.write_address.next = self.clear_address.val();
                    self.slots.write_data.next.used = 0.into();
                    self.slots.write_enable.next = self.clears.val();
                }
            }
            Count::Look => {
                self.state.d.next = self.slots.read_data.val();
                self.step.d.next = Count::Write;
            }
            Count::Write => {
                self.control_now.d.next = self.packet.q.val().control.any();
                self.complete_now.d.next = !self.packet.q.val().control.any() & self.whole.val();
                self.slots.write_enable.next = !self.packet.q.val().control.any();
                self.step.d.next = Count::Wait;
            }
            _ => {
                self.step.d.next = Count::Wait;
            }
        }
        // The packet is still here in the cycle after its last step.
        self.complete_pair.next = self.packet.q.val().pair;
        self.complete_valid.next = self.complete_now.q.val();
        self.control.next = self.packet.q.val();
        self.control_valid.next = self.control_now.q.val();
        if self.reset.val() {
            self.step.d.next = Count::Wait;
            self.pending.d.next = 0.into();
            self.complete_now.d.next = false;
            self.control_now.d.next = false;
        }
    }
}
