//! The receive side, from the planes to the completion of a message.

pub mod path_sequence;
