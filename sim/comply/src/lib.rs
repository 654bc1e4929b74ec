//! The compliance suite: what any implementation of the transport must do, in numbered tests.
//!
//! A test runs in a [`world::World`]: endpoints that are joined by planes, with faults from one seed. The same test runs
//! on the behavioural endpoint in virtual time (`model`), on software NICs over real sockets (`soft`), and against an
//! implementation in another process or machine that is reached over UDP (`mixed`). What a test checks is judged by the
//! witnesses of [`referee`], which share no code with an endpoint. Start at [`suite::run`].

pub mod case;
mod chapters;
pub mod impairment;
pub mod referee;
pub mod report;
pub mod session;
pub mod suite;
pub mod world;
