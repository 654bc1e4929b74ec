//! Which packet goes next on which path (design rule 2, clause T-2.2).
//!
//! Each plane pulls while its transmitter has room for a whole frame. What is forced on a path (resends,
//! probes) goes first; else a connection with something to send, in turn, takes the best of the plane's
//! paths (`path_choice`). In flight is the difference of two running counts: ordinals sent (written here)
//! and ordinals walked (written by `ack_processor`), so no counter has two writers.
//!
//! A connection is in the stages at most once, which costs nothing while others have work. A choice every
//! cycle, on another plane than the one before; 7 cycles from the taking to the packet. What messages there are and what has been
//! acknowledged is known a cycle after it came.

use crate::bundle;
use crate::stream::Ram;
use crate::tx::ack_processor::{AckedUpdate, Forced, LogEntry, PacketRecord, PathSent};
use crate::tx::connection_turn::ConnectionTurn;
use crate::tx::path_choice::{PathChoice, PathCounts};
use crate::tx::path_words::{path_ram, plane_ram};
use crate::tx::schedule_commit::ScheduleCommit;
use crate::tx::transmit_credit::TransmitCredit;
use rust_hdl::prelude::*;

bundle! {
    /// A packet that has been given its path, PSN and ordinal; `kind` as in [`Forced`]: 0 data, 1 probe, 2 CONTROL.
    TransmitJob {
        kind: 2, pair: 17, psn: 24, epoch: 8, ordinal: 16, slot: 6, index: 18, train: 8, ack_request: 1, resend: 1,
    }
}

bundle! {
    /// The next packet of a connection: message, and packet in it.
    SendPosition { message: 16, index: 18 }
}

bundle! {
    /// What the scheduler needs of a connection.
    SendSettings { enabled: 1, paths: 32, window: 8 }
}

bundle! {
    /// What the scheduler keeps of a path's acknowledgements, modulo 256.
    PathAcked { cumulative: 8, walked: 8, srtt_log: 7 }
}

bundle! {
    /// What the choice of a path needs of how far it has sent, modulo 256.
    SentCounts { psn: 8, ordinal: 8 }
}

bundle! {
    /// What the stages learn of the connection on the way.
    Outlook { has_data: 1, ends: 1, last: 1, tight: 1 }
}

bundle! {
    /// A message that may be sent: how many the connection has now, its slot and the number of its last packet.
    ScheduleLoad { messages: 16, slot: 6, last: 18 }
}

#[derive(LogicBlock, Default)]
pub struct SprayScheduler {
    pub clock: Signal<In, Clock>,
    pub reset: Signal<In, Bit>,
    /// The highest plane number.
    pub plane_last: Signal<In, Bits<2>>,
    pub head: [Signal<In, Forced>; 4],
    pub head_valid: [Signal<In, Bit>; 4],
    pub head_ready: [Signal<Out, Bit>; 4],
    /// A work request has become a message: the connection's count of messages, and the number of this one's last packet.
    pub load_connection: Signal<In, Bits<12>>,
    pub load_messages: Signal<In, Bits<16>>,
    pub load_slot: Signal<In, Bits<6>>,
    pub load_last: Signal<In, Bits<18>>,
    pub load_valid: Signal<In, Bit>,
    /// The connection has something to send by that (it has not when it starts anew).
    pub load_wakes: Signal<In, Bit>,
    /// Connections with work requests that are not messages yet.
    pub unfetched: Signal<In, Bits<64>>,
    pub settings_connection: Signal<In, Bits<12>>,
    pub settings: Signal<In, SendSettings>,
    pub settings_write: Signal<In, Bit>,
    pub suspect_slot: Signal<In, Bits<14>>,
    pub suspect_paths: Signal<In, Bits<8>>,
    pub suspect_write: Signal<In, Bit>,
    pub updated: Signal<In, AckedUpdate>,
    pub updated_valid: Signal<In, Bit>,
    /// A beat left a plane's transmit FIFO.
    pub freed: [Signal<In, Bit>; 4],
    /// Beats of a reservation that turned out not to be needed (0: nothing).
    pub returned_plane: Signal<In, Bits<2>>,
    pub returned_beats: Signal<In, Bits<7>>,
    pub ack_plane: Signal<In, Bits<2>>,
    pub ack_beats: Signal<In, Bits<2>>,
    pub ack_room: Signal<Out, Bits<4>>,
    /// There is room for 16 jobs more: small frames need few credits and could come faster than they are made.
    pub job_room: Signal<In, Bit>,
    pub job: Signal<Out, TransmitJob>,
    pub job_valid: Signal<Out, Bit>,
    pub sent_pair: Signal<Out, Bits<17>>,
    pub sent: Signal<Out, PathSent>,
    pub sent_valid: Signal<Out, Bit>,
    pub log_address: Signal<Out, Bits<24>>,
    pub log_entry: Signal<Out, LogEntry>,
    pub log_write: Signal<Out, Bit>,
    pub record_address: Signal<Out, Bits<24>>,
    pub record: Signal<Out, PacketRecord>,
    pub record_write: Signal<Out, Bit>,
    pub tail_pair: Signal<Out, Bits<17>>,
    pub tail_valid: Signal<Out, Bit>,

