//! Tables: state of the engine that the host reads and writes, an entry at a time.

use super::layout::Access::{ReadOnly, ReadWrite, WriteOnly};
use super::layout::{Block, Entry, Field, Register, Table};

/// Starts an access.
pub const COMMAND: Register = Register::new(
    "TABLE_COMMAND",
    0x100,
    WriteOnly,
    "A write starts an access: 19:0 index, 27:24 table, 28 write, 29 read.",
);
/// Write bit of [`COMMAND`].
pub const COMMAND_WRITE: u32 = 1 << 28;
/// Read bit of [`COMMAND`].
pub const COMMAND_READ: u32 = 1 << 29;
/// Place of the table's number in [`COMMAND`].
pub const COMMAND_TABLE_SHIFT: u32 = 24;
/// Bits of the index in [`COMMAND`].
pub const COMMAND_INDEX_BITS: u32 = 20;
/// Whether an access is going on.
pub const STATUS: Register =
    Register::new("TABLE_STATUS", 0x104, ReadOnly, "Bit 0: busy.").width(1);
/// The entry.
pub const DATA: Register = Register::new(
    "TABLE_DATA",
    0x140,
    ReadWrite,
    "Words 0 to 15 of an entry: staging of a write, result of a read.",
)
.row(16, 4);

/// The block.
pub const BLOCK: Block = Block {
    name: "table",
    doc: "Access to the tables: stage TABLE_DATA and write TABLE_COMMAND, or write TABLE_COMMAND and read TABLE_DATA, \
          each time waiting until TABLE_STATUS is 0.",
    registers: &[&COMMAND, &STATUS, &DATA],
};

/// Fields of CONNECTION.
pub mod connection {
    use super::Field;
    /// Receive switch.
    pub const RECEIVE_ENABLE: Field = Field::new(
        "RECEIVE_ENABLE",
        0,
        0,
        1,
        "Packets to this connection are accepted.",
    );
    /// Send switch.
    pub const SEND_ENABLE: Field = Field::new(
        "SEND_ENABLE",
        0,
        1,
        1,
        "Work requests of this connection are served.",
    );
    /// Payload of a packet.
    pub const MTU_SHIFT: Field = Field::new(
        "MTU_SHIFT",
        0,
        8,
        4,
        "log2 of a packet's payload bytes, 8 to 12.",
    );
    /// Send ring size.
    pub const SEND_RING_ENTRIES: Field = Field::new(
        "SEND_RING_ENTRIES",
        0,
        16,
        4,
        "log2 of the send ring's entries.",
    );
    /// Completion ring size.
    pub const COMPLETION_RING_ENTRIES: Field = Field::new(
        "COMPLETION_RING_ENTRIES",
        0,
        20,
        4,
        "log2 of the completion ring's entries.",
    );
    /// Paths that may be used.
    pub const PATHS: Field = Field::new(
        "PATHS",
        1,
        0,
        32,
        "Mask of enabled paths, bit = plane x 8 + k.",
    );
    /// Number at the peer.
    pub const PEER_CONNECTION: Field = Field::new(
        "PEER_CONNECTION",
        2,
        0,
        24,
        "Number of the connection at the peer.",
    );
    /// Incarnation of received packets.
    pub const LOCAL_INCARNATION: Field = Field::new(
        "LOCAL_INCARNATION",
        3,
        0,
        16,
        "Must be in received packets.",
    );
    /// Incarnation of sent packets.
    pub const PEER_INCARNATION: Field =
        Field::new("PEER_INCARNATION", 3, 16, 16, "Put into sent packets.");
    /// Send ring address.
    pub const SEND_RING_ADDRESS: Field = Field::new(
        "SEND_RING_ADDRESS",
        4,
        0,
        64,
        "Bus address of the send ring.",
    );
    /// Completion ring address.
    pub const COMPLETION_RING_ADDRESS: Field = Field::new(
        "COMPLETION_RING_ADDRESS",
        6,
        0,
        64,
        "Bus address of the completion ring.",
    );
    /// Window of a path.
    pub const PATH_WINDOW: Field =
        Field::new("PATH_WINDOW", 8, 0, 8, "Most packets in flight on a path.");
}

