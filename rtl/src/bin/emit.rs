//! Writes the Verilog of every named configuration: `emit [DIRECTORY]`, default `target/emit`.

use osprey_rtl::top::configuration::Configuration;
use osprey_rtl::top::wrapper;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// The engine is one large value while it is built.
const STACK_BYTES: usize = 1 << 30;

fn main() -> ExitCode {
    let directory = std::env::args()
        .nth(1)
        .map_or_else(|| PathBuf::from("target/emit"), PathBuf::from);
    let worker = std::thread::Builder::new()
        .stack_size(STACK_BYTES)
        .spawn(move || write_all(&directory));
    match worker.map(std::thread::JoinHandle::join) {
        Ok(Ok(Ok(()))) => ExitCode::SUCCESS,
        Ok(Ok(Err(message))) => {
            eprintln!("emit: {message}");
            ExitCode::FAILURE
        }
        Ok(Err(_)) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("emit: no thread with {STACK_BYTES} bytes of stack: {error}");
            ExitCode::FAILURE
        }
    }
}

/// One file a configuration; a file that would not change is left alone.
fn write_all(directory: &Path) -> Result<(), String> {
    std::fs::create_dir_all(directory)
        .map_err(|error| format!("cannot make {}: {error}", directory.display()))?;
    for configuration in &Configuration::ALL {
        let path = directory.join(format!("osprey_engine_{}.v", configuration.name));
        let text = wrapper::verilog(configuration);
        if std::fs::read_to_string(&path).is_ok_and(|old| old == text) {
            println!("{} unchanged", path.display());
            continue;
        }
        std::fs::write(&path, text)
            .map_err(|error| format!("cannot write {}: {error}", path.display()))?;
        println!("{} written", path.display());
    }
    Ok(())
}
