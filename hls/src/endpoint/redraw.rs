//! New entropy for a poor path (T-2.11): one whose window stays under half the mean drains, then draws.
//!
//! Same epoch; a probe goes first. Never on marks alone: then all connections crowd on the same spines.

use super::connection::Connection;
use super::core::Core;
use super::counters::Counter;
use super::events::EventKind;
use super::health::Health;

impl Connection {
    /// Looks at a path of which there is news.
    pub(super) fn consider_redraw(&mut self, core: &mut Core, path: usize, now: u64) {
        let redraw = core.config.redraw;
        let state = &self.tx[path];
        if !redraw.enabled || state.health != Health::Good {
            return;
        }
        if !state.draining {
            let poor = u64::from(state.window_q10) * 1000
                < u64::from(self.windows.mean_q10()) * u64::from(redraw.below_per_mille);
            let judged = state.packets_on_entropy >= redraw.packets_min;
            if !poor || !judged || now < self.last_redraw_ns + redraw.interval_ns {
                return;
            }
            self.last_redraw_ns = now;
            self.tx[path].draining = true;
        }
        if self.tx[path].is_idle() {
            self.draw(core, path, now);
        }
    }

    fn draw(&mut self, core: &mut Core, path: usize, now: u64) {
        let state = &mut self.tx[path];
        state.draining = false;
        state.packets_on_entropy = 0;
        state.queue.restart();
        let entropy = core.rng.entropy();
        self.marks[path].entropy = entropy;
        let half_mean = self.windows.mean_q10() / 2;
        self.set_window(path, half_mean.max(1));
        core.counters.bump(Counter::Redraws);
        core.event(
            now,
            self.number,
            self.path_id(path),
            EventKind::Redraw,
            entropy.into(),
        );
        // The new way may be dead: no packet takes it before a probe has come back.
        self.ask_first(core, path, now);
    }
}