/// Fields of ROUTE.
pub mod route {
    use super::Field;
    /// Peer MAC, first octets.
    pub const MAC_LOW: Field = Field::new(
        "MAC_LOW",
        0,
        0,
        32,
        "MAC address of the peer's port, octet 0 in bits 7:0.",
    );
    /// Peer MAC, last octets.
    pub const MAC_HIGH: Field = Field::new("MAC_HIGH", 1, 0, 16, "Octets 4 and 5.");
    /// Peer IPv4.
    pub const IPV4: Field = Field::new(
        "IPV4",
        2,
        0,
        32,
        "IPv4 address of the peer's port, first octet in bits 7:0.",
    );
}

/// Fields of PATH.
pub mod path {
    use super::Field;
    /// Entropy.
    pub const ENTROPY: Field = Field::new("ENTROPY", 0, 0, 16, "UDP source port of the path.");
}

/// Fields of CLEAR.
pub mod clear {
    use super::Field;
    /// First PSN.
    pub const PSN: Field = Field::new(
        "PSN",
        0,
        0,
        24,
        "PSN that the paths start with: 0, or for tests a multiple of 2 W.",
    );
    /// Epoch.
    pub const EPOCH: Field = Field::new("EPOCH", 0, 24, 8, "Epoch that the paths start with.");
    /// First ordinal.
    pub const ORDINAL: Field =
        Field::new("ORDINAL", 1, 0, 16, "Ordinal that the paths start with.");
}

/// Fields of KEY.
pub mod key {
    use super::Field;
    /// Valid.
    pub const VALID: Field = Field::new("VALID", 0, 0, 1, "The entry is in use.");
    /// Local use.
    pub const LOCAL: Field = Field::new("LOCAL", 0, 1, 1, "May be the source of sends.");
    /// Remote writes.
    pub const REMOTE_WRITE: Field = Field::new("REMOTE_WRITE", 0, 2, 1, "The peer may write.");
    /// Page size.
    pub const PAGE_SIZE: Field = Field::new("PAGE_SIZE", 0, 4, 2, "0: 4 KiB, 1: 2 MiB, 2: 1 GiB.");
    /// Generation.
    pub const GENERATION: Field = Field::new(
        "GENERATION",
        1,
        0,
        20,
        "Generation of the key (key = generation << 12 | index).",
    );
    /// First page.
    pub const FIRST_PAGE: Field = Field::new(
        "FIRST_PAGE",
        2,
        0,
        20,
        "Index in PAGE of the page that holds the first byte.",
    );
    /// Base.
    pub const BASE: Field = Field::new("BASE", 4, 0, 64, "First virtual address.");
    /// Length.
    pub const LENGTH: Field = Field::new("LENGTH", 6, 0, 64, "Bytes.");
}

/// Fields of PAGE.
pub mod page {
    use super::Field;
    /// Bus address.
    pub const ADDRESS: Field = Field::new(
        "ADDRESS",
        0,
        0,
        64,
        "Bus address of the page, aligned to its size.",
    );
}

/// Fields of SEND_TELEMETRY.
pub mod send_telemetry {
    use super::Field;
    /// Packets.
    pub const PACKETS: Field =
        Field::new("PACKETS", 0, 0, 32, "DATA packets sent, resends included.");
    /// Bytes.
    pub const BYTES: Field = Field::new("BYTES", 1, 0, 64, "Payload bytes of these.");
    /// Resends.
    pub const RETRANSMISSIONS: Field =
        Field::new("RETRANSMISSIONS", 3, 0, 32, "Packets sent again.");
    /// Probes.
    pub const PROBES: Field = Field::new("PROBES", 4, 0, 32, "Probes sent.");
}

/// Fields of LOSS_TELEMETRY.
pub mod loss_telemetry {
    use super::Field;
    /// By ordinal.
    pub const BY_ORDINAL: Field = Field::new(
        "BY_ORDINAL",
        0,
        0,
        32,
        "Losses found by an ACK of later packets.",
    );
    /// By probe.
    pub const BY_PROBE: Field = Field::new(
        "BY_PROBE",
        1,
        0,
        32,
        "Losses found by the answer to a probe.",
    );
    /// By timeout.
    pub const BY_TIMEOUT: Field = Field::new(
        "BY_TIMEOUT",
        2,
        0,
        32,
        "Losses presumed after a time without answer.",
    );
    /// Least RTT.
    pub const RTT_MIN: Field =
        Field::new("RTT_MIN", 3, 0, 32, "Least round trip, units of 128 ns.");
    /// Greatest RTT.
    pub const RTT_MAX: Field =
        Field::new("RTT_MAX", 4, 0, 32, "Greatest round trip, units of 128 ns.");
    /// Sum of RTTs.
    pub const RTT_SUM: Field = Field::new(
        "RTT_SUM",
        5,
        0,
        64,
        "Sum of the round trips, units of 128 ns.",
    );
    /// RTT samples.
    pub const RTT_SAMPLES: Field = Field::new("RTT_SAMPLES", 7, 0, 32, "Round trips measured.");
}

