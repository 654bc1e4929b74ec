//! From a doorbell to a message: fetches work requests from host memory (clauses T-6.1).
//!
//! A connection may have as many messages open as it has slots, so a request is fetched when the doorbell
//! is ahead and the oldest open message is near enough. Message numbers count work requests, so the number
//! also says where the request stands in the ring. A request is fetched every 4 cycles; one is known to the
//! scheduler 4 cycles after its beat has come. What the request asks is checked here: an operation or length
//! that is not served (more than 1 GiB or 2^18 packets) is reported as an error of the connection and never
//! becomes a message.

use crate::bundle;
use crate::dma::ReadCommand;
use crate::stream::{FirstSet64, Ram, SmallFifo};
use crate::tx::ack_processor::Forced;
use rust_hdl::prelude::*;

bundle! {
    /// Where a connection's send ring is.
    SendRing { enabled: 1, address: 64, log_entries: 4, mtu_shift: 4 }
}

bundle! {
    /// A fetch under way.
    Fetching { connection: 12, message: 16, mtu_shift: 4 }
}

bundle! {
    /// What the sender keeps of an open message.
    Message {
        message: 16, control: 1, length: 32, local_address: 64, remote_address: 64, local_key: 32, remote_key: 32,
    }
}

bundle! {
    /// A CONTROL frame: its plane, and the slot of its message.
    ControlOrder { plane: 2, slot: 6 }
}

#[derive(Copy, Clone, PartialEq, Debug, LogicState)]
pub enum FetchStep {
    Pick,
    Look,
    Judge,
    Issue,
}

#[derive(LogicBlock, Default)]
pub struct WorkQueue {
    pub clock: Signal<In, Clock>,
    pub reset: Signal<In, Bit>,
    pub doorbell_connection: Signal<In, Bits<12>>,
    pub doorbell_producer: Signal<In, Bits<16>>,
    pub doorbell_valid: Signal<In, Bit>,
    pub ring_connection: Signal<In, Bits<12>>,
    pub ring: Signal<In, SendRing>,
    pub ring_write: Signal<In, Bit>,
    /// The connection's oldest open message has moved.
    pub head_connection: Signal<In, Bits<12>>,
    pub head_message: Signal<In, Bits<16>>,
    pub head_valid: Signal<In, Bit>,
    pub clear_connection: Signal<In, Bits<12>>,
    pub clear_valid: Signal<In, Bit>,
    pub clear_ready: Signal<Out, Bit>,
    pub read: Signal<Out, ReadCommand>,
    pub read_valid: Signal<Out, Bit>,
    pub read_ready: Signal<In, Bit>,
    /// The work request's first half.
    pub beat: Signal<In, Bits<256>>,
    pub beat_valid: Signal<In, Bit>,
    pub beat_ready: Signal<Out, Bit>,
    pub load_connection: Signal<Out, Bits<12>>,
    pub load_messages: Signal<Out, Bits<16>>,
    pub load_slot: Signal<Out, Bits<6>>,
    /// The message's place among all slots, and the number of its last packet.
    pub load_address: Signal<Out, Bits<18>>,
    pub load_last: Signal<Out, Bits<18>>,
    /// It is a message, not a start anew.
    pub loaded: Signal<Out, Bit>,
    pub load_valid: Signal<Out, Bit>,
    pub load_wakes: Signal<Out, Bit>,
    /// A cycle before it is loaded, or refused.
    pub message: Signal<Out, Message>,
    pub message_address: Signal<Out, Bits<18>>,
    pub message_write: Signal<Out, Bit>,
    /// A CONTROL frame to go out on a plane.
    pub control: Signal<Out, Forced>,
    pub control_valid: Signal<Out, Bit>,
    pub control_ready: Signal<In, Bit>,
    /// A work request that is not served.
    pub refused_connection: Signal<Out, Bits<12>>,
    pub refused_valid: Signal<Out, Bit>,
    /// Connections with work requests that are not messages yet.
    pub unfetched: Signal<Out, Bits<64>>,

