//! Whether a peer that says nothing is still there (T-2.4): a connection that has heard nothing for long asks by a PROBE.
//!
//! Who sends finds out by its timers; who only receives would keep a connection to a peer that is gone for ever. The
//! question is a timer's probe, so what follows it (train, fences, back-off, report) is [`super::probe`].

use super::connection::Connection;
use super::core::Core;
use super::timers::{TimerKey, TimerKind};

impl Connection {
    /// Looks again after `from_ns` and the time that the configuration gives, if it gives one.
    pub(super) fn set_keepalive(&mut self, core: &mut Core, from_ns: u64) {
        if core.config.keepalive_ns > 0 {
            let due = from_ns.saturating_add(core.config.keepalive_ns);
            let key = TimerKey {
                kind: TimerKind::Keepalive,
                index: 0,
                connection: self.number.value(),
            };
            core.timers.set(&mut self.keepalive, due, key);
        }
    }

    /// Asks if nothing has been heard meanwhile, and no path is waiting for an answer anyway.
    pub(super) fn on_keepalive_timer(&mut self, core: &mut Core, now: u64) {
        let quiet = now.saturating_sub(self.heard_ns) >= core.config.keepalive_ns;
        self.set_keepalive(core, if quiet { now } else { self.heard_ns });
        let asking = |path: usize| self.tx[path].is_waiting() || self.tx[path].unanswered > 0;
        if quiet
            && !(0..self.tx.len()).any(asking)
            && let Some(path) = (0..self.tx.len()).find(|path| self.is_healthy(core, *path))
        {
            self.ask_first(core, path, now);
        }
    }
}
