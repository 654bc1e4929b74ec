//! From a Verilog text to a shared library, once for each text.
//!
//! A build lives in `target/verilated/<hash>/`, where the hash covers everything that goes into it. It is
//! made in a temporary folder and renamed when complete; a lock file keeps parallel test processes from
//! building the same text twice. The tool's own run-time sources are compiled once and shared.

use crate::BuildError;
use crate::header::{self, PortDeclaration};
use crate::model::Source;
use crate::shim;
use crate::tools::{Verilator, build_folder};
use sha2::{Digest, Sha256};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};

/// Options of the C++ compiler for code that runs each cycle. On the whole engine -O2 takes twice as long to compile
/// and runs 8 % faster.
const FAST: &str = "-O1";
/// And for code that runs at start: constructors, traces' declarations.
const SLOW: &str = "-O0";
const COMMON: &[&str] = &[
    "-std=c++17",
    "-fPIC",
    "-fvisibility=hidden",
    "-fno-gnu-unique",
    "-w",
    "-DVL_TIME_CONTEXT",
    "-DVM_SC=0",
    "-DVM_COVERAGE=0",
];
const JOBS: usize = 2;

const VERILATOR: &[&str] = &[
    "--cc",
    "-O3",
    "--x-assign",
    "fast",
    "--x-initial",
    "fast",
    "--noassert",
    "--no-timing",
    "--output-split",
    "8000",
    "-Wno-fatal",
    "-Wno-lint",
    "-Wno-style",
    "--prefix",
    "Vmodel",
];

/// The library of `source`, built if it is not there yet.
pub(crate) fn library(source: &Source) -> Result<PathBuf, BuildError> {
    let verilator = Verilator::find()?;
    let ports = header::ports(source.text(), source.top())?;
    let hash = identity(&[
        source.top(),
        source.text(),
        &source.has_trace().to_string(),
        verilator.version(),
        &shim::SHIM_VERSION.to_string(),
        FAST,
        SLOW,
        &COMMON.join(" "),
        &VERILATOR.join(" "),
    ]);
    let build = Build {
        verilator,
        source,
        ports,
    };
    once(&hash, "model.so", |folder| build.run(folder))
}

pub(crate) fn identity(parts: &[&str]) -> String {
    let mut hash = Sha256::new();
    for part in parts {
        hash.update((part.len() as u64).to_le_bytes());
        hash.update(part);
    }
    hash.finalize()
        .iter()
        .take(16)
        .map(|byte| format!("{byte:02x}"))
        .collect()
}

/// `<folder of builds>/<hash>/<file>`: if it is not there, `make` fills a folder that is then renamed.
pub(crate) fn once(
    hash: &str,
    file: &str,
    make: impl FnOnce(&Path) -> Result<(), BuildError>,
) -> Result<PathBuf, BuildError> {
    let all = build_folder();
    let folder = all.join(hash);
    let result = folder.join(file);
    if result.exists() {
        return Ok(result);
    }
    fs::create_dir_all(&all).map_err(BuildError::file(&all))?;
    let lock_path = all.join(format!("{hash}.lock"));
    let lock = fs::File::create(&lock_path).map_err(BuildError::file(&lock_path))?;
    lock.lock().map_err(BuildError::file(&lock_path))?;
    if result.exists() {
        return Ok(result);
    }
    let temporary = all.join(format!("{hash}.part"));
    if temporary.exists() {
        fs::remove_dir_all(&temporary).map_err(BuildError::file(&temporary))?;
    }
    fs::create_dir_all(&temporary).map_err(BuildError::file(&temporary))?;
    make(&temporary)?;
    fs::rename(&temporary, &folder).map_err(BuildError::file(&folder))?;
    Ok(result)
}

struct Build<'a> {
    verilator: &'a Verilator,
    source: &'a Source,
    ports: Vec<PortDeclaration>,
}

