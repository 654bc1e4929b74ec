//! What a receiver grants: 1 / connections that are active (T-2.12).
//!
//! Two counters for the NIC and a tag a connection; no list. Epochs advance when somebody asks, so no timer
//! runs. A sender that is limited elsewhere leaves part of its grant unused: nothing here notices.

/// All of the line, in 1/65535.
pub(super) const SHARE_ALL: u16 = u16::MAX;

/// When a connection was counted.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct ShareTag {
    /// The last epoch in which it was counted; 0 is none.
    epoch: u32,
    /// Whether it was counted in the epoch before that.
    before: bool,
}

/// The NIC's counts.
#[derive(Debug)]
pub(super) struct Share {
    epoch: u32,
    epoch_end_ns: u64,
    active: u32,
    active_before: u32,
    epoch_ns_min: u64,
    packet_time_ns: u64,
    planes: u64,
}

impl Share {
    pub(super) fn new(epoch_ns_min: u32, packet_time_ns: u64, planes: usize) -> Self {
        Self {
            epoch: 1,
            epoch_end_ns: 0,
            active: 0,
            active_before: 0,
            epoch_ns_min: epoch_ns_min.into(),
            packet_time_ns,
            planes: planes as u64,
        }
    }

    /// A connection has received DATA or a PROBE.
    pub(super) fn on_packet(&mut self, now: u64, tag: &mut ShareTag) {
        self.advance(now);
        if tag.epoch != self.epoch {
            *tag = ShareTag {
                epoch: self.epoch,
                before: tag.epoch.wrapping_add(1) == self.epoch && tag.epoch != 0,
            };
            self.active += 1;
        }
    }

    /// A connection's sender has nothing more to send: what it was granted is for the others.
    pub(super) fn on_idle(&mut self, tag: &mut ShareTag) {
        if tag.epoch == self.epoch {
            self.active -= 1;
            self.active_before -= u32::from(tag.before);
        }
        *tag = ShareTag::default();
    }

    /// What each sender is granted, in 1/65535 of the line.
    pub(super) fn granted(&mut self, now: u64) -> u16 {
        self.advance(now);
        (u32::from(SHARE_ALL) / self.active_count()) as u16
    }

    fn active_count(&self) -> u32 {
        self.active.max(self.active_before).max(1)
    }

    fn advance(&mut self, now: u64) {
        if now < self.epoch_end_ns {
            return;
        }
        let length = self.length();
        let missed = now - self.epoch_end_ns >= length;
        self.active_before = if missed { 0 } else { self.active };
        self.active = 0;
        // A connection of a missed epoch is no longer one of the last.
        self.epoch = self.epoch.wrapping_add(1 + u32::from(missed)).max(1);
        self.epoch_end_ns = now + self.length();
    }

    fn length(&self) -> u64 {
        let packets = 2 * u64::from(self.active_count()) * self.packet_time_ns / self.planes;
        self.epoch_ns_min.max(packets)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_a_connection_once_an_epoch_and_remembers_one_epoch() {
        let mut share = Share::new(10_000, 332, 1);
        let mut tags = [ShareTag::default(); 4];
        for now in [0, 100, 200] {
            for tag in &mut tags {
                share.on_packet(now, tag);
            }
        }
        assert_eq!(share.granted(300), SHARE_ALL / 4);
        share.on_packet(12_000, &mut tags[0]);
        assert_eq!(
            share.granted(12_000),
            SHARE_ALL / 4,
            "the last epoch still counts"
        );
        share.on_packet(23_000, &mut tags[0]);
        assert_eq!(share.granted(23_000), SHARE_ALL);
    }

    #[test]
    fn epochs_grow_with_the_number_of_senders() {
        let mut share = Share::new(10_000, 332, 1);
        let mut tags = [ShareTag::default(); 64];
        for tag in &mut tags {
            share.on_packet(0, tag);
        }
        share.on_packet(10_000, &mut tags[0]);
        assert_eq!(share.epoch_end_ns, 10_000 + 2 * 64 * 332);
    }

    #[test]
    fn a_sender_that_has_nothing_more_is_not_counted() {
        let mut share = Share::new(10_000, 332, 1);
        let mut tags = [ShareTag::default(); 4];
        for now in [0, 11_000] {
            for tag in &mut tags {
                share.on_packet(now, tag);
            }
        }
        share.on_idle(&mut tags[0]);
        assert_eq!(share.granted(11_100), SHARE_ALL / 3, "in neither epoch");
        share.on_packet(11_200, &mut tags[0]);
        share.on_idle(&mut tags[0]);
        assert_eq!(
            share.granted(11_300),
            SHARE_ALL / 3,
            "a resend counts and goes"
        );
        share.on_packet(11_400, &mut tags[0]);
        assert_eq!(share.granted(11_500), SHARE_ALL / 4);
    }

    #[test]
    fn silence_is_forgotten() {
        let mut share = Share::new(10_000, 332, 1);
        let mut tags = [ShareTag::default(); 4];
        for tag in &mut tags {
            share.on_packet(0, tag);
        }
        assert_eq!(share.granted(1_000_000), SHARE_ALL);
    }
}
