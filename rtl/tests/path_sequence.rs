//! The receive window against a set of PSNs, with wraps, duplicates, vetoes and other epochs.

use osprey_rtl::emit;
use osprey_rtl::rx::path_sequence::{
    AckEvent, PathEvent, PathReceiveState, PathReceiveState256, PathSequence, PathSequence256,
    PathVerdict,
};
use osprey_verilated::{Model, Record, Source, Stall, lint};
use std::collections::{BTreeMap, BTreeSet, VecDeque};

/// What a path must know, said plainly.
#[derive(Clone, Default)]
struct Path {
    received: BTreeSet<u64>,
    /// PSN in full, without wrap.
    cumulative: u64,
    epoch: u8,
    next_ordinal: u16,
    count: u16,
    marked: u16,
}

#[derive(Debug, PartialEq)]
enum Said {
    Fresh,
    Duplicate,
    Outside,
    Stale,
    Probe,
}

impl Path {
    fn judge(&self, psn: u64, epoch: u8, data: bool, window: u64) -> Said {
        if epoch != self.epoch {
            Said::Stale
        } else if !data {
            Said::Probe
        } else if psn < self.cumulative || self.received.contains(&psn) {
            Said::Duplicate
        } else if psn >= self.cumulative + window {
            Said::Outside
        } else {
            Said::Fresh
        }
    }

    fn take(&mut self, psn: u64, ordinal: u16, said: &Said, marked: bool) {
        if (ordinal.wrapping_sub(self.next_ordinal) as i16) >= 0 {
            self.next_ordinal = ordinal.wrapping_add(1);
        }
        if *said == Said::Fresh {
            self.received.insert(psn);
            self.count = self.count.wrapping_add(1);
            self.marked = self.marked.wrapping_add(u16::from(marked));
            while self.received.remove(&self.cumulative) {
                self.cumulative += 1;
            }
        }
    }

    /// The bitvector as it stands on the wire: position PSN mod W, toggling with the lap.
    fn vector(&self, window: u64) -> Vec<u32> {
        let mut words = vec![0u32; window as usize / 32];
        for psn in self.cumulative..self.cumulative + window {
            let lap = (psn / window) % 2 == 1;
            if self.received.contains(&psn) != lap {
                words[(psn % window) as usize / 32] |= 1 << (psn % 32);
            }
        }
        words
    }
}

struct Event {
    pair: u64,
    psn: u64,
    epoch: u8,
    ordinal: u16,
    data: bool,
    marked: bool,
    urgent: bool,
    veto: bool,
    clear: bool,
}

fn record(event: &Event) -> Record {
    Record::new(PathEvent::FIELDS)
        .with("pair", event.pair)
        .with("psn", event.psn & 0xff_ffff)
        .with("epoch", u64::from(event.epoch))
        .with("ordinal", u64::from(event.ordinal))
        .with("data", u64::from(event.data))
        .with("marked", u64::from(event.marked))
        .with("urgent", u64::from(event.urgent))
        .with("clear", u64::from(event.clear))
}

