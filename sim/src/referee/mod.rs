//! Judges by properties, plainly and slowly, sharing no code with endpoint, host library or engine.
//!
//! `memory.rs`: every byte is what it must be. `completion.rs`: each request completes once, in order.
//! `conservation.rs`: what went in came out or was counted.

mod completion;
mod conservation;
mod memory;

pub use completion::CompletionReferee;
pub use conservation::Conservation;
pub use memory::MemoryReferee;
