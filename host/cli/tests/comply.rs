//! `osprey comply` against `osprey perf serve` in a process of its own, as an implementation from outside is tested.

use std::process::Command;

/// Writes, reads and atomics that the other side must grant, over paths that lose.
#[test]
fn a_served_nic_is_an_implementation_from_outside() {
    let run = Command::new(env!("CARGO_BIN_EXE_osprey"))
        .args([
            "comply",
            "--target",
            "mixed",
            "--only",
            "C-1.4,C-5.1,C-6.3,C-8.2",
        ])
        .output()
        .expect("the program starts");
    let said = String::from_utf8_lossy(&run.stdout);
    assert!(run.status.success(), "{said}");
    assert!(said.contains("4 passed, 0 failed, 0 skipped"), "{said}");
}
