//! Any bytes as a frame: see `osprey_fuzzing::frame`.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| osprey_fuzzing::frame(bytes));
