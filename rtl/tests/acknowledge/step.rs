//! One cycle: transmissions, the receiver, frames of blocks, and what comes out.

use super::{Bench, Block, Outcome, Path, STAGES, Sent, frame, log2};
use osprey_rtl::tx::ack_processor::{
    AckedPacket, AckedUpdate, Forced, LogEntry, PacketRecord, PathSent,
};
use osprey_verilated::Record;

/// Longer than any block has been under way here, units of 128 ns.
const LONG: u64 = 0xc000;

impl Path {
    /// The receiver takes a transmission.
    pub(super) fn arrive(&mut self, sent: Sent) {
        let newer = |(seen, _): &(u64, u64)| sent.ordinal.wrapping_sub(*seen) & 0xffff < 0x8000;
        if self.newest.as_ref().is_none_or(newer) {
            self.newest = Some((sent.ordinal, sent.time));
        }
        let behind = |psn: &u64| psn.wrapping_sub(self.expected) & 0xff_ffff >= 0x80_0000;
        if let Some(psn) = sent.psn.filter(|psn| !behind(psn)) {
            self.received.insert(psn);
            while self.received.remove(&self.expected) {
                self.expected = (self.expected + 1) & 0xff_ffff;
            }
        }
    }
}

impl Bench<'_> {
    pub(super) fn step(&mut self) {
        self.offer_beat();
        let [acked, resend] =
            [self.profile.acked, self.profile.resend].map(|chance| self.stall.chance(chance));
        self.ports.acked[2].set(acked);
        self.ports.resend[2].set(resend);
        self.ports.now.set(self.now);
        self.model.eval();
        if self.offered && self.ports.beat[3].is_set() {
            self.beats.pop_front();
            self.offered = false;
        }
        self.check_outcome();
        self.check_update();
        self.check_queues();
        self.model.cycle();
        self.quiet();
        self.cycle += 1;
        self.now = (self.now + self.stall.below(3)) & 0xffff;
        while let Some(&(at, pair, told)) = self.telling.front() {
            if at + STAGES > self.cycle {
                break;
            }
            self.telling.pop_front();
            self.paths.get_mut(&pair).expect("it is open").told = told;
        }
    }

    fn offer_beat(&mut self) {
        self.offered =
            !self.beats.is_empty() && (self.offered || self.stall.chance(self.profile.offer));
        self.ports.beat[2].set(self.offered);
        if self.offered {
            let (bytes, last) = &self.beats[0];
            self.ports.beat[0].set_bytes(bytes);
            self.ports.beat[1].set(*last);
        }
    }

    fn check_outcome(&mut self) {
        let flags = [
            &self.ports.block_stale,
            &self.ports.block_invalid,
            &self.ports.block_taken,
        ]
        .map(|port| port.is_set());
        let got = match flags {
            [false, false, false] => return,
            [true, false, false] => Outcome::Stale,
            [false, true, false] => Outcome::Invalid,
            [false, false, true] => Outcome::Fresh,
            other => panic!("cycle {}: a block is judged twice: {other:?}", self.cycle),
        };
        let (pair, expected, block, queued) = self
            .outcomes
            .pop_front()
            .expect("a judgement without a block");
        assert_eq!(got, expected, "cycle {}: {pair:#x} {block:x?}", self.cycle);
        self.judged += 1;
        if got == Outcome::Fresh {
            self.fresh += 1;
            assert_eq!(self.ports.rtt[0].get(), pair, "cycle {}", self.cycle);
            let measures = block.delay < LONG;
            assert_eq!(
                self.ports.rtt[2].is_set(),
                measures,
                "cycle {}: {block:?}",
                self.cycle
            );
            if !measures {
                return;
            }
            let sample = self.ports.rtt[1].get();
            let least = (queued - block.echo - block.delay) & 0xffff;
            let most = (self.now.wrapping_sub(block.echo).wrapping_sub(block.delay)) & 0xffff;
            assert!(
                (least..=most).contains(&sample),
                "cycle {}: {least} {sample} {most}",
                self.cycle
            );
            let path = self.paths.get_mut(&pair).expect("it is open");
            path.srtt = if path.srtt == 0 {
                sample << 3
            } else {
                path.srtt - (path.srtt >> 3) + sample
            };
        }
    }

    fn check_update(&mut self) {
        if !self.ports.updated[1].is_set() {
            return;
        }
        let update = self.ports.updated[0].record(AckedUpdate::FIELDS);
        let pair = update.get("pair");
        let path = self.paths.get_mut(&pair).expect("it is open");
        let (cumulative, walked) = path.updates.pop_front().expect("an update without a block");
        let got = ["cumulative", "walked", "srtt", "srtt_log"].map(|name| update.get(name));
        let expected = [cumulative, walked, path.srtt, log2(path.srtt >> 3)];
        assert_eq!(got, expected, "cycle {}: update of {pair:#x}", self.cycle);
        self.telling
            .push_back((self.cycle, pair, (cumulative, walked)));
    }

    fn check_queues(&mut self) {
        let cycle = self.cycle;
        if self.ports.lost[1].is_set() {
            let expected = self.losses.pop_front().expect("a loss from nowhere");
            let [pair, by_probe, by_timeout] =
                [0, 2, 3].map(|index: usize| self.ports.lost[index].get());
            assert_eq!(
                (pair, by_probe == 1, by_timeout == 1),
                expected,
                "cycle {cycle}"
            );
        }
        if self.ports.acked[1].is_set() && self.ports.acked[2].is_set() {
            let expected = self.acked.pop_front().expect("acked from nowhere");
            let packet = self.ports.acked[0].record(AckedPacket::FIELDS);
            assert_eq!(
                (packet.get("connection"), packet.get("slot")),
                expected,
                "cycle {cycle}"
            );
        }
        if self.ports.resend[1].is_set() && self.ports.resend[2].is_set() {
            let expected = self.resends.pop_front().expect("a resend from nowhere");
            let order = self.ports.resend[0].record(Forced::FIELDS);
            assert_eq!(
                ["pair", "psn", "slot", "index"].map(|name| order.get(name)),
                expected,
                "cycle {cycle}"
            );
            assert_eq!(order.get("kind"), 0, "cycle {cycle}");
            self.again.push_back(expected);
        }
    }

    pub(super) fn write_sent(&self, pair: u64) {
        let path = &self.paths[&pair];
        let sent = Record::new(PathSent::FIELDS)
            .with("next_psn", path.psn)
            .with("next_ordinal", path.ordinal)
            .with("epoch", path.epoch);
        self.ports.sent[0].set(pair);
        self.ports.sent[1].set_record(&sent);
        self.ports.sent[2].set(1);
    }

    /// Logs a transmission as the scheduler does; the network takes it or loses it.
    pub(super) fn transmit(&mut self, pair: u64, psn: Option<u64>, lost: bool) {
        let timeout = psn.is_none() && self.stall.chance(50);
        let path = self.paths.get_mut(&pair).expect("it is open");
        let sent = Sent {
            ordinal: path.ordinal,
            psn,
            timeout,
            time: self.now,
        };
        path.ordinal = (path.ordinal + 1) & 0xffff;
        path.log.push_back(sent);
        if !lost {
            path.wire.push_back(sent);
        }
        let entry = Record::new(LogEntry::FIELDS)
            .with("psn", psn.unwrap_or(timeout.into()) % 256)
            .with("probe", psn.is_none());
        self.ports.log[0].set(pair << 7 | sent.ordinal % 128);
        self.ports.log[1].set_record(&entry);
        self.ports.log[2].set(1);
        self.write_sent(pair);
    }

    /// One transmission at most: a resend, a probe or new data.
    fn send(&mut self, loss: u64) {
        let lost = self.stall.chance(loss);
        if self.stall.chance(70)
            && let Some([pair, psn, _, _]) = self.again.pop_front()
        {
            return self.transmit(pair, Some(psn), lost);
        }
        let most = self.profile.window_most;
        let pairs: Vec<_> = self.paths.keys().copied().collect();
        let pair = self.stall.pick(&pairs);
        let path = self.paths.get_mut(&pair).expect("it is open");
        let flying = path.ordinal.wrapping_sub(path.told.1) & 0xffff;
        if self.judged < path.hold {
            return;
        }
        if self.stall.chance(self.profile.probe) {
            if flying < most - 4 {
                self.transmit(pair, None, lost);
            }
        } else if flying < most && path.psn.wrapping_sub(path.told.0) & 0xff_ffff < most {
            self.send_new(pair, lost);
        }
    }

    /// The path's next packet, and its record.
    pub(super) fn send_new(&mut self, pair: u64, lost: bool) {
        let path = self.paths.get_mut(&pair).expect("it is open");
        let psn = path.psn;
        path.psn = (psn + 1) & 0xff_ffff;
        path.sent += 1;
        let (slot, index) = (self.stall.below(64), self.stall.below(1 << 18));
        path.records.insert(psn, (slot, index));
        let record = Record::new(PacketRecord::FIELDS)
            .with("slot", slot)
            .with("index", index);
        self.ports.record[0].set(pair << 7 | psn % 128);
        self.ports.record[1].set_record(&record);
        self.ports.record[2].set(1);
        self.transmit(pair, Some(psn), lost);
    }

    /// The receiver takes some of what is on the wire; sometimes it makes a snapshot.
    fn receive(&mut self, snapshot: u64) {
        let pairs: Vec<_> = self.paths.keys().copied().collect();
        let pair = self.stall.pick(&pairs);
        let path = self.paths.get_mut(&pair).expect("it is open");
        let count = self.stall.below(path.wire.len() as u64 + 1) as usize;
        if count > 1 && self.stall.chance(self.profile.reorder) {
            path.wire.swap(0, count - 1);
        }
        let sents: Vec<_> = path.wire.drain(..count).collect();
        for sent in sents {
            path.arrive(sent);
        }
        if self.stall.chance(snapshot)
            && let Some(block) = self.snapshot(pair)
        {
            self.snapshots.push_back((pair, block));
            // A copy, or one that is overtaken.
            if self.stall.chance(self.profile.drop) {
                self.snapshots.push_back((pair, block));
            }
        }
    }

    /// What the receiver says of a path, if anything has come.
    pub(super) fn snapshot(&mut self, pair: u64) -> Option<Block> {
        let path = &self.paths[&pair];
        let (ordinal, time) = path.newest?;
        let mut vector = 0;
        for psn in (0..64).map(|ahead| (path.expected + ahead) & 0xff_ffff) {
            if path.received.contains(&psn) != (psn / 64 % 2 == 1) {
                vector |= 1 << (psn % 64);
            }
        }
        let (epoch, cumulative) = (path.epoch, path.expected);
        let delay = self.stall.below(1 + (self.now.wrapping_sub(time) & 0xffff));
        Some(Block {
            path: pair & 31,
            epoch,
            cumulative,
            ordinal,
            echo: time,
            delay,
            vector,
        })
    }

    /// A frame of up to four blocks, some of them spoilt; lost frames take theirs with them.
    pub(super) fn bring(&mut self) {
        if self.beats.len() > 6 || self.snapshots.is_empty() {
            return;
        }
        if self.stall.chance(self.profile.drop) {
            let at = self.stall.below(self.snapshots.len() as u64) as usize;
            self.snapshots.swap(0, at);
        }
        let connection = self.snapshots[0].0 >> 5;
        let most = 1 + self.stall.below(4) as usize;
        let mut blocks = Vec::new();
        while let Some(&(pair, block)) = self.snapshots.front() {
            if pair >> 5 != connection || blocks.len() == most {
                break;
            }
            self.snapshots.pop_front();
            blocks.push(block);
        }
        if self.stall.chance(self.profile.drop) {
            return;
        }
        for block in &mut blocks {
            let pair = connection << 5 | block.path;
            if self.stall.chance(self.profile.spoil) {
                self.spoil(pair, block);
            }
            // A peer's clock that is wrong: held for longer than it has been away.
            if self.stall.chance(self.profile.spoil) {
                block.delay = LONG + self.stall.below(0x1_0000 - LONG);
            }
            if block.path < self.profile.path_limit {
                let outcome = self.judge(pair, block);
                self.outcomes
                    .push_back((pair, outcome, *block, self.now + 0x10_0000));
            }
        }
        let bytes = frame(connection, &blocks, &mut self.stall);
        let count = bytes.len().div_ceil(64);
        for (index, beat) in bytes.chunks(64).enumerate() {
            let mut beat = beat.to_vec();
            beat.resize(64, 0xee);
            self.beats.push_back((beat, index + 1 == count));
        }
    }

    /// A block that speaks of what was never sent, or of another epoch.
    fn spoil(&mut self, pair: u64, block: &mut Block) {
        let path = self.paths.get_mut(&pair).expect("it is open");
        match self.stall.below(6) {
            0 => block.epoch ^= 1 << self.stall.below(8),
            1 => {
                block.ordinal = path.ordinal.wrapping_add(2_000 + self.stall.below(30_000)) & 0xffff
            }
            2 => {
                block.cumulative =
                    (path.cumulative + 65 + self.stall.below(0xff_ffff - 64)) & 0xff_ffff
            }
            3 => block.cumulative = path.cumulative.wrapping_sub(1) & 0xff_ffff,
            4 => {
                // A number beyond those that the engine knows.
                let limit = self.profile.path_limit;
                block.path += limit * (1 + self.stall.below(256 / limit - 1));
            }
            _ => {
                let waiting = path.psn.wrapping_sub(path.cumulative) & 0xff_ffff;
                if waiting < 64 {
                    block.cumulative = (path.psn + 1) & 0xff_ffff;
                    path.hold = self.judged + self.outcomes.len() + 1;
                }
            }
        }
    }

    pub fn run(&mut self, cycles: u64) {
        for _ in 0..cycles {
            self.receive(self.profile.snapshot);
            self.bring();
            if self.stall.chance(self.profile.send) {
                self.send(self.profile.loss);
            }
            self.step();
        }
        assert!(
            self.fresh > 30,
            "only {} blocks said something new",
            self.fresh
        );
    }

    /// Nothing is lost any more: all must be reported.
    pub fn drain(&mut self) {
        (self.profile.spoil, self.profile.drop, self.profile.loss) = (0, 0, 0);
        for round in 0.. {
            assert!(
                round < 400_000,
                "cycle {}: packets are never reported",
                self.cycle
            );
            let done = self
                .paths
                .values()
                .all(|path| path.acked.len() as u64 == path.sent);
            if done && self.acked.is_empty() {
                break;
            }
            self.profile.probe = 100;
            self.receive(20);
            self.bring();
            if round % 50 == 0 || !self.again.is_empty() {
                self.send(0);
            }
            self.step();
        }
        (0..300).for_each(|_| self.step());
        assert!(self.resends.is_empty() && self.losses.is_empty() && self.outcomes.is_empty());
    }
}
