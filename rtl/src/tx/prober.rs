//! Paths that have fallen silent: timers, probes, back-off (design rule 4, clause T-2.4).
//!
//! Looks at every path in turn. A path with something in flight whose acknowledgements have not moved for
//! the timer, max(`timer_min`, 1.25 x smoothed round trip + ACK delay), gets a train of up to 8 probes
//! `interval` apart; meanwhile the scheduler leaves it (`suspect`). When the train is unanswered, the timer
//! backs off (1.024 us x 2^t) and another follows; past `backoff_max` the connection's failure is reported.
//! Any newer acknowledgement starts all anew. 4 cycles a path; a timer is late by one round of the sweep
//! at most. Whose state is what: this block reads counts that others write and writes only its own.

use crate::bundle;
use crate::stream::Ram;
use crate::tx::ack_processor::{AckedUpdate, Forced, PathSent};
use rust_hdl::prelude::*;

bundle! {
    /// What the sweep remembers of a path.
    Watch { walked: 16, since: 16, armed: 1, probes: 4, backoff: 4, failed: 1 }
}

bundle! {
    /// The acknowledged side of a path.
    WatchAcked { walked: 16, srtt: 19 }
}

#[derive(Copy, Clone, PartialEq, Debug, LogicState)]
pub enum Sweep {
    Read,
    Data,
    Reckon,
    Judge,
    Act,
}

#[derive(LogicBlock, Default)]
pub struct Prober {
    pub clock: Signal<In, Clock>,
    pub reset: Signal<In, Bit>,
    pub now: Signal<In, Bits<16>>,
    /// All in units of 128 ns.
    pub timer_min: Signal<In, Bits<16>>,
    pub interval: Signal<In, Bits<16>>,
    pub ack_delay: Signal<In, Bits<16>>,
    pub backoff_max: Signal<In, Bits<4>>,
    /// Paths in use: the sweep goes so far.
    pub sweep_end: Signal<In, Bits<17>>,
    pub sent_pair: Signal<In, Bits<17>>,
    pub sent: Signal<In, PathSent>,
    pub sent_valid: Signal<In, Bit>,
    pub updated: Signal<In, AckedUpdate>,
    pub updated_valid: Signal<In, Bit>,
    pub probe: Signal<Out, Forced>,
    pub probe_valid: Signal<Out, Bit>,
    pub probe_ready: Signal<In, Bit>,
    pub suspect_slot: Signal<Out, Bits<14>>,
    pub suspect_paths: Signal<Out, Bits<8>>,
    pub suspect_write: Signal<Out, Bit>,
    pub failed_connection: Signal<Out, Bits<12>>,
    pub failed_valid: Signal<Out, Bit>,
    pub timer_expired: Signal<Out, Bit>,
    /// The probe that waits to be taken.
    out: DFF<Forced>,
    out_valid: DFF<Bit>,
    asked: Signal<Local, Forced>,
    asks: Signal<Local, Bit>,
    ordinals: Ram<Bits<16>, 17>,
    ackeds: Ram<WatchAcked, 17>,
    watches: Ram<Watch, 17>,
    step: DFF<Sweep>,
    pair: DFF<Bits<17>>,
    ordinal: DFF<Bits<16>>,
    acked: DFF<WatchAcked>,
    watch: DFF<Watch>,
    age: DFF<Bits<16>>,
    idle: DFF<Bit>,
    moved: DFF<Bit>,
    limit: DFF<Bits<16>>,
    due: DFF<Bit>,
    paths: DFF<Bits<8>>,
    srtt16: Signal<Local, Bits<16>>,
    quarter: Signal<Local, Bits<16>>,
    timer: Signal<Local, Bits<16>>,
    backed: Signal<Local, Bits<16>>,
    eight: Signal<Local, Bits<16>>,
    after: Signal<Local, Watch>,
    paths_after: Signal<Local, Bits<8>>,
    suspicious: Signal<Local, Bit>,
    pair_next: Signal<Local, Bits<17>>,
    k: Signal<Local, Bits<3>>,
    here: Signal<Local, Bits<3>>,
    fires: Signal<Local, Bit>,
    stays: Signal<Local, Bit>,
}

