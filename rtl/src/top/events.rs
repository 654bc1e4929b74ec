//! Everything that is counted, one bit a counter (`docs/registers.md`, counters). Combinational.
//!
//! Bits 1 to 31 are the reasons of receive drops: a reason's code is its counter's number.

use rust_hdl::prelude::*;

#[derive(LogicBlock, Default)]
pub struct Events {
    /// The receive front judged a frame: 0 is good.
    pub judged: Signal<In, Bit>,
    pub front_reason: Signal<In, Bits<5>>,
    pub drop_full: Signal<In, Bits<4>>,
    pub drop_oversize: Signal<In, Bits<4>>,
    pub drop_valid: Signal<In, Bit>,
    pub drop_reason: Signal<In, Bits<5>>,
    /// DATA, PROBE, ACK, CONTROL accepted, and sent.
    pub accepted: Signal<In, Bits<4>>,
    pub sent: Signal<In, Bits<5>>,
    pub nack: Signal<In, Bit>,
    pub resent: Signal<In, Bit>,
    pub lost: Signal<In, Bit>,
    pub lost_by_probe: Signal<In, Bit>,
    pub lost_by_timeout: Signal<In, Bit>,
    pub timer: Signal<In, Bit>,
    pub block: Signal<In, Bit>,
    pub block_stale: Signal<In, Bit>,
    pub block_invalid: Signal<In, Bit>,
    pub loaded: Signal<In, Bit>,
    pub invalid_request: Signal<In, Bit>,
    pub completion: Signal<In, Bit>,
    pub placed: Signal<In, Bit>,
    pub local_refused: Signal<In, Bit>,
    pub failed: Signal<In, Bit>,
    pub read_error: Signal<In, Bit>,
    pub write_error: Signal<In, Bit>,
    pub doorbell: Signal<In, Bit>,
    pub control_placed: Signal<In, Bit>,
    pub local_bounds: Signal<In, Bit>,
    pub pulses: Signal<Out, Bits<64>>,
    all: Signal<Local, Bits<64>>,
    one: Signal<Local, Bits<64>>,
    front: Signal<Local, Bits<64>>,
    behind: Signal<Local, Bits<64>>,
}

impl Logic for Events {
    #[hdl_gen]
    fn update(&mut self) {
        self.one.next = 1.into();
        self.front.next = 0.into();
        if self.judged.val() & self.front_reason.val().any() {
            self.front.next = self.one.val() << self.front_reason.val();
        }
        self.behind.next = 0.into();
        if self.drop_valid.val() {
            self.behind.next = self.one.val() << self.drop_reason.val();
        }
        self.all.next = self.front.val() | self.behind.val();
        if self.drop_full.val().any() {
            self.all.next = self.all.val().replace_bit(13, true);
        }
        if self.drop_oversize.val().any() {
            self.all.next = self.all.val().replace_bit(14, true);
        }
        self.all.next = self.all.val().replace_bit(30, self.block_invalid.val());
        self.all.next = self.all.val().replace_bit(0, self.judged.val());
        self.all.next = self
            .all
            .val()
            .replace_bit(33, self.accepted.val().get_bit(0));
        self.all.next = self
            .all
            .val()
            .replace_bit(34, self.accepted.val().get_bit(2));
        self.all.next = self
            .all
            .val()
            .replace_bit(35, self.accepted.val().get_bit(1));
        self.all.next = self
            .all
            .val()
            .replace_bit(36, self.accepted.val().get_bit(3));
        self.all.next = self.all.val().replace_bit(38, self.sent.val().get_bit(0));
        self.all.next = self.all.val().replace_bit(39, self.sent.val().get_bit(2));
        self.all.next = self.all.val().replace_bit(40, self.sent.val().get_bit(1));
        self.all.next = self.all.val().replace_bit(41, self.sent.val().get_bit(3));
        self.all.next = self
            .all
            .val()
            .replace_bit(43, self.sent.val().get_bit(0) & self.resent.val());
        self.all.next = self.all.val().replace_bit(
            44,
            self.lost.val() & !self.lost_by_probe.val() & !self.lost_by_timeout.val(),
        );
        self.all.next = self
            .all
            .val()
            .replace_bit(45, self.lost.val() & self.lost_by_probe.val());
        self.all.next = self
            .all
            .val()
            .replace_bit(46, self.lost.val() & self.lost_by_timeout.val());
        self.all.next = self.all.val().replace_bit(47, self.timer.val());
        self.all.next = self.all.val().replace_bit(48, self.block.val());
        self.all.next = self.all.val().replace_bit(49, self.block_stale.val());
        self.all.next = self.all.val().replace_bit(51, self.loaded.val());
        self.all.next = self.all.val().replace_bit(52, self.invalid_request.val());
        self.all.next = self.all.val().replace_bit(53, self.completion.val());
        self.all.next = self.all.val().replace_bit(55, self.failed.val());
        self.all.next = self.all.val().replace_bit(56, self.placed.val());
        self.all.next = self.all.val().replace_bit(54, self.control_placed.val());
        self.all.next = self
            .all
            .val()
            .replace_bit(57, self.local_refused.val() & !self.local_bounds.val());
        self.all.next = self
            .all
            .val()
            .replace_bit(58, self.local_refused.val() & self.local_bounds.val());
        self.all.next = self.all.val().replace_bit(60, self.read_error.val());
        self.all.next = self.all.val().replace_bit(37, self.nack.val());
        self.all.next = self.all.val().replace_bit(42, self.sent.val().get_bit(4));
        self.all.next = self.all.val().replace_bit(61, self.write_error.val());
        self.all.next = self.all.val().replace_bit(62, self.doorbell.val());
        self.all.next = self.all.val().replace_bit(63, self.failed.val());
        self.pulses.next = self.all.val();
    }
}
