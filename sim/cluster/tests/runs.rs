//! Whole runs of small clusters: every flow ends, nothing is placed twice, one seed gives one result.

use osprey_cluster::result::RunResult;
use osprey_cluster::scenario::Scenario;
use osprey_cluster::simulation::Simulation;
use osprey_cluster::sweep::{self, Shard};
use std::path::Path;

/// A scenario of 16 hosts; `more` is TOML for it.
fn scenario(workload: &str, more: &str) -> Scenario {
    let text = format!(
        "name = \"test\"\nlimit_us = 100000\n\
         [fabric]\nshape = {{ kind = \"leaf-spine\", hosts = 16, leaves = 4, spines = 4 }}\n\
         [workload]\n{workload}\n{more}"
    );
    toml::from_str(&text).expect("the scenario of a test is right")
}

fn run(scenario: Scenario) -> RunResult {
    scenario.check().expect("the scenario of a test can run");
    let mut simulation = Simulation::new(scenario, Path::new(".")).expect("a run can begin");
    simulation.run(|_| {});
    simulation.outcome(true)
}

fn passes(workload: &str, more: &str) -> RunResult {
    let result = run(scenario(workload, more));
    assert_eq!(
        result.verdict, "pass",
        "{workload} {more}: {:?}",
        result.findings
    );
    result
}

#[test]
fn every_workload_ends() {
    for workload in [
        "kind = \"permutation\"\nbytes = 200000",
        "kind = \"incast\"\nsenders = 12\nbytes = 50000\nmessages = 3",
        "kind = \"all-to-all\"\nbytes = 10000",
        "kind = \"ring-all-reduce\"\nbytes = 100000",
        "kind = \"tree-all-reduce\"\nbytes = 100000\npieces = 3",
        "kind = \"checkpoint\"\nservers = 2\nbytes = 50000",
        "kind = \"mixed\"\nsmall_bytes = 100\nsmall_count = 20\nsmall_every_us = 2.0\nlarge_bytes = 100000\nlarge_count = 2",
    ] {
        passes(workload, "");
    }
}

const PERMUTATION: &str = "kind = \"permutation\"\nbytes = 1000000";

#[test]
fn every_fault_is_survived() {
    for (target, action) in [
        ("all", "action = \"loss\"\nrate = 0.02"),
        ("all", "action = \"loss\"\nrate = 0.1\nonly = \"ack\""),
        (
            "leaf-to-host",
            "action = \"burst-loss\"\nrate = 0.05\nlength = 16",
        ),
        ("all", "action = \"corrupt\"\nrate = 0.01"),
        ("all", "action = \"duplicate\"\nrate = 0.01"),
        ("all", "action = \"delay\"\nrate = 0.02\nmax_ns = 3000"),
        ("spine 2", "action = \"down\"\nfrom_us = 20"),
        ("spine 1", "action = \"down\"\nfrom_us = 20\nuntil_us = 60"),
        ("spine 1", "action = \"flap\"\nperiod_us = 40\ndown_us = 10"),
        ("spine 0", "action = \"rate\"\npart = 0.25"),
        ("leaf 1", "action = \"degrade\"\npart = 0.5\nover_us = 50"),
    ] {
        passes(
            PERMUTATION,
            &format!("[[fault]]\ntarget = \"{target}\"\n{action}"),
        );
    }
}

#[test]
fn faults_that_delete_packets_are_counted() {
    let loss = passes(
        PERMUTATION,
        "[[fault]]\ntarget = \"leaf-to-host\"\naction = \"loss\"\nrate = 0.05",
    );
    assert!(loss.network.lost > 100 && loss.counter("Losses") > 50);
    let corrupt = passes(
        PERMUTATION,
        "[[fault]]\ntarget = \"all\"\naction = \"corrupt\"\nrate = 0.01",
    );
    assert!(corrupt.network.corrupted > 20);
    let duplicate = passes(
        PERMUTATION,
        "[[fault]]\ntarget = \"all\"\naction = \"duplicate\"\nrate = 0.01",
    );
    assert!(duplicate.network.duplicated > 20 && duplicate.counter("Duplicate") > 10);
}

#[test]
fn a_run_that_cannot_end_fails_and_says_what_is_missing() {
    let dead = "[[fault]]\ntarget = \"host 3\"\naction = \"down\"\nfrom_us = 10";
    let result = run(scenario(PERMUTATION, dead));
    assert_eq!(result.verdict, "fail");
    assert!(!result.findings.is_empty());
}

