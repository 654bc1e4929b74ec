//! What a frame is, against a plain reading of its header: class or reason, path event, memory request.

mod bench;

use bench::seeds;
use osprey_rtl::dma::memory_translation::TranslateRequest;
use osprey_rtl::emit;
use osprey_rtl::rx::FrameInfo;
use osprey_rtl::rx::classifier::{Classified, Classifier, ReceiveSettings, reason};
use osprey_rtl::rx::path_sequence::PathEvent;
use osprey_verilated::{Model, Record, Source, Stall, lint};

const CONNECTIONS: u64 = 16;

fn source() -> Source {
    Source::new(
        "classifier",
        emit::verilog("classifier", Classifier::new(4)),
    )
}

#[derive(Clone, Copy, Debug)]
struct Settings {
    enabled: bool,
    incarnation: u64,
    paths: u64,
}

#[derive(Debug)]
struct Frame {
    bytes: Vec<u8>,
    length: u64,
    plane: u64,
    marked: bool,
}

fn number(bytes: &[u8], from: usize, count: usize) -> u64 {
    bytes[from..from + count]
        .iter()
        .fold(0, |value, byte| value << 8 | u64::from(*byte))
}

/// A frame that is good but for one or two faults at random.
fn frame(stall: &mut Stall, settings: &[Settings]) -> Frame {
    let mut bytes = stall.bytes(64);
    let kind = stall.pick(&[0u8, 0, 0, 1, 2, 3, 6]);
    let connection = if kind == 6 {
        0
    } else {
        1 + stall.below(CONNECTIONS - 1)
    };
    let known = settings[connection as usize];
    let enabled: Vec<u64> = (0..32)
        .filter(|path| known.paths >> path & 1 == 1)
        .collect();
    let path = stall.pick(&enabled);
    bytes[0] = 0x10 | kind;
    bytes[2..4].copy_from_slice(&(known.incarnation as u16).to_be_bytes());
    bytes[4..7].copy_from_slice(&(connection as u32).to_be_bytes()[1..]);
    bytes[7] = path as u8;
    let mut length = match kind {
        0 => {
            let some = 1 + stall.below(4096);
            let payload = stall.pick(&[0, 1, 4096, some]);
            let rest = stall.below(1 << 30);
            let total = payload + stall.pick(&[0, rest]);
            let offset = stall.pick(&[0, total - payload]);
            bytes[28..32].copy_from_slice(&[(payload >> 8) as u8, payload as u8, 0, 0]);
            bytes[36..40].copy_from_slice(&(total as u32).to_be_bytes());
            bytes[40..44].copy_from_slice(&(offset as u32).to_be_bytes());
            48 + payload
        }
        1 => {
            bytes[10] = 1 + stall.below(4) as u8;
            16 + 24 * u64::from(bytes[10])
        }
        2 => 32,
        3 => 24,
        _ => 16 + stall.below(241),
    };
    let mut plane = path >> 3;
    match stall.below(20) {
        0 => length = stall.below(5_000),
        1 => length += 1,
        2 => bytes[0] = stall.bits() as u8,
        3 => bytes[0] = 0x10 | (stall.bits() as u8 & 15),
        4 => bytes[3] ^= 1 << stall.below(8),
        // Numbers that differ from a good one only above the engine's own (low bits alike).
        5 => bytes[4 + stall.below(2) as usize] ^= 1 << stall.below(8),
        6 => bytes[6] ^= 1 << stall.below(8),
        7 => bytes[7] ^= 1 << stall.below(8),
        8 => plane = stall.below(4),
        9 => bytes[30 + stall.below(2) as usize] = stall.bits() as u8,
        10 => bytes[36 + stall.below(8) as usize] = stall.bits() as u8,
        11 => bytes[28] = stall.bits() as u8,
        12 => bytes[10] = stall.bits() as u8,
        _ => {}
    }
    Frame {
        bytes,
        length,
        plane,
        marked: stall.chance(50),
    }
}

