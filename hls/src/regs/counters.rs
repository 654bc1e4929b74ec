//! Counters and the reasons of receive drops, by number.
//!
//! A drop reason's code is the number of its counter, so nothing is dropped without being counted.

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

/// A counter, by number. Those below 32 are drop reasons.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[repr(u8)]
pub enum Counter {
    /// Frames too short for the headers that they announce, or below 60 bytes.
    Runt = 0,
    /// Frames that the MAC marked as bad.
    MacError = 1,
    /// Frames longer than the largest packet.
    Oversize = 2,
    /// Frames that found the receive buffer full.
    BufferFull = 3,
    /// Neither IPv4 nor IPv6.
    Ethertype = 4,
    /// More than two VLAN tags.
    VlanDepth = 5,
    /// IP version nibble or header length wrong.
    IpVersion = 6,
    /// IPv4 header checksum wrong.
    IpChecksum = 7,
    /// IP length longer than the frame or shorter than its headers.
    IpLength = 8,
    /// IPv4 fragments.
    Fragment = 9,
    /// IPv6 extension headers.
    ExtensionHeader = 10,
    /// IP, but not UDP.
    Protocol = 11,
    /// Not the port's IP address.
    Address = 12,
    /// Not the transport's UDP port.
    Port = 13,
    /// UDP length at odds with the IP length.
    UdpLength = 14,
    /// CRC wrong.
    Crc = 15,
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
    /// Epoch that the path is not in.
    Epoch = 22,
    /// PSN outside the window.
    Window = 23,
    /// PSN that was received before; acknowledged again.
    Duplicate = 24,
    /// Key not valid, of another generation, or without the right.
    Key = 25,
    /// Outside the bounds of the registered memory.
    Bounds = 26,
    /// Message outside the slots, or at odds with what its slot holds.
    MessageSlot = 27,
    /// Operation that is undefined or that this engine does not serve.
    Operation = 28,
    /// CONTROL packets that found the ring full.
    ControlRingFull = 29,
    /// ACK, FENCE_ACK or NACK whose content is impossible.
    AckInvalid = 30,
    /// Packets that found an internal pool empty.
    PoolEmpty = 31,
    /// Frames from the MACs, bad ones included.
    ReceiveFrames = 32,
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

/// Drop reasons have codes below this.
pub const DROP_REASONS: usize = 32;

/// Name and meaning of each counter, by number.
pub const COUNTERS: &[(&str, &str)] = &[
    (
        "Runt",
        "Frames too short for the headers that they announce, or below 60 bytes.",
    ),
    ("MacError", "Frames that the MAC marked as bad."),
    ("Oversize", "Frames longer than the largest packet."),
    ("BufferFull", "Frames that found the receive buffer full."),
    ("Ethertype", "Neither IPv4 nor IPv6."),
    ("VlanDepth", "More than two VLAN tags."),
    ("IpVersion", "IP version nibble or header length wrong."),
    ("IpChecksum", "IPv4 header checksum wrong."),
    (
        "IpLength",
        "IP length longer than the frame or shorter than its headers.",
    ),
    ("Fragment", "IPv4 fragments."),
    ("ExtensionHeader", "IPv6 extension headers."),
    ("Protocol", "IP, but not UDP."),
    ("Address", "Not the port's IP address."),
    ("Port", "Not the transport's UDP port."),
    ("UdpLength", "UDP length at odds with the IP length."),
    ("Crc", "CRC wrong."),
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
        "MessageSlot",
        "Message outside the slots, or at odds with what its slot holds.",
    ),
    (
        "Operation",
        "Operation that is undefined or that this engine does not serve.",
    ),
    (
        "ControlRingFull",
        "CONTROL packets that found the ring full.",
    ),
    (
        "AckInvalid",
        "ACK, FENCE_ACK or NACK whose content is impossible.",
    ),
    ("PoolEmpty", "Packets that found an internal pool empty."),
    ("ReceiveFrames", "Frames from the MACs, bad ones included."),
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
        Self::Runt,
        Self::MacError,
        Self::Oversize,
        Self::BufferFull,
        Self::Ethertype,
        Self::VlanDepth,
        Self::IpVersion,
        Self::IpChecksum,
        Self::IpLength,
        Self::Fragment,
        Self::ExtensionHeader,
        Self::Protocol,
        Self::Address,
        Self::Port,
        Self::UdpLength,
        Self::Crc,
        Self::Version,
        Self::Type,
        Self::ConnectionUnknown,
        Self::Incarnation,
        Self::TransportLength,
        Self::Path,
        Self::Epoch,
        Self::Window,
        Self::Duplicate,
        Self::Key,
        Self::Bounds,
        Self::MessageSlot,
        Self::Operation,
        Self::ControlRingFull,
        Self::AckInvalid,
        Self::PoolEmpty,
        Self::ReceiveFrames,
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
        (self as usize) < DROP_REASONS
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
