//! Counts a path: what was sent, what was lost and how it was found, round trips (clause T-2.13).
//!
//! Two memories, each with one machine that reads, adds and writes an event in 3 cycles; events wait in
//! queues. The host reads a path's words through the same machines, before the next event. A path is cleared when the
//! queues are empty, or when 64 events have been taken since it was asked for.

use crate::bundle;
use crate::stream::{Fifo, Ram, SmallFifo};
use rust_hdl::prelude::*;

bundle! {
    /// A packet sent.
    SendEvent { pair: 17, bytes: 13, probe: 1, resend: 1 }
}

bundle! {
    /// Table SEND_TELEMETRY: packets, bytes, retransmissions, probes.
    SendTelemetry { packets: 32, bytes: 64, resends: 32, probes: 32 }
}

bundle! {
    /// A loss found (`probe`, `timeout`: by which means), or a round trip measured.
    LossEvent { pair: 17, rtt: 16, sampled: 1, probe: 1, timeout: 1 }
}

bundle! {
    /// Table LOSS_TELEMETRY: losses by ordinal, by probe, by timeout; round trips in units of 128 ns.
    LossTelemetry {
        by_ordinal: 32, by_probe: 32, by_timeout: 32, rtt_min: 32, rtt_max: 32, rtt_sum: 64, samples: 32,
    }
}

bundle! {
    /// The same as it is kept: a round trip has 16 bits, and 2^32 of them add up to 48.
    LossSums {
        by_ordinal: 32, by_probe: 32, by_timeout: 32, rtt_min: 16, rtt_max: 16, rtt_sum: 48, samples: 32,
    }
}

#[derive(Copy, Clone, PartialEq, Debug, LogicState)]
pub enum Step {
    Wait,
    Look,
    Write,
}

#[derive(LogicBlock, Default)]
pub struct PathTelemetry {
    pub clock: Signal<In, Clock>,
    pub reset: Signal<In, Bit>,
    pub sent: Signal<In, SendEvent>,
    pub sent_valid: Signal<In, Bit>,
    pub lost: Signal<In, LossEvent>,
    pub lost_valid: Signal<In, Bit>,
    pub sample: Signal<In, LossEvent>,
    pub sample_valid: Signal<In, Bit>,
    /// One cycle each; `read_done` follows when the machine has come to it.
    pub read_pair: Signal<In, Bits<17>>,
    pub read_send: Signal<In, Bit>,
    pub read_loss: Signal<In, Bit>,
    pub read_done: Signal<Out, Bit>,
    pub send_words: Signal<Out, SendTelemetry>,
    pub loss_words: Signal<Out, LossTelemetry>,
    pub clear_pair: Signal<In, Bits<17>>,
    pub clear_valid: Signal<In, Bit>,
    pub clear_ready: Signal<Out, Bit>,
    sends: SmallFifo<SendEvent>,
    losses: Fifo<LossEvent>,
    samples: SmallFifo<LossEvent>,
    send_memory: Ram<SendTelemetry, 17>,
    loss_memory: Ram<LossSums, 17>,
    send_step: DFF<Step>,
    send_event: DFF<SendEvent>,
    send_state: DFF<SendTelemetry>,
    send_read: DFF<Bit>,
    send_asked: DFF<Bit>,
    loss_asked: DFF<Bit>,
    asked_pair: DFF<Bits<17>>,
    loss_step: DFF<Step>,
    loss_event: DFF<LossEvent>,
    loss_state: DFF<LossSums>,
    loss_read: DFF<Bit>,
    take_send: Signal<Local, Bit>,
    take_loss: Signal<Local, Bit>,
    take_sample: Signal<Local, Bit>,
    rtt: Signal<Local, Bits<16>>,
    /// Events taken since a clear was asked for.
    taken_since: DFF<Bits<7>>,
    insists: Signal<Local, Bit>,
    send_next: Signal<Local, SendTelemetry>,
    loss_next: Signal<Local, LossSums>,
    clears: Signal<Local, Bit>,
}

impl PathTelemetry {
    /// For `1 << pair_bits` paths.
    pub fn new(pair_bits: usize) -> Self {
        Self {
            sends: SmallFifo::new(4),
            losses: Fifo::new(9),
            samples: SmallFifo::new(5),
            // Read and written in turn.
            send_memory: Ram::new(pair_bits).without_collisions(),
            loss_memory: Ram::new(pair_bits).without_collisions(),
            ..Default::default()
        }
    }
}

