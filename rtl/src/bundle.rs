//! `bundle!`: a group of wires with one declaration.
//!
//! A bundle is a rust-hdl `LogicStruct` (the first field takes the least significant bits) that also
//! carries its own layout as data, so that a test packs and unpacks ports by field name and never
//! repeats an offset.

/// Declares a group of wires: `bundle! { Name { field: width, ... } }`.
#[macro_export]
macro_rules! bundle {
    ($(#[$meta:meta])* $name:ident { $($(#[$field_meta:meta])* $field:ident : $width:literal),* $(,)? }) => {
        $(#[$meta])*
        #[derive(Copy, Clone, PartialEq, Debug, Default, rust_hdl::prelude::LogicStruct)]
        pub struct $name { $($(#[$field_meta])* pub $field: rust_hdl::prelude::Bits<$width>),* }
        impl $name {
            /// Name and width in bits of each field, least significant first.
            pub const FIELDS: &'static [(&'static str, usize)] = &[$((stringify!($field), $width)),*];
        }
    };
}
