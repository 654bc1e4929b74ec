//! The suite on the targets that need nothing from outside.

use osprey_comply::suite::{Selection, Verdict, run};
use osprey_comply::world::Target;

fn passes(target: Target, only: &[&str]) {
    let only = only.iter().map(|name| (*name).to_owned()).collect();
    let selection = Selection {
        targets: vec![target],
        peer: Vec::new(),
        only,
        seed: 1,
    };
    let mut failed = Vec::new();
    let results = run(&selection, |result| {
        if result.verdict == Verdict::Fail {
            failed.push(format!(
                "{} {}: {} {:?}",
                result.name, result.title, result.reason, result.evidence
            ));
        }
    });
    assert!(!results.is_empty(), "nothing was run");
    assert!(failed.is_empty(), "seed 1:\n{}", failed.join("\n"));
}

#[test]
fn the_model_complies() {
    passes(Target::Model, &[]);
}

#[test]
fn software_nics_comply() {
    passes(Target::Soft, &[]);
}
