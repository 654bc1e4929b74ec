//! What the fuzz targets of `fuzz/` do with an input; a panic is a finding.
//!
//! [`frame`] takes any bytes as a frame, [`stranger`] one endpoint whose peer says anything, [`pair`] two endpoints with a
//! bad channel between them. They stand apart from the targets so that an ordinary test can run them on the corpus
//! (`tests/corpus.rs`), without a fuzzer. The input decides everything: nothing is random here.

mod frame;
mod memory;
mod pair;
mod speech;
mod state;
mod stranger;

pub use frame::frame;
pub use pair::pair;
pub use stranger::stranger;

/// The target `endpoint`: the first byte says which of the two it is.
pub fn endpoint(bytes: &[u8]) {
    match bytes.split_first() {
        Some((which, rest)) if which % 2 == 0 => stranger(rest),
        Some((_, rest)) => pair(rest),
        None => {}
    }
}
