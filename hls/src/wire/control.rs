//! CONTROL (T-3.8): the common header and a body of set-up, from host to host.
//!
//! HELLO offers, ACCEPT settles, REJECT names the two values that do not fit, BYE ends. The engine does
//! not look into a body: it stores the packet in a ring.

use super::bytes::{get_u16, get_u24, get_u32, get_u64, put, put_u24};
use super::{
    COMMON_LEN, Common, CommonPacket, ConnectionId, Incarnation, Ipv4Address, Key, MacAddress,
    PacketType, PlaneAddress, WireError, need,
};
use std::fmt;

/// Most bytes of a body: a ring entry of 256 bytes without the common header.
pub const CONTROL_BODY_MAX: usize = 240;

mod field {
    pub const KIND: usize = 0;
    pub const DETAIL: usize = 1;
    pub const VERSION_MIN: usize = 2;
    pub const VERSION_MAX: usize = 3;
    pub const TRANSACTION: usize = 4;
    pub const FEATURES: usize = 8;
    pub const MTU: usize = 12;
    pub const PLANES: usize = 14;
    pub const PATHS: usize = 15;
    pub const WINDOW: usize = 16;
    pub const STREAMS: usize = 18;
    pub const KEYS: usize = 19;
    pub const SLOTS: usize = 20;
    pub const INCARNATION: usize = 22;
    pub const CONNECTION: usize = 24;
    pub const RESERVED: usize = 27;
    pub const SERVICE: usize = 28;
    pub const ADDRESSES: usize = 32;
    pub const ADDRESS_LEN: usize = 10;
    pub const KEY_LEN: usize = 20;

    pub const OURS: usize = 8;
    pub const YOURS: usize = 12;
    pub const REJECT_END: usize = 16;

    pub const BYE_CONNECTION: usize = 8;
    pub const BYE_INCARNATION: usize = 12;
    pub const BYE_ADDRESS: usize = 16;
    pub const BYE_END: usize = 28;
}

const HELLO: u8 = 1;
const ACCEPT: u8 = 2;
const REJECT: u8 = 3;
const BYE: u8 = 4;

/// Registered memory that the peer may write.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RemoteRegion {
    /// First virtual address.
    pub address: u64,
    /// Bytes.
    pub length: u64,
    /// Key to put into packets.
    pub key: Key,
}

/// What one side can do, or (in an ACCEPT) what both will do.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Offer {
    /// Lowest transport version.
    pub version_min: u8,
    /// Highest transport version; of an ACCEPT equal to the lowest.
    pub version_max: u8,
    /// Optional features; none is defined in version 1.
    pub features: u32,
    /// Most payload bytes of a packet.
    pub mtu: u16,
    /// Paths of each plane.
    pub paths_per_plane: u8,
    /// W, in bits.
    pub window: u16,
    /// Streams, 1 to 256; the field has 8 bits, and 0 means 256.
    pub streams: u16,
    /// Message slots a stream.
    pub slots: u16,
    /// What the peer must put into packets to this connection.
    pub incarnation: Incarnation,
    /// Number of this connection at the body's sender.
    pub connection: ConnectionId,
    /// Which service is wanted: free for applications.
    pub service: u32,
    /// Address of each plane, plane 0 first.
    pub planes: Vec<PlaneAddress>,
    /// Memory that the peer may write.
    pub regions: Vec<RemoteRegion>,
}

/// Number of streams of a byte: none is of no use, so 0 means 256 (T-3.8).
const fn parse_streams(byte: u8) -> u16 {
    if byte == 0 { 256 } else { byte as u16 }
}

impl Offer {
    fn body_len(&self) -> usize {
        field::ADDRESSES
            + self.planes.len() * field::ADDRESS_LEN
            + self.regions.len() * field::KEY_LEN
    }

    /// Regions that a body of `planes` planes has room for.
    pub const fn regions_max(planes: usize) -> usize {
        (CONTROL_BODY_MAX - field::ADDRESSES - planes * field::ADDRESS_LEN) / field::KEY_LEN
    }

    fn parse(body: &[u8]) -> Result<Self, WireError> {
        need(body.len(), field::ADDRESSES)?;
        let (planes, keys) = (
            usize::from(body[field::PLANES]),
            usize::from(body[field::KEYS]),
        );
        let regions_at = field::ADDRESSES + planes * field::ADDRESS_LEN;
        let end = regions_at + keys * field::KEY_LEN;
        need(body.len(), end)?;
        if end > CONTROL_BODY_MAX {
            return Err(WireError::Field {
                field: "counts of planes and regions",
                found: end as u64,
            });
        }
        let plane = |n: usize| parse_address(body, field::ADDRESSES + n * field::ADDRESS_LEN);
        let region = |n: usize| {
            let at = regions_at + n * field::KEY_LEN;
            RemoteRegion {
                address: get_u64(body, at),
                length: get_u64(body, at + 8),
                key: Key(get_u32(body, at + 16)),
            }
        };
        Ok(Self {
            version_min: body[field::VERSION_MIN],
            version_max: body[field::VERSION_MAX],
            features: get_u32(body, field::FEATURES),
            mtu: get_u16(body, field::MTU),
            paths_per_plane: body[field::PATHS],
            window: get_u16(body, field::WINDOW),
            streams: parse_streams(body[field::STREAMS]),
            slots: get_u16(body, field::SLOTS),
            incarnation: Incarnation(get_u16(body, field::INCARNATION)),
            connection: ConnectionId::new(get_u24(body, field::CONNECTION)),
            service: get_u32(body, field::SERVICE),
            planes: (0..planes).map(plane).collect(),
            regions: (0..keys).map(region).collect(),
        })
    }

