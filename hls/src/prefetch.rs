//! Memory that will be needed soon, asked for early. For callers that know what comes: [`crate::endpoint`] has the
//! endpoint's part.

/// Bytes of a value that are asked for at most: a processor keeps track of about a dozen lines at a time.
const BYTES_MAX: usize = 320;

/// How far a look ahead has come. What a step needs, the one before has asked for, some events earlier.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Step {
    /// The packet or endpoint itself.
    Holder,
    /// What waits there, or the link that a packet takes next.
    Queue,
    /// The connection.
    Connection,
    /// The connection's path.
    Path,
}

/// Asks for the cache lines of `value`, its first 320 bytes. Changes nothing that a program can see.
#[inline(always)]
pub fn prefetch<T>(value: &T) {
    #[cfg(target_arch = "x86_64")]
    {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        let start: *const i8 = std::ptr::from_ref(value).cast();
        for at in (0..std::mem::size_of::<T>().min(BYTES_MAX)).step_by(64) {
            // SAFETY: a prefetch reads nothing and never faults; the address lies in `value`.
            unsafe { _mm_prefetch(start.wrapping_add(at), _MM_HINT_T0) };
        }
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = value;
}
