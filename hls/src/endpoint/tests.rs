//! Scenarios of two endpoints over planes in virtual time. Names say what happens.

mod field_cases;
mod handshake;
mod messages;
mod pair;
mod random;
mod recovery;
mod write;
