//! From a packet's numbers to its bytes: place in the message, host memory, header fields (clause T-3.4).
//!
//! Packet k of a message holds the bytes from k x MTU on. Each job looks up its message, has its local
//! range translated, orders the reads and hands the rest to `frame_request`, in the same order: the rest waits in a queue for
//! the translation's verdict. A local range that is refused sends nothing; it is reported as an error of the connection. 14
//! cycles, one packet a cycle; a packet that crosses a 4 KiB boundary orders two reads.

use crate::bundle;
use crate::dma::ReadCommand;
use crate::dma::memory_translation::{TranslateRequest, Translated};
use crate::stream::{Ram, SmallFifo};
use crate::tx::spray_scheduler::TransmitJob;
use crate::tx::work_queue::Message;
use rust_hdl::prelude::*;

bundle! {
    /// A packet to be sent, all but what belongs to its connection and path.
    Outgoing {
        kind: 2, pair: 17, psn: 24, epoch: 8, ordinal: 16, train: 8, ack_request: 1, resend: 1, last: 1,
        message: 16, address: 64, key: 32, length: 13, total: 32, offset: 32, source: 6,
    }
}

bundle! {
    /// What must be known of a packet when its local range has been translated.
    Pending { kind: 2, pair: 17, length: 13 }
}

bundle! {
    /// Up to two reads of a packet.
    ReadPair { address0: 64, length0: 13, address1: 64, length1: 13 }
}

#[derive(LogicBlock, Default)]
pub struct Segmenter {
    pub clock: Signal<In, Clock>,
    pub reset: Signal<In, Bit>,
    pub job: Signal<In, TransmitJob>,
    pub job_valid: Signal<In, Bit>,
    /// For 16 jobs more.
    pub job_room: Signal<Out, Bit>,
    pub message: Signal<In, Message>,
    pub message_address: Signal<In, Bits<18>>,
    pub message_write: Signal<In, Bit>,
    pub mtu_connection: Signal<In, Bits<12>>,
    pub mtu_shift: Signal<In, Bits<4>>,
    pub mtu_write: Signal<In, Bit>,
    pub request: Signal<Out, TranslateRequest>,
    /// 8 cycles after the request.
    pub translated: Signal<In, Translated>,
    pub read: Signal<Out, ReadCommand>,
    pub read_valid: Signal<Out, Bit>,
    pub read_ready: Signal<In, Bit>,
    pub outgoing: Signal<Out, Outgoing>,
    pub outgoing_valid: Signal<Out, Bit>,
    pub outgoing_ready: Signal<In, Bit>,
    pub returned_plane: Signal<Out, Bits<2>>,
    pub returned_beats: Signal<Out, Bits<7>>,
    pub refused_connection: Signal<Out, Bits<12>>,
    pub refused_valid: Signal<Out, Bit>,

