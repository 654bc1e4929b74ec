//! What a peer's ACK says: which packets have arrived, which are lost (design rule 3, clause T-2.3).
//!
//! A path is ordered, so a hole under the echoed ordinal is a loss. Every transmission stands once in the
//! path's ordinal log; a block with a newer echo walks the log up to it, one entry a cycle. An entry whose
//! PSN the block shows is acknowledged (and counted for its message), any other is lost and goes to be
//! sent again. A block with an older echo is a snapshot from before: it is ignored.
//!
//! The log entry of the echo itself is looked at first: if it is a probe, what this walk finds was found by
//! a probe. What a block acknowledges is told (`updated`) when its walk takes its last entry: the scheduler may then
//! write over entries and records. Five cycles a block, or its entries and one more if that is longer. A block that speaks of
//! what was never sent is counted and changes nothing. A block of a plane whose queue of resends has no room is passed
//! over like an old one: a later block, or the answer to a probe, says the same. So a plane that stands still holds up
//! nobody else's ACKs.

use crate::stream::{Log2, Ram, SmallFifo};
use crate::tx::ack_unpack::AckUnpack;
use crate::tx::path_words::path_ram;
pub use crate::tx::path_words::{
    AckBlock, AckedPacket, AckedUpdate, Forced, LogEntry, PacketRecord, PathAckState, PathSent,
};
use rust_hdl::prelude::*;

#[derive(Copy, Clone, PartialEq, Debug, LogicState)]
pub enum Fetch {
    Read,
    Data,
    Check,
    Judge,
    Hold,
}

#[derive(LogicBlock, Default)]
pub struct AckProcessor {
    pub clock: Signal<In, Clock>,
    pub reset: Signal<In, Bit>,
    pub now: Signal<In, Bits<16>>,
    /// Number of planes less one.
    pub plane_last: Signal<In, Bits<2>>,
    /// Beats of ACK frames, transport header in lane 0 of the first.
    pub beat: Signal<In, Bits<512>>,
    pub beat_last: Signal<In, Bit>,
    pub beat_valid: Signal<In, Bit>,
    pub beat_ready: Signal<Out, Bit>,
    /// Start the path anew: `cumulative`, `ordinal` and `epoch` are its first values.
    pub clear: Signal<In, AckBlock>,
    pub clear_valid: Signal<In, Bit>,
    pub clear_ready: Signal<Out, Bit>,
    pub sent_pair: Signal<In, Bits<17>>,
    pub sent: Signal<In, PathSent>,
    pub sent_valid: Signal<In, Bit>,
    pub log_address: Signal<In, Bits<24>>,
    pub log_entry: Signal<In, LogEntry>,
    pub log_write: Signal<In, Bit>,
    /// The pair, then the PSN mod 128.
    pub record_address: Signal<In, Bits<24>>,
    pub record: Signal<In, PacketRecord>,
    pub record_write: Signal<In, Bit>,
    /// Bit of each plane: its resends have room for all that one block can find lost.
    pub resend_room: Signal<In, Bits<4>>,
    pub acked: Signal<Out, AckedPacket>,
    pub acked_valid: Signal<Out, Bit>,
    pub acked_ready: Signal<In, Bit>,
    pub resend: Signal<Out, Forced>,
    pub resend_valid: Signal<Out, Bit>,
    pub resend_ready: Signal<In, Bit>,
    pub updated: Signal<Out, AckedUpdate>,
    pub updated_valid: Signal<Out, Bit>,
    /// A loss was found on `lost_pair`: by a probe, by a probe after a back-off, else by an ordinal.
    pub lost_pair: Signal<Out, Bits<17>>,
    pub lost_valid: Signal<Out, Bit>,
    pub lost_by_probe: Signal<Out, Bit>,
    pub lost_by_timeout: Signal<Out, Bit>,
    pub rtt_pair: Signal<Out, Bits<17>>,
    pub rtt: Signal<Out, Bits<16>>,
    pub rtt_valid: Signal<Out, Bit>,
    /// A block said something new and is being walked.
    pub block_taken: Signal<Out, Bit>,
    pub block_stale: Signal<Out, Bit>,
    pub block_invalid: Signal<Out, Bit>,