    turn: ConnectionTurn,
    choice: PathChoice,
    credit: TransmitCredit,
    positions: Ram<SendPosition, 12>,
    loaded: Ram<Bits<16>, 12>,
    configuration: Ram<SendSettings, 12>,
    lasts: Ram<Bits<18>, 18>,
    suspects: Ram<Bits<8>, 14>,
    /// Of a plane's eight paths at once, for the choice; and of the path that was chosen.
    sent_counts: [Ram<SentCounts, 14>; 8],
    sents: Ram<PathSent, 17>,
    ackeds: [Ram<PathAcked, 14>; 8],

    plane0: DFF<Bits<2>>,
    plane1: DFF<Bits<2>>,
    plane2: DFF<Bits<2>>,
    here: Signal<Local, Bits<2>>,
    head_now: Signal<Local, Forced>,
    head_now_valid: Signal<Local, Bit>,
    next_pair: Signal<Local, Bits<17>>,
    choice3: DFF<Forced>,
    fixed3: DFF<Bit>,
    valid3: DFF<Bit>,
    plane3: DFF<Bits<2>>,
    pair3: Signal<Local, Bits<17>>,
    connection3: Signal<Local, Bits<12>>,
    slot3: Signal<Local, Bits<14>>,
    rooms: Signal<Local, Bits<4>>,
    room3: Signal<Local, Bit>,
    take: Signal<Local, Bit>,

