//! How many probes a sender may send.

use super::pair::{CONNECTION, Fate, Pair, config};
use crate::endpoint::*;
use std::cell::Cell;
use std::rc::Rc;

const PLANES: usize = 2;
const SILENCE_NS: u64 = 600_000;
/// Ethernet, IP, UDP, transport header, CRC and FCS.
const PROBE_BYTES: u64 = 14 + 20 + 8 + 24 + 4 + 4;

/// Probes that one of so many senders sends when all its paths have become silent.
fn probes_in_silence(sharers: u16) -> u64 {
    let mut pair = Pair::new(5, PLANES);
    let keys = [0, 1].map(|end| pair.register(end, 1 << 30));
    pair.change = Box::new(move |packet| {
        if let Packet::Ack(ack) = packet {
            ack.share = u16::MAX / sharers;
        }
    });
    pair.write(0, 1, 0, 0, 100_000_000, keys[1]);
    pair.run_for(200_000);
    let probes = Rc::new(Cell::new(0));
    let count = probes.clone();
    pair.fate = Box::new(move |_, from, out, _| {
        if from == 0 && matches!(out.packet, Packet::Probe(_)) {
            count.set(count.get() + 1);
        }
        Fate::Drop
    });
    pair.run_for(SILENCE_NS);
    probes.get()
}

/// T-2.4: those who share a receiver's line may be many, and all of them lose it at once. A sixteenth for the paths that wait, and as
/// much for those that they are compared with.
#[test]
fn probes_of_all_who_share_a_line_leave_most_of_it() {
    let config = config(0, PLANES);
    let probe_ps = PROBE_BYTES * 8_000_000_000_000 / config.rate_bits_per_second;
    let eighth_ps = SILENCE_NS * 1000 * PLANES as u64 / 8;
    let paths = u64::from(config.paths_per_plane) * PLANES as u64;
    for sharers in [1, 100, 400, 1_000] {
        let probes = probes_in_silence(sharers);
        assert!(probes > 0, "{sharers} sharers: nobody asks");
        // The first probe of each path comes by its own timer.
        let taken_ps = probes.saturating_sub(paths) * u64::from(sharers) * probe_ps;
        assert!(
            taken_ps <= eighth_ps,
            "{sharers} sharers: {probes} probes each"
        );
    }
    assert!(probes_in_silence(1) > 2 * probes_in_silence(1_000));
}

/// Mean wait of a path's packets and its round trip, in nanoseconds, when all that one end sends comes 5 us late from 100 us on.
fn waits_when_late(late: usize) -> [u32; 2] {
    let mut pair = Pair::new(4, 1);
    let keys = [0, 1].map(|end| pair.register(end, 1 << 30));
    pair.write(0, 1, 0, 0, 100_000_000, keys[1]);
    pair.run_for(100_000);
    pair.fate = Box::new(move |_, from, _, _| {
        if from == late {
            Fate::Late(5_000)
        } else {
            Fate::Deliver
        }
    });
    pair.run_for(400_000);
    let path = crate::wire::PathId(0);
    let path = pair.ends[0].endpoint.path_telemetry(CONNECTION, path);
    let path = path.expect("it is there");
    [path.queue_ns, path.srtt_ns]
}

/// T-2.2: a path's way is that of its packets, not that of the ACKs.
#[test]
fn what_acks_wait_on_the_way_back_is_not_held_against_a_path() {
    let ([there, slow], [back, also_slow]) = (waits_when_late(0), waits_when_late(1));
    assert!((4_000..8_000).contains(&there), "{there} ns there");
    assert!(back < 2_000, "{back} ns there when only ACKs wait");
    assert!(
        slow.abs_diff(also_slow) < 2_500,
        "{slow} and {also_slow} ns"
    );
}

/// How long after all is lost the first probe leaves, where so many of a thousand packets were lost before; in nanoseconds.
fn first_probe_ns(lost_of_1000: u64) -> u64 {
    let mut pair = Pair::new(6, 1);
    pair.delay_ns = 40_000;
    let keys = [0, 1].map(|end| pair.register(end, 1 << 30));
    pair.write(0, 1, 0, 0, 100_000_000, keys[1]);
    pair.lose(lost_of_1000);
    pair.run_for(2_000_000);
    let silent = pair.now;
    let first = Rc::new(Cell::new(u64::MAX));
    let seen = first.clone();
    pair.fate = Box::new(move |now, from, out, _| {
        // What is on the way still brings news.
        if from == 0 && now > silent + 80_000 && matches!(out.packet, Packet::Probe(_)) {
            seen.set(seen.get().min(now - silent));
        }
        Fate::Drop
    });
    pair.run_for(1_000_000);
    first.get()
}

/// T-2.4: where nothing was lost, silence is a wait; where packets are lost, it is asked for sooner.
#[test]
fn the_timer_is_shorter_where_packets_are_lost() {
    let (patient, quick) = (first_probe_ns(0), first_probe_ns(30));
    // Round trips of 80 us: 1/4 and 1/16 of them.
    assert!(patient > quick + 5_000, "{patient} and {quick} ns");
    assert!(patient < 250_000, "{patient} ns");
}
