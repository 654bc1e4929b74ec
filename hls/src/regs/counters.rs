//! Counters and the reasons of receive drops, by number.
//!
//! A drop reason's code is the number of its counter, so nothing is dropped without being counted. Code 0
//! is no drop.

use super::layout::Access::ReadOnly;
use super::layout::{Block, Register};

/// Room for counters.
pub const COUNTERS_MAX: u32 = 64;

/// The row of counters.
pub const COUNTER: Register = Register::new(
    "COUNTERS",
    0x400,
    ReadOnly,
    "Running counts, by number; wrap.",
)
.row(COUNTERS_MAX, 4);

/// The block.
pub const BLOCK: Block = Block {
    name: "counters",
    doc: "Running counts of everything that is dropped, sent, found or refused.",
    registers: &[&COUNTER],
};

/// A counter, by number. Those from 1 to 31 are drop reasons.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[repr(u8)]
pub enum Counter {
    /// Frames from the MACs, bad ones included.
    ReceiveFrames = 0,
    /// Frames that the MAC marked as bad.
    MacError = 1,
    /// Neither the port's MAC address nor broadcast.
    MacAddress = 2,
    /// Neither IPv4 nor IPv6 behind at most two VLAN tags.
    Ethertype = 3,
    /// IP version or header length wrong.
    IpHeader = 4,
    /// IPv4 header checksum wrong.
    IpChecksum = 5,
    /// IPv4 fragments.
    Fragment = 6,
    /// IPv6 extension headers.
    ExtensionHeader = 7,
    /// IP, but not UDP.
    Protocol = 8,
    /// Not the port's IPv4 address.
    IpAddress = 9,
    /// UDP too short for the transport or not within IP, or IP not within the frame.
    Length = 10,
    /// Not the transport's UDP port.
    Port = 11,
    /// CRC wrong.
    Crc = 12,
    /// Frames that found the receive buffer full.
    BufferFull = 13,
    /// Frames longer than any that is taken.
    Oversize = 14,
    /// Packets that found an internal pool empty.
    PoolEmpty = 15,
    /// Another transport version.
    Version = 16,
    /// Undefined packet type, or one that this engine does not serve.
    Type = 17,
    /// Connection not enabled.
    ConnectionUnknown = 18,
    /// Incarnation of another life of the connection.
    Incarnation = 19,
    /// Lengths in the transport header at odds with the UDP length.
    TransportLength = 20,
    /// Path not enabled, or of another plane.
    Path = 21,
    /// Operation or stream that is undefined or that this engine does not serve.
    Operation = 22,
    /// Offset and length of the payload outside the message.
    MessageBounds = 23,
    /// Epoch that the path is not in.
    Epoch = 24,
    /// PSN outside the window.
    Window = 25,
    /// PSN that was received before; acknowledged again.
    Duplicate = 26,
    /// Key not valid, of another generation, or without the right.
    Key = 27,
    /// Outside the bounds of the registered memory.
    Bounds = 28,
    /// CONTROL packets that found the ring full.
    ControlRingFull = 29,
    /// ACK, FENCE_ACK or NACK whose content is impossible.
    AckInvalid = 30,
    /// Message outside the slots, or at odds with what its slot holds.
    MessageSlot = 31,
    /// Times that a port's link went down.
    LinkDowns = 32,
    /// New DATA packets accepted.
    ReceiveData = 33,
    /// ACKs accepted.
    ReceiveAcks = 34,
    /// PROBEs accepted.
    ReceiveProbes = 35,
    /// CONTROL packets accepted.
    ReceiveControl = 36,
    /// NACKs accepted.
    ReceiveNacks = 37,
    /// DATA packets sent, resends included.
    SentData = 38,
    /// ACKs sent.
    SentAcks = 39,
    /// PROBEs sent.
    SentProbes = 40,
    /// CONTROL packets sent.
    SentControl = 41,
    /// NACKs sent.
    SentNacks = 42,
    /// DATA packets sent again.
    Resends = 43,
    /// Losses found by an ACK of later packets.
    LostByOrdinal = 44,
    /// Losses found by the answer to a probe.
    LostByProbe = 45,
    /// Losses presumed after a time without answer.
    LostByTimeout = 46,
    /// Probe timers that ran out.
    ProbeTimers = 47,
    /// ACK blocks accepted.
    AckBlocks = 48,
    /// ACK blocks with an older ordinal.
    AckBlocksStale = 49,
    /// ACK blocks of another epoch or of a path that is down.
    AckBlocksEpoch = 50,
    /// Work requests fetched.
    WorkRequests = 51,
    /// Work requests that break a rule of the format.
    WorkRequestsInvalid = 52,
    /// Completions of work requests, good and bad.
    SendCompletions = 53,
    /// Completions of received CONTROL packets.
    ControlCompletions = 54,
    /// Completions with an error status.
    ErrorCompletions = 55,
    /// Messages whose last byte was placed.
    MessagesPlaced = 56,
    /// Local accesses refused for their key.
    LocalKeyRefusals = 57,
    /// Local accesses refused for their bounds.
    LocalBoundsRefusals = 58,
    /// Times that a completion had to wait for the host.
    CompletionRingFull = 59,
    /// Read responses of host memory with an error.
    MemoryReadErrors = 60,
    /// Write responses of host memory with an error.
    MemoryWriteErrors = 61,
    /// Writes to doorbells.
    Doorbells = 62,
    /// Connections reported as failed.
    ConnectionErrors = 63,
}