    producers: Ram<Bits<16>, 12>,
    fetcheds: Ram<Bits<16>, 12>,
    heads: Ram<Bits<16>, 12>,
    rings: Ram<SendRing, 12>,
    under_way: SmallFifo<Fetching>,
    controls: SmallFifo<ControlOrder>,
    picker: FirstSet64,
    wanted: DFF<Bits<64>>,
    again: DFF<Bits<64>>,
    just_woken: DFF<Bits<64>>,
    turn: DFF<Bits<6>>,
    step: DFF<FetchStep>,
    connection: DFF<Bits<12>>,
    producer: DFF<Bits<16>>,
    fetched: DFF<Bits<16>>,
    head: DFF<Bits<16>>,
    ring_now: DFF<SendRing>,
    fetched_next: DFF<Bits<16>>,
    can: DFF<Bit>,
    more: DFF<Bit>,
    entry_address: DFF<Bits<64>>,
    one: Signal<Local, Bits<64>>,
    ones: Signal<Local, Bits<64>>,
    after: Signal<Local, Bits<64>>,
    behind: Signal<Local, Bits<64>>,
    picked_bit: Signal<Local, Bits<64>>,
    asleep: Signal<Local, Bits<64>>,
    doorbell_bit: Signal<Local, Bits<64>>,
    head_bit: Signal<Local, Bits<64>>,
    wakes: Signal<Local, Bits<64>>,
    low6: Signal<Local, Bits<6>>,
    open: Signal<Local, Bits<16>>,
    beyond: Signal<Local, Bits<16>>,
    mask: Signal<Local, Bits<16>>,
    entry: Signal<Local, Bits<16>>,
    entry_bytes: Signal<Local, Bits<64>>,
    issued: Signal<Local, Bit>,
    clears: Signal<Local, Bit>,
    take: Signal<Local, Bit>,
    known: Signal<Local, Bit>,
    opcode: Signal<Local, Bits<8>>,
    plane: Signal<Local, Bits<8>>,
    length: Signal<Local, Bits<32>>,
    of_control: Signal<Local, Bit>,
    m1: DFF<Message>,
    m1_fetch: DFF<Fetching>,
    m1_valid: DFF<Bit>,
    m1_good: DFF<Bit>,
    m1_plane: DFF<Bits<2>>,
    /// Length less one; what is not cut into packets.
    m1_before: DFF<Bits<32>>,
    m1_single: DFF<Bit>,
    m2_message: DFF<Bits<16>>,
    m2_control: DFF<Bit>,
    m2_connection: DFF<Bits<12>>,
    m2_valid: DFF<Bit>,
    m2_good: DFF<Bit>,
    m2_plane: DFF<Bits<2>>,
    m2_last: DFF<Bits<18>>,
    last32: Signal<Local, Bits<32>>,
    message16: Signal<Local, Bits<16>>,
    slot: Signal<Local, Bits<6>>,
    base: Signal<Local, Bits<18>>,
    good: Signal<Local, Bit>,
    loads: Signal<Local, Bit>,
}

impl WorkQueue {
    /// For `1 << connection_bits` connections, at most 64.
    pub fn new(connection_bits: usize) -> Self {
        Self {
            producers: Ram::new(connection_bits),
            fetcheds: Ram::new(connection_bits),
            heads: Ram::new(connection_bits),
            rings: Ram::new(connection_bits),
            under_way: SmallFifo::new(5),
            controls: SmallFifo::new(6),
            ..Default::default()
        }
    }
}

