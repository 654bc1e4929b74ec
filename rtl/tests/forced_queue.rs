//! The queues of forced entries against plain ones: nothing lost but probes to a full plane, resends first.

mod bench;

use bench::{Offer, seeds};
use osprey_rtl::emit;
use osprey_rtl::tx::ack_processor::Forced;
use osprey_rtl::tx::forced_queue::ForcedQueue;
use osprey_verilated::{Model, Record, Source, Stall, lint};
use std::collections::VecDeque;

/// Entries a queue.
const DEPTH: usize = 16;
/// Of them may be taken by probes.
const CROWDED: usize = 10;

fn source() -> Source {
    Source::new(
        "forced_queue",
        emit::verilog("forced_queue", ForcedQueue::new(4, 4)),
    )
}

fn entry(stall: &mut Stall, kind: u64) -> Record {
    let mut record = Record::new(Forced::FIELDS);
    for (name, bits) in Forced::FIELDS {
        record.set(name, stall.bits() & ((1 << bits) - 1));
    }
    record.set("kind", kind);
    record
}

fn plane(record: &Record) -> usize {
    (record.get("pair") >> 3 & 3) as usize
}

fn run(seed: u64) {
    let model = Model::build(&source()).unwrap();
    let mut stall = Stall::new(seed);
    let mut offers = ["resend", "probe", "order"].map(|name| Offer::new(&model, name));
    let [tail_pair, tail_valid] = ["tail_pair", "tail_valid"].map(|name| model.input(name));
    let order_ready = model.output("order_ready");
    let planes: Vec<_> = (0..4)
        .map(|plane| {
            let head = [format!("head${plane}"), format!("head_valid${plane}")]
                .map(|name| model.output(&name));
            (head, model.input(&format!("head_ready${plane}")))
        })
        .collect();
    model.reset();
    // With each entry whether its queue may have been full.
    let mut queues: [VecDeque<(Record, bool)>; 4] = Default::default();
    // Requests for tail probes: pair, probes to come, when.
    let mut tails: Vec<(u64, u64, usize)> = Vec::new();
    let (mut out, mut tail_probes, mut dropped) = ([0; 4], 0, 0);
    // The order that waits in the register, and whether anything else was taken in the cycle before.
    let (mut waiting, mut others): (Option<Record>, bool) = (None, false);
    for cycle in 0..30_000usize {
        // A plane stands still for a while; the others go on. In the second round it is sent nothing but probes.
        let still = cycle / 3_000 % 5;
        for (index, offer) in offers.iter_mut().enumerate() {
            if offer.queue.is_empty() && stall.chance([20, 20, 10][index]) {
                let kind = [0, 1, stall.pick(&[2, 3])][index];
                let record = entry(&mut stall, kind);
                if cycle < 15_000 || kind == 1 || plane(&record) != still {
                    offer.queue.push_back(record);
                }
            }
            offer.drive(&mut stall, 80);
        }
        tail_valid.set(0);
        if tails.len() < 30 && stall.chance(8) {
            let pair = stall.below(1 << 17);
            tail_pair.set(pair);
            tail_valid.set(1);
            tails.push((pair, 2, cycle));
        }
        for (plane, (_, ready)) in planes.iter().enumerate() {
            ready.set(plane != still && stall.chance(60));
        }
        model.eval();
        // The register is free again: its order went in the cycle before.
        let went = waiting.take_if(|_| order_ready.is_set());
        assert!(
            went.is_none() || !others,
            "cycle {cycle}: an order beside another entry"
        );
        let [resend, probe, order] = offers.each_mut().map(Offer::taken);
        assert!(
            resend.is_none() || probe.is_none(),
            "cycle {cycle}: one a cycle"
        );
        others = resend.is_some() || probe.is_some();
        for record in [went, resend, probe].into_iter().flatten() {
            let plane = plane(&record);
            let probes = tails
                .iter()
                .filter(|tail| (tail.0 >> 3 & 3) as usize == plane);
            let most = queues[plane].len() + probes.map(|tail| tail.1 as usize).sum::<usize>();
            let probe = record.get("kind") == 1;
            let sure = queues[plane].iter().filter(|(_, full)| !full).count();
            assert!(
                probe || sure < DEPTH,
                "cycle {cycle}: taken into a full queue"
            );
            queues[plane].push_back((record, probe && most >= CROWDED));
        }
        waiting = order.or(waiting);
        for (plane, ([head, valid], ready)) in planes.iter().enumerate() {
            if !(valid.is_set() && ready.is_set()) {
                continue;
            }
            let got = head.record(Forced::FIELDS);
            out[plane] += 1;
            // A probe that a tail asked for, train 0?
            let words = ["kind", "train", "timeout"].map(|name| got.get(name));
            let tail = tails
                .iter_mut()
                .find(|tail| tail.0 == got.get("pair") && tail.1 > 0);
            if let (Some(tail), [1, 0, 0]) = (tail, words) {
                tail.1 -= 1;
                tail_probes += 1;
                continue;
            }
            while queues[plane]
                .front()
                .is_some_and(|(record, full)| *full && *record != got)
            {
                queues[plane].pop_front();
                dropped += 1;
            }
            let expected = queues[plane].pop_front().map(|(record, _)| record);
            assert_eq!(Some(got), expected, "cycle {cycle}, plane {plane}");
        }
        tails.retain(|&(_, left, at)| left > 0 && at + 9_000 > cycle);
        model.cycle();
    }
    assert!(out.iter().all(|&count| count > 500), "{out:?} out");
    assert!(
        tail_probes > 1_000 && dropped > 0,
        "{tail_probes} after tails, {dropped} dropped"
    );
}

/// Of a plane that stands still: what is told of its room, and that half of it is kept from probes.
#[test]
fn half_of_a_queue_is_kept_for_resends() {
    let model = Model::build(&source()).unwrap();
    let mut stall = Stall::new(9);
    let mut offers = ["resend", "probe", "order"].map(|name| Offer::new(&model, name));
    let room = model.output("resend_room");
    for name in [
        "tail_valid",
        "head_ready$0",
        "head_ready$1",
        "head_ready$2",
        "head_ready$3",
    ] {
        model.input(name).set(0);
    }
    model.reset();
    let mut give = |which: usize, kind: u64| {
        let record = entry(&mut stall, kind).with("pair", 2 << 3);
        offers[which].queue.push_back(record);
        for _ in 0..8 {
            offers
                .iter_mut()
                .for_each(|offer| offer.drive(&mut stall, 100));
            model.eval();
            offers.iter_mut().for_each(|offer| drop(offer.taken()));
            model.cycle();
        }
        assert!(
            offers[which].queue.is_empty(),
            "nothing waits for a plane that stands still"
        );
    };
    for _ in 0..40 {
        give(1, 1);
    }
    // Ten of the probes are kept: more than half.
    assert_eq!(room.get(), 0b1011);
    for _ in 0..6 {
        give(0, 0);
    }
    let (head, ready) = (model.output("head$2"), model.input("head_ready$2"));
    ready.set(1);
    let mut kinds = Vec::new();
    for _ in 0..40 {
        model.eval();
        if model.output("head_valid$2").is_set() {
            kinds.push(head.record(Forced::FIELDS).get("kind"));
        }
        model.cycle();
    }
    assert_eq!(kinds, [[1; 10].as_slice(), &[0; 6]].concat());
    assert_eq!(room.get(), 0b1111);
}

#[test]
fn the_verilog_is_clean() {
    lint(&source()).unwrap();
}

#[test]
fn all_go_out_on_their_plane_in_order() {
    seeds("forced_queue::all_go_out_on_their_plane_in_order", 4, run);
}
