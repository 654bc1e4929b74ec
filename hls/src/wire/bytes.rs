//! Big-endian numbers at a byte offset. Bounds are the caller's business (`check_len`).

pub(super) fn get_u16(bytes: &[u8], at: usize) -> u16 {
    u16::from_be_bytes([bytes[at], bytes[at + 1]])
}

pub(super) fn get_u24(bytes: &[u8], at: usize) -> u32 {
    u32::from_be_bytes([0, bytes[at], bytes[at + 1], bytes[at + 2]])
}

pub(super) fn get_u32(bytes: &[u8], at: usize) -> u32 {
    u32::from(get_u16(bytes, at)) << 16 | u32::from(get_u16(bytes, at + 2))
}

pub(super) fn get_u64(bytes: &[u8], at: usize) -> u64 {
    u64::from(get_u32(bytes, at)) << 32 | u64::from(get_u32(bytes, at + 4))
}

pub(super) fn put(bytes: &mut [u8], at: usize, value: &[u8]) {
    bytes[at..at + value.len()].copy_from_slice(value);
}

pub(super) fn put_u24(bytes: &mut [u8], at: usize, value: u32) {
    put(bytes, at, &value.to_be_bytes()[1..]);
}
