//! A part of the suite on the engine in both roles, and faults of an engine that it must find. The whole suite is
//! `cargo xtask comply --target rtl`.

use osprey_comply::suite::{CaseResult, Selection, Verdict, run};
use osprey_comply::world::{Open, Target};
use osprey_comply_rtl::{Fault, check, open, target, targets};

const SEED: u64 = 1;

/// Runs tests on targets; nothing where there is no engine to run.
fn results(targets: Vec<Target>, only: &[&str]) -> Option<Vec<CaseResult>> {
    check()
        .inspect_err(|error| eprintln!("skipped: {error}"))
        .ok()?;
    let selection = Selection {
        targets,
        peer: Vec::new(),
        only: only.iter().map(|name| (*name).to_owned()).collect(),
        seed: SEED,
    };
    Some(run(&selection, |result| {
        println!(
            "seed {SEED}: {} on {}: {} {} {:?}",
            result.name,
            result.target,
            result.verdict.name(),
            result.reason,
            result.evidence
        );
    }))
}

/// All tests pass on both roles.
fn pass(only: &[&str]) {
    let Some(results) = results(targets(), only) else {
        return;
    };
    assert_eq!(results.len(), 2 * only.len());
    let bad = results.iter().find(|r| r.verdict != Verdict::Pass);
    assert!(bad.is_none(), "seed {SEED}: {bad:?}");
}

#[test]
fn loss_delay_copies_and_damage() {
    pass(&["C-1.4", "C-1.11", "C-2.7", "C-5.2"]);
}

#[test]
fn dead_planes_and_refusals() {
    pass(&["C-4.7", "C-10.4", "C-10.5"]);
}

#[test]
fn roles_set_up_and_nonsense() {
    pass(&["C-8.1", "C-8.9", "C-8.10", "C-12.3"]);
}

#[test]
fn what_the_engine_lacks_is_skipped_and_named() {
    let Some(results) = results(targets(), &["C-6.1", "C-7.1", "C-8.6", "C-4.1"]) else {
        return;
    };
    for result in results {
        assert_eq!(result.verdict, Verdict::Skip, "{result:?}");
        assert!(result.reason.contains("the engine"), "{result:?}");
    }
}

/// With the fault at this end the test fails in these words; [`pass`] sees it pass without.
fn is_found(end: usize, spoilt: Open, test: &str, words: &str) {
    let Some(results) = results(vec![target(end, spoilt)], &[test]) else {
        return;
    };
    let [result] = &results[..] else {
        panic!("{results:?}");
    };
    assert_eq!(result.verdict, Verdict::Fail, "{result:?}");
    assert!(result.reason.contains(words), "{words}: {result:?}");
}

#[test]
fn memory_finds_a_byte_that_was_read_wrong() {
    let spoilt: Open = |e, nics, ways, seed| open(e, nics, ways, seed, Some(Fault::WrongByte));
    is_found(0, spoilt, "C-1.4", "bytes are wrong");
}

#[test]
fn memory_finds_a_stray_byte_of_a_receiver() {
    let spoilt: Open = |e, nics, ways, seed| open(e, nics, ways, seed, Some(Fault::StrayByte));
    is_found(1, spoilt, "C-1.4", "1 bytes are wrong");
}

#[test]
fn honesty_finds_packets_that_were_never_sent() {
    let spoilt: Open = |e, nics, ways, seed| open(e, nics, ways, seed, Some(Fault::NeverSent));
    is_found(0, spoilt, "C-1.4", "DATA packets on plane");
}

#[test]
fn form_finds_a_field_that_no_sound_peer_sends() {
    let spoilt: Open = |e, nics, ways, seed| open(e, nics, ways, seed, Some(Fault::WrongOffset));
    is_found(0, spoilt, "C-1.6", "DropMessageBounds");
}

#[test]
fn the_format_is_judged_on_the_way() {
    let spoilt: Open = |e, nics, ways, seed| open(e, nics, ways, seed, Some(Fault::BadFrame));
    is_found(0, spoilt, "C-1.4", "a frame that is no packet");
}

#[test]
fn exactly_once_finds_a_request_that_ends_twice() {
    let spoilt: Open = |e, nics, ways, seed| open(e, nics, ways, seed, Some(Fault::CompletesTwice));
    is_found(0, spoilt, "C-1.4", "request 1 ended");
}
