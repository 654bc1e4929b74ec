//! What may be given to a port or field of up to 64 bits.

/// A number or truth value; plain literals are `i32` to Rust, so that is one of them.
pub trait Value {
    /// As an unsigned number.
    fn value(self) -> u64;
}

macro_rules! unsigned {
    ($($kind:ty),*) => {$(impl Value for $kind {
        fn value(self) -> u64 {
            self as u64
        }
    })*};
}

unsigned!(bool, u8, u16, u32, u64, usize);

impl Value for i32 {
    fn value(self) -> u64 {
        u64::try_from(self).expect("ports and fields are unsigned")
    }
}
