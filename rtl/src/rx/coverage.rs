//! Which bytes of a raw frame the CRC covers: all others become zero.
//!
//! Covered are the IP addresses and the UDP destination port where they stand, and everything from the transport
//! header to the end of UDP. A beat is passed on until the one that holds the last covered byte, which is marked
//! `last` and says how many of its bytes count. Each frame has exactly one such beat. Three cycles, 1 beat a cycle.

use super::ip_fields::HeaderFlags;
use crate::stream::{BeatInfo, LaneMask};
use rust_hdl::prelude::*;

/// See the module page.
#[derive(LogicBlock, Default)]
pub struct Coverage {
    pub clock: Signal<In, Clock>,
    pub reset: Signal<In, Bit>,
    pub data: Signal<In, Bits<512>>,
    pub info: Signal<In, BeatInfo>,
    pub valid: Signal<In, Bit>,
    pub flags: Signal<In, HeaderFlags>,
    pub word: Signal<In, Bits<5>>,
    /// Bytes from the beat's start to UDP's header, and UDP's length.
    pub udp_ahead: Signal<In, Bits<17>>,
    pub udp_length: Signal<In, Bits<16>>,
    pub out_data: Signal<Out, Bits<512>>,
    pub out_first: Signal<Out, Bit>,
    pub out_last: Signal<Out, Bit>,
    pub out_bytes: Signal<Out, Bits<7>>,
    pub out_valid: Signal<Out, Bit>,
    mask: LaneMask,
    data6: DFF<Bits<512>>,
    data7: DFF<Bits<512>>,
    valid6: DFF<Bit>,
    valid7: DFF<Bit>,
    valid8: DFF<Bit>,
    first6: DFF<Bit>,
    first7: DFF<Bit>,
    first8: DFF<Bit>,
    last6: DFF<Bit>,
    last7: DFF<Bit>,
    last8: DFF<Bit>,
    /// Where the covered part of the beat after the headers starts, and how much of UDP is left, if that is known yet.
    from6: DFF<Bits<7>>,
    remaining6: DFF<Bits<17>>,
    unknown6: DFF<Bit>,
    to7: DFF<Bits<7>>,
    to8: DFF<Bits<7>>,
    /// Where the addresses and the port stand in this beat.
    address6: DFF<Bits<64>>,
    port6: DFF<Bits<64>>,
    keep7: DFF<Bits<64>>,
    /// The frame's last covered beat has gone by.
    done: DFF<Bit>,
    over: Signal<Local, Bit>,
    whole: Signal<Local, Bit>,
    ends: Signal<Local, Bit>,
    cut: Signal<Local, Bits<64>>,
    word7: Signal<Local, Bits<7>>,
    place: Signal<Local, Bits<6>>,
    second: Signal<Local, Bit>,
    ones: Signal<Local, Bits<64>>,
    ones_of_address: Signal<Local, Bits<64>>,
    address_start: Signal<Local, Bits<6>>,
    two: Signal<Local, Bits<64>>,
    sends: Signal<Local, Bit>,
}

impl Logic for Coverage {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(
            self, clock, data6, data7, valid6, valid7, valid8, first6, first7, first8, last6,
            last7, last8, from6, remaining6, unknown6, to7, to8, address6, port6, keep7, done
        );
        self.ones.next = 0xffff_ffff_ffff_ffff_u64.into();
        // Where the transport header starts in this beat: bytes 4 * word + 6 of the frame.
        self.word7.next = bit_cast::<7, 5>(self.word.val());
        self.from6.d.next = 0.into();
        if self.info.val().index == 0 {
            self.from6.d.next = (self.word7.val() << 2) + 6;
            if self.word.val() >= 15 {
                self.from6.d.next = 64.into();
            }
        }
        if (self.info.val().index == 1) & (self.word.val() >= 15) {
            self.from6.d.next = (self.word7.val() << 2) - 58;
        }
        self.remaining6.d.next = self.udp_ahead.val() + bit_cast::<17, 16>(self.udp_length.val());
        self.unknown6.d.next = self.word.val().get_bit(4) & (self.info.val().index == 0);
        self.last6.d.next = self.info.val().last;
        // Addresses: 8 bytes from 26 on in IPv4, 32 from 22 on in IPv6, 4 later for each tag.
        self.ones_of_address.next = 0xff.into();
        self.address_start.next = (bit_cast::<6, 2>(self.flags.val().vlans) << 2) + 26;
        if self.flags.val().v6 {
            self.ones_of_address.next = 0xffff_ffff_u64.into();
            self.address_start.next = (bit_cast::<6, 2>(self.flags.val().vlans) << 2) + 22;
        }
        self.address6.d.next = 0.into();
        if self.info.val().index == 0 {
            self.address6.d.next = self.ones_of_address.val() << self.address_start.val();
        }
        self.second.next = self.word.val().get_bit(4);
        self.place.next = bit_cast::<6, 4>(self.word.val().get_bits::<4>(0)) << 2;
        self.two.next = 3.into();
        self.port6.d.next = 0.into();
        if ((self.info.val().index == 0) & !self.second.val())
            | ((self.info.val().index == 1) & self.second.val())
        {
            self.port6.d.next = self.two.val() << self.place.val();
        }
        self.data6.d.next = self.data.val();
        self.valid6.d.next = self.valid.val() & !self.reset.val();
        self.first6.d.next = self.info.val().first;

        // UDP ends before this beat, in it, or goes on behind it.
        self.over.next = self.remaining6.q.val().get_bit(16) & !self.unknown6.q.val();
        self.whole.next = self.unknown6.q.val()
            | ((self.remaining6.q.val() > 64) & !self.remaining6.q.val().get_bit(16));
        self.ends.next = self.last6.q.val() | !self.whole.val();
        self.sends.next = self.valid6.q.val() & (self.first6.q.val() | !self.done.q.val());
        if self.valid6.q.val() {
            self.done.d.next = self.ends.val() | (self.done.q.val() & !self.first6.q.val());
        }
        self.cut.next = self.ones.val() << self.remaining6.q.val().get_bits::<7>(0);
        self.to7.d.next = self.remaining6.q.val().get_bits::<7>(0);
        if self.whole.val() {
            self.cut.next = 0.into();
            self.to7.d.next = 64.into();
        }
        if self.over.val() {
            self.cut.next = self.ones.val();
            self.to7.d.next = 0.into();
        }
        self.keep7.d.next = ((self.ones.val() << self.from6.q.val()) & !self.cut.val())
            | self.address6.q.val()
            | self.port6.q.val();
        self.data7.d.next = self.data6.q.val();
        self.valid7.d.next = self.sends.val();
        self.first7.d.next = self.first6.q.val();
        self.last7.d.next = self.ends.val();

        self.mask.clock.next = self.clock.val();
        self.mask.data.next = self.data7.q.val();
        self.mask.keep.next = self.keep7.q.val();
        self.valid8.d.next = self.valid7.q.val();
        self.first8.d.next = self.first7.q.val();
        self.last8.d.next = self.last7.q.val();
        self.to8.d.next = self.to7.q.val();
        self.out_data.next = self.mask.masked.val();
        self.out_first.next = self.first8.q.val();
        self.out_last.next = self.last8.q.val();
        self.out_bytes.next = self.to8.q.val();
        self.out_valid.next = self.valid8.q.val();
    }
}