impl Logic for WorkQueue {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(
            self,
            clock,
            wanted,
            again,
            just_woken,
            turn,
            step,
            connection,
            producer,
            fetched,
            head,
            ring_now,
            fetched_next,
            can,
            more,
            entry_address,
            m1,
            m1_fetch,
            m1_valid,
            m1_good,
            m1_plane,
            m1_before,
            m1_single,
            m2_message,
            m2_control,
            m2_connection,
            m2_valid,
            m2_good,
            m2_plane,
            m2_last
        );
        clock!(
            self, clock, producers, fetcheds, heads, rings, under_way, controls, picker
        );
        self.under_way.reset.next = self.reset.val();
        self.controls.reset.next = self.reset.val();
        self.one.next = 1.into();
        self.ones.next = 0.into();
        self.ones.next = !self.ones.val();

        // Those behind the last one served come first.
        self.after.next = self.ones.val() << self.turn.q.val();
        self.after.next = self.after.val() << 1;
        self.behind.next = self.wanted.q.val() & self.after.val();
        self.picker.value.next = self.behind.val();
        if !self.behind.val().any() {
            self.picker.value.next = self.wanted.q.val();
        }

        self.low6.next = bit_cast::<6, 12>(self.doorbell_connection.val());
        self.doorbell_bit.next = 0.into();
        if self.doorbell_valid.val() {
            self.doorbell_bit.next = self.one.val() << self.low6.val();
        }
        self.low6.next = bit_cast::<6, 12>(self.head_connection.val());
        self.head_bit.next = 0.into();
        if self.head_valid.val() {
            self.head_bit.next = self.one.val() << self.low6.val();
        }
        self.wakes.next = self.doorbell_bit.val() | self.head_bit.val();
        self.low6.next = bit_cast::<6, 12>(self.connection.q.val());
        self.picked_bit.next = self.one.val() << self.low6.val();
        self.asleep.next = 0.into();

        // One connection at a time: its counts, then whether a request may be fetched.
        self.producers.read_address.next = bit_cast::<12, 6>(self.picker.index.val());
        self.fetcheds.read_address.next = bit_cast::<12, 6>(self.picker.index.val());
        self.heads.read_address.next = bit_cast::<12, 6>(self.picker.index.val());
        self.rings.read_address.next = bit_cast::<12, 6>(self.picker.index.val());
        self.producers.read_enable.next = true;
        self.fetcheds.read_enable.next = true;
        self.heads.read_enable.next = true;
        self.rings.read_enable.next = true;
        self.open.next = self.fetched.q.val() - self.head.q.val();
        self.beyond.next = self.fetched.q.val() + 1;
        self.mask.next = 0.into();
        self.mask.next = !self.mask.val();
        self.mask.next = self.mask.val() << self.ring_now.q.val().log_entries;
        self.entry.next = self.fetched.q.val() & !self.mask.val();
        self.entry_bytes.next = bit_cast::<64, 16>(self.entry.val()) << 6;
        self.issued.next = false;
        self.again.d.next = self.again.q.val() | self.wakes.val();
        self.just_woken.d.next = self.wakes.val();
        self.clears.next = false;
        match self.step.q.val() {
            FetchStep::Pick => {
                self.clears.next =
                    self.clear_valid.val() & !self.doorbell_valid.val() & !self.m2_valid.q.val();
                if self.picker.any.val() & !self.clears.val() {
                    self.connection.d.next = bit_cast::<12, 6>(self.picker.index.val());
                    self.turn.d.next = self.picker.index.val();
                    self.step.d.next = FetchStep::Look;
                }
            }
            FetchStep::Look => {
                self.producer.d.next = self.producers.read_data.val();
                self.fetched.d.next = self.fetcheds.read_data.val();
                self.head.d.next = self.heads.read_data.val();
                self.ring_now.d.next = self.rings.read_data.val();
                // What came in the cycle of the reading and comes from here on is not in what was read.
                self.again.d.next = (self.again.q.val() & !self.picked_bit.val())
                    | self.just_woken.q.val()
                    | self.wakes.val();
                self.step.d.next = FetchStep::Judge;
            }
            FetchStep::Judge => {
                self.can.d.next = (self.producer.q.val() != self.fetched.q.val())
                    & (self.open.val() < 64)
                    & self.ring_now.q.val().enabled.any();
                self.more.d.next = self.producer.q.val() != self.beyond.val();
                self.fetched_next.d.next = self.beyond.val();
                self.entry_address.d.next = self.ring_now.q.val().address + self.entry_bytes.val();
                self.step.d.next = FetchStep::Issue;
            }
            FetchStep::Issue => {
                self.issued.next =
                    self.can.q.val() & self.read_ready.val() & !self.under_way.full.val();
                if self.issued.val() | !self.can.q.val() {
                    self.step.d.next = FetchStep::Pick;
                    if !self.can.q.val() | !self.more.q.val() {
                        self.asleep.next = self.picked_bit.val() & !self.again.q.val();
                    }
                }
            }
            _ => {
                self.step.d.next = FetchStep::Pick;
            }
        }
        self.wanted.d.next = (self.wanted.q.val() & !self.asleep.val()) | self.wakes.val();
        self.unfetched.next = self.wanted.q.val();
        self.clear_ready.next = self.clears.val();
        self.read.next.address = self.entry_address.q.val();
        self.read.next.length = 64.into();
        self.read.next.work_request = 1.into();
        self.read.next.last = 1.into();
        self.read_valid.next =
            (self.step.q.val() == FetchStep::Issue) & self.can.q.val() & !self.under_way.full.val();
        self.under_way.write_data.next.connection = self.connection.q.val();
        self.under_way.write_data.next.message = self.fetched.q.val();
        self.under_way.write_data.next.mtu_shift = self.ring_now.q.val().mtu_shift;
        self.under_way.write_enable.next = self.issued.val();

