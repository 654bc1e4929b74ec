//! Lets an ACK go when all that it acknowledges is in memory (clause T-5.4).
//!
//! A path's window shows a packet as received as soon as it is accepted, while its payload may still be on the way to
//! host memory. So a finished ACK waits here until memory has answered every write that was ordered before it was
//! finished: a completion at the sender then follows the bytes at the receiver. The two counts run in the order
//! of the frames, so comparing them is enough. Holds 16 ACKs of 16 blocks in all; when it is full the generator gathers on.
//!
//! A connection that starts anew must not show an ACK of its life before: at a `mark` what is held is remembered, and
//! `mark_gone` says that all of it has left.
//!
//! Latency 3 cycles when nothing is being written, one block a cycle, an ACK every other. It looks at no content.

use super::ack_generator::{AckBlockWire, AckFrame};
use crate::stream::SmallFifo;
use rust_hdl::prelude::*;

#[derive(LogicBlock, Default)]
pub struct AckHold {
    pub clock: Signal<In, Clock>,
    pub reset: Signal<In, Bit>,
    /// For an ACK of four blocks more, once those before are in.
    pub room: Signal<Out, Bit>,
    pub block: Signal<In, AckBlockWire>,
    pub block_valid: Signal<In, Bit>,
    /// Comes after its blocks.
    pub frame: Signal<In, AckFrame>,
    pub frame_valid: Signal<In, Bit>,
    /// Running counts: writes ordered and writes answered.
    pub issued: Signal<In, Bits<32>>,
    pub done: Signal<In, Bits<32>>,
    pub mark: Signal<In, Bit>,
    pub mark_gone: Signal<Out, Bit>,
    pub out: Signal<Out, AckFrame>,
    pub out_valid: Signal<Out, Bit>,
    pub out_ready: Signal<In, Bit>,
    /// The next block of the ACK that may go, or of one that went.
    pub out_block: Signal<Out, AckBlockWire>,
    pub out_block_ready: Signal<In, Bit>,
    blocks: SmallFifo<AckBlockWire>,
    frames: SmallFifo<AckFrame>,
    /// Of each held frame: how many writes must have been answered, modulo 2^16.
    afters: SmallFifo<Bits<16>>,
    /// ACKs still held of those that the last mark found.
    marked: DFF<Bits<5>>,
    leaves: Signal<Local, Bit>,
    here: Signal<Local, Bits<5>>,
    ordered: Signal<Local, Bits<32>>,
    answered: Signal<Local, Bits<32>>,
    ahead: Signal<Local, Bits<16>>,
    /// The oldest ACK may go.
    due: DFF<Bit>,
}

impl AckHold {
    /// With the depth of its queues set.
    pub fn new() -> Self {
        Self {
            blocks: SmallFifo::new(4),
            frames: SmallFifo::new(4),
            afters: SmallFifo::new(4),
            ..Default::default()
        }
    }
}

impl Logic for AckHold {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clock, marked, due);
        clock!(self, clock, blocks, frames, afters);
        self.blocks.reset.next = self.reset.val();
        self.frames.reset.next = self.reset.val();
        self.afters.reset.next = self.reset.val();
        self.ordered.next = self.issued.val();
        self.answered.next = self.done.val();
        self.frames.write_data.next = self.frame.val();
        self.frames.write_enable.next = self.frame_valid.val();
        self.afters.write_data.next = self.ordered.val().get_bits::<16>(0);
        self.afters.write_enable.next = self.frame_valid.val();
        self.blocks.write_data.next = self.block.val();
        self.blocks.write_enable.next = self.block_valid.val();
        self.room.next = !self.frames.full.val() & (self.blocks.level.val() <= 12);
        self.out_block.next = self.blocks.read_data.val();
        self.blocks.read_ready.next = self.out_block_ready.val();

        // Fewer than 2^15 writes are ever under way: not ahead means answered.
        self.ahead.next = self.answered.val().get_bits::<16>(0);
        self.ahead.next = self.ahead.val() - self.afters.read_data.val();
        self.leaves.next = self.due.q.val() & self.out_ready.val();
        self.due.d.next =
            self.frames.read_valid.val() & !self.ahead.val().get_bit(15) & !self.leaves.val();
        self.out.next = self.frames.read_data.val();
        self.out_valid.next = self.due.q.val();
        self.frames.read_ready.next = self.leaves.val();
        self.afters.read_ready.next = self.leaves.val();

        self.here.next = self.marked.q.val();
        if self.mark.val() {
            self.here.next = self.frames.level.val().get_bits::<5>(0);
        }
        self.marked.d.next = self.here.val();
        if self.leaves.val() & self.here.val().any() {
            self.marked.d.next = self.here.val() - 1;
        }
        self.mark_gone.next = !self.marked.q.val().any();
        if self.reset.val() {
            self.marked.d.next = 0.into();
            self.due.d.next = false;
        }
    }
}
