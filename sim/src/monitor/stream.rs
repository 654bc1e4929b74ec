//! AXI-Stream rules: stable while stalled, contiguous keep, no empty beat, full beats before the last.

use super::Log;
use crate::axi::StreamBeat;

/// Watches one AXI-Stream.
#[derive(Debug, Clone)]
pub struct StreamMonitor {
    log: Log,
    stalled: Option<StreamBeat>,
}

impl StreamMonitor {
    /// A monitor of the stream called `place`.
    pub fn new(place: &str) -> Self {
        Self {
            log: Log::new(place),
            stalled: None,
        }
    }

    /// What was broken, where and when.
    pub fn violations(&self) -> &[String] {
        &self.log.kept
    }

    /// How often rules were broken.
    pub fn count(&self) -> u64 {
        self.log.count
    }

    /// The beat and the ready of one cycle, settled.
    pub fn sample(&mut self, beat: &StreamBeat, ready: bool) {
        if let Some(before) = self.stalled.take() {
            self.log.check(*beat == before, || {
                "changed or withdrawn while stalled".into()
            });
        }
        if beat.valid {
            let keep = beat.keep;
            self.log.check(keep != 0, || "beat without a byte".into());
            self.log.check(keep & keep.wrapping_add(1) == 0, || {
                format!("keep {keep:#x} has a gap")
            });
            self.log.check(beat.last || keep == u64::MAX, || {
                format!("keep {keep:#x} before the last beat")
            });
            if !ready {
                self.stalled = Some(*beat);
            }
        }
        self.log.cycle += 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_broken_rule_is_named() {
        let beat = |keep, last| StreamBeat {
            keep,
            last,
            valid: true,
            ..StreamBeat::default()
        };
        let cases: [(&[(StreamBeat, bool)], &str); 4] = [
            (
                &[
                    (beat(u64::MAX, false), false),
                    (StreamBeat::default(), false),
                ],
                "while stalled",
            ),
            (&[(beat(0, true), true)], "without a byte"),
            (&[(beat(0b101, true), true)], "gap"),
            (&[(beat(0b11, false), true)], "before the last"),
        ];
        for (steps, rule) in cases {
            let mut monitor = StreamMonitor::new("tx0");
            for (beat, ready) in steps {
                monitor.sample(beat, *ready);
            }
            assert!(
                monitor.violations()[0].contains(rule) && monitor.count() == 1,
                "{rule}"
            );
        }
    }
}
