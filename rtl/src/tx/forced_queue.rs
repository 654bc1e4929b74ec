//! What must go out on a given path: resends, probes, CONTROL frames, starts anew; one queue a plane.
//!
//! A plane's transmitter serves its queue before new data (design rule 2). One entry a cycle comes in, resends before the
//! rest. A plane that stands still must not keep the others from anything: `resend_room` says that half of its queue is
//! free, which is more than the losses of any block, and without it no block is walked that could find some; probes
//! beyond five eighths go nowhere. CONTROL frames and starts anew wait in a register, then at their source. A tail request stands for two
//! probes (rule 4: two follow the last data).

use crate::stream::{Fifo, SmallFifo};
use crate::tx::ack_processor::Forced;
use rust_hdl::prelude::*;

/// How full a queue is, in the steps that matter. Combinational.
#[derive(LogicBlock)]
pub struct Watermarks {
    pub level: Signal<In, Bits<16>>,
    /// At most half full.
    pub half: Signal<Out, Bit>,
    /// Five eighths full or more.
    pub crowded: Signal<Out, Bit>,
    half_level: Constant<Bits<16>>,
    crowded_level: Constant<Bits<16>>,
}

impl Watermarks {
    /// Of a queue of `1 << depth_bits` entries.
    pub fn new(depth_bits: usize) -> Self {
        let depth = 1u64 << depth_bits;
        Self {
            level: Default::default(),
            half: Default::default(),
            crowded: Default::default(),
            half_level: Constant::new((depth / 2).into()),
            crowded_level: Constant::new((depth * 5 / 8).into()),
        }
    }
}

impl Default for Watermarks {
    fn default() -> Self {
        Self::new(9)
    }
}

impl Logic for Watermarks {
    #[hdl_gen]
    fn update(&mut self) {
        self.half.next = self.level.val() <= self.half_level.val();
        self.crowded.next = self.level.val() >= self.crowded_level.val();
    }
}

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
    /// Bit of each plane: it has room for all that one block can find lost.
    pub resend_room: Signal<Out, Bits<4>>,
    pub head: [Signal<Out, Forced>; 4],
    pub head_valid: [Signal<Out, Bit>; 4],
    pub head_ready: [Signal<In, Bit>; 4],
    order_now: DFF<Forced>,
    order_waits: DFF<Bit>,
    order_goes: Signal<Local, Bit>,
    tail_now: DFF<Bits<17>>,
    tail_comes: DFF<Bit>,
    tails: SmallFifo<Bits<17>>,
    second: DFF<Bit>,
    queue: [Fifo<Forced>; 4],
    chosen: Signal<Local, Forced>,
    chosen_valid: Signal<Local, Bit>,
    pair: Signal<Local, Bits<17>>,
    plane: Signal<Local, Bits<2>>,
    here: Signal<Local, Bits<2>>,
    full: Signal<Local, Bit>,
    marks: [Watermarks; 4],
    rooms: Signal<Local, Bits<4>>,
    room_now: DFF<Bits<4>>,
    crowded: Signal<Local, Bit>,
    is_probe: Signal<Local, Bit>,
    keeps: Signal<Local, Bit>,
    accepted: Signal<Local, Bit>,
    from_tail: Signal<Local, Bit>,
}

impl ForcedQueue {
    /// Queues of `1 << depth_bits` entries; planes from `planes` on are never named and have none.
    pub fn new(depth_bits: usize, planes: usize) -> Self {
        let queue = |plane| {
            if plane < planes {
                Fifo::new(depth_bits)
            } else {
                Fifo::absent()
            }
        };
        Self {
            tails: SmallFifo::new(5),
            queue: std::array::from_fn(queue),
            marks: std::array::from_fn(|_| Watermarks::new(depth_bits)),
            ..Default::default()
        }
    }
}

impl Logic for ForcedQueue {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(
            self,
            clock,
            second,
            room_now,
            tail_now,
            tail_comes,
            order_now,
            order_waits
        );
        clock!(self, clock, tails);
        self.tails.reset.next = self.reset.val();
        self.tail_now.d.next = self.tail_pair.val();
        self.tail_comes.d.next = self.tail_valid.val() & !self.reset.val();
        self.tails.write_data.next = self.tail_now.q.val();
        self.tails.write_enable.next = self.tail_comes.q.val();

        self.chosen.next = self.order_now.q.val();
        self.chosen_valid.next = self.order_waits.q.val();
        if self.probe_valid.val() {
            self.chosen.next = self.probe.val();
            self.chosen_valid.next = true;
        }
        self.from_tail.next = false;
        if self.tails.read_valid.val() {
            self.chosen.next = self.order_now.q.val();
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
        self.crowded.next = false;
        self.rooms.next = 0.into();
        for i in 0..4 {
            self.here.next = i.to_bits();
            self.marks[i].level.next = self.queue[i].level.val();
            self.rooms.next = self.rooms.val().replace_bit(i, self.marks[i].half.val());
            if self.plane.val() == self.here.val() {
                if self.queue[i].full.val() {
                    self.full.next = true;
                }
                if self.marks[i].crowded.val() {
                    self.crowded.next = true;
                }
            }
        }
        self.room_now.d.next = self.rooms.val();
        self.resend_room.next = self.room_now.q.val();
        self.is_probe.next = self.chosen.val().kind == 1;
        self.accepted.next = self.chosen_valid.val() & (!self.full.val() | self.is_probe.val());
        self.keeps.next = self.accepted.val() & !(self.is_probe.val() & self.crowded.val());
        for i in 0..4 {
            self.here.next = i.to_bits();
            self.queue[i].clock.next = self.clock.val();
            self.queue[i].reset.next = self.reset.val();
            self.queue[i].write_data.next = self.chosen.val();
            self.queue[i].write_enable.next =
                self.keeps.val() & (self.plane.val() == self.here.val());
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
        self.order_goes.next = self.accepted.val()
            & !self.resend_valid.val()
            & !self.from_tail.val()
            & !self.probe_valid.val();
        self.order_ready.next = !self.order_waits.q.val();
        if self.order_goes.val() {
            self.order_waits.d.next = false;
        }
        if !self.order_waits.q.val() {
            self.order_now.d.next = self.order.val();
            self.order_waits.d.next = self.order_valid.val();
        }
        if self.reset.val() {
            self.second.d.next = false;
            self.order_waits.d.next = false;
        }
    }
}
