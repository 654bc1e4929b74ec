//! Holds packets until their CRC is known; lets only good ones out.
//!
//! Good packets leave twice, in the same order: their first 48 bytes, which hold every header, with what is known of
//! them (`header_*`), and all their beats (`payload_*`). Bad ones vanish here, with a pulse that says why. Nothing of a packet can be seen before its frame has
//! been judged. `room` says that the longest frame and what is on its way still fit. One cycle from verdict to header.

use super::parser::ParsedFrame;
use crate::bundle;
use crate::stream::{Fifo, SmallFifo};
use rust_hdl::prelude::*;

bundle! {
    /// What is known of a good packet beside its bytes.
    FrameInfo {
        plane: 2,
        transport_bytes: 14,
        ce: 1,
        beats: 8,
    }
}

/// One beat of a packet.
#[derive(Copy, Clone, PartialEq, Debug, Default, LogicStruct)]
pub struct PayloadWord {
    pub data: Bits<512>,
    pub last: Bit,
}

/// What was decided about a packet.
#[derive(Copy, Clone, PartialEq, Debug, Default, LogicStruct)]
pub struct Decision {
    pub good: Bit,
    pub info: Bits<25>,
}

/// See the module page.
#[derive(LogicBlock, Default)]
pub struct FrameBuffer {
    pub clock: Signal<In, Clock>,
    pub reset: Signal<In, Bit>,
    /// A frame has begun to come: it will be judged, and may have a header.
    pub begins: Signal<In, Bit>,
    pub packet_data: Signal<In, Bits<512>>,
    pub packet_first: Signal<In, Bit>,
    pub packet_last: Signal<In, Bit>,
    pub packet_valid: Signal<In, Bit>,
    pub frame: Signal<In, ParsedFrame>,
    pub frame_valid: Signal<In, Bit>,
    pub verdict_ok: Signal<In, Bit>,
    pub verdict_valid: Signal<In, Bit>,
    pub room: Signal<Out, Bit>,
    pub header_data: Signal<Out, Bits<384>>,
    pub header_info: Signal<Out, FrameInfo>,
    pub header_valid: Signal<Out, Bit>,
    pub header_ready: Signal<In, Bit>,
    pub payload_data: Signal<Out, Bits<512>>,
    pub payload_last: Signal<Out, Bit>,
    pub payload_valid: Signal<Out, Bit>,
    pub payload_ready: Signal<In, Bit>,
    /// A frame was judged: `drop_reason` is 0 for a good one.
    pub judged: Signal<Out, Bit>,
    pub drop_reason: Signal<Out, Bits<5>>,
    pub judged_plane: Signal<Out, Bits<2>>,
    payload: Fifo<PayloadWord>,
    headers: SmallFifo<Bits<384>>,
    frames: SmallFifo<ParsedFrame>,
    verdicts: SmallFifo<Bit>,
    header_decisions: SmallFifo<Decision>,
    payload_decisions: SmallFifo<Bit>,
    judged_reg: DFF<Bit>,
    reason_reg: DFF<Bits<5>>,
    plane_reg: DFF<Bits<2>>,
    room_reg: DFF<Bit>,
    /// Frames that have begun and whose header has not left.
    headers_owed: DFF<Bits<5>>,
    begun: Signal<Local, Bits<5>>,
    header_gone: Signal<Local, Bits<5>>,
    headless: Signal<Local, Bits<5>>,
    judge: Signal<Local, Bit>,
    crc_ok: Signal<Local, Bit>,
    at_once: Signal<Local, Bit>,
    good: Signal<Local, Bit>,
    any: Signal<Local, Bit>,
    info: Signal<Local, FrameInfo>,
    info_bits: Signal<Local, Bits<25>>,
    front_bits: Signal<Local, Bits<25>>,
    word: Signal<Local, PayloadWord>,
    decision: Signal<Local, Decision>,
    header_pop: Signal<Local, Bit>,
    payload_pop: Signal<Local, Bit>,
}

impl FrameBuffer {
    /// With places for 16 headers.
    pub fn new() -> Self {
        Self {
            headers: SmallFifo::new(4),
            frames: SmallFifo::new(5),
            verdicts: SmallFifo::new(5),
            ..Self::default()
        }
    }
}

impl Logic for FrameBuffer {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(
            self,
            clock,
            judged_reg,
            reason_reg,
            plane_reg,
            room_reg,
            headers_owed
        );
        clock!(
            self,
            clock,
            payload,
            headers,
            frames,
            verdicts,
            header_decisions,
            payload_decisions
        );
        self.payload.reset.next = self.reset.val();
        self.headers.reset.next = self.reset.val();
        self.frames.reset.next = self.reset.val();
        self.verdicts.reset.next = self.reset.val();
        self.header_decisions.reset.next = self.reset.val();
        self.payload_decisions.reset.next = self.reset.val();

