//! When and with what to acknowledge (design rule 7, clause T-2.7).
//!
//! A word a (connection, plane) collects the paths that have news. An ACK is due on the 4th packet,
//! `delay` after the first one, or at once when something is urgent; one frame carries up to four paths,
//! and a second follows when more have news. The return path rotates over the paths that have news, since only those are
//! known to be the peer's too: fewer than eight may have been settled on. A due
//! (connection, plane) stands in a queue at most once, so the queue cannot overflow. A word is cleared when no frame is
//! being gathered, so that none of before follows.
//!
//! Three stages on the word, one operation a cycle unless the same word is in flight. A frame with n
//! blocks leaves n + 3 cycles after it is due: first its blocks, one a cycle, then the frame itself. It knows nothing of
//! addresses: those are put in front by `frame_request`.

use crate::bundle;
use crate::rx::path_sequence::{AckEvent, PathReceiveState};
use crate::stream::{Fifo, Ram, SmallFifo};
use rust_hdl::prelude::*;

bundle! {
    /// What a (connection, plane) has not yet acknowledged.
    AckState { count: 3, queued: 1, dirty: 8, first: 16, rotate: 3 }
}

bundle! {
    /// One path block as it goes on the wire, first byte first (clause T-3.5, W = 64).
    AckBlockWire {
        path: 8, epoch: 8, cumulative2: 8, cumulative1: 8, cumulative0: 8, flags: 8,
        ordinal1: 8, ordinal0: 8, echo1: 8, echo0: 8, delay1: 8, delay0: 8,
        marked1: 8, marked0: 8, received1: 8, received0: 8,
        vector7: 8, vector6: 8, vector5: 8, vector4: 8, vector3: 8, vector2: 8, vector1: 8, vector0: 8,
    }
}

bundle! {
    /// An ACK to be sent: 1 to 4 blocks, which come before it.
    AckFrame { pair: 17, count: 3 }
}

bundle! {
    /// An operation on a word.
    AckOperation { slot: 14, path: 3, event: 1, complete: 1, urgent: 1, pop: 1, clear: 1, sweep: 1 }
}

#[derive(Copy, Clone, PartialEq, Debug, LogicState)]
pub enum Gather {
    Idle,
    Read,
    Last,
    Send,
}

#[derive(LogicBlock, Default)]
pub struct AckGenerator {
    pub clock: Signal<In, Clock>,
    pub reset: Signal<In, Bit>,
    /// The time, in units of 128 ns.
    pub now: Signal<In, Bits<16>>,
    /// How long an ACK may wait, in units of 128 ns.
    pub delay: Signal<In, Bits<16>>,
    /// (connection, plane) pairs in use: the sweep goes so far.
    pub sweep_end: Signal<In, Bits<14>>,
    pub news: Signal<In, AckEvent>,
    pub news_valid: Signal<In, Bit>,
    /// A message has been placed whole; its last packet came on this path.
    pub complete_pair: Signal<In, Bits<17>>,
    pub complete_valid: Signal<In, Bit>,
    pub clear_slot: Signal<In, Bits<14>>,
    pub clear_valid: Signal<In, Bit>,
    pub clear_ready: Signal<Out, Bit>,
    pub read_pair: Signal<Out, Bits<17>>,
    pub read_state: Signal<In, PathReceiveState>,
    /// There is room for a frame and four blocks.
    pub room: Signal<In, Bit>,
    pub block: Signal<Out, AckBlockWire>,
    pub block_valid: Signal<Out, Bit>,
    /// Its blocks have all been given.
    pub frame: Signal<Out, AckFrame>,
    pub frame_valid: Signal<Out, Bit>,

