//! UDP's destination port and length.
//!
//! They are the 32-bit word that ends two bytes before the transport header. In the beat that holds it, turned until the
//! transport header starts at lane 0, it stands in lanes 58 to 61. Outputs belong to the turned beat, and are right from
//! the beat on that holds the word; before, or if the frame ends too early, they are those of a word of zeros.

use crate::stream::{Be16, BeatInfo};
use rust_hdl::prelude::*;

/// See the module page.
#[derive(LogicBlock, Default)]
pub struct UdpFields {
    pub clock: Signal<In, Clock>,
    /// Lanes 58 to 61 of the turned beat.
    pub turned: Signal<In, Bits<32>>,
    pub info: Signal<In, BeatInfo>,
    pub valid: Signal<In, Bit>,
    /// The word stands in the frame's second beat, not in the first.
    pub second: Signal<In, Bit>,
    pub udp_port: Signal<In, Bits<16>>,
    pub port_ok: Signal<Out, Bit>,
    pub length: Signal<Out, Bits<16>>,
    taken: DFF<Bits<32>>,
    here: Signal<Local, Bits<32>>,
    port_bytes: Signal<Local, Be16>,
    length_bytes: Signal<Local, Be16>,
    port_here: Signal<Local, Bits<16>>,
}

impl Logic for UdpFields {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clock, taken);
        self.here.next = self.taken.q.val();
        if self.info.val().first {
            self.here.next = 0.into();
        }
        if (self.info.val().first & !self.second.val())
            | ((self.info.val().index == 1) & self.second.val())
        {
            self.here.next = self.turned.val();
        }
        if self.valid.val() {
            self.taken.d.next = self.here.val();
        }
        self.port_bytes.next.high = self.here.val().get_bits::<8>(0);
        self.port_bytes.next.low = self.here.val().get_bits::<8>(8);
        self.length_bytes.next.high = self.here.val().get_bits::<8>(16);
        self.length_bytes.next.low = self.here.val().get_bits::<8>(24);
        self.port_here.next = self.port_bytes.val().into();
        self.port_ok.next = self.port_here.val() == self.udp_port.val();
        self.length.next = self.length_bytes.val().into();
    }
}
