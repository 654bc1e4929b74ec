//! How results are shown: figures with targets, and HTML pages with plots that load nothing from elsewhere.
//!
//! Knows nothing of what was measured. Every report of the simulation is made of these parts.

mod figure;
mod page;
mod plot;

pub use figure::{Better, Figure, table};
pub use page::{Page, percent};
pub use plot::{Bars, Lines, bars, lines};
