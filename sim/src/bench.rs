//! What the main job runs on: two devices whose time goes on when asked.

use osprey_host::device::DevicePair;
use osprey_host::fake::FakePair;

/// Two joined devices, and their time.
pub trait Bench: DevicePair {
    /// Lets `cycles` pass on both sides.
    fn run(&mut self, cycles: u64);

    /// Cycles that have passed.
    fn cycle(&self) -> u64;

    /// Lets time pass until nothing is on its way.
    fn quiesce(&mut self) {}

    /// Bytes that side 0 has put on the line, by plane; empty if there is no line.
    fn line_bytes(&self) -> Vec<u64> {
        Vec::new()
    }
}

impl Bench for FakePair {
    fn run(&mut self, cycles: u64) {
        (0..cycles).for_each(|_| self.step());
    }

    fn cycle(&self) -> u64 {
        self.steps()
    }
}
