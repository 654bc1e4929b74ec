//! Bytes typed by hand from the specification, and the toggling vector against a plain model.

use super::*;
use std::collections::BTreeSet;

const HEAD: [u8; 16] = [
    0x11, 0x00, 0xbe, 0xef, 0x00, 0x00, 0x2a, 0x0b, 0x80, 0x00, 0x02, 0x00, 0x00, 0x00, 0x00, 0x00,
];
const BLOCK_HEADS: [[u8; 16]; 2] = [
    [
        0x05, 0x01, 0x00, 0x00, 0x41, 0x00, 0x12, 0x34, 0x56, 0x78, 0x00, 0x17, 0x00, 0x03, 0x01,
        0x00,
    ],
    [
        0x1f, 0xff, 0xff, 0xff, 0xff, 0x00, 0xff, 0xff, 0x00, 0x01, 0x00, 0x00, 0xff, 0xfe, 0xff,
        0xff,
    ],
];

/// The packet for a window: bit 2 set in the first vector, the highest bit in the second.
fn bytes(window: usize) -> Vec<u8> {
    let mut bytes = HEAD.to_vec();
    bytes.extend(BLOCK_HEADS[0]);
    bytes.extend(vec![0; window / 8 - 1]);
    bytes.push(0x04);
    bytes.extend(BLOCK_HEADS[1]);
    bytes.push(0x80);
    bytes.extend(vec![0; window / 8 - 1]);
    bytes
}

fn value(window: u16) -> Ack {
    let mut first = Bitvector::new(window);
    first.toggle(Psn::new(2));
    let mut second = Bitvector::new(window);
    second.toggle(Psn::new(u32::from(window) - 1));
    Ack {
        kind: PacketType::Ack,
        flags: Flags(0),
        incarnation: Incarnation(0xbeef),
        connection: ConnectionId::new(42),
        return_path: PathId(11),
        share: 0x8000,
        sent: None,
        blocks: ArrayVec::from_iter([
            AckBlock {
                path: PathId(5),
                epoch: Epoch(1),
                cumulative: Psn::new(0x41),
                flags: 0,
                ordinal: Ordinal(0x1234),
                timestamp: 0x5678,
                delay: 0x17,
                marked: 3,
                received: 256,
                bitvector: first,
            },
            AckBlock {
                path: PathId(31),
                epoch: Epoch(255),
                cumulative: Psn::new(0xff_ffff),
                flags: 0,
                ordinal: Ordinal(0xffff),
                timestamp: 1,
                delay: 0,
                marked: 0xfffe,
                received: 0xffff,
                bitvector: second,
            },
        ]),
    }
}

#[test]
fn both_ways_over_a_dirty_buffer_for_each_w() {
    for window in [64, 128, 256] {
        let expected = bytes(window.into());
        assert_eq!(
            Ack::parse(&AckPacket::new_unchecked(&expected[..], window)),
            Ok(value(window))
        );
        let mut emitted = vec![0xa5; value(window).buffer_len()];
        value(window).emit(&mut emitted);
        assert_eq!(emitted, expected, "W {window}");
    }
}

#[test]
fn an_ack_may_say_when_it_was_sent() {
    let mut expected = bytes(64);
    expected[11] = 0x01;
    expected[14..16].copy_from_slice(&[0xab, 0xcd]);
    let timed = Ack {
        sent: Some(0xabcd),
        ..value(64)
    };
    let mut emitted = vec![0xa5; timed.buffer_len()];
    timed.emit(&mut emitted);
    assert_eq!(emitted, expected);
    assert_eq!(
        Ack::parse(&AckPacket::new_unchecked(&expected[..], 64)),
        Ok(timed)
    );
    // Other status flags mean nothing, and neither does a time without its flag.
    expected[11] = 0xfe;
    let parsed = Ack::parse(&AckPacket::new_unchecked(&expected[..], 64));
    assert_eq!(parsed, Ok(value(64)));
}

#[test]
fn every_truncated_length_is_refused() {
    let whole = bytes(64);
    for len in 0..whole.len() {
        let needed = if len < 16 { 16 } else { whole.len() };
        let error = WireError::Truncated { needed, held: len };
        assert_eq!(
            Ack::parse(&AckPacket::new_unchecked(&whole[..len], 64)),
            Err(error)
        );
    }
}

#[test]
fn block_counts_outside_1_to_4_are_refused() {
    for count in [0, 5, 255] {
        let mut whole = bytes(64);
        whole[10] = count;
        let error = WireError::Field {
            field: "block count",
            found: count.into(),
        };
        assert_eq!(
            Ack::parse(&AckPacket::new_unchecked(&whole[..], 64)),
            Err(error)
        );
    }
}

#[test]
fn fence_ack_is_read_and_other_types_are_not() {
    for kind in 0..7 {
        let mut whole = bytes(64);
        whole[0] = 0x10 | kind;
        let parsed = Ack::parse(&AckPacket::new_unchecked(&whole[..], 64));
        assert_eq!(parsed.is_ok(), kind == 1 || kind == 5, "type {kind}");
    }
}

#[test]
fn vector_equals_a_set_model_over_the_wrap_of_psns() {
    // A receiver as a set of absolute numbers; every third packet comes 20 packets late.
    for window in [64_u16, 128, 256] {
        let base = 0x100_0000_u64 - 4 * u64::from(window);
        let mut vector = Bitvector::new(window);
        let (mut got, mut cumulative) = (BTreeSet::new(), base);
        let order = (base..base + 2000).filter(|n| n % 3 != 0);
        let mut late: Vec<u64> = (base..base + 2000).filter(|n| n % 3 == 0).collect();
        late.reverse();
        for number in order {
            let mut arrivals = vec![number];
            while late.last().is_some_and(|n| n + 20 < number) {
                arrivals.extend(late.pop());
            }
            for number in arrivals {
                got.insert(number);
                vector.toggle(Psn::new(number as u32));
            }
            while got.contains(&cumulative) {
                cumulative += 1;
            }
            for number in cumulative..cumulative + u64::from(window) {
                let (psn, next) = (Psn::new(number as u32), Psn::new(cumulative as u32));
                assert_eq!(
                    vector.received(psn, next),
                    got.contains(&number),
                    "PSN {psn}"
                );
            }
        }
    }
}

#[test]
fn offsets_say_what_received_says_for_every_position() {
    for window in [64_u16, 128, 256] {
        for base in [0, 1, 63, 64, 127, 200, 255, 256, 511, 0xff_ffc0, 0xff_fff1] {
            let cumulative = Psn::new(base);
            let mut vector = Bitvector::new(window);
            // Everything before the cumulative PSN has arrived: once a lap, every bit toggles.
            for psn in 0..base % (2 * u32::from(window)) {
                vector.toggle(Psn::new(psn));
            }
            for ahead in (0..u32::from(window)).filter(|n| n % 7 == 3 || n % 5 == 1) {
                vector.toggle(cumulative.advance(ahead));
            }
            let offsets = vector.offsets(cumulative);
            for ahead in 0..u32::from(window) {
                let bit = offsets[ahead as usize / 64] >> (ahead % 64) & 1 == 1;
                let expected = vector.received(cumulative.advance(ahead), cumulative);
                assert_eq!(bit, expected, "W {window}, base {base}, ahead {ahead}");
            }
        }
    }
}
