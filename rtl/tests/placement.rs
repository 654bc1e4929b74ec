//! What becomes of a frame, from class, verdict and addresses, against the rules in a plain order.

mod bench;

use bench::seeds;
use osprey_rtl::dma::FrameRoute;
use osprey_rtl::dma::memory_translation::Translated;
use osprey_rtl::emit;
use osprey_rtl::rx::classifier::Classified;
use osprey_rtl::rx::message_table::PlacedPacket;
use osprey_rtl::rx::path_sequence::PathVerdict;
use osprey_rtl::rx::placement::{ControlRing, Placement, Refusal, reason};
use osprey_verilated::{Model, Record, Source, Stall, lint};
use std::collections::VecDeque;

fn source() -> Source {
    Source::new("placement", emit::verilog("placement", Placement::new()))
}

fn random(stall: &mut Stall, fields: &'static [(&'static str, usize)]) -> Record {
    let mut record = Record::new(fields);
    for &(name, bits) in fields {
        record.set(
            name,
            if bits == 64 {
                stall.bits()
            } else {
                stall.bits() & ((1 << bits) - 1)
            },
        );
    }
    record
}

#[derive(Debug)]
struct Frame {
    at: u64,
    class: Record,
    verdict: Record,
    translated: Record,
}

impl Frame {
    fn random(stall: &mut Stall, at: u64) -> Self {
        let mut class = random(stall, Classified::FIELDS);
        let kind = stall.pick(&[0, 1, 1, 1, 1, 2, 3, 4, 5]);
        class.set("kind", kind);
        let why = if kind == 0 { 1 + stall.below(23) } else { 0 };
        class.set("reason", why);
        let transport = 16 + stall.below(241);
        class.set("transport_bytes", transport);
        let mut verdict = Record::new(PathVerdict::FIELDS);
        match stall.below(8) {
            0 => verdict.set("duplicate", 1),
            1 => verdict.set("outside", 1),
            2 => verdict.set("stale", 1),
            _ if kind == 1 => verdict.set("fresh", 1),
            _ => {}
        }
        if kind == 2 && verdict.get("stale") == 0 {
            verdict = Record::new(PathVerdict::FIELDS);
        }
        let length = stall.below(4097);
        class.set("length", length);
        let mut translated = random(stall, Translated::FIELDS);
        let whole = stall.chance(70);
        translated.set(
            "length0",
            if whole {
                length
            } else {
                stall.below(length + 1)
            },
        );
        let fault = stall.below(10);
        translated.set("bad_key", fault == 0);
        translated.set("out_of_bounds", fault == 1);
        Self {
            at,
            class,
            verdict,
            translated,
        }
    }

    fn is_refused(&self) -> bool {
        self.translated.get("bad_key") == 1 || self.translated.get("out_of_bounds") == 1
    }

    /// The reason to drop it, or 0; `ring_full` of the CONTROL ring.
    fn why(&self, ring_full: bool) -> u64 {
        let said = |name| self.verdict.get(name) == 1;
        match self.class.get("kind") {
            1 | 2 if said("stale") => reason::EPOCH,
            1 | 2 if said("duplicate") => reason::DUPLICATE,
            1 | 2 if said("outside") => reason::WINDOW,
            1 if self.translated.get("bad_key") == 1 => reason::KEY,
            1 if self.translated.get("out_of_bounds") == 1 => reason::BOUNDS,
            4 if ring_full => reason::CONTROL_RING,
            _ => self.class.get("reason"),
        }
    }
}

struct Ring {
    address: u64,
    log_entries: u64,
    given: u64,
    taken: u64,
}

/// The layout of `WritePlan`, a struct of wires.
const PLAN: &[(&str, usize)] = &[
    ("address0", 64),
    ("beats0", 7),
    ("address1", 64),
    ("beats1", 7),
    ("empty", 1),
    ("split", 1),
    ("discard", 1),
];

/// Where a frame's beats go, known with its class; what does not count is left out.
fn route(class: &Record, ring: &Ring) -> Vec<(&'static str, u64)> {
    match class.get("kind") {
        1 => vec![
            ("kind", 1),
            ("source", 48),
            ("lane", class.get("lane")),
            ("length", class.get("length")),
        ],
        3 => vec![("kind", 2)],
        4 => vec![
            ("kind", 1),
            ("source", 0),
            ("lane", ring.address % 64),
            ("length", class.get("transport_bytes")),
        ],
        _ => vec![("kind", 0)],
    }
}

