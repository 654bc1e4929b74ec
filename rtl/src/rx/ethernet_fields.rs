//! Ethernet and VLAN: what kind of packet it is and where its IP header starts.
//!
//! Looks at a frame's first beat in two steps, one for each of the two beats' registers it is given; what it
//! found stands until the next frame's first beat.

use crate::stream::{Be16, BeatInfo};
use rust_hdl::prelude::*;

/// The bytes of the IP header that matter, numbers already turned round; the address as it stands in the frame.
#[derive(Copy, Clone, PartialEq, Debug, Default, LogicStruct)]
pub struct IpBytes {
    pub head: Bits<8>,
    pub traffic: Bits<8>,
    pub length4: Bits<16>,
    pub length6: Bits<16>,
    pub fragment: Bits<16>,
    pub next6: Bits<8>,
    pub protocol4: Bits<8>,
    pub destination4: Bits<32>,
}

/// See the module page.
#[derive(LogicBlock, Default)]
pub struct EthernetFields {
    pub clock: Signal<In, Clock>,
    pub data0: Signal<In, Bits<512>>,
    pub info0: Signal<In, BeatInfo>,
    pub valid0: Signal<In, Bit>,
    /// The same a cycle later.
    pub data1: Signal<In, Bits<512>>,
    pub info1: Signal<In, BeatInfo>,
    pub valid1: Signal<In, Bit>,
    pub own_mac: [Signal<In, Bits<48>>; 4],
    pub vlans: Signal<Out, Bits<2>>,
    pub is4: Signal<Out, Bit>,
    pub is6: Signal<Out, Bit>,
    pub mac_ok: Signal<Out, Bit>,
    pub ip: Signal<Out, IpBytes>,
    vlans1: DFF<Bits<2>>,
    type1: DFF<Bits<16>>,
    mac1: DFF<Bits<48>>,
    own1: DFF<Bits<48>>,
    vlans2: DFF<Bits<2>>,
    is4_2: DFF<Bit>,
    is6_2: DFF<Bit>,
    mac_ok2: DFF<Bit>,
    ip2: DFF<IpBytes>,
    kind: Signal<Local, Be16>,
    kinds: [Signal<Local, Bits<16>>; 3],
    is_tag: [Signal<Local, Bit>; 3],
    header: Signal<Local, Bits<160>>,
    length4: Signal<Local, Be16>,
    length6: Signal<Local, Be16>,
    fragment: Signal<Local, Be16>,
}

impl Logic for EthernetFields {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(
            self, clock, vlans1, type1, mac1, own1, vlans2, is4_2, is6_2, mac_ok2, ip2
        );
        for i in 0..3 {
            self.kind.next.high = self.data0.val().get_bits::<8>(96 + 32 * i);
            self.kind.next.low = self.data0.val().get_bits::<8>(104 + 32 * i);
            self.kinds[i].next = self.kind.val().into();
            self.is_tag[i].next = (self.kinds[i].val() == 0x8100)
                | (self.kinds[i].val() == 0x88a8)
                | (self.kinds[i].val() == 0x9100);
        }
        if self.valid0.val() & self.info0.val().first {
            self.vlans1.d.next = 0.into();
            self.type1.d.next = self.kinds[0].val();
            if self.is_tag[0].val() {
                self.vlans1.d.next = 1.into();
                self.type1.d.next = self.kinds[1].val();
            }
            if self.is_tag[0].val() & self.is_tag[1].val() {
                self.vlans1.d.next = 2.into();
                self.type1.d.next = self.kinds[2].val();
            }
            self.mac1.d.next = self.data0.val().get_bits::<48>(0);
            for i in 0..4 {
                if self.info0.val().plane == i.to_bits() {
                    self.own1.d.next = self.own_mac[i].val();
                }
            }
        }

        self.header.next = self.data1.val().get_bits::<160>(112);
        if self.vlans1.q.val() == 1 {
            self.header.next = self.data1.val().get_bits::<160>(144);
        }
        if self.vlans1.q.val() == 2 {
            self.header.next = self.data1.val().get_bits::<160>(176);
        }
        self.length4.next.high = self.header.val().get_bits::<8>(16);
        self.length4.next.low = self.header.val().get_bits::<8>(24);
        self.length6.next.high = self.header.val().get_bits::<8>(32);
        self.length6.next.low = self.header.val().get_bits::<8>(40);
        self.fragment.next.high = self.header.val().get_bits::<8>(48);
        self.fragment.next.low = self.header.val().get_bits::<8>(56);
        if self.valid1.val() & self.info1.val().first {
            self.vlans2.d.next = self.vlans1.q.val();
            self.is4_2.d.next = self.type1.q.val() == 0x0800;
            self.is6_2.d.next = self.type1.q.val() == 0x86dd;
            self.mac_ok2.d.next =
                (self.mac1.q.val() == self.own1.q.val()) | self.mac1.q.val().all();
            self.ip2.d.next.head = self.header.val().get_bits::<8>(0);
            self.ip2.d.next.traffic = self.header.val().get_bits::<8>(8);
            self.ip2.d.next.length4 = self.length4.val().into();
            self.ip2.d.next.length6 = self.length6.val().into();
            self.ip2.d.next.fragment = self.fragment.val().into();
            self.ip2.d.next.next6 = self.header.val().get_bits::<8>(48);
            self.ip2.d.next.protocol4 = self.header.val().get_bits::<8>(72);
            self.ip2.d.next.destination4 = self.header.val().get_bits::<32>(128);
        }
        self.vlans.next = self.vlans2.q.val();
        self.is4.next = self.is4_2.q.val();
        self.is6.next = self.is6_2.q.val();
        self.mac_ok.next = self.mac_ok2.q.val();
        self.ip.next = self.ip2.q.val();
    }
}
