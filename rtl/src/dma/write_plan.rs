//! What the bus must know of one write: bursts, counted in beats, and whether they are to happen at all.
//!
//! Works it out from addresses and lengths, in one step without a register. The split is given: each piece lies within
//! one 4 KiB page. Next: `write_bus`.

use rust_hdl::prelude::*;

/// One write of one or two bursts, or of nothing.
#[derive(Copy, Clone, PartialEq, Debug, Default, LogicStruct)]
pub struct WritePlan {
    pub address0: Bits<64>,
    pub beats0: Bits<7>,
    pub address1: Bits<64>,
    pub beats1: Bits<7>,
    /// No bytes: only its turn among the answers counts.
    pub empty: Bit,
    pub split: Bit,
    /// Its bytes were aligned before the verdict, which refused them: they are taken and go nowhere.
    pub discard: Bit,
}

/// See the module page.
#[derive(LogicBlock, Default)]
pub struct WritePlanner {
    pub address0: Signal<In, Bits<64>>,
    /// Bytes at the first address.
    pub length0: Signal<In, Bits<13>>,
    pub address1: Signal<In, Bits<64>>,
    /// Bytes in all.
    pub length: Signal<In, Bits<13>>,
    pub discard: Signal<In, Bit>,
    pub plan: Signal<Out, WritePlan>,
    lane: Signal<Local, Bits<6>>,
    length1: Signal<Local, Bits<13>>,
    up0: Signal<Local, Bits<13>>,
    up1: Signal<Local, Bits<13>>,
}

impl Logic for WritePlanner {
    #[hdl_gen]
    fn update(&mut self) {
        self.lane.next = self.address0.val().get_bits::<6>(0);
        self.length1.next = self.length.val() - self.length0.val();
        self.up0.next = self.length0.val() + bit_cast::<13, 6>(self.lane.val()) + 63;
        self.up1.next = self.length1.val() + 63;
        self.plan.next.address0 = self.address0.val();
        self.plan.next.beats0 = self.up0.val().get_bits::<7>(6);
        self.plan.next.address1 = self.address1.val();
        self.plan.next.beats1 = self.up1.val().get_bits::<7>(6);
        self.plan.next.empty = self.length.val() == 0;
        self.plan.next.split = self.length1.val() != 0;
        self.plan.next.discard = self.discard.val();
    }
}