const fn table(
    id: u8,
    name: &'static str,
    index: &'static str,
    doc: &'static str,
    fields: &'static [&'static Field],
) -> Table {
    Table {
        id,
        index,
        writable: true,
        readable: false,
        entry: Entry {
            name,
            words: 16,
            doc,
            fields,
        },
    }
}

const fn telemetry(
    id: u8,
    name: &'static str,
    doc: &'static str,
    fields: &'static [&'static Field],
) -> Table {
    Table {
        id,
        index: "pair = connection << 5 | path",
        writable: false,
        readable: true,
        entry: Entry {
            name,
            words: 16,
            doc,
            fields,
        },
    }
}

/// A connection.
pub const CONNECTION: Table = table(
    1,
    "CONNECTION",
    "connection",
    "State of a connection. Set-up order: ROUTE, PATH, CLEAR, CONNECTION with the enable bits.",
    &[
        &connection::RECEIVE_ENABLE,
        &connection::SEND_ENABLE,
        &connection::MTU_SHIFT,
        &connection::SEND_RING_ENTRIES,
        &connection::COMPLETION_RING_ENTRIES,
        &connection::PATHS,
        &connection::PEER_CONNECTION,
        &connection::LOCAL_INCARNATION,
        &connection::PEER_INCARNATION,
        &connection::SEND_RING_ADDRESS,
        &connection::COMPLETION_RING_ADDRESS,
        &connection::PATH_WINDOW,
    ],
);
/// A plane of a connection.
pub const ROUTE: Table = table(
    2,
    "ROUTE",
    "connection x 4 + plane",
    "Where the peer's port on this plane is reached.",
    &[&route::MAC_LOW, &route::MAC_HIGH, &route::IPV4],
);
/// A path of a connection.
pub const PATH: Table = table(
    3,
    "PATH",
    "pair = connection << 5 | path",
    "Entropy of a path.",
    &[&path::ENTROPY],
);
/// A memory key.
pub const KEY: Table = table(
    4,
    "KEY",
    "index of the key",
    "Registered memory.",
    &[
        &key::VALID,
        &key::LOCAL,
        &key::REMOTE_WRITE,
        &key::PAGE_SIZE,
        &key::GENERATION,
        &key::FIRST_PAGE,
        &key::BASE,
        &key::LENGTH,
    ],
);
/// A page.
pub const PAGE: Table = table(
    5,
    "PAGE",
    "index of the page",
    "Where a page of registered memory is.",
    &[&page::ADDRESS],
);
/// Clearing.
pub const CLEAR: Table = table(
    6,
    "CLEAR",
    "connection",
    "A write clears the transport state of the connection, both directions; busy until done.",
    &[&clear::PSN, &clear::EPOCH, &clear::ORDINAL],
);
/// What was sent.
pub const SEND_TELEMETRY: Table = telemetry(
    7,
    "SEND_TELEMETRY",
    "What was sent on a path.",
    &[
        &send_telemetry::PACKETS,
        &send_telemetry::BYTES,
        &send_telemetry::RETRANSMISSIONS,
        &send_telemetry::PROBES,
    ],
);
/// What was lost.
pub const LOSS_TELEMETRY: Table = telemetry(
    8,
    "LOSS_TELEMETRY",
    "What was lost on a path, how it was found, and the round trips.",
    &[
        &loss_telemetry::BY_ORDINAL,
        &loss_telemetry::BY_PROBE,
        &loss_telemetry::BY_TIMEOUT,
        &loss_telemetry::RTT_MIN,
        &loss_telemetry::RTT_MAX,
        &loss_telemetry::RTT_SUM,
        &loss_telemetry::RTT_SAMPLES,
    ],
);

/// Every table, by number.
pub const TABLES: &[Table] = &[
    CONNECTION,
    ROUTE,
    PATH,
    KEY,
    PAGE,
    CLEAR,
    SEND_TELEMETRY,
    LOSS_TELEMETRY,
];
