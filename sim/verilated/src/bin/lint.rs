//! Lints every Verilog file of a folder: `lint DIRECTORY`. A file's top module is named after the file.

use osprey_verilated::{Source, lint};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

fn main() -> ExitCode {
    let Some(directory) = std::env::args().nth(1).map(PathBuf::from) else {
        eprintln!("error: which folder? lint DIRECTORY");
        return ExitCode::FAILURE;
    };
    match lint_all(&directory) {
        Ok(()) => ExitCode::SUCCESS,
        Err(message) => {
            eprintln!("error: {message}");
            ExitCode::FAILURE
        }
    }
}

fn lint_all(directory: &Path) -> Result<(), String> {
    let shown = directory.display();
    let entries =
        std::fs::read_dir(directory).map_err(|error| format!("cannot read {shown}: {error}"))?;
    let mut files: Vec<PathBuf> = entries
        .flatten()
        .map(|entry| entry.path())
        .filter(|path| path.extension().is_some_and(|end| end == "v"))
        .collect();
    files.sort();
    if files.is_empty() {
        return Err(format!("no Verilog in {shown}: run `cargo xtask emit`"));
    }
    for path in files {
        let text = std::fs::read_to_string(&path)
            .map_err(|error| format!("cannot read {}: {error}", path.display()))?;
        let top = path
            .file_stem()
            .and_then(|stem| stem.to_str())
            .unwrap_or_default();
        lint(&Source::new(top, text)).map_err(|error| format!("{top}: {error}"))?;
        println!("{top}: clean");
    }
    Ok(())
}