    job_now: DFF<TransmitJob>,
    job_comes: DFF<Bit>,
    jobs: SmallFifo<TransmitJob>,
    messages: Ram<Message, 18>,
    mtus: Ram<Bits<4>, 12>,
    reads: SmallFifo<ReadPair>,
    queue: SmallFifo<Outgoing>,
    /// Of the packets in `queue`, in their order: whether the local range was refused.
    verdicts: SmallFifo<Bit>,
    roomy: DFF<Bit>,
    take: Signal<Local, Bit>,
    /// Places in `queue` and in `reads` for jobs that were taken: given back when what lay there leaves, or when
    /// no read will lie there.
    packets_owed: DFF<Bits<5>>,
    reads_owed: DFF<Bits<5>>,
    taken: Signal<Local, Bits<5>>,
    packet_gone: Signal<Local, Bits<5>>,
    read_gone: Signal<Local, Bits<5>>,
    read_dropped: Signal<Local, Bits<5>>,
    read_leaves: Signal<Local, Bit>,
    head_pair: Signal<Local, Bits<17>>,
    base: Signal<Local, Bits<18>>,
    job1: DFF<TransmitJob>,
    valid1: DFF<Bit>,
    job2: DFF<TransmitJob>,
    valid2: DFF<Bit>,
    message2: DFF<Message>,
    shift2: DFF<Bits<4>>,
    offset2: Signal<Local, Bits<32>>,
    plain2: Signal<Local, Bit>,
    part3: DFF<Outgoing>,
    valid3: DFF<Bit>,
    left3: DFF<Bits<32>>,
    local3: DFF<Bits<64>>,
    key3: DFF<Bits<32>>,
    mtu3: DFF<Bits<13>>,
    one13: Signal<Local, Bits<13>>,
    length3: Signal<Local, Bits<13>>,
    part4: DFF<Outgoing>,
    pending4: Signal<Local, Pending>,
    pending: [DFF<Pending>; 8],
    valid4: [DFF<Bit>; 9],
    local4: DFF<Bits<64>>,
    key4: DFF<Bits<32>>,
    remote4: Signal<Local, Bits<64>>,
    now: Signal<Local, Pending>,
    now_valid: Signal<Local, Bit>,
    lane: Signal<Local, Bits<64>>,
    bad: Signal<Local, Bit>,
    wants: Signal<Local, Bit>,
    beats: Signal<Local, Bits<13>>,
    used: Signal<Local, Bits<7>>,
    reserved: Signal<Local, Bits<7>>,
    pair12: Signal<Local, Bits<17>>,
    second: DFF<Bit>,
    two: Signal<Local, Bit>,
    leaves: Signal<Local, Bit>,
}

impl Segmenter {
    /// For `1 << connection_bits` connections of 64 message slots.
    pub fn new(connection_bits: usize) -> Self {
        Self {
            jobs: SmallFifo::new(5),
            messages: Ram::new(connection_bits + 6).without_collisions(),
            mtus: Ram::new(connection_bits),
            reads: SmallFifo::new(4),
            queue: SmallFifo::new(4),
            verdicts: SmallFifo::new(4),
            ..Default::default()
        }
    }
}

impl Logic for Segmenter {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(
            self,
            clock,
            roomy,
            job_now,
            job_comes,
            job1,
            valid1,
            job2,
            valid2,
            message2,
            shift2,
            part3,
            part4,
            valid3,
            left3,
            local3,
            key3,
            mtu3,
            local4,
            key4,
            second,
            packets_owed,
            reads_owed
        );
        clock!(self, clock, jobs, messages, mtus, reads, queue, verdicts);
        self.jobs.reset.next = self.reset.val();
        self.reads.reset.next = self.reset.val();
        self.queue.reset.next = self.reset.val();
        self.verdicts.reset.next = self.reset.val();
        self.job_now.d.next = self.job.val();
        self.job_comes.d.next = self.job_valid.val() & !self.reset.val();
        self.jobs.write_data.next = self.job_now.q.val();
        self.jobs.write_enable.next = self.job_comes.q.val();
        self.roomy.d.next = self.jobs.level.val() < 14;
        self.job_room.next = self.roomy.q.val();

        // Take a job while there is room behind the whole pipeline for what is in it, and no message is being written.
        self.take.next = self.jobs.read_valid.val()
            & !self.message_write.val()
            & (self.packets_owed.q.val() <= 15)
            & (self.reads_owed.q.val() <= 15);
        self.jobs.read_ready.next = self.take.val();
        self.head_pair.next = self.jobs.read_data.val().pair;
        self.base.next = bit_cast::<18, 17>(self.head_pair.val() >> 5) << 6;
        self.messages.read_address.next =
            self.base.val() | bit_cast::<18, 6>(self.jobs.read_data.val().slot);
        self.messages.read_enable.next = true;
        self.messages.write_address.next = self.message_address.val();
        self.messages.write_data.next = self.message.val();
        self.messages.write_enable.next = self.message_write.val();
        self.mtus.read_address.next = bit_cast::<12, 17>(self.head_pair.val() >> 5);
        self.mtus.read_enable.next = true;
        self.mtus.write_address.next = self.mtu_connection.val();
        self.mtus.write_data.next = self.mtu_shift.val();
        self.mtus.write_enable.next = self.mtu_write.val();
        self.job1.d.next = self.jobs.read_data.val();
        self.valid1.d.next = self.take.val() & !self.reset.val();
        self.job2.d.next = self.job1.q.val();
        self.valid2.d.next = self.valid1.q.val() & !self.reset.val();
        self.message2.d.next = self.messages.read_data.val();
        self.shift2.d.next = self.mtus.read_data.val();