impl Logic for PathTelemetry {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(
            self,
            clock,
            send_step,
            send_event,
            send_state,
            send_read,
            loss_step,
            loss_event,
            loss_state,
            loss_read,
            send_asked,
            loss_asked,
            asked_pair,
            taken_since
        );
        clock!(
            self,
            clock,
            sends,
            losses,
            samples,
            send_memory,
            loss_memory
        );
        self.sends.reset.next = self.reset.val();
        self.losses.reset.next = self.reset.val();
        self.samples.reset.next = self.reset.val();
        self.sends.write_data.next = self.sent.val();
        self.sends.write_enable.next = self.sent_valid.val();
        self.losses.write_data.next = self.lost.val();
        self.losses.write_enable.next = self.lost_valid.val();
        self.samples.write_data.next = self.sample.val();
        self.samples.write_enable.next = self.sample_valid.val();

        if self.read_send.val() | self.read_loss.val() {
            self.asked_pair.d.next = self.read_pair.val();
        }
        if self.read_send.val() {
            self.send_asked.d.next = true;
        }
        if self.read_loss.val() {
            self.loss_asked.d.next = true;
        }
        self.insists.next = self.clear_valid.val() & (self.taken_since.q.val() >= 64);
        self.take_send.next = (self.send_step.q.val() == Step::Wait)
            & self.sends.read_valid.val()
            & !self.send_asked.q.val()
            & !self.insists.val();
        self.sends.read_ready.next = self.take_send.val();
        self.clears.next = (self.send_step.q.val() == Step::Wait)
            & (self.loss_step.q.val() == Step::Wait)
            & self.clear_valid.val()
            & (self.insists.val()
                | (!self.sends.read_valid.val()
                    & !self.losses.read_valid.val()
                    & !self.samples.read_valid.val()))
            & !self.send_asked.q.val()
            & !self.loss_asked.q.val();
        self.clear_ready.next = self.clears.val();
        self.read_done.next = false;

        // What was sent.
        self.send_memory.read_address.next = self.sends.read_data.val().pair;
        if self.send_asked.q.val() {
            self.send_memory.read_address.next = self.asked_pair.q.val();
        }
        self.send_memory.read_enable.next = true;
        self.send_next.next = self.send_state.q.val();
        if self.send_event.q.val().probe.any() {
            self.send_next.next.probes = self.send_state.q.val().probes + 1;
        } else {
            self.send_next.next.packets = self.send_state.q.val().packets + 1;
            self.send_next.next.bytes =
                self.send_state.q.val().bytes + bit_cast::<64, 13>(self.send_event.q.val().bytes);
            if self.send_event.q.val().resend.any() {
                self.send_next.next.resends = self.send_state.q.val().resends + 1;
            }
        }
        self.send_memory.write_address.next = self.send_event.q.val().pair;
        self.send_memory.write_data.next = self.send_next.val();
        self.send_memory.write_enable.next = false;
        match self.send_step.q.val() {
            Step::Wait => {
                self.send_event.d.next = self.sends.read_data.val();
                self.send_read.d.next = self.send_asked.q.val();
                if self.take_send.val() | self.send_asked.q.val() {
                    self.send_step.d.next = Step::Look;
                }
                if self.send_asked.q.val() {
                    self.send_asked.d.next = false;
                }
                if self.clears.val() {
                    self.send_memory.write_address.next = self.clear_pair.val();
                    self.send_memory.write_data.next.packets = 0.into();
                    self.send_memory.write_data.next.bytes = 0.into();
                    self.send_memory.write_data.next.resends = 0.into();
                    self.send_memory.write_data.next.probes = 0.into();
                    self.send_memory.write_enable.next = true;
                    self.send_step.d.next = Step::Wait;
                }
            }
            Step::Look => {
                self.send_state.d.next = self.send_memory.read_data.val();
                self.send_step.d.next = Step::Write;
            }
            Step::Write => {
                self.send_memory.write_enable.next = !self.send_read.q.val();
                self.read_done.next = self.send_read.q.val();
                self.send_step.d.next = Step::Wait;
            }
            _ => {
                self.send_step.d.next = Step::Wait;
            }
        }
        self.send_words.next = self.send_state.q.val();