    fn emit(&self, body: &mut [u8]) {
        body[field::DETAIL] = 0;
        body[field::VERSION_MIN] = self.version_min;
        body[field::VERSION_MAX] = self.version_max;
        put(body, field::FEATURES, &self.features.to_be_bytes());
        put(body, field::MTU, &self.mtu.to_be_bytes());
        body[field::PLANES] = self.planes.len() as u8;
        body[field::PATHS] = self.paths_per_plane;
        put(body, field::WINDOW, &self.window.to_be_bytes());
        body[field::STREAMS] = self.streams as u8;
        body[field::KEYS] = self.regions.len() as u8;
        put(body, field::SLOTS, &self.slots.to_be_bytes());
        put(body, field::INCARNATION, &self.incarnation.0.to_be_bytes());
        put_u24(body, field::CONNECTION, self.connection.value());
        body[field::RESERVED] = 0;
        put(body, field::SERVICE, &self.service.to_be_bytes());
        let mut at = field::ADDRESSES;
        for plane in &self.planes {
            emit_address(body, at, plane);
            at += field::ADDRESS_LEN;
        }
        for region in &self.regions {
            put(body, at, &region.address.to_be_bytes());
            put(body, at + 8, &region.length.to_be_bytes());
            put(body, at + 16, &region.key.0.to_be_bytes());
            at += field::KEY_LEN;
        }
    }
}

/// Asks for a connection.
pub type Hello = Offer;
/// Grants a connection.
pub type Accept = Offer;

/// What does not fit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum RejectReason {
    /// The version ranges do not meet.
    Version = 1,
    /// The smaller MTU is below what a side can do.
    Mtu = 2,
    /// Unequal numbers of planes.
    Planes = 3,
    /// No common number of paths a plane.
    Paths = 4,
    /// Unequal W.
    Window = 5,
    /// No common number of message slots.
    Slots = 6,
    /// Nobody listens for the service.
    Service = 7,
    /// No connection is free.
    NoConnection = 8,
}

impl RejectReason {
    /// The reason of a code, if it is defined.
    pub const fn from_code(code: u8) -> Option<Self> {
        Some(match code {
            1 => Self::Version,
            2 => Self::Mtu,
            3 => Self::Planes,
            4 => Self::Paths,
            5 => Self::Window,
            6 => Self::Slots,
            7 => Self::Service,
            8 => Self::NoConnection,
            _ => return None,
        })
    }
}

/// Refuses a connection, naming both values.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Reject {
    /// What does not fit.
    pub reason: RejectReason,
    /// The value of the side that refuses.
    pub ours: u32,
    /// The value that was offered.
    pub yours: u32,
}

/// Ends a connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Bye {
    /// This BYE answers a BYE.
    pub answer: bool,
    /// Number of the connection at the body's receiver.
    pub connection: ConnectionId,
    /// Incarnation of that connection at the body's receiver.
    pub incarnation: Incarnation,
    /// Port that the body leaves by: where the answer goes.
    pub address: PlaneAddress,
}

/// The body of a CONTROL packet.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ControlBody {
    /// Asks for a connection.
    Hello(Hello),
    /// Grants a connection.
    Accept(Accept),
    /// Refuses a connection.
    Reject(Reject),
    /// Ends a connection.
    Bye(Bye),
}

/// A CONTROL packet as values.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Control {
    /// The common header, of type CONTROL.
    pub common: Common,
    /// Joins an answer to its question; repeated questions keep it.
    pub transaction: u32,
    /// What is said.
    pub body: ControlBody,
}

impl Control {
    /// A packet to connection 0.
    pub const fn new(transaction: u32, body: ControlBody) -> Self {
        Self {
            common: Common::new(PacketType::Control),
            transaction,
            body,
        }
    }

    /// Reads a transport header and body; trailing bytes are not looked at.
    pub fn parse(bytes: &[u8]) -> Result<Self, WireError> {
        let common =
            Common::parse(&CommonPacket::new_checked(bytes)?)?.expect(PacketType::Control)?;
        let body = &bytes[COMMON_LEN..];
        need(body.len(), field::FEATURES)?;
        let transaction = get_u32(body, field::TRANSACTION);
        let parsed = match body[field::KIND] {
            HELLO => ControlBody::Hello(Offer::parse(body)?),
            ACCEPT => ControlBody::Accept(Offer::parse(body)?),
            REJECT => ControlBody::Reject(parse_reject(body)?),
            BYE => ControlBody::Bye(parse_bye(body)?),
            other => {
                return Err(WireError::Field {
                    field: "kind",
                    found: other.into(),
                });
            }
        };
        Ok(Self {
            common,
            transaction,
            body: parsed,
        })
    }