/// The reason to drop it, or 0 (clauses T-3.2 to T-3.7).
fn judge(frame: &Frame, settings: &[Settings]) -> u64 {
    let bytes = &frame.bytes;
    let kind = bytes[0] & 15;
    let field = |from, count| number(bytes, from, count);
    if bytes[0] >> 4 != 1 {
        return reason::VERSION;
    }
    if ![0, 1, 2, 3, 6].contains(&kind) {
        return reason::TYPE;
    }
    let connection = field(4, 3);
    if kind == 6 {
        return match (connection, frame.length) {
            (1.., _) => reason::CONNECTION,
            (0, 16..=256) => 0,
            _ => reason::LENGTH,
        };
    }
    let known = match settings.get(connection as usize) {
        Some(known) if known.enabled && connection != 0 => known,
        _ => return reason::CONNECTION,
    };
    if known.incarnation != field(2, 2) {
        return reason::INCARNATION;
    }
    let [payload, total, offset] =
        [(28, 2), (36, 4), (40, 4)].map(|(from, count)| field(from, count));
    if kind == 0 && offset + payload > total {
        return reason::MESSAGE;
    }
    if kind == 0 && (bytes[30] != 0 || bytes[31] != 0) {
        return reason::OPERATION;
    }
    let path = u64::from(bytes[7]);
    let enabled = path < 32 && known.paths >> path & 1 == 1 && path >> 3 == frame.plane;
    if (kind == 0 || kind == 3) && !enabled {
        return reason::PATH;
    }
    let fits = match kind {
        0 => payload <= 4096 && frame.length == 48 + payload,
        1 => (1..=4).contains(&bytes[10]) && frame.length == 16 + 24 * u64::from(bytes[10]),
        2 => frame.length == 32,
        _ => frame.length == 24,
    };
    if fits { 0 } else { reason::LENGTH }
}

fn check_class(frame: &Frame, why: u64, got: &Record, context: &str) {
    let bytes = &frame.bytes;
    let class = match (why, bytes[0] & 15) {
        (1.., _) => 0,
        (0, 0) => 1,
        (0, 3) => 2,
        (0, 1) => 3,
        (0, 6) => 4,
        _ => 5,
    };
    assert_eq!(
        (got.get("kind"), got.get("reason")),
        (class, why),
        "{context}"
    );
    if class == 0 {
        return;
    }
    assert_eq!(got.get("plane"), frame.plane, "{context}");
    assert_eq!(got.get("transport_bytes"), frame.length, "{context}");
    let pair = number(bytes, 4, 3) << 5 | u64::from(bytes[7] & 31);
    let expected = match class {
        1 => vec![
            ("pair", pair),
            ("message", number(bytes, 32, 2)),
            ("length", number(bytes, 28, 2)),
            ("lane", number(bytes, 16, 8) % 64),
            ("total", number(bytes, 36, 4)),
        ],
        2 | 3 => vec![("pair", pair)],
        5 => vec![("pair", pair), ("length", u64::from(bytes[16]))],
        _ => vec![],
    };
    for (name, value) in expected {
        assert_eq!(got.get(name), value, "{name}, {context}");
    }
}

fn check_event(frame: &Frame, now: u64, got: &Record, context: &str) {
    let bytes = &frame.bytes;
    let data = bytes[0] & 15 == 0;
    let expected = [
        ("pair", number(bytes, 4, 3) << 5 | u64::from(bytes[7])),
        ("psn", number(bytes, 8, 3)),
        ("epoch", u64::from(bytes[11])),
        ("ordinal", number(bytes, 12, 2)),
        ("timestamp", number(bytes, 14, 2)),
        ("now", now),
        ("data", u64::from(data)),
        ("marked", u64::from(frame.marked)),
        ("urgent", u64::from(!data || bytes[1] & 1 == 1)),
        ("clear", 0),
    ];
    for (name, value) in expected {
        assert_eq!(got.get(name), value, "{name} of the event, {context}");
    }
}