    events: SmallFifo<AckEvent>,
    completes: SmallFifo<Bits<17>>,
    due: Fifo<Bits<14>>,
    words: Ram<AckState, 14>,
    choice: Signal<Local, AckOperation>,
    choice_valid: Signal<Local, Bit>,
    blocked: Signal<Local, Bit>,
    event_pair: Signal<Local, Bits<17>>,
    complete_word: Signal<Local, Bits<17>>,
    op1: DFF<AckOperation>,
    op1_valid: DFF<Bit>,
    op2: DFF<AckOperation>,
    op2_valid: DFF<Bit>,
    word: DFF<AckState>,
    sweep: DFF<Bits<14>>,
    sweep_next: Signal<Local, Bits<14>>,
    age: Signal<Local, Bits<16>>,
    one: Signal<Local, Bits<8>>,
    path_bit: Signal<Local, Bits<8>>,
    changed: Signal<Local, AckState>,
    trigger: Signal<Local, Bit>,
    popping: DFF<Bit>,
    gather: DFF<Gather>,
    mask: DFF<Bits<8>>,
    slot: DFF<Bits<14>>,
    rotate: DFF<Bits<3>>,
    count: DFF<Bits<3>>,
    lowest: Signal<Local, Bits<8>>,
    inverse: Signal<Local, Bits<8>>,
    index: Signal<Local, Bits<3>>,
    mask_next: Signal<Local, Bits<8>>,
    all: Signal<Local, Bits<8>>,
    later: Signal<Local, Bits<8>>,
    candidates: Signal<Local, Bits<8>>,
    candidate_inverse: Signal<Local, Bits<8>>,
    candidate: Signal<Local, Bits<8>>,
    return_path: Signal<Local, Bits<3>>,
    count_next: Signal<Local, Bits<3>>,
    base: Signal<Local, Bits<17>>,
    low3: Signal<Local, Bits<17>>,
    capture: DFF<Bit>,
    reads: Signal<Local, Bit>,
    capture_path: DFF<Bits<8>>,
    path8: Signal<Local, Bits<8>>,
    newest: Signal<Local, Bits<16>>,
    held: Signal<Local, Bits<16>>,
    state_cumulative: Signal<Local, Bits<24>>,
    state_echo: Signal<Local, Bits<16>>,
    state_marked: Signal<Local, Bits<16>>,
    state_received: Signal<Local, Bits<16>>,
    state_vector: Signal<Local, Bits<64>>,
}

impl AckGenerator {
    /// For `1 << slot_bits` (connection, plane) pairs.
    pub fn new(slot_bits: usize) -> Self {
        Self {
            events: SmallFifo::new(4),
            completes: SmallFifo::new(4),
            due: Fifo::new(slot_bits),
            words: Ram::new(slot_bits),
            ..Default::default()
        }
    }
}

impl Logic for AckGenerator {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(
            self,
            clock,
            op1,
            op1_valid,
            op2,
            op2_valid,
            word,
            sweep,
            popping,
            gather,
            mask,
            slot,
            rotate,
            count,
            capture,
            capture_path
        );
        clock!(self, clock, events, completes, due, words);
        self.events.reset.next = self.reset.val();
        self.completes.reset.next = self.reset.val();
        self.due.reset.next = self.reset.val();
        self.events.write_data.next = self.news.val();
        self.events.write_enable.next = self.news_valid.val();
        self.completes.write_data.next = self.complete_pair.val();
        self.completes.write_enable.next = self.complete_valid.val();

        // Choose an operation; the last assignment wins.
        self.choice.next.slot = self.sweep.q.val();
        self.choice.next.path = 0.into();
        self.choice.next.event = 0.into();
        self.choice.next.complete = 0.into();
        self.choice.next.urgent = 0.into();
        self.choice.next.pop = 0.into();
        self.choice.next.clear = 0.into();
        self.choice.next.sweep = 1.into();
        self.event_pair.next = self.events.read_data.val().pair;
        self.complete_word.next = self.completes.read_data.val();
        if self.due.read_valid.val() & (self.gather.q.val() == Gather::Idle) & !self.popping.q.val()
        {
            self.choice.next.slot = self.due.read_data.val();
            self.choice.next.pop = 1.into();
            self.choice.next.sweep = 0.into();
        }
        if self.clear_valid.val() & (self.gather.q.val() == Gather::Idle) & !self.popping.q.val() {
            self.choice.next.slot = self.clear_slot.val();
            self.choice.next.pop = 0.into();
            self.choice.next.sweep = 0.into();
            self.choice.next.clear = 1.into();
        }
        if self.completes.read_valid.val() {
            self.choice.next.slot = self.complete_word.val().get_bits::<14>(3);
            self.choice.next.path = self.complete_word.val().get_bits::<3>(0);
            self.choice.next.pop = 0.into();
            self.choice.next.sweep = 0.into();
            self.choice.next.clear = 0.into();
            self.choice.next.complete = 1.into();
        }
        // Events yield every other cycle to the rest, so that nothing starves.
        if self.events.read_valid.val() & !self.op1.q.val().event.any() {
            self.choice.next.slot = self.event_pair.val().get_bits::<14>(3);
            self.choice.next.path = self.event_pair.val().get_bits::<3>(0);
            self.choice.next.urgent = self.events.read_data.val().urgent;
            self.choice.next.pop = 0.into();
            self.choice.next.sweep = 0.into();
            self.choice.next.clear = 0.into();
            self.choice.next.complete = 0.into();
            self.choice.next.event = 1.into();
        }
        self.blocked.next = (self.op1_valid.q.val()
            & (self.op1.q.val().slot == self.choice.val().slot))
            | (self.op2_valid.q.val() & (self.op2.q.val().slot == self.choice.val().slot));
        self.choice_valid.next = !self.blocked.val() & !self.reset.val();
        self.events.read_ready.next = self.choice_valid.val() & self.choice.val().event.any();
        self.completes.read_ready.next = self.choice_valid.val() & self.choice.val().complete.any();
        self.due.read_ready.next = self.choice_valid.val() & self.choice.val().pop.any();
        self.clear_ready.next = self.choice_valid.val() & self.choice.val().clear.any();
        self.words.read_address.next = self.choice.val().slot;
        self.words.read_enable.next = true;
        self.sweep_next.next = self.sweep.q.val() + 1;
        if self.choice_valid.val() & self.choice.val().sweep.any() {
            self.sweep.d.next = self.sweep_next.val();
            if self.sweep_next.val() >= self.sweep_end.val() {
                self.sweep.d.next = 0.into();
            }
        }
        // One word at a time is on its way to the gatherer.
        if self.choice_valid.val() & self.choice.val().pop.any() {
            self.popping.d.next = true;
        }