    states: Ram<PathAckState, 17>,
    sents: Ram<PathSent, 17>,
    log: Ram<LogEntry, 24>,
    /// Packets' places in their messages: those that are not acknowledged may have to be sent again.
    indexes: Ram<Bits<18>, 23>,
    /// Their messages, of two windows: a needless copy is walked when its packet's window has passed.
    slots: Ram<Bits<6>, 24>,
    acked_queue: SmallFifo<AckedPacket>,
    resend_queue: SmallFifo<Forced>,
    unpack: AckUnpack,
    candidate: Signal<Local, AckBlock>,
    candidate_valid: Signal<Local, Bit>,
    consume: Signal<Local, Bit>,
    // Fetch and check.
    fetch: DFF<Fetch>,
    block: DFF<AckBlock>,
    state: DFF<PathAckState>,
    sent_state: DFF<PathSent>,
    echo_next: DFF<Bits<16>>,
    advance: DFF<Bits<16>>,
    ahead: DFF<Bits<16>>,
    cumulative_step: DFF<Bits<24>>,
    cumulative_room: DFF<Bits<24>>,
    sample: DFF<Bits<16>>,
    sample_wraps: DFF<Bit>,
    block_pair: Signal<Local, Bits<17>>,
    block_plane: Signal<Local, Bits<2>>,
    rooms: Signal<Local, Bits<4>>,
    roomy: Signal<Local, Bit>,
    age: DFF<Bits<16>>,
    fresh: DFF<Bit>,
    sound: DFF<Bit>,
    srtt: DFF<Bits<19>>,
    srtt_eighth: Signal<Local, Bits<19>>,
    sample_wide: Signal<Local, Bits<19>>,
    srtt_whole: Signal<Local, Bits<16>>,
    log2: Log2,
    handoff: Signal<Local, Bit>,
    store: Signal<Local, Bit>,
    known: Signal<Local, AckedUpdate>,
    told: DFF<AckedUpdate>,
    // The walk.
    active: DFF<Bit>,
    peek: DFF<Bit>,
    remaining: DFF<Bits<8>>,
    ordinal: DFF<Bits<7>>,
    echo7: DFF<Bits<7>>,
    walk_pair: DFF<Bits<17>>,
    walk_cumulative: DFF<Bits<24>>,
    walk_vector: DFF<Bits<64>>,
    room: Signal<Local, Bit>,
    issue: Signal<Local, Bit>,
    log_base: Signal<Local, Bits<24>>,
    read_ordinal: Signal<Local, Bits<7>>,
    w1_valid: DFF<Bit>,
    w1_peek: DFF<Bit>,
    w1_pair: DFF<Bits<17>>,
    w1_cumulative: DFF<Bits<24>>,
    w1_vector: DFF<Bits<64>>,
    w2_valid: DFF<Bit>,
    w2_peek: DFF<Bit>,
    w2_pair: DFF<Bits<17>>,
    w2_cumulative: DFF<Bits<24>>,
    w2_vector: DFF<Bits<64>>,
    entry: DFF<LogEntry>,
    entry_psn: Signal<Local, Bits<8>>,
    position: Signal<Local, Bits<6>>,
    cumulative8: Signal<Local, Bits<8>>,
    behind: DFF<Bits<8>>,
    shown: DFF<Bit>,
    shifted: Signal<Local, Bits<64>>,
    record_base: Signal<Local, Bits<23>>,
    slot_base: Signal<Local, Bits<24>>,
    write_pair: Signal<Local, Bits<17>>,
    write_place: Signal<Local, Bits<6>>,
    by_probe: DFF<Bit>,
    by_timeout: DFF<Bit>,
    w3_valid: DFF<Bit>,
    w3_probe: DFF<Bit>,
    w3_pair: DFF<Bits<17>>,
    w3_cumulative: DFF<Bits<24>>,
    w3_by_probe: DFF<Bit>,
    w3_by_timeout: DFF<Bit>,
    arrived: Signal<Local, Bit>,
    w4_arrived: DFF<Bit>,
    w4_lost: DFF<Bit>,
    w4_pair: DFF<Bits<17>>,
    w4_psn: DFF<Bits<24>>,
    w4_by_probe: DFF<Bit>,
    w4_by_timeout: DFF<Bit>,
    found_index: DFF<Bits<18>>,
    found_slot: DFF<Bits<6>>,
    found_pair: Signal<Local, Bits<17>>,
    walked16: Signal<Local, Bits<16>>,
    ordinal16: Signal<Local, Bits<16>>,
    walked_cumulative: Signal<Local, Bits<24>>,
    srtt_now: Signal<Local, Bits<19>>,
}