        self.word.next.data = self.packet_data.val();
        self.word.next.last = self.packet_last.val();
        self.payload.write_data.next = self.word.val();
        self.payload.write_enable.next = self.packet_valid.val();
        self.headers.write_data.next = self.packet_data.val().get_bits::<384>(0);
        self.headers.write_enable.next = self.packet_valid.val() & self.packet_first.val();
        self.frames.write_data.next = self.frame.val();
        self.frames.write_enable.next = self.frame_valid.val();
        // 146 beats for the longest frame, 24 for what is under way; of 16 headers, 6 for
        // frames that begin before this is heeded.
        self.room_reg.d.next = (self.payload.level.val() <= 342)
            & (self.headers_owed.q.val() <= 10)
            & (self.header_decisions.level.val() <= 40)
            & (self.payload_decisions.level.val() <= 40);
        self.room.next = self.room_reg.q.val();

        // Judge a frame when both halves of the judgement are in; a verdict that is waited for is not queued.
        self.crc_ok.next = self.verdict_ok.val();
        if self.verdicts.read_valid.val() {
            self.crc_ok.next = self.verdicts.read_data.val();
        }
        self.at_once.next = self.frames.read_valid.val() & !self.verdicts.read_valid.val();
        self.verdicts.write_data.next = self.verdict_ok.val();
        self.verdicts.write_enable.next = self.verdict_valid.val() & !self.at_once.val();
        self.judge.next = self.frames.read_valid.val()
            & (self.verdicts.read_valid.val() | self.verdict_valid.val());
        self.frames.read_ready.next = self.judge.val();
        self.verdicts.read_ready.next = self.frames.read_valid.val();
        self.good.next = (self.frames.read_data.val().reason == 0) & self.crc_ok.val();
        self.any.next = self.frames.read_data.val().beats != 0;
        self.info.next.plane = self.frames.read_data.val().plane;
        self.info.next.transport_bytes = self.frames.read_data.val().transport_bytes;
        self.info.next.ce = self.frames.read_data.val().ce;
        self.info.next.beats = self.frames.read_data.val().beats;
        self.info_bits.next = self.info.val().into();
        self.decision.next.good = self.good.val();
        self.decision.next.info = self.info_bits.val();
        self.header_decisions.write_data.next = self.decision.val();
        self.header_decisions.write_enable.next = self.judge.val() & self.any.val();
        self.payload_decisions.write_data.next = self.good.val();
        self.payload_decisions.write_enable.next = self.judge.val() & self.any.val();
        self.judged_reg.d.next = self.judge.val();
        self.plane_reg.d.next = self.frames.read_data.val().plane;
        self.reason_reg.d.next = self.frames.read_data.val().reason;
        if (self.frames.read_data.val().reason == 0) & !self.crc_ok.val() {
            self.reason_reg.d.next = 12.into();
        }
        self.judged.next = self.judged_reg.q.val();
        self.drop_reason.next = self.reason_reg.q.val();
        self.judged_plane.next = self.plane_reg.q.val();

        // Headers: a bad one is taken out as soon as it stands in front.
        self.header_data.next = self.headers.read_data.val();
        self.front_bits.next = self.header_decisions.read_data.val().info;
        self.header_info.next.plane = self.front_bits.val().get_bits::<2>(0);
        self.header_info.next.transport_bytes = self.front_bits.val().get_bits::<14>(2);
        self.header_info.next.ce = self.front_bits.val().get_bits::<1>(16);
        self.header_info.next.beats = self.front_bits.val().get_bits::<8>(17);
        self.header_valid.next = self.headers.read_valid.val()
            & self.header_decisions.read_valid.val()
            & self.header_decisions.read_data.val().good;
        self.header_pop.next = self.headers.read_valid.val()
            & self.header_decisions.read_valid.val()
            & (self.header_ready.val() | !self.header_decisions.read_data.val().good);
        self.headers.read_ready.next = self.header_pop.val();
        self.header_decisions.read_ready.next = self.header_pop.val();

        self.begun.next = 0.into();
        if self.begins.val() {
            self.begun.next = 1.into();
        }
        self.header_gone.next = 0.into();
        if self.header_pop.val() {
            self.header_gone.next = 1.into();
        }
        self.headless.next = 0.into();
        if self.judge.val() & !self.any.val() {
            self.headless.next = 1.into();
        }
        self.headers_owed.d.next = self.headers_owed.q.val() + self.begun.val()
            - self.header_gone.val()
            - self.headless.val();
        if self.reset.val() {
            self.headers_owed.d.next = 0.into();
        }

        self.payload_data.next = self.payload.read_data.val().data;
        self.payload_last.next = self.payload.read_data.val().last;
        self.payload_valid.next = self.payload.read_valid.val()
            & self.payload_decisions.read_valid.val()
            & self.payload_decisions.read_data.val();
        self.payload_pop.next = self.payload.read_valid.val()
            & self.payload_decisions.read_valid.val()
            & (self.payload_ready.val() | !self.payload_decisions.read_data.val());
        self.payload.read_ready.next = self.payload_pop.val();
        self.payload_decisions.read_ready.next =
            self.payload_pop.val() & self.payload.read_data.val().last;
    }
}
