//! Paths that swallow DATA and answer probes, such as one with too small an MTU (T-2.10).
//!
//! Probes say that such a path is alive, so only the losses themselves can condemn it: many in a row without a packet that
//! arrived. Where every path is like that, the connection is reported as failed.

use super::connection::Connection;
use super::core::Core;
use super::work::Status;

/// Losses in a row that condemn a path: at 50 % loss one path in four thousand million comes to it.
const PATH_LOSSES_MAX: u32 = 32;
/// Losses in a row on all paths together, for each path, that end a connection.
const CONNECTION_LOSSES_MAX: u32 = 64;

impl Connection {
    /// A path's log was walked: so many packets had arrived, so many were lost.
    pub(super) fn weigh_losses(
        &mut self,
        core: &mut Core,
        path: usize,
        arrived: bool,
        lost: u64,
        now: u64,
    ) {
        let lost = lost.min(u32::MAX.into()) as u32;
        let state = &mut self.tx[path];
        if arrived {
            (state.barren, self.barren) = (0, 0);
            return;
        }
        state.barren = state.barren.saturating_add(lost);
        self.barren = self.barren.saturating_add(lost);
        if lost == 0 {
            return;
        }
        if self.barren > CONNECTION_LOSSES_MAX * self.tx.len() as u32 {
            self.fail(core, now, None, Status::RetriesExhausted);
        } else if self.tx[path].barren > PATH_LOSSES_MAX && self.condemn(core, path, now) {
            self.tx[path].barren = 0;
        }
    }

    /// The peer refuses packets for a while, which look lost: nothing speaks against any path.
    pub(super) fn forgive_losses(&mut self) {
        self.barren = 0;
        self.tx.iter_mut().for_each(|path| path.barren = 0);
    }
}