/// Drop reasons have codes from 1 to below this.
pub const DROP_REASONS_END: usize = 32;

/// Name and meaning of each counter, by number.
pub const COUNTERS: &[(&str, &str)] = &[
    ("ReceiveFrames", "Frames from the MACs, bad ones included."),
    ("MacError", "Frames that the MAC marked as bad."),
    (
        "MacAddress",
        "Neither the port's MAC address nor broadcast.",
    ),
    (
        "Ethertype",
        "Neither IPv4 nor IPv6 behind at most two VLAN tags.",
    ),
    ("IpHeader", "IP version or header length wrong."),
    ("IpChecksum", "IPv4 header checksum wrong."),
    ("Fragment", "IPv4 fragments."),
    ("ExtensionHeader", "IPv6 extension headers."),
    ("Protocol", "IP, but not UDP."),
    ("IpAddress", "Not the port's IPv4 address."),
    (
        "Length",
        "UDP too short for the transport or not within IP, or IP not within the frame.",
    ),
    ("Port", "Not the transport's UDP port."),
    ("Crc", "CRC wrong."),
    ("BufferFull", "Frames that found the receive buffer full."),
    ("Oversize", "Frames longer than any that is taken."),
    ("PoolEmpty", "Packets that found an internal pool empty."),
    ("Version", "Another transport version."),
    (
        "Type",
        "Undefined packet type, or one that this engine does not serve.",
    ),
    ("ConnectionUnknown", "Connection not enabled."),
    (
        "Incarnation",
        "Incarnation of another life of the connection.",
    ),
    (
        "TransportLength",
        "Lengths in the transport header at odds with the UDP length.",
    ),
    ("Path", "Path not enabled, or of another plane."),
    (
        "Operation",
        "Operation or stream that is undefined or that this engine does not serve.",
    ),
    (
        "MessageBounds",
        "Offset and length of the payload outside the message.",
    ),
    ("Epoch", "Epoch that the path is not in."),
    ("Window", "PSN outside the window."),
    (
        "Duplicate",
        "PSN that was received before; acknowledged again.",
    ),
    (
        "Key",
        "Key not valid, of another generation, or without the right.",
    ),
    ("Bounds", "Outside the bounds of the registered memory."),
    (
        "ControlRingFull",
        "CONTROL packets that found the ring full.",
    ),
    (
        "AckInvalid",
        "ACK, FENCE_ACK or NACK whose content is impossible.",
    ),
    (
        "MessageSlot",
        "Message outside the slots, or at odds with what its slot holds.",
    ),
    ("LinkDowns", "Times that a port's link went down."),
    ("ReceiveData", "New DATA packets accepted."),
    ("ReceiveAcks", "ACKs accepted."),
    ("ReceiveProbes", "PROBEs accepted."),
    ("ReceiveControl", "CONTROL packets accepted."),
    ("ReceiveNacks", "NACKs accepted."),
    ("SentData", "DATA packets sent, resends included."),
    ("SentAcks", "ACKs sent."),
    ("SentProbes", "PROBEs sent."),
    ("SentControl", "CONTROL packets sent."),
    ("SentNacks", "NACKs sent."),
    ("Resends", "DATA packets sent again."),
    ("LostByOrdinal", "Losses found by an ACK of later packets."),
    ("LostByProbe", "Losses found by the answer to a probe."),
    (
        "LostByTimeout",
        "Losses presumed after a time without answer.",
    ),
    ("ProbeTimers", "Probe timers that ran out."),
    ("AckBlocks", "ACK blocks accepted."),
    ("AckBlocksStale", "ACK blocks with an older ordinal."),
    (
        "AckBlocksEpoch",
        "ACK blocks of another epoch or of a path that is down.",
    ),
    ("WorkRequests", "Work requests fetched."),
    (
        "WorkRequestsInvalid",
        "Work requests that break a rule of the format.",
    ),
    (
        "SendCompletions",
        "Completions of work requests, good and bad.",
    ),
    (
        "ControlCompletions",
        "Completions of received CONTROL packets.",
    ),
    ("ErrorCompletions", "Completions with an error status."),
    ("MessagesPlaced", "Messages whose last byte was placed."),
    ("LocalKeyRefusals", "Local accesses refused for their key."),
    (
        "LocalBoundsRefusals",
        "Local accesses refused for their bounds.",
    ),
    (
        "CompletionRingFull",
        "Times that a completion had to wait for the host.",
    ),
    (
        "MemoryReadErrors",
        "Read responses of host memory with an error.",
    ),
    (
        "MemoryWriteErrors",
        "Write responses of host memory with an error.",
    ),
    ("Doorbells", "Writes to doorbells."),
    ("ConnectionErrors", "Connections reported as failed."),
];

