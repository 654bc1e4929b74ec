//! What must go out on a given path: resends, probes, CONTROL frames, starts anew; one queue a plane.
//!
//! A plane's transmitter serves its queue before new data (design rule 2). One entry a cycle comes in,
//! resends before the rest, and waits at its source while its queue is full; a probe does not wait but goes
//! nowhere, for a plane that stands still must not keep the others from their probes. A tail request stands
//! for two probes (rule 4: two follow the last data).

use crate::stream::{Fifo, SmallFifo};
use crate::tx::ack_processor::Forced;
use rust_hdl::prelude::*;

#[derive(LogicBlock, Default)]
pub struct ForcedQueue {
    pub clock: Signal<In, Clock>,
    pub reset: Signal<In, Bit>,
    pub resend: Signal<In, Forced>,
    pub resend_valid: Signal<In, Bit>,
    pub resend_ready: Signal<Out, Bit>,
    pub tail_pair: Signal<In, Bits<17>>,
    pub tail_valid: Signal<In, Bit>,
    pub probe: Signal<In, Forced>,
    pub probe_valid: Signal<In, Bit>,
    pub probe_ready: Signal<Out, Bit>,
    /// CONTROL frames and starts anew.
    pub order: Signal<In, Forced>,
    pub order_valid: Signal<In, Bit>,
    pub order_ready: Signal<Out, Bit>,
    pub head: [Signal<Out, Forced>; 4],
    pub head_valid: [Signal<Out, Bit>; 4],
    pub head_ready: [Signal<In, Bit>; 4],
    tails: SmallFifo<Bits<17>>,
    second: DFF<Bit>,
    queue: [Fifo<Forced>; 4],
    chosen: Signal<Local, Forced>,
    chosen_valid: Signal<Local, Bit>,
    pair: Signal<Local, Bits<17>>,
    plane: Signal<Local, Bits<2>>,
    here: Signal<Local, Bits<2>>,
    full: Signal<Local, Bit>,
    accepted: Signal<Local, Bit>,
    from_tail: Signal<Local, Bit>,
}

impl ForcedQueue {
    /// Queues of `1 << depth_bits` entries; planes from `planes` on are never named and get the least there is.
    pub fn new(depth_bits: usize, planes: usize) -> Self {
        let depth_of = |plane| if plane < planes { depth_bits } else { 1 };
        Self {
            tails: SmallFifo::new(5),
            queue: std::array::from_fn(|plane| Fifo::new(depth_of(plane))),
            ..Default::default()
        }
    }
}

impl Logic for ForcedQueue {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clock, second);
        clock!(self, clock, tails);
        self.tails.reset.next = self.reset.val();
        self.tails.write_data.next = self.tail_pair.val();
        self.tails.write_enable.next = self.tail_valid.val();

        self.chosen.next = self.order.val();
        self.chosen_valid.next = self.order_valid.val();
        if self.probe_valid.val() {
            self.chosen.next = self.probe.val();
            self.chosen_valid.next = true;
        }
        self.from_tail.next = false;
        if self.tails.read_valid.val() {
            self.chosen.next = self.order.val();
            self.chosen.next.kind = 1.into();
            self.chosen.next.pair = self.tails.read_data.val();
            self.chosen.next.train = 0.into();
            self.chosen.next.timeout = 0.into();
            self.chosen_valid.next = true;
            self.from_tail.next = true;
        }
        if self.resend_valid.val() {
            self.chosen.next = self.resend.val();
            self.chosen_valid.next = true;
            self.from_tail.next = false;
        }
        self.pair.next = self.chosen.val().pair;
        self.plane.next = self.pair.val().get_bits::<2>(3);
        self.full.next = false;
        for i in 0..4 {
            self.here.next = i.to_bits();
            if (self.plane.val() == self.here.val()) & self.queue[i].full.val() {
                self.full.next = true;
            }
        }
        self.accepted.next = self.chosen_valid.val()
            & (!self.full.val() | (self.chosen.val().kind == 1))
            & !self.reset.val();
        for i in 0..4 {
            self.here.next = i.to_bits();
            self.queue[i].clock.next = self.clock.val();
            self.queue[i].reset.next = self.reset.val();
            self.queue[i].write_data.next = self.chosen.val();
            self.queue[i].write_enable.next =
                self.accepted.val() & (self.plane.val() == self.here.val());
            self.head[i].next = self.queue[i].read_data.val();
            self.head_valid[i].next = self.queue[i].read_valid.val();
            self.queue[i].read_ready.next = self.head_ready[i].val();
        }
        self.resend_ready.next = self.accepted.val();
        self.tails.read_ready.next =
            self.accepted.val() & self.from_tail.val() & self.second.q.val();
        if self.accepted.val() & self.from_tail.val() {
            self.second.d.next = !self.second.q.val();
        }
        self.probe_ready.next =
            self.accepted.val() & !self.resend_valid.val() & !self.from_tail.val();
        self.order_ready.next = self.accepted.val()
            & !self.resend_valid.val()
            & !self.from_tail.val()
            & !self.probe_valid.val();
        if self.reset.val() {
            self.second.d.next = false;
        }
    }
}