    stage: [DFF<Forced>; 7],
    fixed: [DFF<Bit>; 7],
    valid: [DFF<Bit>; 7],
    position: [DFF<SendPosition>; 6],
    loads: [DFF<Bits<16>>; 3],
    settings_now: DFF<SendSettings>,
    settings_at: DFF<Bits<12>>,
    settings_come: DFF<Bit>,
    settings5: DFF<SendSettings>,
    suspects5: DFF<Bits<8>>,
    sent5: [DFF<SentCounts>; 8],
    acked5: [DFF<PathAcked>; 8],
    counts: Signal<Local, PathCounts>,
    acked_word: Signal<Local, PathAcked>,
    one_sent: Signal<Local, SentCounts>,
    one_acked: Signal<Local, PathAcked>,
    sent_psn: Signal<Local, Bits<24>>,
    sent_ordinal: Signal<Local, Bits<16>>,
    sent_word: Signal<Local, SentCounts>,
    pair5: Signal<Local, Bits<17>>,
    all_paths: Signal<Local, Bits<32>>,
    plane_paths: Signal<Local, Bits<32>>,
    plane_shift: Signal<Local, Bits<5>>,
    message5: Signal<Local, Bits<16>>,
    connection18: Signal<Local, Bits<18>>,
    load18: Signal<Local, Bits<18>>,
    last7: DFF<Bits<18>>,
    has_data: [DFF<Bit>; 5],
    enabled: [DFF<Bit>; 5],
    tight: [DFF<Bit>; 5],
    index7: Signal<Local, Bits<18>>,
    next_message7: Signal<Local, Bits<16>>,
    ends: [DFF<Bit>; 3],
    last: [DFF<Bit>; 3],
    pair9: Signal<Local, Bits<17>>,
    k9: Signal<Local, Bits<3>>,
    here_k: Signal<Local, Bits<3>>,
    low9: Signal<Local, Bits<17>>,
    k10: DFF<Bits<3>>,
    found10: DFF<Bit>,
    room10: DFF<Bit>,
    pending9: Signal<Local, Bits<64>>,
    pending10: DFF<Bit>,
    refund_plane: DFF<Bits<2>>,
    refund: DFF<Bits<7>>,
    load_at: DFF<Bits<12>>,
    load_now: DFF<ScheduleLoad>,
    load_comes: DFF<Bit>,
    load_wakes_now: DFF<Bit>,
    acked_pair: DFF<Bits<17>>,
    acked_now: DFF<PathAcked>,
    acked_comes: DFF<Bit>,
    woken: DFF<Bits<6>>,
    wakes: DFF<Bit>,
    pair4: Signal<Local, Bits<17>>,
    plane4: Signal<Local, Bits<2>>,
    connection4: Signal<Local, Bits<12>>,
    /// The one before is of the same connection or plane.
    near: Signal<Local, Bit>,

    commit: ScheduleCommit,
    commit_pair: Signal<Local, Bits<17>>,
    order10_pair: Signal<Local, Bits<17>>,
    connection10: Signal<Local, Bits<12>>,
    slot10: Signal<Local, Bits<14>>,
    commit_k: Signal<Local, Bits<3>>,
    updated_pair: Signal<Local, Bits<17>>,
    updated_cumulative: Signal<Local, Bits<24>>,
    updated_walked: Signal<Local, Bits<16>>,
    updated_k: Signal<Local, Bits<3>>,
}

impl SprayScheduler {
    /// For `1 << connection_bits` connections, at most 64, of `1 << plane_bits` planes, 2 or 4, on each of whose paths
    /// `1 << window_bits` packets are open at most.
    ///
    /// # Panics
    /// When there are more.
    pub fn new(connection_bits: usize, plane_bits: usize, window_bits: usize) -> Self {
        assert!(
            (1..=6).contains(&connection_bits) && (1..=2).contains(&plane_bits),
            "SprayScheduler: connection_bits is {connection_bits}, must be 1..=6; plane_bits is {plane_bits}, must be 1 or 2"
        );
        Self {
            choice: PathChoice::new(window_bits),
            positions: Ram::new(connection_bits),
            loaded: Ram::new(connection_bits),
            configuration: Ram::new(connection_bits),
            lasts: Ram::new(connection_bits + 6),
            suspects: plane_ram(connection_bits, plane_bits),
            sent_counts: std::array::from_fn(|_| plane_ram(connection_bits, plane_bits)),
            // A connection is in the stages once.
            sents: path_ram(connection_bits, plane_bits, 0, 0).without_collisions(),
            ackeds: std::array::from_fn(|_| plane_ram(connection_bits, plane_bits)),
            ..Default::default()
        }
    }
}

impl Logic for SprayScheduler {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(
            self,
            clock,
            plane0,
            plane1,
            plane2,
            choice3,
            fixed3,
            valid3,
            plane3,
            settings_now,
            settings_at,
            settings_come,
            settings5,
            suspects5,
            last7,
            k10,
            found10,
            room10,
            pending10,
            refund_plane,
            refund,
            load_at,
            load_now,
            load_comes,
            load_wakes_now,
            acked_pair,
            acked_now,
            acked_comes,
            woken,
            wakes
        );
        clock!(
            self,
            clock,
            turn,
            choice,
            credit,
            positions,
            loaded,
            configuration,
            lasts,
            suspects,
            sents
        );
        self.turn.reset.next = self.reset.val();
        self.credit.reset.next = self.reset.val();