impl AckProcessor {
    /// For `1 << connection_bits` connections of `1 << plane_bits` planes with 8 paths each, on each of which
    /// `1 << window_bits` packets are open at most ([`crate::tx::path_limit`]).
    pub fn new(connection_bits: usize, plane_bits: usize, window_bits: usize) -> Self {
        Self {
            // Read and written by one machine in turn; what is walked is older than what is written.
            states: path_ram(connection_bits, plane_bits, 0, 0).without_collisions(),
            sents: path_ram(connection_bits, plane_bits, 0, 0),
            log: path_ram(connection_bits, plane_bits, 7, window_bits + 1).without_collisions(),
            indexes: path_ram(connection_bits, plane_bits, 6, window_bits).without_collisions(),
            slots: path_ram(connection_bits, plane_bits, 7, window_bits + 1).without_collisions(),
            // 8 and what the walk has under way.
            acked_queue: SmallFifo::new(4),
            resend_queue: SmallFifo::new(4),
            ..Default::default()
        }
    }
}

impl Logic for AckProcessor {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(
            self,
            clock,
            fetch,
            block,
            state,
            sent_state,
            echo_next,
            advance,
            ahead,
            cumulative_step,
            cumulative_room,
            sample,
            sample_wraps,
            age,
            fresh,
            sound,
            srtt,
            active,
            peek,
            remaining,
            ordinal,
            echo7,
            walk_pair,
            walk_cumulative,
            walk_vector,
            w1_valid,
            w1_peek,
            w1_pair,
            w1_cumulative,
            w1_vector,
            w2_valid,
            w2_peek,
            w2_pair,
            w2_cumulative,
            w2_vector,
            entry,
            behind,
            shown,
            by_probe,
            by_timeout,
            w3_valid,
            w3_probe,
            w3_pair,
            w3_cumulative,
            w3_by_probe,
            w3_by_timeout,
            w4_arrived,
            w4_lost,
            w4_pair,
            w4_psn,
            w4_by_probe,
            w4_by_timeout,
            found_index,
            found_slot,
            told
        );
        clock!(
            self,
            clock,
            unpack,
            states,
            sents,
            log,
            indexes,
            slots,
            acked_queue,
            resend_queue
        );
        self.acked_queue.reset.next = self.reset.val();
        self.resend_queue.reset.next = self.reset.val();

        self.unpack.reset.next = self.reset.val();
        self.unpack.plane_last.next = self.plane_last.val();
        self.unpack.beat.next = self.beat.val();
        self.unpack.beat_last.next = self.beat_last.val();
        self.unpack.beat_valid.next = self.beat_valid.val();
        self.candidate.next = self.unpack.block.val();
        self.candidate_valid.next = self.unpack.block_valid.val();

        // The next block of a frame is taken when nothing is being fetched; a start anew comes first.
        self.consume.next = false;
        self.clear_ready.next = false;
        if self.fetch.q.val() == Fetch::Read {
            if self.clear_valid.val() {
                self.clear_ready.next = true;
            } else {
                self.consume.next = self.beat_valid.val();
            }
        }
        self.unpack.take.next = self.consume.val();
        self.beat_ready.next = self.unpack.beat_ready.val();

