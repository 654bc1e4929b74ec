//! Path blocks out of ACK frames: two a beat, behind the common header in the first and from lane 0 in the next.
//!
//! Shows one block until it is taken, with its path looked at and no more: a block of a path that the engine has not
//! is passed over. Combinational from beat to block. Next: `ack_processor`.

use crate::bundle::{Word16, Word24, Word64};
use crate::tx::path_words::AckBlock;
use rust_hdl::prelude::*;

/// See the module page.
#[derive(LogicBlock, Default)]
pub struct AckUnpack {
    pub clock: Signal<In, Clock>,
    pub reset: Signal<In, Bit>,
    /// Number of planes less one.
    pub plane_last: Signal<In, Bits<2>>,
    pub beat: Signal<In, Bits<512>>,
    pub beat_last: Signal<In, Bit>,
    pub beat_valid: Signal<In, Bit>,
    pub beat_ready: Signal<Out, Bit>,
    pub block: Signal<Out, AckBlock>,
    pub block_valid: Signal<Out, Bit>,
    /// Go on to the next place; only with `beat_valid`.
    pub take: Signal<In, Bit>,
    first: DFF<Bit>,
    connection: DFF<Bits<12>>,
    left: DFF<Bits<8>>,
    second: DFF<Bit>,
    header_connection: Signal<Local, Bits<12>>,
    header_count: Signal<Local, Bits<8>>,
    now_connection: Signal<Local, Bits<12>>,
    now_left: Signal<Local, Bits<8>>,
    raw: Signal<Local, Bits<192>>,
    raw_path: Signal<Local, Bits<8>>,
    raw_plane: Signal<Local, Bits<2>>,
    path_known: Signal<Local, Bit>,
    base: Signal<Local, Bits<17>>,
    raw_cumulative: Signal<Local, Word24>,
    raw_ordinal: Signal<Local, Word16>,
    raw_echo: Signal<Local, Word16>,
    raw_delay: Signal<Local, Word16>,
    raw_vector: Signal<Local, Word64>,
    header_connection_bytes: Signal<Local, Word16>,
    header16: Signal<Local, Bits<16>>,
}

impl Logic for AckUnpack {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clock, first, connection, left, second);
        self.header_connection_bytes.next.b1 = self.beat.val().get_bits::<8>(40);
        self.header_connection_bytes.next.b0 = self.beat.val().get_bits::<8>(48);
        self.header16.next = self.header_connection_bytes.val().into();
        self.header_connection.next = self.header16.val().get_bits::<12>(0);
        self.header_count.next = self.beat.val().get_bits::<8>(80);
        self.now_connection.next = self.connection.q.val();
        self.now_left.next = self.left.q.val();
        if self.first.q.val() & !self.second.q.val() {
            self.now_connection.next = self.header_connection.val();
            self.now_left.next = self.header_count.val();
        }
        self.raw.next = self.beat.val().get_bits::<192>(0);
        if !self.first.q.val() & self.second.q.val() {
            self.raw.next = self.beat.val().get_bits::<192>(192);
        }
        if self.first.q.val() & !self.second.q.val() {
            self.raw.next = self.beat.val().get_bits::<192>(128);
        }
        if self.first.q.val() & self.second.q.val() {
            self.raw.next = self.beat.val().get_bits::<192>(320);
        }
        self.raw_path.next = self.raw.val().get_bits::<8>(0);
        self.raw_plane.next = self.raw_path.val().get_bits::<2>(3);
        self.path_known.next =
            (self.raw_path.val() < 32) & (self.raw_plane.val() <= self.plane_last.val());
        self.raw_cumulative.next.b2 = self.raw.val().get_bits::<8>(16);
        self.raw_cumulative.next.b1 = self.raw.val().get_bits::<8>(24);
        self.raw_cumulative.next.b0 = self.raw.val().get_bits::<8>(32);
        self.raw_ordinal.next.b1 = self.raw.val().get_bits::<8>(48);
        self.raw_ordinal.next.b0 = self.raw.val().get_bits::<8>(56);
        self.raw_echo.next.b1 = self.raw.val().get_bits::<8>(64);
        self.raw_echo.next.b0 = self.raw.val().get_bits::<8>(72);
        self.raw_delay.next.b1 = self.raw.val().get_bits::<8>(80);
        self.raw_delay.next.b0 = self.raw.val().get_bits::<8>(88);
        self.raw_vector.next.b7 = self.raw.val().get_bits::<8>(128);
        self.raw_vector.next.b6 = self.raw.val().get_bits::<8>(136);
        self.raw_vector.next.b5 = self.raw.val().get_bits::<8>(144);
        self.raw_vector.next.b4 = self.raw.val().get_bits::<8>(152);
        self.raw_vector.next.b3 = self.raw.val().get_bits::<8>(160);
        self.raw_vector.next.b2 = self.raw.val().get_bits::<8>(168);
        self.raw_vector.next.b1 = self.raw.val().get_bits::<8>(176);
        self.raw_vector.next.b0 = self.raw.val().get_bits::<8>(184);
        self.base.next = bit_cast::<17, 12>(self.now_connection.val()) << 5;
        self.block.next.pair = self.base.val() | bit_cast::<17, 8>(self.raw_path.val());
        self.block.next.epoch = self.raw.val().get_bits::<8>(8);
        self.block.next.cumulative = self.raw_cumulative.val().into();
        self.block.next.ordinal = self.raw_ordinal.val().into();
        self.block.next.echo = self.raw_echo.val().into();
        self.block.next.delay = self.raw_delay.val().into();
        self.block.next.vector = self.raw_vector.val().into();
        self.block.next.clear = 0.into();
        self.block_valid.next =
            self.beat_valid.val() & self.now_left.val().any() & self.path_known.val();

        // A beat is done when its second block is taken, or when nothing is left for one.
        self.beat_ready.next = self.take.val() & (self.second.q.val() | (self.now_left.val() <= 1));
        if self.take.val() {
            self.connection.d.next = self.now_connection.val();
            self.second.d.next = !self.second.q.val();
            if self.now_left.val().any() {
                self.left.d.next = self.now_left.val() - 1;
            }
            if self.second.q.val() | (self.now_left.val() <= 1) {
                self.second.d.next = false;
                self.first.d.next = self.beat_last.val();
            }
        }
        if self.reset.val() {
            self.first.d.next = true;
            self.second.d.next = false;
        }
    }
}