        self.op1.d.next = self.choice.val();
        self.op1_valid.d.next = self.choice_valid.val();
        self.word.d.next = self.words.read_data.val();
        self.op2.d.next = self.op1.q.val();
        self.op2_valid.d.next = self.op1_valid.q.val() & !self.reset.val();

        // The operation on the word.
        self.one.next = 1.into();
        self.path_bit.next = self.one.val() << self.op2.q.val().path;
        self.age.next = self.now.val() - self.word.q.val().first;
        self.changed.next = self.word.q.val();
        self.trigger.next = false;
        if self.op2.q.val().event.any() {
            self.changed.next.dirty = self.word.q.val().dirty | self.path_bit.val();
            if self.word.q.val().count != 7 {
                self.changed.next.count = self.word.q.val().count + 1;
            }
            if self.word.q.val().count == 0 {
                self.changed.next.first = self.now.val();
            }
            self.trigger.next = self.op2.q.val().urgent.any() | (self.word.q.val().count >= 3);
        }
        if self.op2.q.val().complete.any() {
            self.trigger.next = self.word.q.val().dirty.any();
        }
        if self.op2.q.val().sweep.any() {
            self.trigger.next =
                self.word.q.val().dirty.any() & (self.age.val() >= self.delay.val());
        }
        if self.trigger.val() {
            self.changed.next.queued = 1.into();
        }
        if self.op2.q.val().pop.any() {
            self.changed.next.queued = 0.into();
            self.changed.next.dirty = 0.into();
            self.changed.next.count = 0.into();
            self.changed.next.rotate = self.word.q.val().rotate + 1;
        }
        if self.op2.q.val().clear.any() {
            self.changed.next.queued = self.word.q.val().queued;
            self.changed.next.dirty = 0.into();
            self.changed.next.count = 0.into();
            self.changed.next.rotate = 0.into();
        }
        self.words.write_address.next = self.op2.q.val().slot;
        self.words.write_data.next = self.changed.val();
        self.words.write_enable.next = self.op2_valid.q.val();
        self.due.write_data.next = self.op2.q.val().slot;
        self.due.write_enable.next =
            self.op2_valid.q.val() & self.trigger.val() & !self.word.q.val().queued.any();

