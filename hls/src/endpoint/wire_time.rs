//! Time as it stands on the wire: units of 128 ns, 16 bits (T-1.14).

/// Nanoseconds of a unit, as a shift.
pub(super) const UNIT_SHIFT: u32 = 7;

/// The 16 bits of a time.
pub(super) const fn wire_time(now_ns: u64) -> u16 {
    (now_ns >> UNIT_SHIFT) as u16
}

/// The units from one time to another, so that the later one on the wire less these is the earlier one; the
/// most that fits for what is longer.
pub(super) const fn units_between(from_ns: u64, to_ns: u64) -> u16 {
    let from = from_ns >> UNIT_SHIFT << UNIT_SHIFT;
    delay_units(to_ns.saturating_sub(from))
}

/// A span in units; the longest that fits for what is longer.
pub(super) const fn delay_units(span_ns: u64) -> u16 {
    let units = span_ns >> UNIT_SHIFT;
    if units > u16::MAX as u64 {
        u16::MAX
    } else {
        units as u16
    }
}
