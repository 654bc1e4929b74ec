//! Sixty-four running counts in one block RAM (clause T-2.13).
//!
//! A pulse is kept in a small pending count; a sweep visits one counter a cycle and adds what is pending
//! to its word, so every pulse of every cycle is counted and shows at most 66 cycles later.

use crate::stream::Ram;
use rust_hdl::prelude::*;

#[derive(LogicBlock)]
pub struct Counters {
    pub clock: Signal<In, Clock>,
    /// One bit a counter; set: it happened in this cycle.
    pub pulses: Signal<In, Bits<64>>,
    pub read_index: Signal<In, Bits<6>>,
    /// One cycle after the index.
    pub read_count: Signal<Out, Bits<32>>,
    counts: Ram<Bits<32>, 6>,
    shown: Ram<Bits<32>, 6>,
    pending: [DFF<Bits<7>>; 64],
    visit: DFF<Bits<6>>,
    visited: DFF<Bits<6>>,
    add: DFF<Bits<7>>,
    here: Signal<Local, Bits<6>>,
    base: Signal<Local, Bits<7>>,
    adding: Signal<Local, Bits<7>>,
    sum: Signal<Local, Bits<32>>,
}

impl Default for Counters {
    fn default() -> Self {
        Self {
            clock: Default::default(),
            pulses: Default::default(),
            read_index: Default::default(),
            read_count: Default::default(),
            counts: Default::default(),
            shown: Default::default(),
            pending: std::array::from_fn(|_| DFF::default()),
            visit: Default::default(),
            visited: Default::default(),
            add: Default::default(),
            here: Default::default(),
            base: Default::default(),
            adding: Default::default(),
            sum: Default::default(),
        }
    }
}

impl Logic for Counters {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clock, visit, visited, add);
        clock!(self, clock, counts, shown);
        self.visit.d.next = self.visit.q.val() + 1;
        self.visited.d.next = self.visit.q.val();
        self.adding.next = 0.into();
        for i in 0..64 {
            self.pending[i].clock.next = self.clock.val();
            self.here.next = i.to_bits();
            self.base.next = self.pending[i].q.val();
            if self.visit.q.val() == self.here.val() {
                self.adding.next = self.base.val();
                self.base.next = 0.into();
            }
            self.pending[i].d.next = self.base.val();
            if self.pulses.val().get_bit(i) {
                self.pending[i].d.next = self.base.val() + 1;
            }
        }
        self.add.d.next = self.adding.val();
        self.counts.read_address.next = self.visit.q.val();
        self.counts.read_enable.next = true;
        self.sum.next = self.counts.read_data.val() + bit_cast::<32, 7>(self.add.q.val());
        self.counts.write_address.next = self.visited.q.val();
        self.counts.write_data.next = self.sum.val();
        self.counts.write_enable.next = true;
        self.shown.write_address.next = self.visited.q.val();
        self.shown.write_data.next = self.sum.val();
        self.shown.write_enable.next = true;
        self.shown.read_address.next = self.read_index.val();
        self.shown.read_enable.next = true;
        self.read_count.next = self.shown.read_data.val();
    }
}
