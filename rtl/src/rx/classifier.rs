//! What a good frame is and whether it is for us (clauses T-3.2 to T-3.6).
//!
//! Reads the transport header of a frame whose CRC was right, looks up its connection, and says what it is
//! or why it is dropped. DATA and PROBE go on to their path's window; every frame, in order, to `placement`.
//! One packet every 3 cycles. Of several reasons to drop a frame the most basic one counts: version, type,
//! connection, incarnation, message, operation, path, length.

use crate::bundle;
use crate::bundle::{Word16, Word24, Word32, Word64};
use crate::dma::memory_translation::TranslateRequest;
use crate::rx::FrameInfo;
use crate::rx::connection_limit::ConnectionLimit;
use crate::rx::path_sequence::PathEvent;
use crate::stream::Ram;
use rust_hdl::prelude::*;

bundle! {
    /// What the receiver needs of a connection.
    ReceiveSettings { enabled: 1, incarnation: 16, paths: 32 }
}

bundle! {
    /// A frame on its way to be placed. `kind`: 0 dropped for `reason`, 1 DATA, 2 PROBE, 3 ACK, 4 CONTROL,
    /// 5 NACK (its reason in `length`). `lane`: the low bits of the remote address, the same before and after translation.
    Classified { kind: 3, reason: 5, pair: 17, message: 16, length: 13, total: 32, transport_bytes: 13, plane: 2, lane: 6 }
}

/// Drop reasons of this block, behind those of [`crate::rx::DropReason`].
pub mod reason {
    /// Another transport version.
    pub const VERSION: u64 = 16;
    /// A packet type that this engine does not serve.
    pub const TYPE: u64 = 17;
    /// The connection is not enabled.
    pub const CONNECTION: u64 = 18;
    /// Of another incarnation.
    pub const INCARNATION: u64 = 19;
    /// Lengths in the transport header at odds with the frame's.
    pub const LENGTH: u64 = 20;
    /// A path that is not enabled or belongs to another plane.
    pub const PATH: u64 = 21;
    /// An operation or stream that this engine does not serve.
    pub const OPERATION: u64 = 22;
    /// Offset and length outside the message.
    pub const MESSAGE: u64 = 23;
}

#[derive(Copy, Clone, PartialEq, Debug, LogicState)]
pub enum Classify {
    Wait,
    Look,
    Issue,
}

#[derive(LogicBlock, Default)]
pub struct Classifier {
    pub clock: Signal<In, Clock>,
    pub reset: Signal<In, Bit>,
    pub now: Signal<In, Bits<16>>,
    pub header_data: Signal<In, Bits<384>>,
    pub header_info: Signal<In, FrameInfo>,
    pub header_valid: Signal<In, Bit>,
    pub header_ready: Signal<Out, Bit>,
    pub settings_connection: Signal<In, Bits<12>>,
    pub settings: Signal<In, ReceiveSettings>,
    pub settings_write: Signal<In, Bit>,
    /// Start a path anew, ahead of packets.
    pub clear: Signal<In, PathEvent>,
    pub clear_valid: Signal<In, Bit>,
    pub clear_ready: Signal<Out, Bit>,
    pub path_event: Signal<Out, PathEvent>,
    pub path_event_valid: Signal<Out, Bit>,
    pub path_event_ready: Signal<In, Bit>,
    pub request: Signal<Out, TranslateRequest>,
    pub frame: Signal<Out, Classified>,
    pub frame_valid: Signal<Out, Bit>,
    /// There is room for 16 more frames behind this block.
    pub frame_room: Signal<In, Bit>,

