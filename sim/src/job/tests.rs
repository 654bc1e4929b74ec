//! The transfer over fake engines: the job's own logic, without Verilog.

use super::*;
use crate::hosts::HostsError;
use osprey_host::fake::FakePair;
use osprey_host::verbs::Config;

fn config(bytes: usize, message_bytes: usize) -> TransferConfig {
    TransferConfig {
        data: (0..bytes).map(|n| (n * 31 % 251) as u8).collect(),
        message_bytes,
        source_offset: 5,
        target_offset: 4091,
        host: Config::new(Vec::new()),
        planes: 2,
        seed: 3,
        patience_cycles: 10_000,
    }
}

#[test]
fn all_bytes_arrive_and_every_referee_is_content() {
    for (bytes, message_bytes) in [(1, 1), (100_000, 1000), (65_537, 65_536)] {
        let mut seen = 0;
        let outcome = transfer(
            &mut FakePair::new(),
            &config(bytes, message_bytes),
            &mut |progress| {
                seen = progress.bytes;
            },
        )
        .unwrap();
        assert_eq!(outcome.wrong, [""; 0]);
        assert_eq!(outcome.completions, bytes.div_ceil(message_bytes) as u64);
        assert_eq!(
            (outcome.sha256_sent, seen),
            (outcome.sha256_received, bytes as u64)
        );
    }
}

#[test]
fn a_device_that_stops_is_reported_with_its_counters() {
    let mut pair = FakePair::new();
    pair.engine(0)
        .registers
        .insert(osprey_hls::regs::counters::Counter::Doorbells.offset(), 7);
    pair.engine(0).hold_writes = true;
    let error = transfer(&mut pair, &config(100, 10), &mut |_| {}).unwrap_err();
    assert!(
        matches!(
            error,
            HostsError::Stalled {
                done: 0,
                total: 100,
                ..
            }
        ),
        "{error}"
    );
    assert!(error.to_string().contains("Doorbells=7"), "{error}");
}

#[test]
fn nobody_at_the_other_end_is_reported() {
    let mut pair = FakePair::new();
    pair.engine(0).lose_control = u32::MAX;
    let error = transfer(&mut pair, &config(100, 10), &mut |_| {}).unwrap_err();
    assert!(matches!(error, HostsError::SetUp { .. }), "{error}");
}