    /// Bytes of header and body.
    pub fn buffer_len(&self) -> usize {
        COMMON_LEN
            + match &self.body {
                ControlBody::Hello(offer) | ControlBody::Accept(offer) => offer.body_len(),
                ControlBody::Reject(_) => field::REJECT_END,
                ControlBody::Bye(_) => field::BYE_END,
            }
    }

    /// Writes every byte of header and body.
    ///
    /// # Panics
    /// When the body is longer than [`CONTROL_BODY_MAX`] or the buffer shorter than `buffer_len`.
    pub fn emit(&self, bytes: &mut [u8]) {
        assert!(
            self.buffer_len() <= COMMON_LEN + CONTROL_BODY_MAX,
            "body of {} bytes",
            self.buffer_len()
        );
        let (head, body) = bytes.split_at_mut(COMMON_LEN);
        self.common.emit(&mut CommonPacket::new_unchecked(head));
        put(body, field::TRANSACTION, &self.transaction.to_be_bytes());
        match &self.body {
            ControlBody::Hello(offer) => {
                body[field::KIND] = HELLO;
                offer.emit(body);
            }
            ControlBody::Accept(offer) => {
                body[field::KIND] = ACCEPT;
                offer.emit(body);
            }
            ControlBody::Reject(reject) => {
                put(body, field::KIND, &[REJECT, reject.reason as u8, 0, 0]);
                put(body, field::OURS, &reject.ours.to_be_bytes());
                put(body, field::YOURS, &reject.yours.to_be_bytes());
            }
            ControlBody::Bye(bye) => {
                put(body, field::KIND, &[BYE, u8::from(bye.answer), 0, 0]);
                put_u24(body, field::BYE_CONNECTION, bye.connection.value());
                body[field::BYE_CONNECTION + 3] = 0;
                put(
                    body,
                    field::BYE_INCARNATION,
                    &bye.incarnation.0.to_be_bytes(),
                );
                put(body, field::BYE_INCARNATION + 2, &[0, 0]);
                emit_address(body, field::BYE_ADDRESS, &bye.address);
                put(body, field::BYE_ADDRESS + field::ADDRESS_LEN, &[0, 0]);
            }
        }
    }
}

fn parse_address(body: &[u8], at: usize) -> PlaneAddress {
    PlaneAddress {
        mac: MacAddress(std::array::from_fn(|i| body[at + i])),
        ipv4: Ipv4Address(std::array::from_fn(|i| body[at + 6 + i])),
    }
}

fn emit_address(body: &mut [u8], at: usize, address: &PlaneAddress) {
    put(body, at, &address.mac.0);
    put(body, at + 6, &address.ipv4.0);
}

fn parse_reject(body: &[u8]) -> Result<Reject, WireError> {
    need(body.len(), field::REJECT_END)?;
    let code = body[field::DETAIL];
    Ok(Reject {
        reason: RejectReason::from_code(code).ok_or(WireError::Field {
            field: "reason",
            found: code.into(),
        })?,
        ours: get_u32(body, field::OURS),
        yours: get_u32(body, field::YOURS),
    })
}

fn parse_bye(body: &[u8]) -> Result<Bye, WireError> {
    need(body.len(), field::BYE_END)?;
    match body[field::DETAIL] {
        answer @ 0..=1 => Ok(Bye {
            answer: answer == 1,
            connection: ConnectionId::new(get_u24(body, field::BYE_CONNECTION)),
            incarnation: Incarnation(get_u16(body, field::BYE_INCARNATION)),
            address: parse_address(body, field::BYE_ADDRESS),
        }),
        other => Err(WireError::Field {
            field: "answer",
            found: other.into(),
        }),
    }
}

impl fmt::Display for Control {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "CONTROL transaction={:#010x} ", self.transaction)?;
        let (name, offer) = match &self.body {
            ControlBody::Hello(offer) => ("HELLO", offer),
            ControlBody::Accept(offer) => ("ACCEPT", offer),
            ControlBody::Reject(r) => {
                return write!(
                    f,
                    "REJECT {:?}: ours {}, yours {}",
                    r.reason, r.ours, r.yours
                );
            }
            ControlBody::Bye(b) => {
                return write!(f, "BYE connection={} answer={}", b.connection, b.answer);
            }
        };
        write!(
            f,
            "{name} connection={} incarnation={} mtu={} planes={} paths={} W={} slots={} regions={}",
            offer.connection,
            offer.incarnation,
            offer.mtu,
            offer.planes.len(),
            offer.paths_per_plane,
            offer.window,
            offer.slots,
            offer.regions.len()
        )
    }
}

#[cfg(test)]
#[path = "control_tests.rs"]
mod tests;
