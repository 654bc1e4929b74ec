//! From raw frames to transport packets: reads the headers, judges them, cuts them off.
//!
//! Three things leave for each frame, each in the order of the frames: the transport's beats, with the transport header
//! at lane 0; the raw beats with the bytes that the CRC does not cover as zero; and, when the frame has ended, a
//! `ParsedFrame` with the reason to drop it, if there is one. Beats of a frame to be dropped leave all the same.
//! Knows nothing of the transport header. 7 cycles from beat to beat out, no gap added.

use super::coverage::Coverage;
use super::header_fields::HeaderFields;
use super::ip_fields::HeaderFlags;
use super::repacker::Repacker;
use super::udp_fields::UdpFields;
use super::verdict::Verdict;
use crate::bundle;
use crate::stream::BeatInfo;
use rust_hdl::prelude::*;

bundle! {
    /// What is known of a frame when it has ended.
    ParsedFrame {
        /// A `DropReason`'s code, 0 if there is none.
        reason: 5,
        plane: 2,
        /// From the transport header to the end of the payload, without the CRC.
        transport_bytes: 14,
        /// The network marked the frame.
        ce: 1,
        /// Beats that the repacked frame has.
        beats: 8,
    }
}

/// See the module page.
#[derive(LogicBlock, Default)]
pub struct Parser {
    pub clock: Signal<In, Clock>,
    pub reset: Signal<In, Bit>,
    /// Lanes behind the frame's end must be zero.
    pub data: Signal<In, Bits<512>>,
    pub info: Signal<In, BeatInfo>,
    pub valid: Signal<In, Bit>,
    pub own_mac: [Signal<In, Bits<48>>; 4],
    pub own_ip: [Signal<In, Bits<32>>; 4],
    pub udp_port: Signal<In, Bits<16>>,
    pub packet_data: Signal<Out, Bits<512>>,
    pub packet_first: Signal<Out, Bit>,
    pub packet_last: Signal<Out, Bit>,
    pub packet_valid: Signal<Out, Bit>,
    pub covered_data: Signal<Out, Bits<512>>,
    pub covered_first: Signal<Out, Bit>,
    pub covered_last: Signal<Out, Bit>,
    pub covered_bytes: Signal<Out, Bits<7>>,
    pub covered_valid: Signal<Out, Bit>,
    pub frame: Signal<Out, ParsedFrame>,
    pub frame_valid: Signal<Out, Bit>,
    fields: HeaderFields,
    coverage: Coverage,
    repacker: Repacker,
    udp: UdpFields,
    verdict: Verdict,
    ip_ok6: DFF<Bit>,
    udp_end6: DFF<Bits<17>>,
    ip_end6: DFF<Bits<17>>,
    long_enough6: DFF<Bit>,
    ip_ok7: DFF<Bit>,
    udp_ok7: DFF<Bit>,
    ip_ok8: DFF<Bit>,
    ip_ok9: DFF<Bit>,
    udp_ok8: DFF<Bit>,
    udp_ok9: DFF<Bit>,
    port_ok6: DFF<Bit>,
    port_ok7: DFF<Bit>,
    port_ok8: DFF<Bit>,
    port_ok9: DFF<Bit>,
    flags6: DFF<HeaderFlags>,
    flags7: DFF<HeaderFlags>,
    flags8: DFF<HeaderFlags>,
    flags9: DFF<HeaderFlags>,
    info6: DFF<BeatInfo>,
    info7: DFF<BeatInfo>,
    info8: DFF<BeatInfo>,
    info9: DFF<BeatInfo>,
    bytes6: DFF<Bits<14>>,
    bytes7: DFF<Bits<14>>,
    bytes8: DFF<Bits<14>>,
    bytes9: DFF<Bits<14>>,
    beats7: DFF<Bits<8>>,
    beats8: DFF<Bits<8>>,
    beats9: DFF<Bits<8>>,
    ended7: DFF<Bit>,
    ended8: DFF<Bit>,
    ended9: DFF<Bit>,
    frame_out: DFF<ParsedFrame>,
    frame_valid_out: DFF<Bit>,
    frame_bytes: Signal<Local, Bits<17>>,
    bytes_here: Signal<Local, Bits<16>>,
}