fn run(seed: u64) {
    let model = Model::build(&source()).unwrap();
    let mut stall = Stall::new(seed);
    let input = |name: &str| model.input(name);
    let output = |name: &str| model.output(name);
    let [
        now,
        data,
        info,
        valid,
        room,
        event_ready,
        clear,
        clear_valid,
    ] = [
        "now",
        "header_data",
        "header_info",
        "header_valid",
        "frame_room",
        "path_event_ready",
        "clear",
        "clear_valid",
    ]
    .map(input);
    let [
        ready,
        event,
        event_valid,
        request,
        class,
        class_valid,
        clear_ready,
    ] = [
        "header_ready",
        "path_event",
        "path_event_valid",
        "request",
        "frame",
        "frame_valid",
        "clear_ready",
    ]
    .map(output);
    model.reset();
    let mut settings = Vec::new();
    for connection in 0..CONNECTIONS {
        let known = Settings {
            enabled: connection == 0 || connection % 7 != 3,
            incarnation: stall.below(1 << 16),
            paths: (stall.bits() & 0xffff_ffff) | 1 << stall.below(32),
        };
        let record = Record::new(ReceiveSettings::FIELDS)
            .with("enabled", known.enabled)
            .with("incarnation", known.incarnation)
            .with("paths", known.paths);
        input("settings_connection").set(connection);
        input("settings").set_record(&record);
        input("settings_write").set(1);
        model.cycle();
        settings.push(known);
    }
    input("settings_write").set(0);
    let mut current: Option<Frame> = None;
    let mut offered = frame(&mut stall, &settings);
    let mut counts = [0u64; 32];
    let (mut clearing, mut cleared) = (None, 0);
    for cycle in 0..60_000u64 {
        let time = 0xff00 + cycle & 0xffff;
        now.set(time);
        data.set_bytes(&offered.bytes[..48]);
        info.set_record(
            &Record::new(FrameInfo::FIELDS)
                .with("plane", offered.plane)
                .with("transport_bytes", offered.length)
                .with("ce", offered.marked),
        );
        valid.set(stall.chance(85));
        room.set(stall.chance(80));
        event_ready.set(stall.chance(70));
        if clearing.is_none() && stall.chance(2) {
            let record = Record::new(PathEvent::FIELDS)
                .with("pair", stall.below(1 << 9))
                .with("clear", 1);
            clear.set_record(&record);
            clearing = Some(record);
        }
        clear_valid.set(clearing.is_some());
        model.eval();
        if class_valid.is_set() {
            let frame = current.take().expect("a class without a frame");
            let context = format!(
                "cycle {cycle}: {:02x?} of {} bytes",
                frame.bytes, frame.length
            );
            let why = judge(&frame, &settings);
            assert!(room.is_set(), "{context}");
            check_class(&frame, why, &class.record(Classified::FIELDS), &context);
            let sequenced = why == 0 && matches!(frame.bytes[0] & 15, 0 | 3);
            assert_eq!(
                event_valid.is_set() && event_ready.is_set(),
                sequenced,
                "{context}"
            );
            if sequenced {
                check_event(&frame, time, &event.record(PathEvent::FIELDS), &context);
            }
            if sequenced && frame.bytes[0] & 15 == 0 {
                let asked = request.record(TranslateRequest::FIELDS);
                let got = ["address", "key", "length", "remote"].map(|name| asked.get(name));
                let bytes = &frame.bytes;
                let expected = [
                    number(bytes, 16, 8),
                    number(bytes, 24, 4),
                    number(bytes, 28, 2),
                    1,
                ];
                assert_eq!(got, expected, "{context}");
            }
            counts[why as usize] += 1;
        } else if event_valid.is_set() && event_ready.is_set() {
            assert!(
                clear_ready.is_set(),
                "cycle {cycle}: an event without a frame"
            );
            assert_eq!(
                Some(event.record(PathEvent::FIELDS)),
                clearing,
                "cycle {cycle}"
            );
        }
        if clear_ready.is_set() {
            assert!(
                clearing.take().is_some(),
                "cycle {cycle}: a start anew from nowhere"
            );
            cleared += 1;
        }
        if valid.is_set() && ready.is_set() {
            assert!(current.is_none(), "cycle {cycle}: a frame is lost");
            current = Some(std::mem::replace(
                &mut offered,
                frame(&mut stall, &settings),
            ));
        }
        model.cycle();
    }
    let seen: Vec<_> = [0, 16, 17, 18, 19, 20, 21, 22, 23]
        .map(|why: usize| counts[why])
        .to_vec();
    assert!(
        seen.iter().all(|&count| count > 20) && cleared > 100,
        "{seen:?}, {cleared} starts anew"
    );
}

#[test]
fn the_verilog_is_clean() {
    lint(&source()).unwrap();
}

#[test]
fn every_frame_is_classed_or_dropped_for_its_reason() {
    seeds(
        "classifier::every_frame_is_classed_or_dropped_for_its_reason",
        5,
        run,
    );
}
