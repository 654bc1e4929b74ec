//! What the rules of T-2 are for, on small work: each of these fails when the rule that it names is taken out.
//!
//! The figures on the whole work are `cargo xtask bench cluster`'s. Runs are deterministic: each bound lies between what is found
//! with the rule and without it.

use osprey_cluster::result::RunResult;
use osprey_cluster::scenario::Scenario;
use osprey_cluster::simulation::Simulation;
use std::path::Path;

/// Runs 64 hosts on 8 leaves and 8 spines; every flow must end and no witness may find anything.
fn run(workload: &str, more: &str) -> RunResult {
    run_seed(workload, more, 1)
}

fn run_seed(workload: &str, more: &str, seed: u64) -> RunResult {
    let text = format!(
        "name = \"test\"\nlimit_us = 100000\nseeds = [{seed}]\n\
         [fabric]\nshape = {{ kind = \"leaf-spine\", hosts = 64, leaves = 8, spines = 8 }}\n\
         [workload]\n{workload}\n{more}"
    );
    let scenario: Scenario = toml::from_str(&text).expect("the scenario of a test is right");
    scenario.check().expect("the scenario of a test can run");
    let mut simulation = Simulation::new(scenario, Path::new(".")).expect("a run can begin");
    simulation.run(|_| {});
    let result = simulation.outcome(true);
    assert_eq!(result.verdict, "pass", "{:?}", result.findings);
    result
}

/// Microseconds that a line of 100 Gb/s takes for the payload of an incast.
fn ideal_us(senders: u32, bytes: u32) -> f64 {
    f64::from(senders) * f64::from(bytes) * 8e-5 * 4_150.0 / 4_052.0
}

/// T-2.6, T-2.12: grants, resends under the window, probes that count, senders that say that they are idle.
#[test]
fn an_incast_fills_the_line() {
    let result = run("kind = \"incast\"\nsenders = 32\nbytes = 400000", "");
    let over = result.end_us / ideal_us(32, 400_000);
    assert!(over < 1.026, "completion over ideal is {over:.4}");
    assert!(
        result.counter("Losses") < 1_400,
        "{} losses",
        result.counter("Losses")
    );
    assert!(
        result.classes[0].jain > 0.998,
        "Jain {}",
        result.classes[0].jain
    );
}

/// T-2.12: who has sent all of a short message still has its part of the line while much of it may be lost. (A sender that said
/// "idle" with its whole message on the way made everybody resend at the full rate: 1,017 us in place of 577.)
#[test]
fn more_senders_than_a_queue_holds_packets_end_in_time() {
    let result = run(
        "kind = \"incast\"\nsenders = 63\nbytes = 100000",
        "[transport]\npaths = 16",
    );
    let over = result.end_us / ideal_us(63, 100_000);
    assert!(over < 1.2, "completion over ideal is {over:.4}");
}

/// T-2.10: bursts silence many paths at once, and condemn none.
#[test]
fn bursts_condemn_no_path() {
    let burst =
        "[[fault]]\ntarget = \"leaf-to-host\"\naction = \"burst-loss\"\nrate = 0.05\nlength = 16";
    for seed in 1..4 {
        let result = run_seed("kind = \"permutation\"\nbytes = 4000000", burst, seed);
        assert_eq!(result.counter("Condemned"), 0, "seed {seed}");
        assert!(result.counter("Losses") > 1_000);
    }
}

/// T-2.10, T-2.11: the packets that a dead spine swallows are those that were on their way, and few that find it anew.
#[test]
fn a_dead_spine_costs_what_was_under_way() {
    let dead = "[[fault]]\ntarget = \"spine 3\"\naction = \"down\"\nfrom_us = 60";
    let result = run("kind = \"permutation\"\nbytes = 8000000", dead);
    assert!(result.counter("Condemned") > 60, "its paths are given up");
    assert!(
        result.network.lost_data < 610,
        "{} packets lost",
        result.network.lost_data
    );
    assert!(
        result.classes[0].goodput_mean > 0.78,
        "{}",
        result.classes[0].goodput_mean
    );
}

/// T-2.12: a share that limited senders leave is used by who can.
#[test]
fn what_limited_senders_leave_is_used() {
    let slow: String = (57..64)
        .map(|host| {
            format!(
                "[[fault]]\ntarget = \"host-to-leaf host {host}\"\naction = \"rate\"\npart = 0.02\n"
            )
        })
        .collect();
    let result = run(
        "kind = \"incast\"\nsenders = 8\nbytes = 1000000\nmessages = 4",
        &slow,
    );
    let free = result
        .flows
        .iter()
        .filter(|flow| flow.from == 56)
        .filter_map(|flow| flow.completion_us);
    let last = free.fold(0.0, f64::max);
    assert!(4e6 * 8e-5 / last > 0.5, "the free sender took {last} us");
}
