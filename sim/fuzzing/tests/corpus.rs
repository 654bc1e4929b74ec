//! The fuzzers' corpus, as an ordinary test: what was once interesting, or wrong, is run each time.

use std::path::{Path, PathBuf};

fn inputs(target: &str) -> Vec<(PathBuf, Vec<u8>)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/corpus");
    let files = std::fs::read_dir(folder.join(target)).expect("a corpus");
    let mut paths: Vec<PathBuf> = files.map(|file| file.expect("a file").path()).collect();
    paths.sort();
    assert!(!paths.is_empty(), "no corpus of {target}");
    let read = |path: PathBuf| {
        let bytes = std::fs::read(&path).expect("a file");
        (path, bytes)
    };
    paths.into_iter().map(read).collect()
}

fn replay(target: &str, run: fn(&[u8])) {
    for (path, bytes) in inputs(target) {
        println!("{}", path.display());
        run(&bytes);
    }
}

#[test]
fn frames_of_the_corpus() {
    replay("frame", osprey_fuzzing::frame);
}

#[test]
fn sequences_of_the_corpus() {
    replay("endpoint", osprey_fuzzing::endpoint);
}