    connections: Ram<ReceiveSettings, 12>,
    limit: ConnectionLimit,
    step: DFF<Classify>,
    connection24: Signal<Local, Word24>,
    connection_now: Signal<Local, Bits<24>>,
    header: DFF<Bits<384>>,
    info: DFF<FrameInfo>,
    settings_now: DFF<ReceiveSettings>,
    connection: DFF<Bits<24>>,
    first_byte: Signal<Local, Bits<8>>,
    version: Signal<Local, Bits<4>>,
    packet_type: Signal<Local, Bits<4>>,
    flags: Signal<Local, Bits<8>>,
    path: Signal<Local, Bits<8>>,
    path_plane: Signal<Local, Bits<2>>,
    path_bit: Signal<Local, Bits<32>>,
    incarnation: Signal<Local, Word16>,
    incarnation16: Signal<Local, Bits<16>>,
    psn: Signal<Local, Word24>,
    ordinal: Signal<Local, Word16>,
    timestamp: Signal<Local, Word16>,
    address: Signal<Local, Word64>,
    key: Signal<Local, Word32>,
    length: Signal<Local, Word16>,
    length16: Signal<Local, Bits<16>>,
    message: Signal<Local, Word16>,
    total: Signal<Local, Word32>,
    total32: Signal<Local, Bits<32>>,
    offset: Signal<Local, Word32>,
    offset32: Signal<Local, Bits<32>>,
    room: Signal<Local, Bits<32>>,
    blocks: Signal<Local, Bits<8>>,
    is_data: Signal<Local, Bit>,
    is_ack: Signal<Local, Bit>,
    is_probe: Signal<Local, Bit>,
    is_control: Signal<Local, Bit>,
    is_nack: Signal<Local, Bit>,
    expected: Signal<Local, Bits<16>>,
    have: Signal<Local, Bits<16>>,
    bad_operation: DFF<Bit>,
    bad_message: DFF<Bit>,
    bad_length: DFF<Bit>,
    /// Reasons that no settings are needed for, before all others.
    early: Signal<Local, Bits<5>>,
    early_why: DFF<Bits<5>>,
    early_bad: DFF<Bit>,
    path_bad: DFF<Bit>,
    needs_path: DFF<Bit>,
    needs_settings: DFF<Bit>,
    has_path: Signal<Local, Bit>,
    bad_path: Signal<Local, Bit>,
    bad_incarnation: Signal<Local, Bit>,
    bad_connection: Signal<Local, Bit>,
    why: Signal<Local, Bits<5>>,
    good: Signal<Local, Bit>,
    sequenced: Signal<Local, Bit>,
    issue: Signal<Local, Bit>,
    clears: Signal<Local, Bit>,
    pair: Signal<Local, Bits<17>>,
    offset_ok: Signal<Local, Bit>,
}

impl Classifier {
    /// For `1 << connection_bits` connections.
    pub fn new(connection_bits: usize) -> Self {
        Self {
            connections: Ram::new(connection_bits),
            limit: ConnectionLimit::new(connection_bits),
            ..Default::default()
        }
    }
}

impl Logic for Classifier {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(
            self,
            clock,
            step,
            header,
            info,
            settings_now,
            connection,
            bad_operation,
            bad_message,
            bad_length,
            early_why,
            early_bad,
            path_bad,
            needs_path,
            needs_settings
        );
        clock!(self, clock, connections);
        self.connection24.next.b2 = self.header_data.val().get_bits::<8>(32);
        self.connection24.next.b1 = self.header_data.val().get_bits::<8>(40);
        self.connection24.next.b0 = self.header_data.val().get_bits::<8>(48);
        self.connection_now.next = self.connection24.val().into();
        self.connections.read_address.next = bit_cast::<12, 24>(self.connection_now.val());
        self.connections.read_enable.next = true;
        self.connections.write_address.next = self.settings_connection.val();
        self.connections.write_data.next = self.settings.val();
        self.connections.write_enable.next = self.settings_write.val();

        // The fields, from the registered header.
        self.first_byte.next = self.header.q.val().get_bits::<8>(0);
        self.version.next = self.first_byte.val().get_bits::<4>(4);
        self.packet_type.next = self.first_byte.val().get_bits::<4>(0);
        self.flags.next = self.header.q.val().get_bits::<8>(8);
        self.incarnation.next.b1 = self.header.q.val().get_bits::<8>(16);
        self.incarnation.next.b0 = self.header.q.val().get_bits::<8>(24);
        self.incarnation16.next = self.incarnation.val().into();
        self.path.next = self.header.q.val().get_bits::<8>(56);
        self.psn.next.b2 = self.header.q.val().get_bits::<8>(64);
        self.psn.next.b1 = self.header.q.val().get_bits::<8>(72);
        self.psn.next.b0 = self.header.q.val().get_bits::<8>(80);
        self.blocks.next = self.header.q.val().get_bits::<8>(80);
        self.ordinal.next.b1 = self.header.q.val().get_bits::<8>(96);
        self.ordinal.next.b0 = self.header.q.val().get_bits::<8>(104);
        self.timestamp.next.b1 = self.header.q.val().get_bits::<8>(112);
        self.timestamp.next.b0 = self.header.q.val().get_bits::<8>(120);
        self.address.next.b7 = self.header.q.val().get_bits::<8>(128);
        self.address.next.b6 = self.header.q.val().get_bits::<8>(136);
        self.address.next.b5 = self.header.q.val().get_bits::<8>(144);
        self.address.next.b4 = self.header.q.val().get_bits::<8>(152);
        self.address.next.b3 = self.header.q.val().get_bits::<8>(160);
        self.address.next.b2 = self.header.q.val().get_bits::<8>(168);
        self.address.next.b1 = self.header.q.val().get_bits::<8>(176);
        self.address.next.b0 = self.header.q.val().get_bits::<8>(184);
        self.key.next.b3 = self.header.q.val().get_bits::<8>(192);
        self.key.next.b2 = self.header.q.val().get_bits::<8>(200);
        self.key.next.b1 = self.header.q.val().get_bits::<8>(208);
        self.key.next.b0 = self.header.q.val().get_bits::<8>(216);
        self.length.next.b1 = self.header.q.val().get_bits::<8>(224);
        self.length.next.b0 = self.header.q.val().get_bits::<8>(232);
        self.length16.next = self.length.val().into();
        self.message.next.b1 = self.header.q.val().get_bits::<8>(256);
        self.message.next.b0 = self.header.q.val().get_bits::<8>(264);
        self.total.next.b3 = self.header.q.val().get_bits::<8>(288);
        self.total.next.b2 = self.header.q.val().get_bits::<8>(296);
        self.total.next.b1 = self.header.q.val().get_bits::<8>(304);
        self.total.next.b0 = self.header.q.val().get_bits::<8>(312);
        self.total32.next = self.total.val().into();
        self.offset.next.b3 = self.header.q.val().get_bits::<8>(320);
        self.offset.next.b2 = self.header.q.val().get_bits::<8>(328);
        self.offset.next.b1 = self.header.q.val().get_bits::<8>(336);
        self.offset.next.b0 = self.header.q.val().get_bits::<8>(344);
        self.offset32.next = self.offset.val().into();