        // What was lost, and how long the round took.
        self.take_loss.next = (self.loss_step.q.val() == Step::Wait)
            & self.losses.read_valid.val()
            & !self.loss_asked.q.val()
            & !self.insists.val();
        self.take_sample.next = (self.loss_step.q.val() == Step::Wait)
            & self.samples.read_valid.val()
            & !self.losses.read_valid.val()
            & !self.loss_asked.q.val()
            & !self.insists.val();
        if self.take_send.val() | self.take_loss.val() | self.take_sample.val() {
            self.taken_since.d.next = self.taken_since.q.val() + 1;
        }
        if !self.clear_valid.val() | self.clears.val() {
            self.taken_since.d.next = 0.into();
        }
        self.losses.read_ready.next = self.take_loss.val();
        self.samples.read_ready.next = self.take_sample.val();
        self.loss_memory.read_address.next = self.samples.read_data.val().pair;
        if self.losses.read_valid.val() {
            self.loss_memory.read_address.next = self.losses.read_data.val().pair;
        }
        if self.loss_asked.q.val() {
            self.loss_memory.read_address.next = self.asked_pair.q.val();
        }
        self.loss_memory.read_enable.next = true;
        self.loss_next.next = self.loss_state.q.val();
        self.rtt.next = self.loss_event.q.val().rtt;
        if self.loss_event.q.val().sampled.any() {
            self.loss_next.next.samples = self.loss_state.q.val().samples + 1;
            self.loss_next.next.rtt_sum =
                self.loss_state.q.val().rtt_sum + bit_cast::<48, 16>(self.rtt.val());
            if !self.loss_state.q.val().samples.any()
                | (self.rtt.val() < self.loss_state.q.val().rtt_min)
            {
                self.loss_next.next.rtt_min = self.rtt.val();
            }
            if self.rtt.val() > self.loss_state.q.val().rtt_max {
                self.loss_next.next.rtt_max = self.rtt.val();
            }
        } else {
            if self.loss_event.q.val().timeout.any() {
                self.loss_next.next.by_timeout = self.loss_state.q.val().by_timeout + 1;
            } else {
                if self.loss_event.q.val().probe.any() {
                    self.loss_next.next.by_probe = self.loss_state.q.val().by_probe + 1;
                } else {
                    self.loss_next.next.by_ordinal = self.loss_state.q.val().by_ordinal + 1;
                }
            }
        }
        self.loss_memory.write_address.next = self.loss_event.q.val().pair;
        self.loss_memory.write_data.next = self.loss_next.val();
        self.loss_memory.write_enable.next = false;
        match self.loss_step.q.val() {
            Step::Wait => {
                self.loss_event.d.next = self.samples.read_data.val();
                if self.losses.read_valid.val() {
                    self.loss_event.d.next = self.losses.read_data.val();
                }
                self.loss_read.d.next = self.loss_asked.q.val();
                if self.take_loss.val() | self.take_sample.val() | self.loss_asked.q.val() {
                    self.loss_step.d.next = Step::Look;
                }
                if self.loss_asked.q.val() {
                    self.loss_asked.d.next = false;
                }
                if self.clears.val() {
                    self.loss_memory.write_address.next = self.clear_pair.val();
                    self.loss_memory.write_data.next.by_ordinal = 0.into();
                    self.loss_memory.write_data.next.by_probe = 0.into();
                    self.loss_memory.write_data.next.by_timeout = 0.into();
                    self.loss_memory.write_data.next.rtt_min = 0.into();
                    self.loss_memory.write_data.next.rtt_max = 0.into();
                    self.loss_memory.write_data.next.rtt_sum = 0.into();
                    self.loss_memory.write_data.next.samples = 0.into();
                    self.loss_memory.write_enable.next = true;
                    self.loss_step.d.next = Step::Wait;
                }
            }
            Step::Look => {
                self.loss_state.d.next = self.loss_memory.read_data.val();
                self.loss_step.d.next = Step::Write;
            }
            Step::Write => {
                self.loss_memory.write_enable.next = !self.loss_read.q.val();
                if self.loss_read.q.val() {
                    self.read_done.next = true;
                }
                self.loss_step.d.next = Step::Wait;
            }
            _ => {
                self.loss_step.d.next = Step::Wait;
            }
        }
        self.loss_words.next.by_ordinal = self.loss_state.q.val().by_ordinal;
        self.loss_words.next.by_probe = self.loss_state.q.val().by_probe;
        self.loss_words.next.by_timeout = self.loss_state.q.val().by_timeout;
        self.loss_words.next.rtt_min = bit_cast::<32, 16>(self.loss_state.q.val().rtt_min);
        self.loss_words.next.rtt_max = bit_cast::<32, 16>(self.loss_state.q.val().rtt_max);
        self.loss_words.next.rtt_sum = bit_cast::<64, 48>(self.loss_state.q.val().rtt_sum);
        self.loss_words.next.samples = self.loss_state.q.val().samples;
        if self.reset.val() {
            self.send_step.d.next = Step::Wait;
            self.loss_step.d.next = Step::Wait;
            self.send_asked.d.next = false;
            self.loss_asked.d.next = false;
        }
    }
}
