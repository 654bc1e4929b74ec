//! AXI4-Lite on the outside, single-cycle register accesses on the inside.
//!
//! One access at a time, writes before reads. A write is passed on when its address and its data are
//! there; a read's word is taken two cycles after its address was passed on. Word accesses: strobes are
//! not looked at.

use rust_hdl::prelude::*;

#[derive(Copy, Clone, PartialEq, Debug, LogicState)]
pub enum Access {
    Idle,
    WriteAnswer,
    ReadWait,
    ReadTake,
    ReadAnswer,
}

#[derive(LogicBlock, Default)]
pub struct CsrPort {
    pub clock: Signal<In, Clock>,
    pub reset: Signal<In, Bit>,
    pub awaddr: Signal<In, Bits<32>>,
    pub awvalid: Signal<In, Bit>,
    pub awready: Signal<Out, Bit>,
    pub wdata: Signal<In, Bits<32>>,
    pub wvalid: Signal<In, Bit>,
    pub wready: Signal<Out, Bit>,
    pub bvalid: Signal<Out, Bit>,
    pub bready: Signal<In, Bit>,
    pub araddr: Signal<In, Bits<32>>,
    pub arvalid: Signal<In, Bit>,
    pub arready: Signal<Out, Bit>,
    pub rdata: Signal<Out, Bits<32>>,
    pub rvalid: Signal<Out, Bit>,
    pub rready: Signal<In, Bit>,
    pub write_valid: Signal<Out, Bit>,
    pub write_data: Signal<Out, Bits<32>>,
    pub address: Signal<Out, Bits<32>>,
    pub read_data: Signal<In, Bits<32>>,
    step: DFF<Access>,
    held: DFF<Bits<32>>,
    word: DFF<Bits<32>>,
    result: DFF<Bits<32>>,
    writes: DFF<Bit>,
    idle: Signal<Local, Bit>,
    both: Signal<Local, Bit>,
}

impl Logic for CsrPort {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clock, step, held, word, result, writes);
        // What comes while all starts anew waits.
        self.idle.next = (self.step.q.val() == Access::Idle) & !self.reset.val();
        self.both.next = self.idle.val() & self.awvalid.val() & self.wvalid.val();
        self.awready.next = self.both.val();
        self.wready.next = self.both.val();
        self.arready.next = self.idle.val() & self.arvalid.val() & !self.both.val();
        self.writes.d.next = self.both.val();
        match self.step.q.val() {
            Access::Idle => {
                if self.both.val() {
                    self.held.d.next = self.awaddr.val();
                    self.word.d.next = self.wdata.val();
                    self.step.d.next = Access::WriteAnswer;
                } else {
                    if self.arvalid.val() {
                        self.held.d.next = self.araddr.val();
                        self.step.d.next = Access::ReadWait;
                    }
                }
            }
            Access::WriteAnswer => {
                if self.bready.val() {
                    self.step.d.next = Access::Idle;
                }
            }
            Access::ReadWait => {
                self.step.d.next = Access::ReadTake;
            }
            Access::ReadTake => {
                self.result.d.next = self.read_data.val();
                self.step.d.next = Access::ReadAnswer;
            }
            Access::ReadAnswer => {
                if self.rready.val() {
                    self.step.d.next = Access::Idle;
                }
            }
            _ => {
                self.step.d.next = Access::Idle;
            }
        }
        self.bvalid.next = self.step.q.val() == Access::WriteAnswer;
        self.rvalid.next = self.step.q.val() == Access::ReadAnswer;
        self.rdata.next = self.result.q.val();
        self.address.next = self.held.q.val();
        self.write_data.next = self.word.q.val();
        self.write_valid.next = self.writes.q.val();
        if self.reset.val() {
            self.step.d.next = Access::Idle;
            self.writes.d.next = false;
        }
    }
}