        // Fetch: the path's state and how far it has sent, then what the block means.
        self.states.read_address.next = self.candidate.val().pair;
        self.states.read_enable.next = self.fetch.q.val() == Fetch::Read;
        self.sents.read_address.next = self.candidate.val().pair;
        self.sents.read_enable.next = self.fetch.q.val() == Fetch::Read;
        self.sents.write_address.next = self.sent_pair.val();
        self.sents.write_data.next = self.sent.val();
        self.sents.write_enable.next = self.sent_valid.val();
        self.srtt_eighth.next = self.state.q.val().srtt >> 3;
        self.sample_wide.next = bit_cast::<19, 16>(self.sample.q.val());
        self.handoff.next = false;
        self.block_pair.next = self.block.q.val().pair;
        self.block_plane.next = self.block_pair.val().get_bits::<2>(3);
        self.rooms.next = self.resend_room.val() >> self.block_plane.val();
        self.roomy.next = self.rooms.val().get_bit(0);
        self.block_stale.next = false;
        self.block_invalid.next = false;
        self.store.next = false;
        self.rtt_valid.next = false;
        match self.fetch.q.val() {
            Fetch::Read => {
                if self.clear_valid.val() {
                    self.block.d.next = self.clear.val();
                    self.fetch.d.next = Fetch::Data;
                } else {
                    if self.candidate_valid.val() {
                        self.block.d.next = self.candidate.val();
                        self.fetch.d.next = Fetch::Data;
                    }
                }
            }
            Fetch::Data => {
                self.state.d.next = self.states.read_data.val();
                self.sent_state.d.next = self.sents.read_data.val();
                self.echo_next.d.next = self.block.q.val().ordinal + 1;
                self.age.d.next = self.now.val() - self.block.q.val().echo;
                self.fetch.d.next = Fetch::Check;
            }
            Fetch::Check => {
                self.advance.d.next = self.echo_next.q.val() - self.state.q.val().walked;
                self.ahead.d.next = self.sent_state.q.val().next_ordinal - self.echo_next.q.val();
                self.cumulative_step.d.next =
                    self.block.q.val().cumulative - self.state.q.val().cumulative;
                self.cumulative_room.d.next =
                    self.sent_state.q.val().next_psn - self.block.q.val().cumulative;
                self.sample.d.next = self.age.q.val() - self.block.q.val().delay;
                self.sample_wraps.d.next = self.block.q.val().delay > self.age.q.val();
                self.fetch.d.next = Fetch::Judge;
            }
            Fetch::Judge => {
                self.fresh.d.next = !self.advance.q.val().get_bit(15) & self.advance.q.val().any();
                self.sound.d.next = (self.block.q.val().epoch == self.state.q.val().epoch)
                    & !self.ahead.q.val().get_bit(15)
                    & (self.cumulative_step.q.val() <= 64)
                    & !self.cumulative_room.q.val().get_bit(23);
                self.srtt.d.next =
                    self.state.q.val().srtt - self.srtt_eighth.val() + self.sample_wide.val();
                if !self.state.q.val().srtt.any() {
                    self.srtt.d.next = self.sample_wide.val() << 3;
                }
                // A peer that says it held the packet longer than it has been away has measured nothing.
                if self.sample_wraps.q.val() {
                    self.srtt.d.next = self.state.q.val().srtt;
                }
                self.fetch.d.next = Fetch::Hold;
            }
            Fetch::Hold => {
                if self.block.q.val().clear.any() {
                    // What the walk before has to tell comes first.
                    if !self.active.q.val() {
                        self.store.next = true;
                        self.fetch.d.next = Fetch::Read;
                    }
                } else {
                    if !self.sound.q.val() | !self.fresh.q.val() {
                        // An old snapshot is no fault: duplicates and reordered ACKs look like this.
                        self.block_invalid.next = !self.sound.q.val() & self.fresh.q.val();
                        self.block_stale.next = !self.fresh.q.val();
                        self.fetch.d.next = Fetch::Read;
                    } else {
                        if !self.active.q.val() {
                            self.handoff.next = self.roomy.val();
                            self.store.next = self.roomy.val();
                            self.rtt_valid.next = self.roomy.val() & !self.sample_wraps.q.val();
                            self.block_stale.next = !self.roomy.val();
                            self.fetch.d.next = Fetch::Read;
                        }
                    }
                }
            }
            _ => {
                self.fetch.d.next = Fetch::Read;
            }
        }
        self.block_taken.next = self.handoff.val();
        self.known.next.pair = self.block.q.val().pair;
        self.known.next.cumulative = self.block.q.val().cumulative;
        self.known.next.walked = self.echo_next.q.val();
        self.known.next.srtt = self.srtt.q.val();
        if self.block.q.val().clear.any() {
            self.known.next.walked = self.block.q.val().ordinal;
            self.known.next.srtt = 0.into();
        }
        self.srtt_now.next = self.known.val().srtt;
        self.srtt_whole.next = self.srtt_now.val().get_bits::<16>(3);
        self.log2.value.next = self.srtt_whole.val();
        self.known.next.srtt_log = self.log2.log.val();
        self.states.write_address.next = self.block.q.val().pair;
        self.states.write_data.next.cumulative = self.block.q.val().cumulative;
        self.states.write_data.next.epoch = self.block.q.val().epoch;
        self.states.write_data.next.walked = self.known.val().walked;
        self.states.write_data.next.srtt = self.known.val().srtt;
        self.states.write_enable.next = self.store.val();
        self.rtt_pair.next = self.block.q.val().pair;
        self.rtt.next = self.sample.q.val();