impl Prober {
    /// For `1 << pair_bits` paths.
    pub fn new(pair_bits: usize) -> Self {
        Self {
            ordinals: Ram::new(pair_bits),
            ackeds: Ram::new(pair_bits),
            // Read and written in turn.
            watches: Ram::new(pair_bits).without_collisions(),
            ..Default::default()
        }
    }
}

impl Logic for Prober {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(
            self, clock, step, pair, ordinal, acked, watch, age, idle, moved, limit, due, paths,
            out, out_valid
        );
        clock!(self, clock, ordinals, ackeds, watches);
        self.ordinals.read_address.next = self.pair.q.val();
        self.ordinals.read_enable.next = true;
        self.ordinals.write_address.next = self.sent_pair.val();
        self.ordinals.write_data.next = self.sent.val().next_ordinal;
        self.ordinals.write_enable.next = self.sent_valid.val();
        self.ackeds.read_address.next = self.pair.q.val();
        self.ackeds.read_enable.next = true;
        self.ackeds.write_address.next = self.updated.val().pair;
        self.ackeds.write_data.next.walked = self.updated.val().walked;
        self.ackeds.write_data.next.srtt = self.updated.val().srtt;
        self.ackeds.write_enable.next = self.updated_valid.val();
        self.watches.read_address.next = self.pair.q.val();
        self.watches.read_enable.next = true;

        // 1.25 x srtt + ACK delay, not under the least timer; 8 << backoff after a lost train.
        self.srtt16.next = bit_cast::<16, 19>(self.acked.q.val().srtt >> 3);
        self.quarter.next = self.srtt16.val() >> 2;
        self.timer.next = self.srtt16.val() + self.quarter.val() + self.ack_delay.val();
        if self.timer.val() < self.timer_min.val() {
            self.timer.next = self.timer_min.val();
        }
        if self.srtt16.val() >= 0x6000 {
            self.timer.next = 0x8000.into();
        }
        self.eight.next = 8.into();
        self.backed.next = self.eight.val() << self.watch.q.val().backoff;
        // Half the range of the time at most: ages are differences of 16 bits.
        if self.watch.q.val().backoff > 12 {
            self.backed.next = 0x8000.into();
        }