/// The plan of a frame that goes through the aligner, field by field; nothing else of it counts.
fn plan(frame: &Frame, why: u64, ring: &Ring) -> Option<Vec<(&'static str, u64)>> {
    let class = |name| frame.class.get(name);
    let place = |name| frame.translated.get(name);
    if ![1, 4].contains(&class("kind")) {
        return None;
    }
    if why != 0 {
        return Some(vec![("discard", 1)]);
    }
    let entry = ring
        .address
        .wrapping_add(256 * (ring.taken % (1 << ring.log_entries)));
    let (address0, length0, length) = if class("kind") == 1 {
        (place("address0"), place("length0"), class("length"))
    } else {
        let bytes = class("transport_bytes");
        (entry, bytes, bytes)
    };
    let mut fields = vec![
        ("discard", 0),
        ("empty", u64::from(length == 0)),
        ("address0", address0),
        ("beats0", (address0 % 64 + length0).div_ceil(64)),
        ("split", u64::from(length0 < length)),
    ];
    if length0 < length {
        fields.push(("address1", place("address1")));
        fields.push(("beats1", (length - length0).div_ceil(64)));
    }
    Some(fields)
}

/// What is told of a frame a cycle after its fate was decided.
#[derive(Default, Debug)]
struct Told {
    drop: u64,
    accepted: u64,
    /// Pair and message.
    refusal: Option<[u64; 2]>,
    nack: Option<u64>,
}

impl Told {
    fn of(frame: &Frame, why: u64) -> Self {
        let get = |name| frame.class.get(name);
        let kind = get("kind");
        let is_refused = kind == 1 && (why == reason::KEY || why == reason::BOUNDS);
        Self {
            drop: why,
            accepted: match why {
                0 => [0, 1, 2, 4, 8, 0][kind as usize],
                _ => 0,
            },
            refusal: is_refused.then(|| ["pair", "message"].map(get)),
            nack: (why == 0 && kind == 5).then(|| get("pair") >> 5),
        }
    }
}

