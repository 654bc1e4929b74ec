//! Connections whose peer says nothing.

use super::pair::{Fate, Pair, config};
use crate::endpoint::*;

const KEEPALIVE_NS: u64 = 1_000_000;

/// A pair whose second end has received a message and asks after its peer.
fn receiver(planes: usize, keepalive_ns: u64) -> Pair {
    let configs = [0, 1].map(|end| Config {
        keepalive_ns: if end == 1 { keepalive_ns } else { 0 },
        ..config(end, planes)
    });
    let mut pair = Pair::with(12, configs);
    let keys = [0, 1].map(|end| pair.register(end, 1 << 20));
    pair.write(0, 1, 0, 0, 100_000, keys[1]);
    pair.run_until_completed(0, 1, 1_000_000);
    pair
}

fn failures(pair: &Pair, end: usize) -> usize {
    let failed = |event: &&Event| event.kind == EventKind::ConnectionFailed;
    pair.ends[end].events.iter().filter(failed).count()
}

/// T-2.4: who only receives learns too that its peer is gone, and says so once.
#[test]
fn a_receiver_whose_peer_is_gone_reports_it() {
    for planes in [1, 4] {
        let mut pair = receiver(planes, KEEPALIVE_NS);
        pair.fate = Box::new(|_, from, _, _| if from == 0 { Fate::Drop } else { Fate::Deliver });
        pair.run_for(1_000_000_000);
        assert_eq!(failures(&pair, 1), 1, "{planes} planes");
        assert_eq!(
            pair.ends[1].endpoint.poll_timeout(),
            None,
            "nothing is left to do"
        );
    }
}

/// Whoever does not ask keeps the connection: there is no other sign.
#[test]
fn without_keepalive_silence_means_nothing() {
    let mut pair = receiver(1, 0);
    pair.fate = Box::new(|_, _, _, _| Fate::Drop);
    pair.run_for(1_000_000_000);
    assert_eq!(failures(&pair, 1), 0);
    assert_eq!(pair.count(1, Counter::SentProbes), 0);
}

/// A peer that is there answers: a probe each time, and none while packets come.
#[test]
fn a_quiet_peer_is_asked_once_in_each_time_and_a_busy_one_never() {
    let mut pair = receiver(2, KEEPALIVE_NS);
    pair.run_for(50 * KEEPALIVE_NS);
    let asked = pair.count(1, Counter::SentProbes);
    assert!((45..=51).contains(&asked), "{asked} probes");
    assert_eq!(failures(&pair, 1), 0);
    let key = pair.register(1, 1 << 20);
    for id in 2..102 {
        pair.write(0, id, 0, 0, 1_000, key);
        pair.run_for(KEEPALIVE_NS / 2);
    }
    let more = pair.count(1, Counter::SentProbes) - asked;
    assert!(more <= 1, "{more} probes while messages come");
    // After half of all probes were lost too.
    pair.lose(500);
    pair.run_for(200 * KEEPALIVE_NS);
    assert_eq!(failures(&pair, 1), 0, "a lossy path is no dead peer");
}