        // A plane is asked every cycle; its answer comes two cycles later.
        self.plane0.d.next = self.plane0.q.val() + 1;
        if self.plane0.q.val() == self.plane_last.val() {
            self.plane0.d.next = 0.into();
        }
        self.plane1.d.next = self.plane0.q.val();
        self.plane2.d.next = self.plane1.q.val();
        self.turn.plane.next = self.plane0.q.val();
        self.head_now.next = self.head[0].val();
        self.head_now_valid.next = self.head_valid[0].val();
        for i in 0..4 {
            self.here.next = i.to_bits();
            if self.plane2.q.val() == self.here.val() {
                self.head_now.next = self.head[i].val();
                self.head_now_valid.next = self.head_valid[i].val();
            }
        }
        self.choice3.d.next = self.head_now.val();
        self.fixed3.d.next = self.head_now_valid.val();
        self.valid3.d.next =
            (self.head_now_valid.val() | self.turn.candidate_valid.val()) & !self.reset.val();
        self.plane3.d.next = self.plane2.q.val();
        self.next_pair.next = bit_cast::<17, 6>(self.turn.candidate.val()) << 5;
        if !self.head_now_valid.val() {
            self.choice3.d.next.kind = 0.into();
            self.choice3.d.next.pair = self.next_pair.val();
        }

        // Take it, unless the connection is in the stages or the plane has no room.
        self.pair3.next = bit_cast::<17, 2>(self.plane3.q.val()) << 3;
        self.pair3.next = self.pair3.val() | self.choice3.q.val().pair;
        self.connection3.next = self.pair3.val().get_bits::<12>(5);
        self.slot3.next = self.pair3.val().get_bits::<14>(3);
        self.rooms.next = self.credit.data_room.val() >> self.plane3.q.val();
        self.room3.next = self.rooms.val().get_bit(0);
        self.turn.asked.next = self.pair3.val().get_bits::<6>(5);
        self.pair4.next = self.stage[0].q.val().pair;
        self.plane4.next = self.pair4.val().get_bits::<2>(3);
        self.connection4.next = self.pair4.val().get_bits::<12>(5);
        self.near.next = self.valid[0].q.val()
            & ((self.connection4.val() == self.connection3.val())
                | (self.plane4.val() == self.plane3.q.val()));
        self.take.next = self.valid3.q.val()
            & self.room3.val()
            & self.job_room.val()
            & !self.near.val()
            & !self.turn.asked_busy.val();
        // All others are told a cycle later, which is why the one before may not be of the same connection or plane. A head
        // of the forced queues that is still there when it is looked at again finds its connection busy.
        self.turn.taken.next = self.pair4.val().get_bits::<6>(5);
        self.turn.taken_plane.next = self.plane4.val();
        self.turn.taken_valid.next = self.valid[0].q.val();
        self.turn.taken_turn.next = !self.fixed[0].q.val();
        self.credit.take_plane.next = self.plane4.val();
        self.credit.take_valid.next = self.valid[0].q.val();
        for i in 0..4 {
            self.here.next = i.to_bits();
            self.head_ready[i].next = self.valid[0].q.val()
                & self.fixed[0].q.val()
                & (self.plane4.val() == self.here.val());
            self.credit.freed[i].next = self.freed[i].val();
        }
        self.positions.read_address.next = self.connection3.val();
        self.positions.read_enable.next = true;
        self.loaded.read_address.next = self.connection3.val();
        self.loaded.read_enable.next = true;
        self.configuration.read_address.next = self.connection3.val();
        self.configuration.read_enable.next = true;
        self.suspects.read_address.next = self.slot3.val();
        self.suspects.read_enable.next = true;
        for i in 0..7 {
            self.stage[i].clock.next = self.clock.val();
            self.fixed[i].clock.next = self.clock.val();
            self.valid[i].clock.next = self.clock.val();
        }
        for i in 0..6 {
            self.stage[i + 1].d.next = self.stage[i].q.val();
            self.fixed[i + 1].d.next = self.fixed[i].q.val();
            self.valid[i + 1].d.next = self.valid[i].q.val() & !self.reset.val();
        }
        self.stage[0].d.next = self.choice3.q.val();
        self.stage[0].d.next.pair = self.pair3.val();
        self.fixed[0].d.next = self.fixed3.q.val();
        self.valid[0].d.next = self.take.val() & !self.reset.val();