        // The walk: the echo first, to see what it was, then every entry not yet walked.
        self.room.next = (self.acked_queue.level.val() <= 8) & (self.resend_queue.level.val() <= 8);
        self.issue.next = self.active.q.val() & self.room.val();
        self.updated.next = self.told.q.val();
        self.updated_valid.next = false;
        if self.store.val() & self.block.q.val().clear.any() {
            self.updated.next = self.known.val();
            self.updated_valid.next = true;
        }
        if self.issue.val() {
            self.peek.d.next = false;
            if !self.peek.q.val() {
                self.ordinal.d.next = self.ordinal.q.val() + 1;
                self.remaining.d.next = self.remaining.q.val() - 1;
                if self.remaining.q.val() == 1 {
                    self.updated_valid.next = true;
                    self.active.d.next = false;
                }
            }
        }
        self.walked16.next = self.state.q.val().walked;
        self.ordinal16.next = self.block.q.val().ordinal;
        if self.handoff.val() {
            self.told.d.next = self.known.val();
            self.active.d.next = true;
            self.peek.d.next = true;
            self.remaining.d.next = bit_cast::<8, 16>(self.advance.q.val());
            self.ordinal.d.next = bit_cast::<7, 16>(self.walked16.val());
            self.echo7.d.next = bit_cast::<7, 16>(self.ordinal16.val());
            self.walk_pair.d.next = self.block.q.val().pair;
            self.walk_cumulative.d.next = self.block.q.val().cumulative;
            self.walk_vector.d.next = self.block.q.val().vector;
        }
        self.read_ordinal.next = self.ordinal.q.val();
        if self.peek.q.val() {
            self.read_ordinal.next = self.echo7.q.val();
        }
        self.log_base.next = bit_cast::<24, 17>(self.walk_pair.q.val()) << 7;
        self.log.read_address.next =
            self.log_base.val() | bit_cast::<24, 7>(self.read_ordinal.val());
        self.log.read_enable.next = true;
        self.log.write_address.next = self.log_address.val();
        self.log.write_data.next = self.log_entry.val();
        self.log.write_enable.next = self.log_write.val();
        self.w1_valid.d.next = self.issue.val() & !self.reset.val();
        self.w1_peek.d.next = self.peek.q.val();
        self.w1_pair.d.next = self.walk_pair.q.val();
        self.w1_cumulative.d.next = self.walk_cumulative.q.val();
        self.w1_vector.d.next = self.walk_vector.q.val();

        self.entry.d.next = self.log.read_data.val();
        self.w2_valid.d.next = self.w1_valid.q.val() & !self.reset.val();
        self.w2_peek.d.next = self.w1_peek.q.val();
        self.w2_pair.d.next = self.w1_pair.q.val();
        self.w2_cumulative.d.next = self.w1_cumulative.q.val();
        self.w2_vector.d.next = self.w1_vector.q.val();

