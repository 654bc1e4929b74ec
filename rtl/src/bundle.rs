//! `bundle!`: a group of wires with one declaration.
//!
//! A bundle is a rust-hdl `LogicStruct` (the first field takes the least significant bits) that also
//! carries its own layout as data, so that a test packs and unpacks ports by field name and never
//! repeats an offset.

use rust_hdl::prelude::*;

/// Declares a group of wires: `bundle! { Name { field: width, ... } }`.
#[macro_export]
macro_rules! bundle {
    ($(#[$meta:meta])* $name:ident { $($(#[$field_meta:meta])* $field:ident : $width:tt),* $(,)? }) => {
        $(#[$meta])*
        #[derive(Copy, Clone, PartialEq, Debug, Default, rust_hdl::prelude::LogicStruct)]
        pub struct $name { $($(#[$field_meta])* pub $field: rust_hdl::prelude::Bits<$width>),* }
        impl $name {
            /// Name and width in bits of each field, least significant first.
            pub const FIELDS: &'static [(&'static str, usize)] = &[$((stringify!($field), $width)),*];
        }
    };
}

bundle! {
    /// A 16-bit number taken from the wire byte by byte; `b0` is the least significant byte.
    Word16 { b0: 8, b1: 8 }
}

bundle! {
    /// A 24-bit number taken from the wire byte by byte.
    Word24 { b0: 8, b1: 8, b2: 8 }
}

bundle! {
    /// A 32-bit number taken from the wire byte by byte.
    Word32 { b0: 8, b1: 8, b2: 8, b3: 8 }
}

bundle! {
    /// A 64-bit number taken from the wire byte by byte.
    Word64 { b0: 8, b1: 8, b2: 8, b3: 8, b4: 8, b5: 8, b6: 8, b7: 8 }
}
