//! The end of what a connection sends: losses that no later packet would show.

use super::pair::{Fate, Pair, config};
use crate::endpoint::*;
use std::cell::Cell;
use std::rc::Rc;

/// Packets of the message whose end is looked at.
const PACKETS: u64 = 400;

/// Probes that leave before the last DATA packet of a message, after one of which so many of a thousand packets were
/// lost; where so many share the receiver's line.
fn probes_before_the_last_packet(lost_of_1000: u64, sharers: u16) -> u64 {
    let mut pair = Pair::new(9, 1);
    let keys = [0, 1].map(|end| pair.register(end, 1 << 30));
    pair.change = Box::new(move |packet| {
        if let Packet::Ack(ack) = packet {
            ack.share = u16::MAX / sharers;
        }
    });
    pair.lose(lost_of_1000);
    pair.write(0, 1, 0, 0, 4_000_000, keys[1]);
    pair.run_until_completed(0, 1, 20_000_000);
    let (data, probes) = (Rc::new(Cell::new(0)), Rc::new(Cell::new(0)));
    let counts = (data.clone(), probes.clone());
    pair.fate = Box::new(move |_, from, out, _| {
        match &out.packet {
            Packet::Data(_) if from == 0 => counts.0.set(counts.0.get() + 1),
            Packet::Probe(_) if counts.0.get() < PACKETS => counts.1.set(counts.1.get() + 1),
            _ => {}
        }
        Fate::Deliver
    });
    let length = PACKETS as u32 * u32::from(config(0, 1).mtu);
    pair.write(0, 2, 0, 0, length, keys[1]);
    pair.run_until_completed(0, 2, 20_000_000);
    assert_eq!(data.get(), PACKETS, "nothing is lost of it");
    probes.get()
}

/// T-2.4: where packets are lost, each of the last round trips has a probe behind it; elsewhere only the last of a path.
#[test]
fn on_a_lossy_connection_probes_follow_each_of_the_last_packets() {
    let tail = u64::from(config(0, 1).bdp_q10()) * 3 / 2 >> 10;
    let lossy = probes_before_the_last_packet(20, 1);
    assert!(
        (tail - 2..tail + 4).contains(&lossy),
        "{lossy} probes for {tail} packets"
    );
    for (lost, sharers) in [(0, 1), (0, 4), (20, 4)] {
        let few = probes_before_the_last_packet(lost, sharers);
        assert!(few < 4, "{few} probes: {lost} lost, {sharers} sharers");
    }
}

/// ACKs of a message of four packets, and timers that asked for them, if all ACKs but those from `first` on are lost.
fn acks_and_timers(first: u64) -> (u64, u64) {
    let mut pair = Pair::new(3, 1);
    let keys = [0, 1].map(|end| pair.register(end, 1 << 30));
    let acks = Rc::new(Cell::new(0));
    let seen = acks.clone();
    pair.fate = Box::new(move |_, _, out, _| {
        if !matches!(out.packet, Packet::Ack(_)) {
            return Fate::Deliver;
        }
        seen.set(seen.get() + 1);
        if seen.get() < first {
            Fate::Drop
        } else {
            Fate::Deliver
        }
    });
    pair.write(0, 1, 0, 0, 4 * u32::from(config(0, 1).mtu), keys[1]);
    pair.run_until_completed(0, 1, 20_000_000);
    (acks.get(), pair.count(0, Counter::ProbeTimers))
}

/// T-2.7: the answer to a probe says what the ACKs before it said, so those may be lost.
#[test]
fn the_answer_to_the_last_probe_makes_up_for_all_acks_before_it() {
    let (acks, timers) = acks_and_timers(1);
    assert!(acks >= 4, "{acks} ACKs");
    assert_eq!(timers, 0);
    let (_, timers) = acks_and_timers(acks);
    assert_eq!(timers, 0, "one ACK in place of {acks}");
}
