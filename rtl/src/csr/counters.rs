//! Sixty-four running counts in LUT RAM (clause T-2.13).
//!
//! A pulse is kept in a small pending count; a sweep over four banks visits one counter of each a cycle and adds what is
//! pending to its word, so every pulse of every cycle is counted and shows at most 19 cycles later.

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
    counts: [Ram<Bits<32>, 4>; 4],
    shown: [Ram<Bits<32>, 4>; 4],
    /// Never above 17: a sweep takes 16 cycles.
    pending: [DFF<Bits<5>>; 64],
    came: DFF<Bits<64>>,
    visit: DFF<Bits<4>>,
    visited: DFF<Bits<4>>,
    add: [DFF<Bits<5>>; 4],
    read_bank: DFF<Bits<2>>,
    here: Signal<Local, Bits<4>>,
    bank: Signal<Local, Bits<2>>,
    base: Signal<Local, Bits<5>>,
    adding: Signal<Local, Bits<5>>,
    added: Signal<Local, Bits<5>>,
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
            came: Default::default(),
            visit: Default::default(),
            visited: Default::default(),
            add: Default::default(),
            read_bank: Default::default(),
            here: Default::default(),
            bank: Default::default(),
            base: Default::default(),
            adding: Default::default(),
            added: Default::default(),
            sum: Default::default(),
        }
    }
}

impl Logic for Counters {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clock, came, visit, visited, read_bank);
        self.came.d.next = self.pulses.val();
        self.visit.d.next = self.visit.q.val() + 1;
        self.visited.d.next = self.visit.q.val();
        self.read_bank.d.next = self.read_index.val().get_bits::<2>(4);
        self.read_count.next = 0.into();
        for i in 0..4 {
            self.adding.next = 0.into();
            for j in 0..16 {
                self.pending[16 * i + j].clock.next = self.clock.val();
                self.here.next = j.to_bits();
                self.base.next = self.pending[16 * i + j].q.val();
                if self.visit.q.val() == self.here.val() {
                    self.adding.next = self.base.val();
                    self.base.next = 0.into();
                }
                self.pending[16 * i + j].d.next = self.base.val();
                if self.came.q.val().get_bit(16 * i + j) {
                    self.pending[16 * i + j].d.next = self.base.val() + 1;
                }
            }
            self.add[i].clock.next = self.clock.val();
            self.add[i].d.next = self.adding.val();
            self.counts[i].clock.next = self.clock.val();
            self.counts[i].read_address.next = self.visit.q.val();
            self.counts[i].read_enable.next = true;
            self.added.next = self.add[i].q.val();
            self.sum.next = self.counts[i].read_data.val() + bit_cast::<32, 5>(self.added.val());
            self.counts[i].write_address.next = self.visited.q.val();
            self.counts[i].write_data.next = self.sum.val();
            self.counts[i].write_enable.next = true;
            self.shown[i].clock.next = self.clock.val();
            self.shown[i].write_address.next = self.visited.q.val();
            self.shown[i].write_data.next = self.sum.val();
            self.shown[i].write_enable.next = true;
            self.shown[i].read_address.next = self.read_index.val().get_bits::<4>(0);
            self.shown[i].read_enable.next = true;
            self.bank.next = i.to_bits();
            if self.read_bank.q.val() == self.bank.val() {
                self.read_count.next = self.shown[i].read_data.val();
            }
        }
    }
}
