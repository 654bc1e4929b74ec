//! What can go wrong between a Verilog text and a running model.

use std::path::PathBuf;

/// Why a model could not be built or loaded.
#[derive(Debug, thiserror::Error)]
pub enum BuildError {
    /// A program that is needed is not installed.
    #[error("{tool} was not found; `cargo xtask setup` installs what the project needs")]
    ToolMissing {
        /// The program.
        tool: &'static str,
    },
    /// A program ran and refused its input.
    #[error("{tool} failed on `{top}`:\n{output}")]
    ToolFailed {
        /// The program.
        tool: String,
        /// The top module that was being built.
        top: String,
        /// What it printed.
        output: String,
    },
    /// The text has no such module, or its ports cannot be read.
    #[error("module `{top}`: {reason}")]
    Header {
        /// The module that was looked for.
        top: String,
        /// What is wrong with it.
        reason: String,
    },
    /// A file could not be read or written.
    #[error("{path}: {source}", path = path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// The system's reason.
        source: std::io::Error,
    },
    /// The library was built and does not load.
    #[error("loading {path}: {source}", path = path.display())]
    Load {
        /// The library.
        path: PathBuf,
        /// The loader's reason.
        source: libloading::Error,
    },
}

impl BuildError {
    pub(crate) fn file(path: impl Into<PathBuf>) -> impl FnOnce(std::io::Error) -> Self {
        let path = path.into();
        move |source| Self::File { path, source }
    }
}
