//! UDP's destination port and length, in whichever of the first two beats they stand.
//!
//! They are one 32-bit word of the frame, since every header before is a multiple of four bytes behind Ethernet's 14.
//! Outputs are two cycles behind the beat, and right from the beat on that holds the word; before, or if the frame
//! ends too early, they are those of a word of zeros.

use crate::stream::{Be16, BeatInfo};
use rust_hdl::prelude::*;

/// See the module page.
#[derive(LogicBlock, Default)]
pub struct UdpFields {
    pub clock: Signal<In, Clock>,
    pub data: Signal<In, Bits<512>>,
    pub info: Signal<In, BeatInfo>,
    pub valid: Signal<In, Bit>,
    /// Where it stands, with the beat.
    pub word: Signal<In, Bits<5>>,
    /// The same a cycle later.
    pub word_later: Signal<In, Bits<5>>,
    pub udp_port: Signal<In, Bits<16>>,
    pub port_ok: Signal<Out, Bit>,
    pub length: Signal<Out, Bits<16>>,
    /// Bytes from the frame's start to the end of UDP.
    pub udp_end: Signal<Out, Bits<17>>,
    taken: DFF<Bits<32>>,
    length5: DFF<Bits<16>>,
    end5: DFF<Bits<17>>,
    port_ok5: DFF<Bit>,
    place: Signal<Local, Bits<4>>,
    second: Signal<Local, Bit>,
    half: Signal<Local, Bits<256>>,
    quarter: Signal<Local, Bits<128>>,
    eighth: Signal<Local, Bits<64>>,
    here: Signal<Local, Bits<32>>,
    port_bytes: Signal<Local, Be16>,
    length_bytes: Signal<Local, Be16>,
    port_here: Signal<Local, Bits<16>>,
    length_here: Signal<Local, Bits<16>>,
    start: Signal<Local, Bits<17>>,
}

impl Logic for UdpFields {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clock, taken, length5, end5, port_ok5);
        self.place.next = self.word.val().get_bits::<4>(0);
        self.second.next = self.word.val().get_bit(4);
        self.half.next = self.data.val().get_bits::<256>(0);
        if self.place.val().get_bit(3) {
            self.half.next = self.data.val().get_bits::<256>(256);
        }
        self.quarter.next = self.half.val().get_bits::<128>(0);
        if self.place.val().get_bit(2) {
            self.quarter.next = self.half.val().get_bits::<128>(128);
        }
        self.eighth.next = self.quarter.val().get_bits::<64>(0);
        if self.place.val().get_bit(1) {
            self.eighth.next = self.quarter.val().get_bits::<64>(64);
        }
        self.here.next = self.eighth.val().get_bits::<32>(0);
        if self.place.val().get_bit(0) {
            self.here.next = self.eighth.val().get_bits::<32>(32);
        }
        if self.valid.val() & self.info.val().first {
            self.taken.d.next = 0.into();
        }
        if self.valid.val()
            & ((self.info.val().first & !self.second.val())
                | ((self.info.val().index == 1) & self.second.val()))
        {
            self.taken.d.next = self.here.val();
        }

        self.port_bytes.next.high = self.taken.q.val().get_bits::<8>(0);
        self.port_bytes.next.low = self.taken.q.val().get_bits::<8>(8);
        self.length_bytes.next.high = self.taken.q.val().get_bits::<8>(16);
        self.length_bytes.next.low = self.taken.q.val().get_bits::<8>(24);
        self.port_here.next = self.port_bytes.val().into();
        self.length_here.next = self.length_bytes.val().into();
        self.port_ok5.d.next = self.port_here.val() == self.udp_port.val();
        self.length5.d.next = self.length_here.val();
        // UDP starts two bytes before the word.
        self.start.next = (bit_cast::<17, 5>(self.word_later.val()) << 2) - 2;
        self.end5.d.next = self.start.val() + bit_cast::<17, 16>(self.length_here.val());
        self.port_ok.next = self.port_ok5.q.val();
        self.length.next = self.length5.q.val();
        self.udp_end.next = self.end5.q.val();
    }
}