        // Lengths, while the connection is looked up: what the type asks for against what came.
        self.is_data.next = self.packet_type.val() == 0;
        self.is_ack.next = self.packet_type.val() == 1;
        self.is_probe.next = self.packet_type.val() == 3;
        self.is_control.next = self.packet_type.val() == 6;
        self.is_nack.next = self.packet_type.val() == 2;
        self.have.next = bit_cast::<16, 14>(self.info.q.val().transport_bytes);
        self.expected.next = 24.into();
        if self.is_nack.val() {
            self.expected.next = 32.into();
        }
        if self.is_data.val() {
            self.expected.next = self.length16.val() + 48;
        }
        if self.is_ack.val() {
            self.expected.next = bit_cast::<16, 8>(self.blocks.val()) << 3;
            self.expected.next = self.expected.val() + (bit_cast::<16, 8>(self.blocks.val()) << 4);
            self.expected.next = self.expected.val() + 16;
        }
        self.bad_length.d.next = (self.have.val() != self.expected.val())
            | (self.is_data.val() & (self.length16.val() > 4096))
            | (self.is_ack.val() & ((self.blocks.val() == 0) | (self.blocks.val() > 4)));
        if self.is_control.val() {
            self.bad_length.d.next = (self.have.val() < 16) | (self.have.val() > 256);
        }
        self.bad_operation.d.next = self.is_data.val()
            & ((self.header.q.val().get_bits::<8>(240) != 0)
                | (self.header.q.val().get_bits::<8>(248) != 0));
        self.room.next = self.total32.val() - self.offset32.val();
        self.offset_ok.next = (self.offset32.val() <= self.total32.val())
            & (bit_cast::<32, 16>(self.length16.val()) <= self.room.val());
        self.bad_message.d.next = self.is_data.val() & !self.offset_ok.val();

        // What speaks against it whatever the connection's settings are. Connection 0 is for CONTROL alone.
        self.limit.connection.next = self.connection.q.val();
        self.path_plane.next = self.path.val().get_bits::<2>(3);
        self.has_path.next = self.is_data.val() | self.is_probe.val();
        self.path_bad.d.next = self.has_path.val()
            & ((self.path.val() >= 32) | (self.path_plane.val() != self.info.q.val().plane));
        self.needs_path.d.next = self.has_path.val();
        self.needs_settings.d.next = !self.is_control.val();
        self.early.next = 0.into();
        if self.limit.beyond.val() | (self.connection.q.val() == 0) {
            self.early.next = 18.into();
        }
        if self.is_control.val() {
            self.early.next = 0.into();
            if self.connection.q.val() != 0 {
                self.early.next = 18.into();
            }
        }
        if !self.is_data.val()
            & !self.is_ack.val()
            & !self.is_probe.val()
            & !self.is_control.val()
            & !self.is_nack.val()
        {
            self.early.next = 17.into();
        }
        if self.version.val() != 1 {
            self.early.next = 16.into();
        }
        self.early_why.d.next = self.early.val();
        self.early_bad.d.next = self.early.val().any();