#[test]
fn one_seed_gives_one_result() {
    let more = "[[fault]]\ntarget = \"all\"\naction = \"loss\"\nrate = 0.02";
    let result = || run(scenario(PERMUTATION, more));
    assert_eq!(result(), result());
    let mut other = scenario(PERMUTATION, more);
    other.seeds = vec![2];
    assert_ne!(run(other).end_us, result().end_us);
}

/// Results of a shard as the lines of a file.
fn lines(sweep: &Scenario, shard: Shard) -> Vec<String> {
    let mut lines = Vec::new();
    let done =
        |result: RunResult| lines.push(serde_json::to_string(&result).expect("a result is JSON"));
    sweep::run(sweep, Path::new("."), shard, false, |_, _, _| {}, done)
        .expect("the sweep of a test can run");
    lines
}

#[test]
fn shards_together_are_the_whole_sweep() {
    let more = "[sweep]\nloss = [0.0, 0.01]\npaths = [8, 16]";
    let mut sweep = scenario("kind = \"incast\"\nsenders = 4\nbytes = 20000", more);
    sweep.seeds = vec![1, 2];
    let folder = std::env::temp_dir().join(format!("osprey-shards-{}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("a folder for results");
    let file = |name: &str, lines: Vec<String>| {
        let path = folder.join(name);
        std::fs::write(&path, lines.join("\n")).expect("results can be written");
        path
    };
    let parts: Vec<_> = (0..3)
        .map(|index| {
            file(
                &format!("{index}.jsonl"),
                lines(&sweep, Shard { index, count: 3 }),
            )
        })
        .collect();
    let whole = file("whole.jsonl", lines(&sweep, Shard::WHOLE));
    let cut = file("cut.jsonl", vec!["{\"scenario\": \"cut".into()]);
    let parts: Vec<&Path> = parts.iter().map(|path| path.as_path()).collect();
    let (merged, whole) = (sweep::merge(&parts), sweep::merge(&[&whole]));
    let told = sweep::merge(&[&cut])
        .expect_err("a cut file is refused")
        .to_string();
    std::fs::remove_dir_all(&folder).expect("the folder can go");
    let merged = merged.expect("results can be read");
    assert_eq!(merged.len(), 8);
    assert_eq!(merged, whole.expect("results can be read"));
    assert!(
        told.contains("cut.jsonl, line 1") && told.contains("cut off"),
        "{told}"
    );
}

#[test]
fn the_scenarios_of_the_repository_can_be_read() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../scenarios");
    let mut count = 0;
    for entry in std::fs::read_dir(folder).expect("the folder is there") {
        let path = entry.expect("an entry").path();
        Scenario::read(&path).unwrap_or_else(|error| panic!("{error}"));
        count += 1;
    }
    assert!(count >= 6);
}

#[test]
fn a_wrong_scenario_is_refused_in_a_line_that_names_it() {
    let folder = std::env::temp_dir().join(format!("osprey-scenario-{}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("a folder");
    let path = folder.join("wrong.toml");
    let head = "name = \"x\"\n[fabric]\nshape = { kind = \"leaf-spine\", hosts = 16, leaves = 4, spines = 4 }\n[workload]\n";
    for (text, part) in [
        ("name = 3".to_owned(), "wrong.toml"),
        (format!("{head}kind = \"gossip\""), "gossip"),
        (
            format!("{head}kind = \"permutation\"\nbytes = 5\n[sweep]\nloss = [2.0]"),
            "rate is 2",
        ),
        (
            format!(
                "{head}kind = \"permutation\"\nbytes = 5\n[[fault]]\ntarget = \"spine 7\"\naction = \"down\""
            ),
            "spine 7",
        ),
        (
            format!("{head}kind = \"permutation\"\nbytes = 5\n[transport]\npaths = 0"),
            "paths is 0",
        ),
    ] {
        std::fs::write(&path, &text).expect("the file can be written");
        let told = Scenario::read(&path).expect_err(&text).to_string();
        assert!(told.contains(part), "{told}");
    }
    std::fs::remove_dir_all(&folder).expect("the folder can go");
    assert!(
        Scenario::read(&path)
            .expect_err("it is gone")
            .to_string()
            .contains("wrong.toml")
    );
}
