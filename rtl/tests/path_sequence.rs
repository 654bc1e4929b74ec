//! The receive window against a set of PSNs, with wraps, duplicates, vetoes and other epochs.
//!
//! The state is read after every event. Full words and full windows do not come by chance: a path is given
//! a target, and all packets before that arrive ahead of the cumulative one.

use osprey_rtl::emit;
use osprey_rtl::rx::path_sequence::{
    AckEvent, PathEvent, PathReceiveState, PathReceiveState256, PathSequence, PathSequence256,
    PathVerdict,
};
use osprey_verilated::{Model, Record, Source, Stall, lint};
use std::collections::{BTreeMap, BTreeSet, VecDeque};

const CYCLES: u64 = 120_000;
/// From the cycle in which an event is taken to the verdict, and to the word that there is something to acknowledge.
const VERDICT_AFTER: u64 = 4;
const ACK_AFTER: u64 = 11;
/// By then every path has started.
const FIRST_CLEARS: u64 = 100;

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
    /// All before this one are to arrive before the cumulative one does.
    target: Option<u64>,
}

/// Where the first hole was found: the word of the window where the packet was, and the hole's place seen from there.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Hole {
    SameWordLater,
    LaterWord,
    EarlierWord,
    SameWordEarlier,
    /// The whole window was there.
    None,
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

    /// Starts anew.
    fn clear(&mut self, psn: u64, ordinal: u16) {
        *self = Self {
            cumulative: psn,
            next_ordinal: ordinal,
            epoch: self.epoch.wrapping_add(1),
            ..Self::default()
        };
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
            if self.target.is_some_and(|target| self.cumulative >= target) {
                self.target = None;
            }
        }
    }

    /// A hole that the cumulative PSN is to jump to: each kind about as often.
    fn aim(&mut self, window: u64, stall: &mut Stall) {
        let far = match stall.below(4) {
            0 => 1 + stall.below(32),
            1 => 1 + stall.below(window),
            2 => window - stall.below(32),
            _ => window,
        };
        self.target = Some(self.cumulative + far);
    }

    /// A packet that is missing before the target; the cumulative one is the last to come.
    fn missing(&self, target: u64, stall: &mut Stall) -> u64 {
        let missing: Vec<u64> = (self.cumulative + 1..target)
            .filter(|psn| !self.received.contains(psn))
            .collect();
        if missing.is_empty() {
            self.cumulative
        } else {
            missing[stall.below(missing.len() as u64) as usize]
        }
    }

    /// What may come at any time: old, new, too early.
    fn any_psn(&self, window: u64, stall: &mut Stall) -> u64 {
        if stall.chance(10) {
            return self.cumulative.saturating_sub(1 + stall.below(window));
        }
        let psn = self.cumulative + stall.below(window + 8);
        // The cumulative one would end the filling, the target would move it.
        let unwanted = self.target.is_some() && psn == self.cumulative;
        if unwanted || self.target == Some(psn) {
            self.cumulative.saturating_sub(1)
        } else {
            psn
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

/// The next event for a path.
fn invent(path: &Path, pair: u64, window: u64, stall: &mut Stall) -> Event {
    if stall.below(2_000) == 0 {
        // An empty vector means "nothing is here" in an even lap only: a path starts at a multiple of 2 W.
        let psn = (1 + stall.below(0x100_0000 / window)) * 2 * window;
        return clearing(
            pair,
            psn,
            path.epoch.wrapping_add(1),
            stall.below(0x1_0000) as u16,
        );
    }
    let psn = match path.target {
        Some(target) if stall.chance(85) => path.missing(target, stall),
        None if stall.chance(50) => path.cumulative,
        _ => path.any_psn(window, stall),
    };
    Event {
        pair,
        psn,
        epoch: path.epoch.wrapping_add(u8::from(stall.chance(3))),
        ordinal: path.next_ordinal.wrapping_add(stall.below(3) as u16),
        data: !stall.chance(10),
        marked: stall.chance(30),
        urgent: stall.chance(10),
        veto: stall.chance(5),
        clear: false,
    }
}

fn clearing(pair: u64, psn: u64, epoch: u8, ordinal: u16) -> Event {
    Event {
        pair,
        psn,
        epoch,
        ordinal,
        data: false,
        marked: false,
        urgent: false,
        veto: false,
        clear: true,
    }
}

/// Where the cumulative PSN went from `from`, which came last.
fn kind_of(from: u64, to: u64, window: u64) -> Hole {
    let word = |psn: u64| psn % window / 32;
    let wraps = to / window != from / window;
    if to == from + window {
        Hole::None
    } else if word(from) == word(to) {
        if wraps {
            Hole::SameWordEarlier
        } else {
            Hole::SameWordLater
        }
    } else if wraps {
        Hole::EarlierWord
    } else {
        Hole::LaterWord
    }
}

/// What is expected with an ACK event.
struct News {
    when: u64,
    pair: u64,
    urgent: bool,
    cumulative: u64,
    vector: Vec<u32>,
}

/// Where holes were found, by the packet's word.
type Seen = BTreeSet<(u64, Hole)>;

fn run(
    model: &Model,
    fields: &'static [(&'static str, usize)],
    window: u64,
    seed: u64,
    seen: &mut Seen,
) {
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
        pending.push_back(clearing(pair, cumulative, epoch, ordinal));
    }
    let mut vetoes: VecDeque<bool> = VecDeque::from(vec![false; 4]);
    let mut said: VecDeque<(u64, Said)> = VecDeque::new();
    let mut news: VecDeque<News> = VecDeque::new();
    let mut reading: Option<News> = None;
    let mut judged = 0;
    let mut heard = 0;
    for cycle in 0..CYCLES {
        if pending.is_empty() && cycle < CYCLES - 100 {
            let pair = stall.below(8);
            let path = paths.get_mut(&pair).expect("all paths are known");
            if path.target.is_none() && stall.chance(20) {
                path.aim(window, &mut stall);
            }
            pending.push_back(invent(path, pair, window, &mut stall));
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
            let path = paths.get_mut(&event.pair).expect("all paths are known");
            if event.clear && cycle > FIRST_CLEARS {
                path.clear(event.psn, event.ordinal);
            }
            if !event.clear {
                let verdict = path.judge(event.psn, event.epoch, event.data, window);
                // A veto speaks of new packets alone.
                let refused = event.veto && event.data && verdict == Said::Fresh;
                if !matches!(verdict, Said::Stale | Said::Outside) && !refused {
                    let gap = event.ordinal != path.next_ordinal;
                    let from = path.cumulative;
                    path.take(event.psn, event.ordinal, &verdict, event.marked);
                    if path.cumulative != from {
                        let word = from % window / 32;
                        seen.insert((word, kind_of(from, path.cumulative, window)));
                    }
                    news.push_back(News {
                        when: cycle + ACK_AFTER,
                        pair: event.pair,
                        urgent: gap || event.urgent || verdict == Said::Duplicate,
                        cumulative: path.cumulative & 0xff_ffff,
                        vector: path.vector(window),
                    });
                }
                said.push_back((cycle + VERDICT_AFTER, verdict));
            }
        }
        if verdict_valid.is_set() {
            let (when, expected) = said.pop_front().expect("a verdict for every event");
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
            assert_eq!((cycle, got), (when, expected), "seed {seed}, cycle {cycle}");
            judged += 1;
        }
        if let Some(told) = reading.take() {
            let state = read_state.record(fields);
            let context = format!("seed {seed}, cycle {cycle}, path {}", told.pair);
            assert_eq!(state.get("cumulative"), told.cumulative, "{context}");
            assert_eq!(state.get_words("vector"), told.vector, "{context}");
        }
        if ack_valid.is_set() {
            let told = news.pop_front().expect("news only after an event");
            let got = (
                cycle,
                ack.field(AckEvent::FIELDS, "pair"),
                ack.field(AckEvent::FIELDS, "urgent") == 1,
            );
            assert_eq!(got, (told.when, told.pair, told.urgent), "seed {seed}");
            read_pair.set(told.pair);
            reading = Some(told);
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
        judged > 20_000 && heard > 15_000,
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
    let mut seen = Seen::new();
    for seed in 0..5 {
        run(&model, fields, window, seed, &mut seen);
    }
    // The first word has none before it, the last none behind it.
    let words = window / 32;
    assert_eq!(seen.len() as u64, 5 * words - 2, "{seen:?}");
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