fn run(seed: u64) {
    let model = Model::build(&source()).unwrap();
    let mut stall = Stall::new(seed);
    let input = |name: &str| model.input(name);
    let output = |name: &str| model.output(name);
    let [
        class,
        class_valid,
        refused,
        verdict,
        translated,
        ring_given,
        plan_ready,
        order_room,
        route_room,
    ] = [
        "frame",
        "frame_valid",
        "refused",
        "verdict",
        "translated",
        "ring_given",
        "plan_ready",
        "order_room",
        "route_room",
    ]
    .map(input);
    let [
        room,
        veto,
        plan_out,
        plan_valid,
        ordered,
        ordered_valid,
        refusal,
        refusal_valid,
    ] = [
        "frame_room",
        "veto",
        "plan",
        "plan_valid",
        "ordered",
        "ordered_valid",
        "refusal",
        "refusal_valid",
    ]
    .map(output);
    let [nack, nack_valid, drop_reason, drop_valid, accepted] = [
        "nack_connection",
        "nack_valid",
        "drop_reason",
        "drop_valid",
        "accepted",
    ]
    .map(output);
    let mut ring = Ring {
        address: stall.bits() & !0xff,
        log_entries: 2 + stall.below(5),
        given: 0,
        taken: 0,
    };
    input("ring").set_record(
        &Record::new(ControlRing::FIELDS)
            .with("address", ring.address)
            .with("log_entries", ring.log_entries),
    );
    model.reset();
    let mut frames: VecDeque<Frame> = VecDeque::new();
    let mut plans: VecDeque<Vec<(&str, u64)>> = VecDeque::new();
    let mut reasons = [0; 32];
    let (mut late, mut was_full) = (Told::default(), true);
    let push = stall.pick(&[30, 100]);
    for cycle in 0..30_000u64 {
        if ring.given - ring.taken < 1 << ring.log_entries && stall.chance(1) {
            ring.given += 1;
        }
        ring_given.set(ring.given & 0xffff);
        plan_ready.set(stall.chance([20, 60, 100][seed as usize % 3]));
        order_room.set(stall.chance(80));
        class_valid.set(0);
        let has_route_room = stall.chance(90);
        route_room.set(has_route_room);
        model.eval();
        assert!(has_route_room || !room.is_set(), "no room for a route");
        // The classifier gives a frame every three cycles at most.
        let is_early = frames.back().is_some_and(|frame| frame.at + 3 > cycle);
        if room.is_set() && !is_early && stall.chance(push) {
            let frame = Frame::random(&mut stall, cycle);
            class.set_record(&frame.class);
            class_valid.set(1);
            model.eval();
            let told = model.output("route").record(FrameRoute::FIELDS);
            for (name, value) in route(&frame.class, &ring) {
                assert_eq!(told.get(name), value, "{name} of {told:?}, {frame:?}");
            }
            frames.push_back(frame);
        }
        assert_eq!(model.output("route_valid").get(), class_valid.get());
        // What the neighbours say of frames of 4 and 8 cycles ago.
        let of = |age: u64| frames.iter().find(|frame| frame.at + age == cycle);
        let noise = random(&mut stall, Translated::FIELDS);
        translated.set_record(of(8).map_or(&noise, |frame| &frame.translated));
        let blank = Record::new(PathVerdict::FIELDS);
        verdict.set_record(of(4).map_or(&blank, |frame| &frame.verdict));
        refused.set(of(4).is_some_and(Frame::is_refused));
        model.eval();
        if let Some(frame) = of(4) {
            let expected = frame.is_refused() && frame.class.get("kind") == 1;
            assert_eq!(veto.is_set(), expected, "cycle {cycle}: {frame:?}");
        }
        let due = frames.front().is_some_and(|frame| frame.at + 8 == cycle);
        // What was decided in the cycle before is told now.
        let told = std::mem::take(&mut late);
        let context = format!("cycle {cycle}: {told:?}");
        assert_eq!(drop_valid.is_set(), told.drop != 0, "{context}");
        assert!(
            told.drop == 0 || drop_reason.get() == told.drop,
            "{context}: {}",
            drop_reason.get()
        );
        assert_eq!(accepted.get(), told.accepted, "{context}");
        assert_eq!(refusal_valid.is_set(), told.refusal.is_some(), "{context}");
        if let Some(expected) = told.refusal {
            let got = refusal.record(Refusal::FIELDS);
            assert_eq!(["pair", "message"].map(|name| got.get(name)), expected);
        }
        assert_eq!(nack_valid.is_set(), told.nack.is_some(), "{context}");
        assert!(told.nack.is_none_or(|it| it == nack.get()), "{context}");
        let ring_full = std::mem::replace(&mut was_full, ring.given == ring.taken);
        let Some(frame) = (if due { frames.pop_front() } else { None }) else {
            assert_eq!(ordered_valid.get(), 0, "cycle {cycle}");
            take(&plan_out, &plan_valid, plan_ready.is_set(), &mut plans);
            model.cycle();
            continue;
        };
        let why = frame.why(ring_full);
        let kind = frame.class.get("kind");
        let context = format!("cycle {cycle}, reason {why}: {frame:?}");
        reasons[why as usize] += 1;
        late = Told::of(&frame, why);
        let writes = why == 0 && (kind == 1 || kind == 4);
        assert_eq!(ordered_valid.is_set(), writes, "{context}");
        if writes {
            let order = ordered.record(PlacedPacket::FIELDS);
            let same: &[&str] = if kind == 1 {
                &["pair", "message", "length", "total"]
            } else {
                &["plane"]
            };
            for name in same {
                assert_eq!(order.get(name), frame.class.get(name), "{name}, {context}");
            }
            assert_eq!(order.get("control"), u64::from(kind == 4), "{context}");
            if kind == 4 {
                assert_eq!(order.get("index"), ring.taken & 0xffff, "{context}");
                assert_eq!(
                    order.get("length"),
                    frame.class.get("transport_bytes"),
                    "{context}"
                );
            }
        }
        take(&plan_out, &plan_valid, plan_ready.is_set(), &mut plans);
        plans.extend(plan(&frame, why, &ring));
        ring.taken += u64::from(writes && kind == 4);
        model.cycle();
    }
    let seen: Vec<_> = [0, 24, 25, 26, 27, 28, 29]
        .map(|why: usize| reasons[why])
        .to_vec();
    assert!(seen.iter().all(|&count| count > 10), "{seen:?}");
}

/// A plan leaves, in the order of the frames.
fn take(
    plan: &osprey_verilated::Port,
    valid: &osprey_verilated::Port,
    ready: bool,
    plans: &mut VecDeque<Vec<(&str, u64)>>,
) {
    assert!(plans.len() <= 32, "plans pile up");
    if valid.is_set() && ready {
        let got = plan.record(PLAN);
        for (name, value) in plans.pop_front().expect("a plan from nowhere") {
            assert_eq!(got.get(name), value, "{name} of {got:?}");
        }
    }
}

#[test]
fn the_verilog_is_clean() {
    lint(&source()).unwrap();
}

#[test]
fn every_frame_has_one_fate() {
    seeds("placement::every_frame_has_one_fate", 6, run);
}
