//! The verbs model: protection domain, memory region, connection, work request, completion, over any NIC.
//!
//! [`Nic`] is what an application is written for. [`EngineNic`] is the engine: a [`Context`] (tables, rings, set-up) bound
//! to its [`crate::device::Device`]; [`crate::udp::UdpNic`] is the endpoint in software. Work requests, rights, states and
//! statuses are those of [`osprey_hls::endpoint`] for both.
//!
//! Everything is polled: [`Nic::progress`] moves things along, [`Nic::poll`] yields completions. Errors of calls say who is
//! at fault, the caller or the device; what the peer does wrong ends a request or a connection, and its [`Status`] or
//! [`CloseReason`] says how.
//!
//! ```
//! use osprey_host::udp::{UdpNic, UdpSettings};
//! use osprey_host::verbs::{
//!     ConnectionState, Error, Nic, Rights, Status, WorkOperation, WorkRequest,
//! };
//! use std::time::Duration;
//!
//! const SERVICE: u32 = 1;
//!
//! /// Writes `text` into the memory of `b`, over NICs of any kind; what is there then.
//! fn greet(a: &mut impl Nic, b: &mut impl Nic, text: &[u8]) -> Result<Vec<u8>, Error> {
//!     let may_write = Rights { write: true, ..Rights::default() };
//!     let target = b.register(64, may_write)?;
//!     let source = a.register(text.len() as u64, Rights::default())?;
//!     a.write_memory(&source, 0, text)?;
//!
//!     b.listen(SERVICE, &[target])?;
//!     let connection = a.connect(&b.addresses(), SERVICE, &[])?;
//!     while a.state(connection)? == ConnectionState::Connecting {
//!         a.progress(Duration::ZERO)?;
//!         b.progress(Duration::ZERO)?;
//!     }
//!     let remote = a.peer_regions(connection)?[0];
//!     let operation = WorkOperation::Write {
//!         local: source.address,
//!         length: text.len() as u32,
//!         remote: remote.address,
//!         key: remote.key,
//!     };
//!     a.post_send(connection, 0, WorkRequest { id: 7, operation })?;
//!     let completion = loop {
//!         a.progress(Duration::ZERO)?;
//!         b.progress(Duration::ZERO)?;
//!         if let Some(completion) = a.poll() {
//!             break completion;
//!         }
//!     };
//!     assert_eq!((completion.id, completion.status), (7, Status::Ok));
//!
//!     let mut found = vec![0; text.len()];
//!     b.read_memory(&target, 0, &mut found)?;
//!     a.close(connection)?;
//!     Ok(found)
//! }
//!
//! let open = |seed| UdpNic::open(&UdpSettings::new(vec!["127.0.0.1:0".parse().unwrap()], seed));
//! let (mut a, mut b) = (open(1)?, open(2)?);
//! assert_eq!(greet(&mut a, &mut b, b"hello")?, b"hello");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod completion_queue;
mod config;
mod connection;
mod context;
mod control_channel;
mod engine_nic;
mod error;
mod handshake;
mod memory_region;
mod nic;
mod telemetry;
mod work_request;

pub use completion_queue::Completion;
pub use config::{Config, FirstNumbers, Timers};
pub use connection::ConnectionHandle;
pub use context::Context;
pub use engine_nic::EngineNic;
pub use error::{CallerError, Error};
pub use memory_region::{MemoryRegion, ProtectionDomain};
pub use nic::{Nic, NicCapabilities, OperationKind, PathReport};
pub use osprey_hls::endpoint::{
    CloseReason, ConnectionState, ReceiveRequest, Rights, Settled, Side, Status, WorkOperation,
    WorkRequest,
};
pub use telemetry::PathTelemetry;

pub(crate) use memory_region::{check_bounds, check_length};
pub(crate) use nic::check_stream;

use engine_nic::unsupported;