impl Counter {
    /// Every counter, by number.
    pub const ALL: [Self; COUNTERS.len()] = [
        Self::ReceiveFrames,
        Self::MacError,
        Self::MacAddress,
        Self::Ethertype,
        Self::IpHeader,
        Self::IpChecksum,
        Self::Fragment,
        Self::ExtensionHeader,
        Self::Protocol,
        Self::IpAddress,
        Self::Length,
        Self::Port,
        Self::Crc,
        Self::BufferFull,
        Self::Oversize,
        Self::PoolEmpty,
        Self::Version,
        Self::Type,
        Self::ConnectionUnknown,
        Self::Incarnation,
        Self::TransportLength,
        Self::Path,
        Self::Operation,
        Self::MessageBounds,
        Self::Epoch,
        Self::Window,
        Self::Duplicate,
        Self::Key,
        Self::Bounds,
        Self::ControlRingFull,
        Self::AckInvalid,
        Self::MessageSlot,
        Self::LinkDowns,
        Self::ReceiveData,
        Self::ReceiveAcks,
        Self::ReceiveProbes,
        Self::ReceiveControl,
        Self::ReceiveNacks,
        Self::SentData,
        Self::SentAcks,
        Self::SentProbes,
        Self::SentControl,
        Self::SentNacks,
        Self::Resends,
        Self::LostByOrdinal,
        Self::LostByProbe,
        Self::LostByTimeout,
        Self::ProbeTimers,
        Self::AckBlocks,
        Self::AckBlocksStale,
        Self::AckBlocksEpoch,
        Self::WorkRequests,
        Self::WorkRequestsInvalid,
        Self::SendCompletions,
        Self::ControlCompletions,
        Self::ErrorCompletions,
        Self::MessagesPlaced,
        Self::LocalKeyRefusals,
        Self::LocalBoundsRefusals,
        Self::CompletionRingFull,
        Self::MemoryReadErrors,
        Self::MemoryWriteErrors,
        Self::Doorbells,
        Self::ConnectionErrors,
    ];

    /// Whether it is the reason of a receive drop.
    pub const fn is_drop(self) -> bool {
        self as usize != 0 && (self as usize) < DROP_REASONS_END
    }

    /// Its name.
    pub const fn name(self) -> &'static str {
        COUNTERS[self as usize].0
    }

    /// Address of its register.
    pub const fn offset(self) -> u32 {
        COUNTER.at(self as u32)
    }
}
