//! Building blocks that know nothing of the transport.

mod ram;

pub use ram::Ram;