        // What the memories say goes into registers, then to the choice of the path.
        self.settings5.d.next = self.configuration.read_data.val();
        self.suspects5.d.next = self.suspects.read_data.val();
        self.pair5.next = self.stage[1].q.val().pair;
        self.all_paths.next = self.settings5.q.val().paths;
        self.plane_shift.next = bit_cast::<5, 17>(self.pair5.val()) & 0x18;
        self.plane_paths.next = self.all_paths.val() >> self.plane_shift.val();
        self.choice.usable.next = self.plane_paths.val().get_bits::<8>(0) & !self.suspects5.q.val();
        self.choice.window.next = self.settings5.q.val().window;
        for i in 0..8 {
            self.sent_counts[i].clock.next = self.clock.val();
            self.sent_counts[i].read_address.next = self.slot3.val();
            self.sent_counts[i].read_enable.next = true;
            self.ackeds[i].clock.next = self.clock.val();
            self.ackeds[i].read_address.next = self.slot3.val();
            self.ackeds[i].read_enable.next = true;
            self.sent5[i].clock.next = self.clock.val();
            self.acked5[i].clock.next = self.clock.val();
            self.sent5[i].d.next = self.sent_counts[i].read_data.val();
            self.acked5[i].d.next = self.ackeds[i].read_data.val();
            self.one_sent.next = self.sent5[i].q.val();
            self.one_acked.next = self.acked5[i].q.val();
            self.counts.next.psn = self.one_sent.val().psn;
            self.counts.next.ordinal = self.one_sent.val().ordinal;
            self.counts.next.cumulative = self.one_acked.val().cumulative;
            self.counts.next.walked = self.one_acked.val().walked;
            self.counts.next.srtt_log = self.one_acked.val().srtt_log;
            self.choice.counts[i].next = self.counts.val();
        }

        // The connection's place in its messages.
        for i in 0..6 {
            self.position[i].clock.next = self.clock.val();
        }
        for i in 0..5 {
            self.position[i + 1].d.next = self.position[i].q.val();
            self.has_data[i].clock.next = self.clock.val();
            self.enabled[i].clock.next = self.clock.val();
            self.tight[i].clock.next = self.clock.val();
        }
        for i in 0..4 {
            self.has_data[i + 1].d.next = self.has_data[i].q.val();
            self.enabled[i + 1].d.next = self.enabled[i].q.val();
            self.tight[i + 1].d.next = self.tight[i].q.val();
        }
        for i in 0..3 {
            self.loads[i].clock.next = self.clock.val();
            self.ends[i].clock.next = self.clock.val();
            self.last[i].clock.next = self.clock.val();
        }
        for i in 0..2 {
            self.loads[i + 1].d.next = self.loads[i].q.val();
            self.ends[i + 1].d.next = self.ends[i].q.val();
            self.last[i + 1].d.next = self.last[i].q.val();
        }
        self.position[0].d.next = self.positions.read_data.val();
        self.loads[0].d.next = self.loaded.read_data.val();
        self.message5.next = self.position[0].q.val().message;
        self.has_data[0].d.next =
            (self.message5.val() != self.loads[0].q.val()) & self.settings5.q.val().enabled.any();
        self.enabled[0].d.next = self.settings5.q.val().enabled.any();
        self.tight[0].d.next = self.settings5.q.val().window < 4;
        self.connection18.next = bit_cast::<18, 17>(self.pair5.val() >> 5) << 6;
        self.lasts.read_address.next =
            self.connection18.val() | (bit_cast::<18, 16>(self.message5.val()) & 0x3f);
        self.lasts.read_enable.next = true;
        self.last7.d.next = self.lasts.read_data.val();
        self.next_message7.next = self.position[2].q.val().message + 1;
        self.index7.next = self.position[2].q.val().index;
        self.ends[0].d.next = self.index7.val() == self.last7.q.val();
        self.last[0].d.next = self.next_message7.val() == self.loads[2].q.val();

