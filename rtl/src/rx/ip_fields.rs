//! What the IP header says, and where UDP starts behind it. One cycle.

use super::ethernet_fields::IpBytes;
use rust_hdl::prelude::*;

/// What the headers of a frame say.
#[derive(Copy, Clone, PartialEq, Debug, Default, LogicStruct)]
pub struct HeaderFlags {
    pub mac_ok: Bit,
    pub type_ok: Bit,
    pub header_ok: Bit,
    pub fragment: Bit,
    pub extension: Bit,
    pub udp: Bit,
    pub address_ok: Bit,
    pub ce: Bit,
    pub v6: Bit,
    pub vlans: Bits<2>,
}

/// See the module page.
#[derive(LogicBlock, Default)]
pub struct IpFields {
    pub clock: Signal<In, Clock>,
    pub plane: Signal<In, Bits<2>>,
    pub vlans: Signal<In, Bits<2>>,
    pub is4: Signal<In, Bit>,
    pub is6: Signal<In, Bit>,
    pub mac_ok: Signal<In, Bit>,
    pub ip_bytes: Signal<In, IpBytes>,
    /// First octet in bits 7:0.
    pub own_ip: [Signal<In, Bits<32>>; 4],
    pub flags: Signal<Out, HeaderFlags>,
    /// The 32-bit word of the frame that holds UDP port and length.
    pub word: Signal<Out, Bits<5>>,
    /// Bytes from the frame's start to the end of IP.
    pub ip_end: Signal<Out, Bits<17>>,
    flags3: DFF<HeaderFlags>,
    word3: DFF<Bits<5>>,
    ip_end3: DFF<Bits<17>>,
    head: Signal<Local, Bits<8>>,
    version: Signal<Local, Bits<4>>,
    words: Signal<Local, Bits<4>>,
    traffic: Signal<Local, Bits<8>>,
    congestion: Signal<Local, Bits<2>>,
    fragment: Signal<Local, Bits<16>>,
    next_header: Signal<Local, Bits<8>>,
    length: Signal<Local, Bits<16>>,
    start: Signal<Local, Bits<17>>,
    own_ip_here: Signal<Local, Bits<32>>,
}

impl Logic for IpFields {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clock, flags3, word3, ip_end3);
        self.head.next = self.ip_bytes.val().head;
        self.version.next = self.head.val().get_bits::<4>(4);
        self.words.next = self.head.val().get_bits::<4>(0);
        self.traffic.next = self.ip_bytes.val().traffic;
        self.congestion.next = self.traffic.val().get_bits::<2>(0);
        self.length.next = self.ip_bytes.val().length4;
        self.start.next = 14.into();
        self.next_header.next = self.ip_bytes.val().protocol4;
        self.flags3.d.next.header_ok = (self.version.val() == 4) & (self.words.val() >= 5);
        if self.is6.val() {
            self.words.next = 10.into();
            self.congestion.next = self.traffic.val().get_bits::<2>(4);
            self.length.next = self.ip_bytes.val().length6;
            self.start.next = 54.into();
            self.next_header.next = self.ip_bytes.val().next6;
            self.flags3.d.next.header_ok = self.version.val() == 6;
        }
        self.word3.d.next =
            bit_cast::<5, 4>(self.words.val()) + bit_cast::<5, 2>(self.vlans.val()) + 4;
        self.ip_end3.d.next = bit_cast::<17, 16>(self.length.val())
            + self.start.val()
            + (bit_cast::<17, 2>(self.vlans.val()) << 2);

        self.own_ip_here.next = self.own_ip[0].val();
        for i in 0..4 {
            if self.plane.val() == i.to_bits() {
                self.own_ip_here.next = self.own_ip[i].val();
            }
        }
        self.fragment.next = self.ip_bytes.val().fragment;
        self.flags3.d.next.mac_ok = self.mac_ok.val();
        self.flags3.d.next.type_ok = self.is4.val() | self.is6.val();
        // More fragments, or an offset; reserved and do-not-fragment do not matter.
        self.flags3.d.next.fragment = self.is4.val() & self.fragment.val().get_bits::<14>(0).any();
        self.flags3.d.next.extension = self.is6.val()
            & ((self.next_header.val() == 0)
                | (self.next_header.val() == 43)
                | (self.next_header.val() == 44)
                | (self.next_header.val() == 50)
                | (self.next_header.val() == 51)
                | (self.next_header.val() == 60)
                | (self.next_header.val() == 135));
        self.flags3.d.next.udp = self.next_header.val() == 17;
        self.flags3.d.next.address_ok =
            self.is6.val() | (self.ip_bytes.val().destination4 == self.own_ip_here.val());
        self.flags3.d.next.ce = self.congestion.val() == 3;
        self.flags3.d.next.v6 = self.is6.val();
        self.flags3.d.next.vlans = self.vlans.val();
        self.flags.next = self.flags3.q.val();
        self.word.next = self.word3.q.val();
        self.ip_end.next = self.ip_end3.q.val();
    }
}