fn run(model: &Model, fields: &'static [(&'static str, usize)], window: u64, seed: u64) {
    let mut stall = Stall::new(seed);
    let packet = model.input("packet");
    let packet_valid = model.input("packet_valid");
    let packet_ready = model.output("packet_ready");
    let veto = model.input("veto");
    let verdict = model.output("verdict");
    let verdict_valid = model.output("verdict_valid");
    let ack = model.output("ack");
    let ack_valid = model.output("ack_valid");
    let read_pair = model.input("read_pair");
    let read_state = model.output("read_state");
    model.reset();

    let mut paths: BTreeMap<u64, Path> = BTreeMap::new();
    let mut pending: VecDeque<Event> = VecDeque::new();
    // Every path starts near a wrap of its PSN, a multiple of 2 W, and of its ordinal.
    for pair in 0..8 {
        let cumulative = 0xff_ffff - (2 * window - 1) + if pair % 2 == 0 { 0 } else { 0x100_0000 };
        let epoch = (250 + pair) as u8;
        let ordinal = 0xfff0 + pair as u16;
        paths.insert(
            pair,
            Path {
                cumulative,
                epoch,
                next_ordinal: ordinal,
                ..Path::default()
            },
        );
        pending.push_back(Event {
            pair,
            psn: cumulative,
            epoch,
            ordinal,
            data: false,
            marked: false,
            urgent: false,
            veto: false,
            clear: true,
        });
    }
    let mut vetoes: VecDeque<bool> = VecDeque::from(vec![false; 4]);
    let mut said: VecDeque<Said> = VecDeque::new();
    let mut news: VecDeque<(u64, bool)> = VecDeque::new();
    let mut judged = 0;
    let mut heard = 0;
    for cycle in 0..20_000 {
        if pending.is_empty() && cycle < 19_900 {
            let pair = stall.below(8);
            let path = &paths[&pair];
            let spread = window + 8;
            let mut psn = path.cumulative + stall.below(spread);
            if stall.chance(50) {
                psn = path.cumulative;
            } else if stall.chance(10) {
                psn = path.cumulative.saturating_sub(1 + stall.below(window));
            }
            pending.push_back(Event {
                pair,
                psn,
                epoch: path.epoch.wrapping_add(u8::from(stall.chance(3))),
                ordinal: path.next_ordinal.wrapping_add(stall.below(3) as u16),
                data: !stall.chance(10),
                marked: stall.chance(30),
                urgent: stall.chance(10),
                veto: stall.chance(5),
                clear: false,
            });
        }
        let offered = !pending.is_empty() && !stall.chance(20);
        packet_valid.set(u64::from(offered));
        if let Some(event) = pending.front() {
            packet.set_record(&record(event));
        }
        veto.set(u64::from(vetoes.pop_front().unwrap_or(false)));
        model.eval();
        let taken = offered && packet_ready.is_set();
        if taken {
            let event = pending.pop_front().expect("one is offered");
            vetoes.resize(3, false);
            vetoes.push_back(event.veto && event.data);
            if !event.clear {
                let path = paths.get_mut(&event.pair).expect("all paths are known");
                let verdict = path.judge(event.psn, event.epoch, event.data, window);
                // A veto speaks of new packets alone.
                let refused = event.veto && event.data && verdict == Said::Fresh;
                if !matches!(verdict, Said::Stale | Said::Outside) && !refused {
                    let gap = event.ordinal != path.next_ordinal;
                    news.push_back((
                        event.pair,
                        gap || event.urgent || verdict == Said::Duplicate,
                    ));
                    path.take(event.psn, event.ordinal, &verdict, event.marked);
                }
                said.push_back(verdict);
            }
        }
        if verdict_valid.is_set() {
            let expected = said.pop_front().expect("a verdict for every event");
            let field = |name| verdict.field(PathVerdict::FIELDS, name) == 1;
            let got = match (
                field("fresh"),
                field("duplicate"),
                field("outside"),
                field("stale"),
            ) {
                (true, false, false, false) => Said::Fresh,
                (false, true, false, false) => Said::Duplicate,
                (false, false, true, false) => Said::Outside,
                (false, false, false, true) => Said::Stale,
                (false, false, false, false) => Said::Probe,
                other => panic!("seed {seed}, cycle {cycle}: verdict {other:?} says two things"),
            };
            assert_eq!(got, expected, "seed {seed}, cycle {cycle}");
            judged += 1;
        }
        if ack_valid.is_set() {
            let (pair, urgent) = news.pop_front().expect("news only after an event");
            assert_eq!(
                ack.field(AckEvent::FIELDS, "pair"),
                pair,
                "seed {seed}, cycle {cycle}"
            );
            assert_eq!(
                ack.field(AckEvent::FIELDS, "urgent") == 1,
                urgent,
                "seed {seed}, cycle {cycle}: urgent"
            );
            heard += 1;
        }
        model.cycle();
    }
    assert!(
        said.is_empty() && news.is_empty(),
        "seed {seed}: {} verdicts, {} news missing",
        said.len(),
        news.len()
    );
    assert!(
        judged > 2_000 && heard > 1_500,
        "seed {seed}: only {judged} verdicts, {heard} news"
    );
    for (pair, path) in &paths {
        read_pair.set(*pair);
        packet_valid.set(0u64);
        model.cycle();
        model.eval();
        let state = read_state.record(fields);
        let context = format!("seed {seed}, path {pair}");
        assert_eq!(
            state.get("cumulative"),
            path.cumulative & 0xff_ffff,
            "{context}"
        );
        assert_eq!(
            state.get("next_ordinal"),
            u64::from(path.next_ordinal),
            "{context}"
        );
        assert_eq!(state.get("received"), u64::from(path.count), "{context}");
        assert_eq!(state.get("marked"), u64::from(path.marked), "{context}");
        assert_eq!(state.get_words("vector"), path.vector(window), "{context}");
    }
}

fn check(source: &Source, fields: &'static [(&'static str, usize)], window: u64) {
    lint(source).expect("the block is clean");
    let model = Model::build(source).expect("the block compiles");
    for seed in 0..5 {
        run(&model, fields, window, seed);
    }
}

#[test]
fn windows_of_64_follow_a_set_of_psns() {
    let text = emit::verilog("path_sequence", PathSequence::new(5));
    check(
        &Source::new("path_sequence", text),
        PathReceiveState::FIELDS,
        64,
    );
}

#[test]
fn windows_of_256_follow_a_set_of_psns() {
    let text = emit::verilog("path_sequence256", PathSequence256::new(5));
    check(
        &Source::new("path_sequence256", text),
        PathReceiveState256::FIELDS,
        256,
    );
}
