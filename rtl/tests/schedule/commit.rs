//! What the scheduler decides, against the rules.

use super::{Bench, Connection, Kind, RESERVED, STAGES, log2};
use osprey_rtl::tx::ack_processor::{LogEntry, PacketRecord, PathSent};
use osprey_rtl::tx::spray_scheduler::TransmitJob;
use osprey_verilated::Record;

impl Bench<'_> {
    /// What comes out in this cycle was taken `STAGES` before.
    pub(super) fn commit(&mut self) {
        let due = self
            .taken
            .front()
            .is_some_and(|(at, _)| at + STAGES == self.cycle);
        let order = if due { self.taken.pop_front() } else { None };
        let job = self.ports.job[1]
            .is_set()
            .then(|| self.ports.job[0].record(TransmitJob::FIELDS));
        if job.is_some() {
            self.progress = self.cycle;
        }
        match (order, job) {
            (Some((_, order)), job) => self.forced(&order, job),
            (None, Some(job)) => self.chosen(&job),
            (None, None) => self.nothing(),
        }
        let past = self.cycle.saturating_sub(STAGES);
        for wakes in &mut self.wakes {
            while wakes.front().is_some_and(|&at| at < past) {
                wakes.pop_front();
            }
        }
    }

    fn nothing(&self) {
        for port in [
            &self.ports.sent[2],
            &self.ports.log[2],
            &self.ports.record[2],
            &self.ports.tail[1],
        ] {
            assert!(
                !port.is_set(),
                "cycle {}: {} without a packet",
                self.cycle,
                port.name()
            );
        }
    }

    fn reserve(&mut self, pair: u64, beats: u64) {
        let plane = (pair >> 3 & 3) as usize;
        self.reserved[plane] += beats;
        let used = match beats {
            RESERVED if self.profile.load == 0 => 2,
            RESERVED => 2 + self.stall.below(66),
            other => other,
        };
        self.leaving[plane] += used;
        if used < beats {
            self.unused.push_back((plane as u64, beats - used));
        }
    }

    fn forced(&mut self, order: &Record, job: Option<Record>) {
        let cycle = self.cycle;
        let pair = order.get("pair");
        assert!(
            !self.ports.record[2].is_set() && !self.ports.tail[1].is_set(),
            "cycle {cycle}"
        );
        match order.get("kind") {
            2 => {
                let job = job.unwrap_or_else(|| panic!("cycle {cycle}: no job for {order:?}"));
                for name in ["kind", "pair", "slot", "index"] {
                    assert_eq!(job.get(name), order.get(name), "cycle {cycle}: {name}");
                }
                self.nothing();
                self.reserve(pair, 5);
            }
            3 => {
                assert_eq!(job, None, "cycle {cycle}: a start anew sends nothing");
                assert!(!self.ports.log[2].is_set(), "cycle {cycle}");
                self.check_sent(
                    pair,
                    order.get("psn"),
                    order.get("ordinal"),
                    order.get("epoch"),
                );
            }
            kind => self.again(order, kind == 1, job),
        }
    }

    /// A probe or a resend.
    fn again(&mut self, order: &Record, probe: bool, job: Option<Record>) {
        let cycle = self.cycle;
        let pair = order.get("pair");
        let path = &self.paths[&pair];
        let flying = path.ordinal.wrapping_sub(path.seen.1) & 0xff;
        if probe && flying >= 2 * self.profile.window_most - 8 {
            assert_eq!(
                job, None,
                "cycle {cycle}: a probe that the log has no room for"
            );
            return self.nothing();
        }
        if !self.connections[pair as usize >> 5].seen_settings.0 {
            assert_eq!(job, None, "cycle {cycle}: a connection that may not send");
            return self.nothing();
        }
        let job = job.unwrap_or_else(|| panic!("cycle {cycle}: no job for {order:?}"));
        let tight = self.connections[pair as usize >> 5].seen_settings.2 < 4;
        for name in ["kind", "pair", "psn", "slot", "index", "train"] {
            assert_eq!(
                job.get(name),
                order.get(name),
                "cycle {cycle}: {name} of {order:?}"
            );
        }
        let expected = [
            ("epoch", path.epoch),
            ("ordinal", path.ordinal),
            ("resend", u64::from(!probe)),
            ("ack_request", u64::from(!probe || tight)),
        ];
        for (name, value) in expected {
            assert_eq!(job.get(name), value, "cycle {cycle}: {name} of {order:?}");
        }
        self.check_log(&job, probe);
        let entry = self.ports.log[1].record(LogEntry::FIELDS);
        if probe {
            assert_eq!(entry.get("psn"), order.get("timeout"), "cycle {cycle}");
        }
        let next = (path.ordinal + 1) & 0xffff;
        self.check_sent(pair, path.psn, next, path.epoch);
        let [psn, slot, index] = ["psn", "slot", "index"].map(|name| order.get(name));
        let path = self.paths.get_mut(&pair).expect("the path is open");
        path.ordinal = next;
        path.flying.push_back(if probe {
            Kind::Probe
        } else {
            Kind::Data { psn, slot, index }
        });
        if !probe {
            self.resends_by_plane[(pair >> 3 & 3) as usize] += 1;
        }
        self.reserve(pair, if probe { 2 } else { RESERVED });
    }

    /// New data on the best path.
    fn chosen(&mut self, job: &Record) {
        let cycle = self.cycle;
        let pair = job.get("pair");
        let known = &self.connections[pair as usize >> 5];
        let (enabled, _, window) = known.seen_settings;
        assert!(
            enabled,
            "cycle {cycle}: a connection that may not send: {job:?}"
        );
        assert!(
            known.message < known.seen_messages,
            "cycle {cycle}: no such message: {job:?}"
        );
        self.check_choice(pair, known);
        let path = &self.paths[&pair];
        let ends = known.index + 1 == known.messages[known.message];
        let exhausted = ends && known.message + 1 == known.seen_messages;
        let expected = [
            ("kind", 0),
            ("psn", path.psn),
            ("ordinal", path.ordinal),
            ("epoch", path.epoch),
            ("slot", known.message as u64 % 64),
            ("index", known.index),
            ("resend", 0),
            ("ack_request", u64::from(exhausted || window < 4)),
        ];
        for (name, value) in expected {
            assert_eq!(job.get(name), value, "cycle {cycle}: {name} of {job:?}");
        }
        // New work since the choice was taken, known a cycle after it was written: there may be more to come.
        let fresh = self.wakes[pair as usize >> 5]
            .iter()
            .any(|&at| at + STAGES >= cycle && at + 1 < cycle);
        let pending = self.unfetched_before >> (pair >> 5) & 1 == 1;
        let tail = exhausted && !fresh && !pending;
        assert_eq!(
            self.ports.tail[1].is_set(),
            tail,
            "cycle {cycle}: tail of {job:?}"
        );
        if tail {
            assert_eq!(self.ports.tail[0].get(), pair, "cycle {cycle}");
        }
        self.check_log(job, false);
        assert!(self.ports.record[2].is_set(), "cycle {cycle}");
        assert_eq!(
            self.ports.record[0].get(),
            pair << 7 | path.psn % 128,
            "cycle {cycle}"
        );
        let record = self.ports.record[1].record(PacketRecord::FIELDS);
        for name in ["slot", "index"] {
            assert_eq!(
                record.get(name),
                job.get(name),
                "cycle {cycle}: {name} of the record"
            );
        }
        let next = ((path.psn + 1) & 0xff_ffff, (path.ordinal + 1) & 0xffff);
        self.check_sent(pair, next.0, next.1, path.epoch);
        let known = &mut self.connections[pair as usize >> 5];
        (known.message, known.index) = if ends {
            (known.message + 1, 0)
        } else {
            (known.message, known.index + 1)
        };
        let path = self.paths.get_mut(&pair).expect("the path is open");
        path.missing.push(path.psn);
        let [slot, index] = ["slot", "index"].map(|name| job.get(name));
        path.flying.push_back(Kind::Data {
            psn: path.psn,
            slot,
            index,
        });
        (path.psn, path.ordinal) = next;
        self.data_by_plane[(pair >> 3 & 3) as usize] += 1;
        self.reserve(pair, RESERVED);
    }

    /// The path is open, and none of the plane's open paths has a lesser (in flight + 1) x round trip.
    fn check_choice(&self, pair: u64, known: &Connection) {
        let plane = pair >> 3 & 3;
        let (_, paths, window) = known.seen_settings;
        let usable = paths >> (8 * plane) & !known.seen_suspects[plane as usize] & 0xff;
        let key = |k: u64| {
            let path = &self.paths[&(pair & !7 | k)];
            let flying = path.ordinal.wrapping_sub(path.seen.1) & 0xff;
            let span = path.psn.wrapping_sub(path.seen.0) & 0xff;
            let most = self.profile.window_most;
            let open = usable >> k & 1 == 1 && flying < window.min(most) && span < most;
            open.then(|| log2(flying + 1) + path.seen.2)
        };
        let cycle = self.cycle;
        let own =
            key(pair & 7).unwrap_or_else(|| panic!("cycle {cycle}: path {pair:#x} is not open"));
        let best = (0..8).filter_map(key).min();
        assert_eq!(
            Some(own),
            best,
            "cycle {cycle}: path {pair:#x} is not the best"
        );
        let path = &self.paths[&pair];
        assert!(
            (path.flying.len() as u64) < window,
            "cycle {cycle}: the window of {pair:#x} is exceeded"
        );
    }

    fn check_log(&self, job: &Record, probe: bool) {
        let cycle = self.cycle;
        assert!(
            self.ports.log[2].is_set(),
            "cycle {cycle}: every transmission is logged"
        );
        let [pair, ordinal, psn] = ["pair", "ordinal", "psn"].map(|name| job.get(name));
        assert_eq!(
            self.ports.log[0].get(),
            pair << 7 | ordinal % 128,
            "cycle {cycle}"
        );
        let entry = self.ports.log[1].record(LogEntry::FIELDS);
        assert_eq!(entry.get("probe"), u64::from(probe), "cycle {cycle}");
        assert!(
            probe || entry.get("psn") == psn % 256,
            "cycle {cycle}: {entry:?}"
        );
    }

    fn check_sent(&self, pair: u64, psn: u64, ordinal: u64, epoch: u64) {
        let cycle = self.cycle;
        assert!(
            self.ports.sent[2].is_set(),
            "cycle {cycle}: the path's numbers move"
        );
        assert_eq!(self.ports.sent[0].get(), pair, "cycle {cycle}");
        let sent = self.ports.sent[1].record(PathSent::FIELDS);
        let got = ["next_psn", "next_ordinal", "epoch"].map(|name| sent.get(name));
        assert_eq!(
            got,
            [psn, ordinal, epoch],
            "cycle {cycle}: numbers of {pair:#x}"
        );
    }
}