        // Is the PSN under the cumulative one, or does its bit differ from its lap?
        self.entry_psn.next = self.entry.q.val().psn;
        self.position.next = self.entry_psn.val().get_bits::<6>(0);
        self.walked_cumulative.next = self.w2_cumulative.q.val();
        self.cumulative8.next = self.walked_cumulative.val().get_bits::<8>(0);
        self.behind.d.next = self.entry_psn.val() - self.cumulative8.val();
        self.shifted.next = self.w2_vector.q.val() >> self.position.val();
        self.shown.d.next = self.shifted.val().get_bit(0) ^ self.entry_psn.val().get_bit(6);
        if self.w2_valid.q.val() & self.w2_peek.q.val() {
            self.by_probe.d.next =
                self.entry.q.val().probe.any() & !self.entry_psn.val().get_bit(0);
            self.by_timeout.d.next =
                self.entry.q.val().probe.any() & self.entry_psn.val().get_bit(0);
        }
        self.record_base.next = bit_cast::<23, 17>(self.w2_pair.q.val()) << 6;
        self.indexes.read_address.next =
            self.record_base.val() | bit_cast::<23, 6>(self.position.val());
        self.indexes.read_enable.next = true;
        self.slot_base.next = bit_cast::<24, 17>(self.w2_pair.q.val()) << 7;
        self.slots.read_address.next =
            self.slot_base.val() | bit_cast::<24, 7>(self.entry_psn.val().get_bits::<7>(0));
        self.slots.read_enable.next = true;
        self.write_pair.next = self.record_address.val().get_bits::<17>(7);
        self.write_place.next = self.record_address.val().get_bits::<6>(0);
        self.indexes.write_address.next = (bit_cast::<23, 17>(self.write_pair.val()) << 6)
            | bit_cast::<23, 6>(self.write_place.val());
        self.indexes.write_data.next = self.record.val().index;
        self.indexes.write_enable.next = self.record_write.val();
        self.slots.write_address.next = self.record_address.val();
        self.slots.write_data.next = self.record.val().slot;
        self.slots.write_enable.next = self.record_write.val();
        self.w3_valid.d.next = self.w2_valid.q.val() & !self.w2_peek.q.val() & !self.reset.val();
        self.w3_probe.d.next = self.entry.q.val().probe.any();
        self.w3_pair.d.next = self.w2_pair.q.val();
        self.w3_cumulative.d.next = self.w2_cumulative.q.val();
        self.w3_by_probe.d.next = self.by_probe.q.val();
        self.w3_by_timeout.d.next = self.by_timeout.q.val();

        self.arrived.next = self.behind.q.val().get_bit(7) | self.shown.q.val();
        self.w4_arrived.d.next =
            self.w3_valid.q.val() & !self.w3_probe.q.val() & self.arrived.val() & !self.reset.val();
        self.w4_lost.d.next = self.w3_valid.q.val()
            & !self.w3_probe.q.val()
            & !self.arrived.val()
            & !self.reset.val();
        self.w4_pair.d.next = self.w3_pair.q.val();
        self.w4_psn.d.next = self.w3_cumulative.q.val() + bit_cast::<24, 8>(self.behind.q.val());
        self.w4_by_probe.d.next = self.w3_by_probe.q.val();
        self.w4_by_timeout.d.next = self.w3_by_timeout.q.val();
        self.found_index.d.next = self.indexes.read_data.val();
        self.found_slot.d.next = self.slots.read_data.val();

        self.found_pair.next = self.w4_pair.q.val();
        self.acked_queue.write_data.next.connection = self.found_pair.val().get_bits::<12>(5);
        self.acked_queue.write_data.next.slot = self.found_slot.q.val();
        self.acked_queue.write_enable.next = self.w4_arrived.q.val();
        self.acked.next = self.acked_queue.read_data.val();
        self.acked_valid.next = self.acked_queue.read_valid.val();
        self.acked_queue.read_ready.next = self.acked_ready.val();
        self.resend_queue.write_data.next.kind = 0.into();
        self.resend_queue.write_data.next.pair = self.w4_pair.q.val();
        self.resend_queue.write_data.next.psn = self.w4_psn.q.val();
        self.resend_queue.write_data.next.slot = self.found_slot.q.val();
        self.resend_queue.write_data.next.index = self.found_index.q.val();
        self.resend_queue.write_data.next.train = 0.into();
        self.resend_queue.write_data.next.timeout = 0.into();
        self.resend_queue.write_data.next.ordinal = 0.into();
        self.resend_queue.write_data.next.epoch = 0.into();
        self.resend_queue.write_enable.next = self.w4_lost.q.val();
        self.resend.next = self.resend_queue.read_data.val();
        self.resend_valid.next = self.resend_queue.read_valid.val();
        self.resend_queue.read_ready.next = self.resend_ready.val();
        self.lost_pair.next = self.w4_pair.q.val();
        self.lost_valid.next = self.w4_lost.q.val();
        self.lost_by_probe.next = self.w4_by_probe.q.val();
        self.lost_by_timeout.next = self.w4_by_timeout.q.val();

        if self.reset.val() {
            self.fetch.d.next = Fetch::Read;
            self.active.d.next = false;
        }
    }
}