        self.producers.write_address.next = self.doorbell_connection.val();
        self.producers.write_data.next = self.doorbell_producer.val();
        self.producers.write_enable.next = self.doorbell_valid.val() | self.clears.val();
        self.fetcheds.write_address.next = self.connection.q.val();
        self.fetcheds.write_data.next = self.fetched_next.q.val();
        self.fetcheds.write_enable.next = self.issued.val() | self.clears.val();
        if self.clears.val() {
            self.producers.write_address.next = self.clear_connection.val();
            self.producers.write_data.next = 0.into();
            self.fetcheds.write_address.next = self.clear_connection.val();
            self.fetcheds.write_data.next = 0.into();
        }
        self.heads.write_address.next = self.head_connection.val();
        self.heads.write_data.next = self.head_message.val();
        self.heads.write_enable.next = self.head_valid.val();
        self.rings.write_address.next = self.ring_connection.val();
        self.rings.write_data.next = self.ring.val();
        self.rings.write_enable.next = self.ring_write.val();

        // The request has come: what it asks, and how many packets that makes.
        self.take.next = self.beat_valid.val()
            & self.under_way.read_valid.val()
            & !self.clears.val()
            & (self.controls.level.val() < 60);
        self.beat_ready.next = self.take.val();
        self.under_way.read_ready.next = self.take.val();
        self.opcode.next = self.beat.val().get_bits::<8>(0);
        self.plane.next = self.beat.val().get_bits::<8>(16);
        self.length.next = self.beat.val().get_bits::<32>(32);
        self.of_control.next = self.under_way.read_data.val().connection == 0;
        self.known.next =
            (self.opcode.val() == 0) & !self.of_control.val() & (self.length.val() <= 0x4000_0000);
        if self.of_control.val() {
            self.known.next = (self.opcode.val() == 0x80)
                & (self.plane.val() < 4)
                & (self.length.val() <= 298)
                & (self.length.val() >= 58);
        }
        self.m1_valid.d.next = self.take.val() & !self.reset.val();
        self.m1_good.d.next = self.known.val();
        self.m1_fetch.d.next = self.under_way.read_data.val();
        self.m1_plane.d.next = self.plane.val().get_bits::<2>(0);
        self.m1.d.next.message = self.under_way.read_data.val().message;
        self.m1.d.next.control = self.of_control.val().into();
        self.m1.d.next.length = self.length.val();
        self.m1.d.next.local_address = self.beat.val().get_bits::<64>(64);
        self.m1.d.next.remote_address = self.beat.val().get_bits::<64>(128);
        self.m1.d.next.local_key = self.beat.val().get_bits::<32>(192);
        self.m1.d.next.remote_key = self.beat.val().get_bits::<32>(224);
        self.m1_before.d.next = self.length.val() - 1;
        self.m1_single.d.next = self.of_control.val() | !self.length.val().any();