        self.after.next = self.watch.q.val();
        self.fires.next = false;
        self.failed_valid.next = false;
        self.suspicious.next = self.watch.q.val().probes.any() | self.watch.q.val().backoff.any();
        if self.idle.q.val() | self.moved.q.val() | !self.watch.q.val().armed.any() {
            self.after.next.walked = self.acked.q.val().walked;
            self.after.next.since = self.now.val();
            self.after.next.armed = (!self.idle.q.val()).into();
            self.after.next.probes = 0.into();
            self.after.next.backoff = 0.into();
            self.after.next.failed = 0.into();
            self.suspicious.next = false;
        } else {
            if self.due.q.val() & !self.watch.q.val().failed.any() {
                if self.watch.q.val().probes == 8 {
                    self.after.next.since = self.now.val();
                    self.after.next.probes = 0.into();
                    self.after.next.backoff = self.watch.q.val().backoff + 1;
                    if self.watch.q.val().backoff >= self.backoff_max.val() {
                        self.after.next.failed = 1.into();
                        self.failed_valid.next = self.step.q.val() == Sweep::Act;
                    }
                } else {
                    self.fires.next = true;
                    self.after.next.since = self.now.val();
                    self.after.next.probes = self.watch.q.val().probes + 1;
                    self.suspicious.next = true;
                }
            }
        }
        self.stays.next = self.fires.val() & self.out_valid.q.val();
        self.pair_next.next = self.pair.q.val() + 1;
        // The eight paths of a plane are written together, with the last of them.
        self.k.next = self.pair.q.val().get_bits::<3>(0);
        self.paths_after.next = self.paths.q.val();
        for i in 0..8 {
            self.here.next = i.to_bits();
            if self.k.val() == self.here.val() {
                self.paths_after.next =
                    self.paths_after.val().replace_bit(i, self.suspicious.val());
            }
        }
        match self.step.q.val() {
            Sweep::Read => {
                self.step.d.next = Sweep::Data;
            }
            Sweep::Data => {
                self.ordinal.d.next = self.ordinals.read_data.val();
                self.acked.d.next = self.ackeds.read_data.val();
                self.watch.d.next = self.watches.read_data.val();
                self.step.d.next = Sweep::Reckon;
            }
            Sweep::Reckon => {
                self.idle.d.next = self.ordinal.q.val() == self.acked.q.val().walked;
                self.moved.d.next = self.watch.q.val().walked != self.acked.q.val().walked;
                self.age.d.next = self.now.val() - self.watch.q.val().since;
                self.limit.d.next = self.timer.val();
                if self.watch.q.val().backoff.any() {
                    self.limit.d.next = self.backed.val();
                }
                if self.watch.q.val().probes.any() {
                    self.limit.d.next = self.interval.val();
                }
                if self.watch.q.val().probes == 8 {
                    self.limit.d.next = self.timer.val();
                }
                self.step.d.next = Sweep::Judge;
            }
            Sweep::Judge => {
                self.due.d.next = self.age.q.val() >= self.limit.q.val();
                self.step.d.next = Sweep::Act;
            }
            Sweep::Act => {
                if !self.stays.val() {
                    self.step.d.next = Sweep::Read;
                    self.paths.d.next = self.paths_after.val();
                    self.pair.d.next = self.pair_next.val();
                    if self.pair_next.val() >= self.sweep_end.val() {
                        self.pair.d.next = 0.into();
                    }
                }
            }
            _ => {
                self.step.d.next = Sweep::Read;
            }
        }
        self.watches.write_address.next = self.pair.q.val();
        self.watches.write_data.next = self.after.val();
        self.watches.write_enable.next = (self.step.q.val() == Sweep::Act) & !self.stays.val();

        self.suspect_slot.next = self.pair.q.val().get_bits::<14>(3);
        self.suspect_paths.next = self.paths_after.val();
        self.suspect_write.next =
            (self.step.q.val() == Sweep::Act) & !self.stays.val() & (self.k.val() == 7);

        self.asked.next.kind = 1.into();
        self.asked.next.pair = self.pair.q.val();
        self.asked.next.psn = 0.into();
        self.asked.next.slot = 0.into();
        self.asked.next.index = 0.into();
        self.asked.next.train = bit_cast::<8, 4>(self.watch.q.val().probes);
        self.asked.next.timeout = (self.watch.q.val().backoff.any()).into();
        self.asked.next.ordinal = 0.into();
        self.asked.next.epoch = 0.into();
        self.asks.next = self.fires.val() & !self.stays.val() & (self.step.q.val() == Sweep::Act);
        if !self.out_valid.q.val() {
            self.out.d.next = self.asked.val();
        }
        self.out_valid.d.next =
            self.asks.val() | (self.out_valid.q.val() & !self.probe_ready.val());
        self.probe.next = self.out.q.val();
        self.probe_valid.next = self.out_valid.q.val();
        self.timer_expired.next =
            self.out_valid.q.val() & self.probe_ready.val() & !self.out.q.val().train.any();
        self.failed_connection.next = self.pair.q.val().get_bits::<12>(5);
        if self.reset.val() {
            self.step.d.next = Sweep::Read;
            self.pair.d.next = 0.into();
            self.out_valid.d.next = false;
        }
    }
}