        // The verdict.
        self.path_bit.next = self.settings_now.q.val().paths >> self.path.val().get_bits::<5>(0);
        self.bad_path.next =
            self.path_bad.q.val() | (self.needs_path.q.val() & !self.path_bit.val().get_bit(0));
        self.bad_incarnation.next = self.needs_settings.q.val()
            & (self.settings_now.q.val().incarnation != self.incarnation16.val());
        self.bad_connection.next =
            self.needs_settings.q.val() & !self.settings_now.q.val().enabled.any();
        self.good.next = !self.early_bad.q.val()
            & !self.bad_connection.val()
            & !self.bad_incarnation.val()
            & !self.bad_message.q.val()
            & !self.bad_operation.q.val()
            & !self.bad_path.val()
            & !self.bad_length.q.val();
        self.sequenced.next = self.good.val() & self.needs_path.q.val();
        self.why.next = 0.into();
        if self.bad_length.q.val() {
            self.why.next = 20.into();
        }
        if self.bad_path.val() {
            self.why.next = 21.into();
        }
        if self.bad_operation.q.val() {
            self.why.next = 22.into();
        }
        if self.bad_message.q.val() {
            self.why.next = 23.into();
        }
        if self.bad_incarnation.val() {
            self.why.next = 19.into();
        }
        if self.bad_connection.val() {
            self.why.next = 18.into();
        }
        if self.early_bad.q.val() {
            self.why.next = self.early_why.q.val();
        }

        self.issue.next = false;
        self.clears.next = false;
        match self.step.q.val() {
            Classify::Wait => {
                self.clears.next = self.clear_valid.val();
                if self.header_valid.val() & !self.clear_valid.val() {
                    self.header.d.next = self.header_data.val();
                    self.info.d.next = self.header_info.val();
                    self.connection.d.next = self.connection_now.val();
                    self.step.d.next = Classify::Look;
                }
            }
            Classify::Look => {
                self.settings_now.d.next = self.connections.read_data.val();
                self.step.d.next = Classify::Issue;
            }
            Classify::Issue => {
                self.issue.next =
                    self.frame_room.val() & (!self.sequenced.val() | self.path_event_ready.val());
                if self.issue.val() {
                    self.step.d.next = Classify::Wait;
                }
            }
            _ => {
                self.step.d.next = Classify::Wait;
            }
        }
        self.header_ready.next = (self.step.q.val() == Classify::Wait) & !self.clear_valid.val();
        self.clear_ready.next = self.clears.val() & self.path_event_ready.val();

        self.pair.next = bit_cast::<17, 24>(self.connection.q.val()) << 5;
        self.pair.next = self.pair.val() | (bit_cast::<17, 8>(self.path.val()) & 0x1f);
        self.path_event.next.pair = self.pair.val();
        self.path_event.next.psn = self.psn.val().into();
        self.path_event.next.epoch = self.header.q.val().get_bits::<8>(88);
        self.path_event.next.ordinal = self.ordinal.val().into();
        self.path_event.next.timestamp = self.timestamp.val().into();
        self.path_event.next.now = self.now.val();
        self.path_event.next.data = self.is_data.val().into();
        self.path_event.next.marked = self.info.q.val().ce;
        self.path_event.next.urgent = (self.is_probe.val() | self.flags.val().get_bit(0)).into();
        self.path_event.next.clear = 0.into();
        self.path_event_valid.next =
            (self.step.q.val() == Classify::Issue) & self.frame_room.val() & self.sequenced.val();
        if self.clears.val() {
            self.path_event.next = self.clear.val();
            self.path_event_valid.next = true;
        }
        self.request.next.key = self.key.val().into();
        self.request.next.address = self.address.val().into();
        self.request.next.length = bit_cast::<13, 16>(self.length16.val());
        self.request.next.remote = 1.into();
        self.frame.next.kind = 0.into();
        if self.good.val() {
            if self.is_data.val() {
                self.frame.next.kind = 1.into();
            }
            if self.is_probe.val() {
                self.frame.next.kind = 2.into();
            }
            if self.is_ack.val() {
                self.frame.next.kind = 3.into();
            }
            if self.is_control.val() {
                self.frame.next.kind = 4.into();
            }
            if self.is_nack.val() {
                self.frame.next.kind = 5.into();
            }
        }
        self.frame.next.reason = self.why.val();
        self.frame.next.pair = self.pair.val();
        self.frame.next.message = self.message.val().into();
        self.frame.next.length = bit_cast::<13, 16>(self.length16.val());
        if self.is_nack.val() {
            self.frame.next.length = bit_cast::<13, 8>(self.header.q.val().get_bits::<8>(128));
        }
        self.frame.next.total = self.total32.val();
        self.frame.next.transport_bytes = bit_cast::<13, 16>(self.have.val());
        self.frame.next.plane = self.info.q.val().plane;
        self.frame.next.lane = self.header.q.val().get_bits::<6>(184);
        self.frame_valid.next = self.issue.val();
        if self.reset.val() {
            self.step.d.next = Classify::Wait;
        }
    }
}
