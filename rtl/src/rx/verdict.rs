//! The reason to drop a frame, if its headers give one. Combinational.

use super::ip_fields::HeaderFlags;
use crate::stream::BeatInfo;
use rust_hdl::prelude::*;

/// See the module page; codes are those of `DropReason`.
#[derive(LogicBlock, Default)]
pub struct Verdict {
    pub flags: Signal<In, HeaderFlags>,
    /// Of the frame's last beat.
    pub info: Signal<In, BeatInfo>,
    pub checksum_ok: Signal<In, Bit>,
    pub ip_ok: Signal<In, Bit>,
    pub udp_ok: Signal<In, Bit>,
    pub port_ok: Signal<In, Bit>,
    pub reason: Signal<Out, Bits<5>>,
}

impl Logic for Verdict {
    #[hdl_gen]
    fn update(&mut self) {
        // The strongest reason, with the lowest code, last.
        self.reason.next = 0.into();
        if !self.port_ok.val() {
            self.reason.next = 11.into();
        }
        if !self.ip_ok.val() | !self.udp_ok.val() {
            self.reason.next = 10.into();
        }
        if !self.flags.val().address_ok {
            self.reason.next = 9.into();
        }
        if !self.flags.val().udp {
            self.reason.next = 8.into();
        }
        if self.flags.val().extension {
            self.reason.next = 7.into();
        }
        if self.flags.val().fragment {
            self.reason.next = 6.into();
        }
        if !self.checksum_ok.val() & !self.flags.val().v6 {
            self.reason.next = 5.into();
        }
        if !self.flags.val().header_ok {
            self.reason.next = 4.into();
        }
        if !self.flags.val().type_ok {
            self.reason.next = 3.into();
        }
        if !self.flags.val().mac_ok {
            self.reason.next = 2.into();
        }
        if self.info.val().error {
            self.reason.next = 1.into();
        }
    }
}