        // Gather the blocks of one word, lowest path first, four a frame.
        self.inverse.next = !self.mask.q.val();
        self.inverse.next = self.inverse.val() + 1;
        self.lowest.next = self.mask.q.val() & self.inverse.val();
        self.index.next = 0.into();
        for i in 0..8 {
            if self.lowest.val().get_bit(i) {
                self.index.next = i.to_bits();
            }
        }
        // The return path: the next one with news, from the last one on.
        self.all.next = 0xff.into();
        self.later.next = self.all.val() << self.rotate.q.val();
        self.candidates.next = self.later.val() & self.mask.q.val();
        if !self.candidates.val().any() {
            self.candidates.next = self.mask.q.val();
        }
        self.candidate_inverse.next = !self.candidates.val();
        self.candidate_inverse.next = self.candidate_inverse.val() + 1;
        self.candidate.next = self.candidates.val() & self.candidate_inverse.val();
        self.return_path.next = 0.into();
        for i in 0..8 {
            if self.candidate.val().get_bit(i) {
                self.return_path.next = i.to_bits();
            }
        }
        self.base.next = bit_cast::<17, 14>(self.slot.q.val()) << 3;
        self.low3.next = bit_cast::<17, 3>(self.index.val());
        self.read_pair.next = self.base.val() | self.low3.val();
        self.path8.next = bit_cast::<8, 17>(self.read_pair.val()) & 0x1f;
        self.mask_next.next = self.mask.q.val() ^ self.lowest.val();
        self.count_next.next = self.count.q.val() + 1;
        // The first block waits until there is room for all.
        self.reads.next =
            (self.gather.q.val() == Gather::Read) & (self.room.val() | (self.count.q.val() != 0));
        self.capture.d.next = self.reads.val();
        self.capture_path.d.next = self.path8.val();
        match self.gather.q.val() {
            Gather::Idle => {
                if self.op2_valid.q.val() & self.op2.q.val().pop.any() {
                    self.popping.d.next = false;
                    self.slot.d.next = self.op2.q.val().slot;
                    self.mask.d.next = self.word.q.val().dirty;
                    self.rotate.d.next = self.word.q.val().rotate;
                    self.count.d.next = 0.into();
                    if self.word.q.val().dirty.any() {
                        self.gather.d.next = Gather::Read;
                    }
                }
            }
            Gather::Read => {
                if self.reads.val() {
                    if self.count.q.val() == 0 {
                        self.rotate.d.next = self.return_path.val();
                    }
                    self.mask.d.next = self.mask_next.val();
                    self.count.d.next = self.count_next.val();
                    if !self.mask_next.val().any() | (self.count_next.val() == 4) {
                        self.gather.d.next = Gather::Last;
                    }
                }
            }
            Gather::Last => {
                self.gather.d.next = Gather::Send;
            }
            Gather::Send => {
                self.count.d.next = 0.into();
                self.gather.d.next = Gather::Idle;
                if self.mask.q.val().any() {
                    self.gather.d.next = Gather::Read;
                }
            }
            _ => {
                self.gather.d.next = Gather::Idle;
            }
        }

        // The block on the wire: big-endian fields. The echo is the newest ordinal, one under the next.
        self.newest.next = self.read_state.val().next_ordinal - 1;
        self.held.next = self.now.val() - self.read_state.val().arrival;
        self.state_cumulative.next = self.read_state.val().cumulative;
        self.state_echo.next = self.read_state.val().echo;
        self.state_marked.next = self.read_state.val().marked;
        self.state_received.next = self.read_state.val().received;
        self.state_vector.next = self.read_state.val().vector;
        self.block.next.path = self.capture_path.q.val();
        self.block.next.epoch = self.read_state.val().epoch;
        self.block.next.cumulative2 = self.state_cumulative.val().get_bits::<8>(16);
        self.block.next.cumulative1 = self.state_cumulative.val().get_bits::<8>(8);
        self.block.next.cumulative0 = self.state_cumulative.val().get_bits::<8>(0);
        self.block.next.flags = 0.into();
        self.block.next.ordinal1 = self.newest.val().get_bits::<8>(8);
        self.block.next.ordinal0 = self.newest.val().get_bits::<8>(0);
        self.block.next.echo1 = self.state_echo.val().get_bits::<8>(8);
        self.block.next.echo0 = self.state_echo.val().get_bits::<8>(0);
        self.block.next.delay1 = self.held.val().get_bits::<8>(8);
        self.block.next.delay0 = self.held.val().get_bits::<8>(0);
        self.block.next.marked1 = self.state_marked.val().get_bits::<8>(8);
        self.block.next.marked0 = self.state_marked.val().get_bits::<8>(0);
        self.block.next.received1 = self.state_received.val().get_bits::<8>(8);
        self.block.next.received0 = self.state_received.val().get_bits::<8>(0);
        self.block.next.vector7 = self.state_vector.val().get_bits::<8>(56);
        self.block.next.vector6 = self.state_vector.val().get_bits::<8>(48);
        self.block.next.vector5 = self.state_vector.val().get_bits::<8>(40);
        self.block.next.vector4 = self.state_vector.val().get_bits::<8>(32);
        self.block.next.vector3 = self.state_vector.val().get_bits::<8>(24);
        self.block.next.vector2 = self.state_vector.val().get_bits::<8>(16);
        self.block.next.vector1 = self.state_vector.val().get_bits::<8>(8);
        self.block.next.vector0 = self.state_vector.val().get_bits::<8>(0);
        self.block_valid.next = self.capture.q.val();
        self.low3.next = bit_cast::<17, 3>(self.rotate.q.val());
        self.frame.next.pair = self.base.val() | self.low3.val();
        self.frame.next.count = self.count.q.val();
        self.frame_valid.next = self.gather.q.val() == Gather::Send;
        if self.reset.val() {
            self.gather.d.next = Gather::Idle;
            self.popping.d.next = false;
            self.op1_valid.d.next = false;
        }
    }
}
