//! Sequences of events on one endpoint and on two: see `osprey_fuzzing::endpoint`.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| osprey_fuzzing::endpoint(bytes));