        // The chosen path's own numbers come with the last stage.
        self.pair9.next = self.stage[5].q.val().pair;
        self.k9.next = self.choice.path.val();
        if self.fixed[5].q.val() {
            self.k9.next = self.pair9.val().get_bits::<3>(0);
        }
        self.low9.next = bit_cast::<17, 3>(self.k9.val());
        self.sents.read_address.next = self.pair9.val() | self.low9.val();
        self.sents.read_enable.next = true;
        self.k10.d.next = self.k9.val();
        self.found10.d.next = self.choice.found.val();
        self.room10.d.next = false;
        for i in 0..8 {
            self.here_k.next = i.to_bits();
            if self.k9.val() == self.here_k.val() {
                self.room10.d.next = self.choice.log_room.val().get_bit(i);
            }
        }

        self.commit.valid.next = self.valid[6].q.val();
        self.commit.fixed.next = self.fixed[6].q.val();
        self.commit.order.next = self.stage[6].q.val();
        self.commit.path.next = self.k10.q.val();
        self.commit.found.next = self.found10.q.val();
        self.commit.log_room.next = self.room10.q.val();
        self.commit.path_sent.next = self.sents.read_data.val();
        self.commit.position.next = self.position[5].q.val();
        self.commit.has_data.next = self.has_data[4].q.val();
        self.commit.enabled.next = self.enabled[4].q.val();
        self.commit.ends.next = self.ends[2].q.val();
        self.commit.last.next = self.last[2].q.val();
        self.commit.tight.next = self.tight[4].q.val();
        self.pending9.next = self.unfetched.val() >> self.pair9.val().get_bits::<6>(5);
        self.pending10.d.next = self.pending9.val().get_bit(0);
        self.commit.pending.next = self.pending10.q.val();
        self.order10_pair.next = self.stage[6].q.val().pair;
        self.connection10.next = self.order10_pair.val().get_bits::<12>(5);
        self.slot10.next = self.order10_pair.val().get_bits::<14>(3);
        self.turn.released.next = self.order10_pair.val().get_bits::<6>(5);
        self.turn.released_valid.next = self.valid[6].q.val();
        self.load_at.d.next = self.load_connection.val();
        self.load_now.d.next.messages = self.load_messages.val();
        self.load_now.d.next.slot = self.load_slot.val();
        self.load_now.d.next.last = self.load_last.val();
        self.load_comes.d.next = self.load_valid.val();
        self.load_wakes_now.d.next = self.load_valid.val() & self.load_wakes.val();
        // With the choices, which are told a cycle later too.
        self.woken.d.next = self.load_at.q.val().get_bits::<6>(0);
        self.wakes.d.next = self.load_wakes_now.q.val();
        self.turn.loaded.next = self.woken.q.val();
        self.turn.loaded_valid.next = self.wakes.q.val();
        self.commit.fresh.next = self.turn.released_fresh.val();
        self.turn.released_empty.next = self.commit.empty.val();
        self.refund_plane.d.next = self.order10_pair.val().get_bits::<2>(3);
        self.refund.d.next = self.commit.refund.val();
        self.credit.refund_plane.next = self.refund_plane.q.val();
        self.credit.refund_beats.next = self.refund.q.val();
        self.credit.returned_plane.next = self.returned_plane.val();
        self.credit.returned_beats.next = self.returned_beats.val();
        self.credit.ack_plane.next = self.ack_plane.val();
        self.credit.ack_beats.next = self.ack_beats.val();
        self.ack_room.next = self.credit.ack_room.val();
        self.job.next = self.commit.job.val();
        self.job_valid.next = self.commit.job_valid.val();
        self.sent_pair.next = self.commit.pair.val();
        self.sent.next = self.commit.sent.val();
        self.sent_valid.next = self.commit.sent_valid.val();
        self.log_address.next = self.commit.log_address.val();
        self.log_entry.next = self.commit.log_entry.val();
        self.log_write.next = self.commit.log_write.val();
        self.record_address.next = self.commit.record_address.val();
        self.record.next = self.commit.record.val();
        self.record_write.next = self.commit.record_write.val();
        self.tail_pair.next = self.commit.pair.val();
        self.tail_valid.next = self.commit.tail_valid.val();

