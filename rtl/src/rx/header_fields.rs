//! Ethernet, VLAN and IP: where the transport header starts and what the headers before UDP say.
//!
//! Every field is taken where it stands: the network header starts at one of three places (0-2 VLAN tags). Fields of the first beat are held until the next frame's first beat
//! comes, so they are right for every beat of a frame. Bytes that a frame does not have count as zero. Outputs are 5
//! cycles behind the inputs, `checksum_ok` 9; 1 beat a cycle.

use super::ethernet_fields::EthernetFields;
use super::header_checksum::HeaderChecksum;
use super::ip_fields::{HeaderFlags, IpFields};
use crate::stream::BeatInfo;
use rust_hdl::prelude::*;

/// See the module page.
#[derive(LogicBlock, Default)]
pub struct HeaderFields {
    pub clock: Signal<In, Clock>,
    pub reset: Signal<In, Bit>,
    pub data: Signal<In, Bits<512>>,
    pub info: Signal<In, BeatInfo>,
    pub valid: Signal<In, Bit>,
    /// Octet 0 in bits 7:0.
    pub own_mac: [Signal<In, Bits<48>>; 4],
    pub own_ip: [Signal<In, Bits<32>>; 4],
    /// The beat and `word` two cycles before they leave.
    pub early_data: Signal<Out, Bits<512>>,
    pub early_word: Signal<Out, Bits<5>>,
    /// There is one; a cycle before it leaves.
    pub early_valid: Signal<Out, Bit>,
    pub out_data: Signal<Out, Bits<512>>,
    pub out_info: Signal<Out, BeatInfo>,
    pub out_valid: Signal<Out, Bit>,
    pub flags: Signal<Out, HeaderFlags>,
    /// The 32-bit word of the frame that holds UDP port and length; the transport header starts 6 bytes behind it.
    pub word: Signal<Out, Bits<5>>,
    /// Bytes from the frame's and from the beat's start to UDP's header, the latter negative in later beats.
    pub udp_start: Signal<Out, Bits<17>>,
    pub udp_ahead: Signal<Out, Bits<17>>,
    /// Bytes from the frame's start to the end of IP.
    pub ip_end: Signal<Out, Bits<17>>,
    pub checksum_ok: Signal<Out, Bit>,
    ethernet: EthernetFields,
    ip: IpFields,
    checksum: HeaderChecksum,
    data1: DFF<Bits<512>>,
    data2: DFF<Bits<512>>,
    data3: DFF<Bits<512>>,
    data4: DFF<Bits<512>>,
    data5: DFF<Bits<512>>,
    info1: DFF<BeatInfo>,
    info2: DFF<BeatInfo>,
    info3: DFF<BeatInfo>,
    info4: DFF<BeatInfo>,
    info5: DFF<BeatInfo>,
    valid1: DFF<Bit>,
    valid2: DFF<Bit>,
    valid3: DFF<Bit>,
    valid4: DFF<Bit>,
    valid5: DFF<Bit>,
    flags4: DFF<HeaderFlags>,
    flags5: DFF<HeaderFlags>,
    word4: DFF<Bits<5>>,
    word5: DFF<Bits<5>>,
    ip_end4: DFF<Bits<17>>,
    ip_end5: DFF<Bits<17>>,
    start4: Signal<Local, Bits<17>>,
    passed4: Signal<Local, Bits<17>>,
    start5: DFF<Bits<17>>,
    ahead5: DFF<Bits<17>>,
    sum_start: Signal<Local, Bits<6>>,
    sum_end: Signal<Local, Bits<6>>,
}

impl Logic for HeaderFields {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(
            self, clock, data1, data2, data3, data4, data5, info1, info2, info3, info4, info5,
            valid1, valid2, valid3, valid4, valid5, flags4, flags5, word4, word5, ip_end4, ip_end5,
            start5, ahead5
        );
        clock!(self, clock, ethernet, ip, checksum);
        self.data1.d.next = self.data.val();
        self.data2.d.next = self.data1.q.val();
        self.data3.d.next = self.data2.q.val();
        self.data4.d.next = self.data3.q.val();
        self.data5.d.next = self.data4.q.val();
        self.info1.d.next = self.info.val();
        self.info2.d.next = self.info1.q.val();
        self.info3.d.next = self.info2.q.val();
        self.info4.d.next = self.info3.q.val();
        self.info5.d.next = self.info4.q.val();
        self.valid1.d.next = self.valid.val() & !self.reset.val();
        self.valid2.d.next = self.valid1.q.val();
        self.valid3.d.next = self.valid2.q.val();
        self.valid4.d.next = self.valid3.q.val();
        self.valid5.d.next = self.valid4.q.val();

        self.ethernet.data0.next = self.data.val();
        self.ethernet.info0.next = self.info.val();
        self.ethernet.valid0.next = self.valid.val();
        self.ethernet.data1.next = self.data1.q.val();
        self.ethernet.info1.next = self.info1.q.val();
        self.ethernet.valid1.next = self.valid1.q.val();
        for i in 0..4 {
            self.ethernet.own_mac[i].next = self.own_mac[i].val();
            self.ip.own_ip[i].next = self.own_ip[i].val();
        }
        self.ip.plane.next = self.info2.q.val().plane;
        self.ip.vlans.next = self.ethernet.vlans.val();
        self.ip.is4.next = self.ethernet.is4.val();
        self.ip.is6.next = self.ethernet.is6.val();
        self.ip.mac_ok.next = self.ethernet.mac_ok.val();
        self.ip.ip_bytes.next = self.ethernet.ip.val();
        self.flags4.d.next = self.ip.flags.val();
        self.flags5.d.next = self.flags4.q.val();
        self.word4.d.next = self.ip.word.val();
        self.word5.d.next = self.word4.q.val();
        self.ip_end4.d.next = self.ip.ip_end.val();
        self.ip_end5.d.next = self.ip_end4.q.val();

        // UDP starts two bytes before the word.
        self.start4.next = (bit_cast::<17, 5>(self.word4.q.val()) << 2) - 2;
        self.passed4.next = bit_cast::<17, 8>(self.info4.q.val().index) << 6;
        self.start5.d.next = self.start4.val();
        self.ahead5.d.next = self.start4.val() - self.passed4.val();
        self.udp_start.next = self.start5.q.val();
        self.udp_ahead.next = self.ahead5.q.val();
        self.early_data.next = self.data3.q.val();
        self.early_word.next = self.ip.word.val();
        self.early_valid.next = self.valid4.q.val();

        // The header's 16-bit words: from 7 plus two for each tag, to one before the UDP header's first.
        self.sum_start.next = (bit_cast::<6, 2>(self.ip.flags.val().vlans) << 1) + 7;
        self.sum_end.next = (bit_cast::<6, 5>(self.ip.word.val()) << 1) - 1;
        self.checksum.data.next = self.data3.q.val();
        self.checksum.info.next = self.info3.q.val();
        self.checksum.valid.next = self.valid3.q.val();
        self.checksum.first_word.next = self.sum_start.val();
        self.checksum.end_word.next = self.sum_end.val();

        self.out_data.next = self.data5.q.val();
        self.out_info.next = self.info5.q.val();
        self.out_valid.next = self.valid5.q.val();
        self.flags.next = self.flags5.q.val();
        self.word.next = self.word5.q.val();
        self.ip_end.next = self.ip_end5.q.val();
        self.checksum_ok.next = self.checksum.ok.val();
    }
}
