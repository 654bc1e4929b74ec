//! Protocol monitors: each watches one bus every cycle and says where a rule was broken.

mod axi;
mod stream;

pub use axi::AxiMonitor;
pub use stream::StreamMonitor;

/// Violations kept of one bus; the rest is only counted.
const KEPT_MAX: usize = 16;

/// Violations of one bus.
#[derive(Debug, Clone)]
struct Log {
    place: String,
    cycle: u64,
    kept: Vec<String>,
    count: u64,
}

impl Log {
    fn new(place: &str) -> Self {
        Self {
            place: place.into(),
            cycle: 0,
            kept: Vec::new(),
            count: 0,
        }
    }

    /// Records `what` unless `rule` holds.
    fn check(&mut self, rule: bool, what: impl FnOnce() -> String) {
        if rule {
            return;
        }
        self.count += 1;
        if self.kept.len() < KEPT_MAX {
            self.kept
                .push(format!("{} cycle {}: {}", self.place, self.cycle, what()));
        }
    }
}