        // The memories' writers.
        self.positions.write_address.next = self.connection10.val();
        self.positions.write_data.next = self.commit.position_next.val();
        self.positions.write_enable.next = self.commit.position_write.val();
        self.loaded.write_address.next = self.load_at.q.val();
        self.loaded.write_data.next = self.load_now.q.val().messages;
        self.loaded.write_enable.next = self.load_comes.q.val();
        self.load18.next = bit_cast::<18, 12>(self.load_at.q.val()) << 6;
        self.lasts.write_address.next =
            self.load18.val() | bit_cast::<18, 6>(self.load_now.q.val().slot);
        self.lasts.write_data.next = self.load_now.q.val().last;
        self.lasts.write_enable.next = self.load_comes.q.val();
        self.settings_at.d.next = self.settings_connection.val();
        self.settings_now.d.next = self.settings.val();
        self.settings_come.d.next = self.settings_write.val();
        self.configuration.write_address.next = self.settings_at.q.val();
        self.configuration.write_data.next = self.settings_now.q.val();
        self.configuration.write_enable.next = self.settings_come.q.val();
        self.suspects.write_address.next = self.suspect_slot.val();
        self.suspects.write_data.next = self.suspect_paths.val();
        self.suspects.write_enable.next = self.suspect_write.val();
        self.commit_pair.next = self.commit.pair.val();
        self.commit_k.next = self.commit_pair.val().get_bits::<3>(0);
        self.sents.write_address.next = self.commit.pair.val();
        self.sents.write_data.next = self.commit.sent.val();
        self.sents.write_enable.next = self.commit.sent_valid.val();
        self.sent_psn.next = self.commit.sent.val().next_psn;
        self.sent_ordinal.next = self.commit.sent.val().next_ordinal;
        self.sent_word.next.psn = self.sent_psn.val().get_bits::<8>(0);
        self.sent_word.next.ordinal = self.sent_ordinal.val().get_bits::<8>(0);
        self.updated_cumulative.next = self.updated.val().cumulative;
        self.updated_walked.next = self.updated.val().walked;
        self.acked_word.next.cumulative = self.updated_cumulative.val().get_bits::<8>(0);
        self.acked_word.next.walked = self.updated_walked.val().get_bits::<8>(0);
        self.acked_word.next.srtt_log = self.updated.val().srtt_log;
        self.acked_pair.d.next = self.updated.val().pair;
        self.acked_now.d.next = self.acked_word.val();
        self.acked_comes.d.next = self.updated_valid.val();
        self.updated_pair.next = self.acked_pair.q.val();
        self.updated_k.next = self.updated_pair.val().get_bits::<3>(0);
        for i in 0..8 {
            self.here_k.next = i.to_bits();
            self.sent_counts[i].write_address.next = self.slot10.val();
            self.sent_counts[i].write_data.next = self.sent_word.val();
            self.sent_counts[i].write_enable.next =
                self.commit.sent_valid.val() & (self.commit_k.val() == self.here_k.val());
            self.ackeds[i].write_address.next = self.updated_pair.val().get_bits::<14>(3);
            self.ackeds[i].write_data.next = self.acked_now.q.val();
            self.ackeds[i].write_enable.next =
                self.acked_comes.q.val() & (self.updated_k.val() == self.here_k.val());
        }
    }
}
