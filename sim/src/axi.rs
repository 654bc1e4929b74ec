//! Signals of the engine's buses as values: what each side drives in one cycle.

/// Bytes of a beat.
pub const BEAT: usize = 64;
/// 512 bits, least significant word first: lane 0 is the low byte of word 0.
pub type Word512 = [u32; 16];

/// The bytes of a beat, lane 0 first.
pub fn to_bytes(word: &Word512) -> [u8; BEAT] {
    let mut bytes = [0; BEAT];
    for (chunk, word) in bytes.chunks_exact_mut(4).zip(word) {
        chunk.copy_from_slice(&word.to_le_bytes());
    }
    bytes
}

/// A beat from bytes, lane 0 first; missing ones are zero.
pub fn from_bytes(bytes: &[u8]) -> Word512 {
    let mut padded = [0; BEAT];
    padded[..bytes.len()].copy_from_slice(bytes);
    std::array::from_fn(|word| {
        u32::from_le_bytes([
            padded[word * 4],
            padded[word * 4 + 1],
            padded[word * 4 + 2],
            padded[word * 4 + 3],
        ])
    })
}

/// What the engine drives as AXI4 master.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct AxiMaster {
    /// Write address channel.
    pub aw: AxiAddress,
    /// Write data; meaningless without `wvalid`.
    pub wdata: Word512,
    /// Write strobes.
    pub wstrb: u64,
    /// Last beat of a burst.
    pub wlast: bool,
    /// Write data is valid.
    pub wvalid: bool,
    /// Takes a write response.
    pub bready: bool,
    /// Read address channel.
    pub ar: AxiAddress,
    /// Takes read data.
    pub rready: bool,
}

/// An address channel.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct AxiAddress {
    /// Address.
    pub address: u64,
    /// Beats - 1.
    pub len: u8,
    /// It is valid.
    pub valid: bool,
}

/// What the memory drives as AXI4 slave.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct AxiSlave {
    /// Takes a write address.
    pub awready: bool,
    /// Takes write data.
    pub wready: bool,
    /// Write response is valid.
    pub bvalid: bool,
    /// Write response.
    pub bresp: u8,
    /// Takes a read address.
    pub arready: bool,
    /// Read data is valid.
    pub rvalid: bool,
    /// Read data.
    pub rdata: Word512,
    /// Read response.
    pub rresp: u8,
    /// Last beat of a burst.
    pub rlast: bool,
}

/// What a master drives on AXI-Lite.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct AxilMasterSignals {
    /// Write address.
    pub awaddr: u32,
    /// Write address is valid.
    pub awvalid: bool,
    /// Write data.
    pub wdata: u32,
    /// Write data is valid.
    pub wvalid: bool,
    /// Takes the write response.
    pub bready: bool,
    /// Read address.
    pub araddr: u32,
    /// Read address is valid.
    pub arvalid: bool,
    /// Takes read data.
    pub rready: bool,
}

/// What the engine drives on AXI-Lite.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct AxilSlaveSignals {
    /// Takes the write address.
    pub awready: bool,
    /// Takes write data.
    pub wready: bool,
    /// Write response is valid.
    pub bvalid: bool,
    /// Write response.
    pub bresp: u8,
    /// Takes the read address.
    pub arready: bool,
    /// Read data is valid.
    pub rvalid: bool,
    /// Read data.
    pub rdata: u32,
    /// Read response.
    pub rresp: u8,
}

/// What the sending side of an AXI-Stream drives.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct StreamBeat {
    /// Data; meaningless without `valid`.
    pub data: Word512,
    /// Bytes that count.
    pub keep: u64,
    /// Last beat of a frame.
    pub last: bool,
    /// On the last beat: the frame is bad.
    pub user: bool,
    /// The beat is valid.
    pub valid: bool,
}