impl Build<'_> {
    fn run(&self, folder: &Path) -> Result<(), BuildError> {
        let runtime = self.runtime()?;
        let verilog = folder.join("model.v");
        fs::write(&verilog, self.source.text()).map_err(BuildError::file(&verilog))?;
        let mut command = self.verilator.command();
        command
            .args(VERILATOR)
            .args(["--top-module", self.source.top(), "--Mdir"])
            .arg(folder);
        if self.source.has_trace() {
            command.arg("--trace");
        }
        execute("verilator", self.source.top(), command.arg(&verilog))?;

        let shim_path = folder.join("shim.cpp");
        let class_path = folder.join("Vmodel.h");
        let class = fs::read_to_string(&class_path).map_err(BuildError::file(&class_path))?;
        fs::write(
            &shim_path,
            shim::text(&self.ports, &class, self.source.has_trace()),
        )
        .map_err(BuildError::file(&shim_path))?;
        let objects = self.compile(&sources(folder)?, folder)?;
        let mut link = Command::new("g++");
        link.args(["-shared", "-Wl,-Bsymbolic", "-o"])
            .arg(folder.join("model.so"))
            .args(&objects);
        link.args(sources_of_kind(&runtime, "o")?).arg("-lpthread");
        execute("g++", self.source.top(), &mut link)?;
        for object in objects {
            fs::remove_file(&object).map_err(BuildError::file(&object))?;
        }
        Ok(())
    }

    /// The tool's run time, compiled: a folder of objects.
    fn runtime(&self) -> Result<PathBuf, BuildError> {
        let mut names = vec!["verilated.cpp", "verilated_threads.cpp"];
        if self.source.has_trace() {
            names.push("verilated_vcd_c.cpp");
        }
        let hash = identity(&[
            self.verilator.version(),
            FAST,
            &COMMON.join(" "),
            &names.join(" "),
        ]);
        let done = once(&format!("runtime-{hash}"), "verilated.o", |folder| {
            let files: Vec<_> = names
                .iter()
                .map(|name| self.verilator.include().join(name))
                .collect();
            self.compile(&files, folder).map(drop)
        })?;
        Ok(done.parent().expect("a file lies in a folder").to_owned())
    }

    /// Compiles each file into `folder`, a few at a time.
    fn compile(&self, files: &[PathBuf], folder: &Path) -> Result<Vec<PathBuf>, BuildError> {
        let mut queue: Vec<_> = files
            .iter()
            .map(|file| (file, object_of(file, folder)))
            .collect();
        queue.sort_by_key(|(file, _)| fs::metadata(file).map_or(0, |data| data.len()));
        let objects = queue.iter().map(|(_, object)| object.clone()).collect();
        let queue = Mutex::new(queue);
        let failed = AtomicBool::new(false);
        let work = || {
            while !failed.load(Ordering::Relaxed) {
                let Some((file, object)) = queue.lock().expect("no worker panics").pop() else {
                    break;
                };
                if let Err(error) = self.compile_one(file, &object, folder) {
                    failed.store(true, Ordering::Relaxed);
                    return Err(error);
                }
            }
            Ok(())
        };
        std::thread::scope(|scope| {
            let workers: Vec<_> = (0..JOBS).map(|_| scope.spawn(work)).collect();
            workers
                .into_iter()
                .try_for_each(|worker| worker.join().expect("a compile worker does not panic"))
        })?;
        Ok(objects)
    }

    fn compile_one(&self, file: &Path, object: &Path, folder: &Path) -> Result<(), BuildError> {
        let name = file
            .file_name()
            .expect("a source has a name")
            .to_string_lossy();
        let level = if name.contains("__Slow") || name.contains("__Syms") {
            SLOW
        } else {
            FAST
        };
        let include = self.verilator.include();
        let mut command = Command::new("g++");
        command
            .args(COMMON)
            .arg(level)
            .arg(format!("-DVM_TRACE={}", u8::from(self.source.has_trace())));
        command.arg(format!(
            "-DVM_TRACE_VCD={}",
            u8::from(self.source.has_trace())
        ));
        command
            .arg("-I")
            .arg(folder)
            .arg("-I")
            .arg(&include)
            .arg("-I")
            .arg(include.join("vltstd"));
        command.arg("-c").arg(file).arg("-o").arg(object);
        execute("g++", self.source.top(), &mut command)
    }
}

/// Runs a tool on module `top`.
pub(crate) fn execute(
    tool: &'static str,
    top: &str,
    command: &mut Command,
) -> Result<(), BuildError> {
    let answer = command
        .output()
        .map_err(|_| BuildError::ToolMissing { tool })?;
    if answer.status.success() {
        return Ok(());
    }
    let output = [&answer.stdout, &answer.stderr].map(|text| String::from_utf8_lossy(text));
    Err(BuildError::ToolFailed {
        tool: tool.to_owned(),
        top: top.to_owned(),
        output: output.concat(),
    })
}

fn sources(folder: &Path) -> Result<Vec<PathBuf>, BuildError> {
    sources_of_kind(folder, "cpp")
}

fn sources_of_kind(folder: &Path, extension: &str) -> Result<Vec<PathBuf>, BuildError> {
    let entries = fs::read_dir(folder).map_err(BuildError::file(folder))?;
    let mut files: Vec<_> = entries
        .flatten()
        .map(|entry| entry.path())
        .filter(|path| path.extension().is_some_and(|found| found == extension))
        .collect();
    files.sort();
    Ok(files)
}

fn object_of(file: &Path, folder: &Path) -> PathBuf {
    let mut object = folder.join(file.file_name().expect("a source has a name"));
    object.set_extension("o");
    object
}