impl Logic for Parser {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(
            self,
            clock,
            ip_ok9,
            udp_ok9,
            port_ok9,
            flags9,
            info9,
            bytes9,
            beats9,
            beats7,
            beats8,
            ended7,
            ended8,
            ended9,
            ip_ok6,
            udp_end6,
            ip_end6,
            long_enough6,
            ip_ok7,
            udp_ok7,
            ip_ok8,
            udp_ok8,
            port_ok6,
            port_ok7,
            port_ok8,
            flags6,
            flags7,
            flags8,
            info6,
            info7,
            info8,
            bytes6,
            bytes7,
            bytes8,
            frame_out,
            frame_valid_out
        );
        clock!(self, clock, fields, coverage, repacker, udp);
        self.fields.reset.next = self.reset.val();
        self.coverage.reset.next = self.reset.val();
        self.repacker.reset.next = self.reset.val();
        self.fields.data.next = self.data.val();
        self.fields.info.next = self.info.val();
        self.fields.valid.next = self.valid.val();
        for i in 0..4 {
            self.fields.own_mac[i].next = self.own_mac[i].val();
            self.fields.own_ip[i].next = self.own_ip[i].val();
        }
        self.coverage.data.next = self.fields.out_data.val();
        self.coverage.info.next = self.fields.out_info.val();
        self.coverage.valid.next = self.fields.out_valid.val();
        self.coverage.flags.next = self.fields.flags.val();
        self.coverage.word.next = self.fields.word.val();
        self.coverage.udp_ahead.next = self.fields.udp_ahead.val();
        self.coverage.udp_length.next = self.udp.length.val();
        self.covered_data.next = self.coverage.out_data.val();
        self.covered_first.next = self.coverage.out_first.val();
        self.covered_last.next = self.coverage.out_last.val();
        self.covered_bytes.next = self.coverage.out_bytes.val();
        self.covered_valid.next = self.coverage.out_valid.val();
        self.repacker.data.next = self.fields.early_data.val();
        self.repacker.word.next = self.fields.early_word.val();
        self.repacker.early_valid.next = self.fields.early_valid.val();
        self.repacker.info.next = self.fields.out_info.val();
        self.repacker.valid.next = self.fields.out_valid.val();
        self.repacker.udp_length.next = self.udp.length.val();
        self.udp.turned.next = self.repacker.turned.val();
        self.udp.info.next = self.fields.out_info.val();
        self.udp.valid.next = self.fields.out_valid.val();
        self.udp.second.next = self.fields.word.val().get_bit(4);
        self.udp.udp_port.next = self.udp_port.val();
        self.packet_data.next = self.repacker.out_data.val();
        self.packet_first.next = self.repacker.out_first.val();
        self.packet_last.next = self.repacker.out_last.val();
        self.packet_valid.next = self.repacker.out_valid.val();

        // Do UDP, IP and frame lie within each other? Right with the frame's last beat.
        self.frame_bytes.next = (bit_cast::<17, 8>(self.fields.out_info.val().index) << 6)
            + bit_cast::<17, 7>(self.fields.out_info.val().bytes);
        self.ip_ok6.d.next = self.fields.ip_end.val() <= self.frame_bytes.val();
        self.ip_ok7.d.next = self.ip_ok6.q.val();
        self.ip_ok8.d.next = self.ip_ok7.q.val();
        self.ip_ok9.d.next = self.ip_ok8.q.val();
        self.udp_end6.d.next =
            self.fields.udp_start.val() + bit_cast::<17, 16>(self.udp.length.val());
        self.ip_end6.d.next = self.fields.ip_end.val();
        self.long_enough6.d.next = self.udp.length.val() >= 28;
        self.udp_ok7.d.next =
            (self.udp_end6.q.val() <= self.ip_end6.q.val()) & self.long_enough6.q.val();
        self.udp_ok8.d.next = self.udp_ok7.q.val();
        self.udp_ok9.d.next = self.udp_ok8.q.val();
        self.port_ok6.d.next = self.udp.port_ok.val();
        self.port_ok7.d.next = self.port_ok6.q.val();
        self.port_ok8.d.next = self.port_ok7.q.val();
        self.port_ok9.d.next = self.port_ok8.q.val();
        self.flags6.d.next = self.fields.flags.val();
        self.flags7.d.next = self.flags6.q.val();
        self.flags8.d.next = self.flags7.q.val();
        self.flags9.d.next = self.flags8.q.val();
        self.info6.d.next = self.fields.out_info.val();
        self.info7.d.next = self.info6.q.val();
        self.info8.d.next = self.info7.q.val();
        self.info9.d.next = self.info8.q.val();
        self.bytes_here.next = self.udp.length.val() - 12;
        self.bytes6.d.next = self.bytes_here.val().get_bits::<14>(0);
        self.bytes7.d.next = self.bytes6.q.val();
        self.bytes8.d.next = self.bytes7.q.val();
        self.bytes9.d.next = self.bytes8.q.val();

        self.beats7.d.next = self.repacker.frame_beats.val();
        self.beats8.d.next = self.beats7.q.val();
        self.beats9.d.next = self.beats8.q.val();
        self.ended7.d.next = self.repacker.frame_end.val();
        self.ended8.d.next = self.ended7.q.val();
        self.ended9.d.next = self.ended8.q.val();

        self.verdict.flags.next = self.flags9.q.val();
        self.verdict.info.next = self.info9.q.val();
        self.verdict.checksum_ok.next = self.fields.checksum_ok.val();
        self.verdict.ip_ok.next = self.ip_ok9.q.val();
        self.verdict.udp_ok.next = self.udp_ok9.q.val();
        self.verdict.port_ok.next = self.port_ok9.q.val();
        self.frame_out.d.next.reason = self.verdict.reason.val();
        self.frame_out.d.next.plane = self.info9.q.val().plane;
        self.frame_out.d.next.transport_bytes = self.bytes9.q.val();
        self.frame_out.d.next.ce = self.flags9.q.val().ce.into();
        self.frame_out.d.next.beats = self.beats9.q.val();
        self.frame_valid_out.d.next = self.ended9.q.val() & !self.reset.val();
        self.frame.next = self.frame_out.q.val();
        self.frame_valid.next = self.frame_valid_out.q.val();
    }
}
