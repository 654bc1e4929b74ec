//! What a receiver grants: 1 / connections that are active (T-2.12).
//!
//! Two counters for the NIC and a tag a connection; no list. Epochs advance when somebody asks, so no timer
//! runs. A sender that is limited elsewhere leaves part of its grant unused: where `raise_idle` is set, all
//! grants are raised step by step while the line is not full, and lowered again when it is.

use super::config::ShareConfig;

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

/// A raise of 1 (none).
const RAISE_NONE_Q8: u32 = 256;

/// The NIC's counts.
#[derive(Debug)]
pub(super) struct Share {
    epoch: u32,
    epoch_start_ns: u64,
    epoch_end_ns: u64,
    active: u32,
    active_before: u32,
    /// Time that the data of this epoch takes on one plane, x 2^10.
    busy_q10: u64,
    raise_q8: u32,
    config: ShareConfig,
    packet_time_ns: u64,
    byte_time_q10: u64,
    planes: u64,
}

impl Share {
    pub(super) fn new(
        config: ShareConfig,
        packet_time_ns: u64,
        wire_bytes: u32,
        planes: usize,
    ) -> Self {
        Self {
            epoch: 1,
            epoch_start_ns: 0,
            epoch_end_ns: 0,
            active: 0,
            active_before: 0,
            busy_q10: 0,
            raise_q8: RAISE_NONE_Q8,
            config,
            packet_time_ns,
            byte_time_q10: (packet_time_ns << 10) / u64::from(wire_bytes),
            planes: planes as u64,
        }
    }

    /// A connection has received DATA of so many bytes on the wire, or a PROBE.
    pub(super) fn on_packet(&mut self, now: u64, bytes: u32, tag: &mut ShareTag) {
        self.advance(now);
        self.busy_q10 += u64::from(bytes) * self.byte_time_q10;
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
        let raised = u64::from(SHARE_ALL) * u64::from(self.raise_q8) / u64::from(RAISE_NONE_Q8);
        (raised / u64::from(self.active_count())).min(SHARE_ALL.into()) as u16
    }

    fn active_count(&self) -> u32 {
        self.active.max(self.active_before).max(1)
    }

    fn advance(&mut self, now: u64) {
        if now < self.epoch_end_ns {
            return;
        }
        let missed = now - self.epoch_end_ns >= self.length();
        if self.config.raise_idle {
            self.adjust_raise(now, missed);
        }
        self.active_before = if missed { 0 } else { self.active };
        (self.active, self.busy_q10) = (0, 0);
        // A connection of a missed epoch is no longer one of the last.
        self.epoch = self.epoch.wrapping_add(1 + u32::from(missed)).max(1);
        self.epoch_start_ns = now;
        self.epoch_end_ns = now + self.length();
    }

    /// An eighth more while the line has room, an eighth less when it is full; never above all for each.
    fn adjust_raise(&mut self, now: u64, missed: bool) {
        let line_q10 = ((now - self.epoch_start_ns) * self.planes) << 10;
        if missed {
            self.raise_q8 = RAISE_NONE_Q8;
        } else if self.busy_q10 * 8 < line_q10 * 7 {
            self.raise_q8 += self.raise_q8 / 8;
        } else if self.busy_q10 * 32 > line_q10 * 31 {
            self.raise_q8 -= self.raise_q8 / 8;
        }
        self.raise_q8 = self
            .raise_q8
            .clamp(RAISE_NONE_Q8, self.active_count() * RAISE_NONE_Q8);
    }

    fn length(&self) -> u64 {
        let packets = 2 * u64::from(self.active_count()) * self.packet_time_ns / self.planes;
        packets.max(self.config.epoch_ns.into())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn share(raise_idle: bool) -> Share {
        let config = ShareConfig {
            raise_idle,
            ..Default::default()
        };
        Share::new(config, 332, 4150, 1)
    }

    #[test]
    fn counts_a_connection_once_an_epoch_and_remembers_one_epoch() {
        let mut share = share(false);
        let mut tags = [ShareTag::default(); 4];
        for now in [0, 100, 200] {
            for tag in &mut tags {
                share.on_packet(now, 4150, tag);
            }
        }
        assert_eq!(share.granted(300), SHARE_ALL / 4);
        share.on_packet(12_000, 4150, &mut tags[0]);
        assert_eq!(
            share.granted(12_000),
            SHARE_ALL / 4,
            "the last epoch still counts"
        );
        share.on_packet(23_000, 4150, &mut tags[0]);
        assert_eq!(share.granted(23_000), SHARE_ALL);
    }

    #[test]
    fn epochs_grow_with_the_number_of_senders() {
        let mut share = share(false);
        let mut tags = [ShareTag::default(); 64];
        for tag in &mut tags {
            share.on_packet(0, 4150, tag);
        }
        share.on_packet(10_000, 4150, &mut tags[0]);
        assert_eq!(share.epoch_end_ns, 10_000 + 2 * 64 * 332);
    }

    #[test]
    fn a_sender_that_has_nothing_more_is_not_counted() {
        let mut share = share(false);
        let mut tags = [ShareTag::default(); 4];
        for now in [0, 11_000] {
            for tag in &mut tags {
                share.on_packet(now, 4150, tag);
            }
        }
        share.on_idle(&mut tags[0]);
        assert_eq!(share.granted(11_100), SHARE_ALL / 3, "in neither epoch");
        share.on_packet(11_200, 4150, &mut tags[0]);
        share.on_idle(&mut tags[0]);
        assert_eq!(
            share.granted(11_300),
            SHARE_ALL / 3,
            "a resend counts and goes"
        );
        share.on_packet(11_400, 4150, &mut tags[0]);
        assert_eq!(share.granted(11_500), SHARE_ALL / 4);
    }

    #[test]
    fn silence_is_forgotten() {
        let mut share = share(false);
        let mut tags = [ShareTag::default(); 4];
        for tag in &mut tags {
            share.on_packet(0, 4150, tag);
        }
        assert_eq!(share.granted(1_000_000), SHARE_ALL);
    }

    /// What is granted after 20 epochs of two senders that send one packet in so many nanoseconds.
    fn granted_to_two(raise_idle: bool, gap_ns: u64) -> u16 {
        let (mut share, mut tags) = (share(raise_idle), [ShareTag::default(); 2]);
        for n in 0..200_000 / gap_ns {
            share.on_packet(n * gap_ns, 4150, &mut tags[(n % 2) as usize]);
        }
        share.granted(200_000)
    }

    #[test]
    fn what_is_not_used_is_granted_to_all_where_that_is_wanted() {
        assert_eq!(granted_to_two(false, 1_000), SHARE_ALL / 2);
        assert_eq!(
            granted_to_two(true, 1_000),
            SHARE_ALL,
            "a third of the line is used"
        );
        assert_eq!(granted_to_two(true, 332), SHARE_ALL / 2, "the line is full");
    }
}
