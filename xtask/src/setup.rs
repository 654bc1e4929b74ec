//! `cargo xtask setup`: a C++ compiler and Python from the distribution, hardware tools pinned in `.venv`.
//!
//! Says what it installs; what is there already costs nothing. Without root and without sudo it prints the
//! command that is to be run.

use crate::run;
use anyhow::{Context as _, Result, bail};
use std::process::Command;

/// A thing that must be there: how to see it, and the package that brings it.
struct Need {
    what: &'static str,
    program: &'static str,
    arguments: &'static [&'static str],
    package: &'static str,
}

const NEEDS: &[Need] = &[
    Need {
        what: "C++ compiler",
        program: "g++",
        arguments: &["--version"],
        package: "g++",
    },
    Need {
        what: "Python 3",
        program: "python3",
        arguments: &["--version"],
        package: "python3",
    },
    Need {
        what: "Python's venv with pip",
        program: "python3",
        arguments: &["-c", "import venv, ensurepip"],
        package: "python3-venv",
    },
];

/// Installs what is missing.
pub fn run() -> Result<()> {
    let missing: Vec<&Need> = NEEDS
        .iter()
        .filter(|need| !run::answers(need.program, need.arguments))
        .collect();
    if !missing.is_empty() {
        install_packages(&missing)?;
    }
    install_python_tools()
}

fn install_packages(missing: &[&Need]) -> Result<()> {
    let packages: Vec<&str> = missing.iter().map(|need| need.package).collect();
    let what: Vec<&str> = missing.iter().map(|need| need.what).collect();
    let by_hand = format!("apt-get install -y {}", packages.join(" "));
    if !run::answers("apt-get", &["--version"]) {
        bail!(
            "{} missing and there is no apt-get: install {} with your system's means",
            what.join(", "),
            packages.join(", ")
        );
    }
    let prefix: &[&str] = if is_root() {
        &[]
    } else if run::answers("sudo", &["-n", "true"]) {
        &["sudo", "-n"]
    } else {
        bail!("{} missing; run: sudo {by_hand}", what.join(", "));
    };
    println!(
        "setup: installing {} ({})",
        what.join(", "),
        packages.join(" ")
    );
    apt(prefix, &["update", "-qq"])?;
    let install: Vec<&str> = ["install", "-y", "-qq", "--no-install-recommends"]
        .into_iter()
        .chain(packages)
        .collect();
    apt(prefix, &install).with_context(|| format!("apt-get failed; by hand: {by_hand}"))
}

fn apt(prefix: &[&str], arguments: &[&str]) -> Result<()> {
    let words: Vec<&str> = prefix.iter().chain(&["apt-get"]).copied().collect();
    run::check(
        Command::new(words[0])
            .args(&words[1..])
            .args(arguments)
            .env("DEBIAN_FRONTEND", "noninteractive"),
    )
}

fn is_root() -> bool {
    Command::new("id")
        .arg("-u")
        .output()
        .is_ok_and(|answer| answer.stdout.trim_ascii() == b"0")
}

/// The pinned tools; a stamp that equals the list of versions says that they are there.
fn install_python_tools() -> Result<()> {
    let environment = run::environment();
    let list = run::root().join("xtask/requirements.txt");
    let wanted = std::fs::read_to_string(&list)
        .with_context(|| format!("cannot read {}", list.display()))?;
    let stamp = environment.join("osprey-requirements.txt");
    if std::fs::read_to_string(&stamp).is_ok_and(|there| there == wanted) {
        return Ok(());
    }
    println!(
        "setup: installing into .venv: {}",
        wanted.split_whitespace().collect::<Vec<_>>().join(", ")
    );
    if !environment.join("bin/pip").exists() {
        run::check(
            Command::new("python3")
                .args(["-m", "venv"])
                .arg(&environment),
        )?;
    }
    run::check(
        Command::new(environment.join("bin/python"))
            .args([
                "-m",
                "pip",
                "install",
                "--quiet",
                "--disable-pip-version-check",
                "-r",
            ])
            .arg(&list),
    )?;
    std::fs::write(&stamp, wanted).with_context(|| format!("cannot write {}", stamp.display()))
}