        self.last32.next = self.m1_before.q.val() >> self.m1_fetch.q.val().mtu_shift;
        self.m2_valid.d.next = self.m1_valid.q.val() & !self.reset.val();
        // A packet's place in its message has 18 bits.
        self.m2_good.d.next = self.m1_good.q.val()
            & (self.m1_single.q.val() | !self.last32.val().get_bits::<14>(18).any());
        self.m2_message.d.next = self.m1.q.val().message;
        self.m2_control.d.next = self.m1.q.val().control.any();
        self.message16.next = self.m1.q.val().message;
        self.base.next = bit_cast::<18, 12>(self.m1_fetch.q.val().connection) << 6;
        self.message_address.next =
            self.base.val() | bit_cast::<18, 6>(self.message16.val().get_bits::<6>(0));
        self.message.next = self.m1.q.val();
        self.message_write.next = self.m1_valid.q.val();
        self.m2_connection.d.next = self.m1_fetch.q.val().connection;
        self.m2_plane.d.next = self.m1_plane.q.val();
        self.m2_last.d.next = self.last32.val().get_bits::<18>(0);
        if self.m1_single.q.val() {
            self.m2_last.d.next = 0.into();
        }

        self.good.next = self.m2_valid.q.val() & self.m2_good.q.val();
        self.slot.next = self.m2_message.q.val().get_bits::<6>(0);
        self.base.next = bit_cast::<18, 12>(self.m2_connection.q.val()) << 6;
        self.load_address.next = self.base.val() | bit_cast::<18, 6>(self.slot.val());
        self.loaded.next = self.good.val();
        self.load_connection.next = self.m2_connection.q.val();
        self.load_messages.next = self.m2_message.q.val() + 1;
        self.load_slot.next = self.slot.val();
        self.load_last.next = self.m2_last.q.val();
        self.loads.next = self.good.val();
        self.load_valid.next = self.loads.val() | self.clears.val();
        self.load_wakes.next = self.loads.val() & !self.m2_control.q.val();
        if self.clears.val() {
            self.load_connection.next = self.clear_connection.val();
            self.load_messages.next = 0.into();
        }
        self.controls.write_data.next.plane = self.m2_plane.q.val();
        self.controls.write_data.next.slot = self.slot.val();
        self.controls.write_enable.next = self.good.val() & self.m2_control.q.val();
        self.control.next.kind = 2.into();
        self.control.next.pair = bit_cast::<17, 2>(self.controls.read_data.val().plane) << 3;
        self.control.next.psn = 0.into();
        self.control.next.slot = self.controls.read_data.val().slot;
        self.control.next.index = 0.into();
        self.control.next.train = 0.into();
        self.control.next.timeout = 0.into();
        self.control.next.ordinal = 0.into();
        self.control.next.epoch = 0.into();
        self.control_valid.next = self.controls.read_valid.val();
        self.controls.read_ready.next = self.control_ready.val();
        self.refused_connection.next = self.m2_connection.q.val();
        self.refused_valid.next = self.m2_valid.q.val() & !self.m2_good.q.val();
        if self.reset.val() {
            self.wanted.d.next = 0.into();
            self.just_woken.d.next = 0.into();
            self.again.d.next = 0.into();
            self.step.d.next = FetchStep::Pick;
        }
    }
}
