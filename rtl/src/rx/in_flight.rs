//! Which paths are in the stages of the receive window: a path that went in less than 11 cycles ago must wait.
//!
//! Holds no packets. Compares only the bits of a path's number that choose its word of memory.

use rust_hdl::prelude::*;

/// The paths of the last ten cycles.
#[derive(LogicBlock)]
pub struct InFlight {
    pub clock: Signal<In, Clock>,
    pub reset: Signal<In, Bit>,
    pub pair: Signal<In, Bits<17>>,
    /// The path goes in.
    pub take: Signal<In, Bit>,
    /// It must wait.
    pub busy: Signal<Out, Bit>,
    used: Constant<Bits<17>>,
    asked: Signal<Local, Bits<17>>,
    pairs: [DFF<Bits<17>>; 10],
    valid: [DFF<Bit>; 10],
}

impl InFlight {
    /// Of `1 << pair_bits` paths.
    pub fn new(pair_bits: usize) -> Self {
        Self {
            clock: Default::default(),
            reset: Default::default(),
            pair: Default::default(),
            take: Default::default(),
            busy: Default::default(),
            used: Constant::new(((1u64 << pair_bits) - 1).into()),
            asked: Default::default(),
            pairs: Default::default(),
            valid: Default::default(),
        }
    }
}

impl Default for InFlight {
    fn default() -> Self {
        Self::new(17)
    }
}

impl Logic for InFlight {
    #[hdl_gen]
    fn update(&mut self) {
        self.asked.next = self.pair.val() & self.used.val();
        self.busy.next = false;
        for i in 0..10 {
            self.pairs[i].clock.next = self.clock.val();
            self.valid[i].clock.next = self.clock.val();
            if self.valid[i].q.val() & (self.pairs[i].q.val() == self.asked.val()) {
                self.busy.next = true;
            }
        }
        for i in 0..9 {
            self.pairs[i + 1].d.next = self.pairs[i].q.val();
            self.valid[i + 1].d.next = self.valid[i].q.val() & !self.reset.val();
        }
        self.pairs[0].d.next = self.asked.val();
        self.valid[0].d.next = self.take.val() & !self.reset.val();
    }
}
