//! Scenarios of two endpoints over planes in virtual time. Names say what happens.

mod field_cases;
mod handshake;
mod hostile;
mod keepalive;
mod messages;
mod not_ready;
mod pair;
mod probes;
mod random;
mod recovery;
mod tail;
mod write;