        // Where the packet begins. A CONTROL frame is one piece, a probe has no payload.
        self.offset2.next = bit_cast::<32, 18>(self.job2.q.val().index) << self.shift2.q.val();
        self.plain2.next = self.job2.q.val().kind == 0;
        if !self.plain2.val() {
            self.offset2.next = 0.into();
        }
        self.part3.d.next.kind = self.job2.q.val().kind;
        self.part3.d.next.pair = self.job2.q.val().pair;
        self.part3.d.next.psn = self.job2.q.val().psn;
        self.part3.d.next.epoch = self.job2.q.val().epoch;
        self.part3.d.next.ordinal = self.job2.q.val().ordinal;
        self.part3.d.next.train = self.job2.q.val().train;
        self.part3.d.next.ack_request = self.job2.q.val().ack_request;
        self.part3.d.next.resend = self.job2.q.val().resend;
        self.part3.d.next.message = self.message2.q.val().message;
        self.part3.d.next.address = self.message2.q.val().remote_address;
        self.part3.d.next.key = self.message2.q.val().remote_key;
        self.part3.d.next.total = self.message2.q.val().length;
        self.part3.d.next.offset = self.offset2.val();
        self.part3.d.next.length = 0.into();
        self.part3.d.next.last = 0.into();
        self.part3.d.next.source = 0.into();
        self.left3.d.next = self.message2.q.val().length - self.offset2.val();
        self.local3.d.next =
            self.message2.q.val().local_address + bit_cast::<64, 32>(self.offset2.val());
        self.key3.d.next = self.message2.q.val().local_key;
        self.one13.next = 1.into();
        self.mtu3.d.next = self.one13.val() << self.shift2.q.val();
        self.valid3.d.next = self.valid2.q.val() & !self.reset.val();

        // How long it is.
        self.length3.next = self.mtu3.q.val();
        self.lane.next = self.local3.q.val();
        self.part4.d.next = self.part3.q.val();
        self.part4.d.next.last = 0.into();
        if (self.left3.q.val() <= bit_cast::<32, 13>(self.mtu3.q.val()))
            | (self.part3.q.val().kind == 2)
        {
            self.length3.next = bit_cast::<13, 32>(self.left3.q.val());
            self.part4.d.next.last = 1.into();
        }
        if self.part3.q.val().kind == 1 {
            self.length3.next = 0.into();
        }
        self.part4.d.next.length = self.length3.val();
        self.remote4.next = self.part3.q.val().address;
        self.part4.d.next.address =
            self.remote4.val() + bit_cast::<64, 32>(self.part3.q.val().offset);
        self.part4.d.next.source = self.lane.val().get_bits::<6>(0);
        self.valid4[0].d.next = self.valid3.q.val() & !self.reset.val();
        self.local4.d.next = self.local3.q.val();
        self.key4.d.next = self.key3.q.val();
        self.request.next.key = self.key4.q.val();
        self.request.next.address = self.local4.q.val();
        self.request.next.length = self.part4.q.val().length;
        self.request.next.remote = 0.into();

        // While it is translated.
        self.queue.write_data.next = self.part4.q.val();
        self.queue.write_enable.next = self.valid4[0].q.val();
        self.pending4.next.kind = self.part4.q.val().kind;
        self.pending4.next.pair = self.part4.q.val().pair;
        self.pending4.next.length = self.part4.q.val().length;
        for i in 0..9 {
            self.valid4[i].clock.next = self.clock.val();
        }
        for i in 0..8 {
            self.pending[i].clock.next = self.clock.val();
            self.valid4[i + 1].d.next = self.valid4[i].q.val() & !self.reset.val();
        }
        self.pending[0].d.next = self.pending4.val();
        for i in 0..7 {
            self.pending[i + 1].d.next = self.pending[i].q.val();
        }

        // The answer: reads and packet, or nothing at all.
        self.now.next = self.pending[7].q.val();
        self.now_valid.next = self.valid4[8].q.val();
        self.bad.next = (self.now.val().kind != 1)
            & (self.translated.val().bad_key.any() | self.translated.val().out_of_bounds.any());
        self.wants.next = self.now_valid.val() & !self.bad.val() & self.now.val().length.any();
        self.reads.write_data.next.address0 = self.translated.val().address0;
        self.reads.write_data.next.length0 = self.translated.val().length0;
        self.reads.write_data.next.address1 = self.translated.val().address1;
        self.reads.write_data.next.length1 =
            self.translated.val().length - self.translated.val().length0;
        self.reads.write_enable.next = self.wants.val();
        self.verdicts.write_data.next = self.bad.val();
        self.verdicts.write_enable.next = self.now_valid.val();
        self.pair12.next = self.now.val().pair;
        self.refused_connection.next = self.pair12.val().get_bits::<12>(5);
        self.refused_valid.next = self.now_valid.val() & self.bad.val();
        // Of 67 beats reserved, 94 bytes of headers and CRC and the payload are used.
        self.beats.next = self.now.val().length + 157;
        self.used.next = self.beats.val().get_bits::<7>(6);
        self.reserved.next = 67.into();
        self.returned_plane.next = self.pair12.val().get_bits::<2>(3);
        self.returned_beats.next = 0.into();
        if self.now_valid.val() & (self.now.val().kind == 0) {
            self.returned_beats.next = self.reserved.val() - self.used.val();
            if self.bad.val() {
                self.returned_beats.next = 67.into();
            }
        }

        // One read, or two.
        self.two.next = self.reads.read_data.val().length1.any();
        self.read.next.address = self.reads.read_data.val().address0;
        self.read.next.length = self.reads.read_data.val().length0;
        self.read.next.last = (!self.two.val()).into();
        self.read.next.work_request = 0.into();
        if self.second.q.val() {
            self.read.next.address = self.reads.read_data.val().address1;
            self.read.next.length = self.reads.read_data.val().length1;
            self.read.next.last = 1.into();
        }
        self.read_valid.next = self.reads.read_valid.val();
        self.read_leaves.next = self.reads.read_valid.val()
            & self.read_ready.val()
            & (self.second.q.val() | !self.two.val());
        self.reads.read_ready.next = self.read_leaves.val();
        if self.reads.read_valid.val() & self.read_ready.val() {
            self.second.d.next = !self.second.q.val() & self.two.val();
        }
        self.outgoing.next = self.queue.read_data.val();
        self.outgoing_valid.next = self.verdicts.read_valid.val() & !self.verdicts.read_data.val();
        self.leaves.next = self.verdicts.read_valid.val()
            & (self.verdicts.read_data.val() | self.outgoing_ready.val());
        self.queue.read_ready.next = self.leaves.val();
        self.verdicts.read_ready.next = self.leaves.val();

        self.taken.next = 0.into();
        if self.take.val() {
            self.taken.next = 1.into();
        }
        self.packet_gone.next = 0.into();
        if self.leaves.val() {
            self.packet_gone.next = 1.into();
        }
        self.read_gone.next = 0.into();
        if self.read_leaves.val() {
            self.read_gone.next = 1.into();
        }
        self.read_dropped.next = 0.into();
        if self.now_valid.val() & !self.wants.val() {
            self.read_dropped.next = 1.into();
        }
        self.packets_owed.d.next =
            self.packets_owed.q.val() + self.taken.val() - self.packet_gone.val();
        self.reads_owed.d.next = self.reads_owed.q.val() + self.taken.val()
            - self.read_gone.val()
            - self.read_dropped.val();
        if self.reset.val() {
            self.second.d.next = false;
            self.packets_owed.d.next = 0.into();
            self.reads_owed.d.next = 0.into();
        }
    }
}
