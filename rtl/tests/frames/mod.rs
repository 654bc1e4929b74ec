//! Frames built and judged in plain Rust, for the tests of the blocks that take or make them.
//!
//! Shares no code with the blocks. The CRC comes from the `crc` crate.
#![allow(dead_code)]

use crc::{Algorithm, Crc};
use osprey_verilated::Stall;

/// CRC-32C from state 0, complemented.
const CRC32C_ZERO: Algorithm<u32> = Algorithm {
    width: 32,
    poly: 0x1edc_6f41,
    init: 0,
    refin: true,
    refout: true,
    xorout: 0xffff_ffff,
    check: 0,
    residue: 0,
};

pub const PORT: u16 = 4792;

pub fn own_mac(plane: usize) -> [u8; 6] {
    [2, 0x10, 0x20, 0x30, 0x40, plane as u8]
}

pub fn own_ip(plane: usize) -> [u8; 4] {
    [10, 9, plane as u8, 77]
}

pub fn little(bytes: &[u8]) -> u64 {
    bytes
        .iter()
        .rev()
        .fold(0, |value, &byte| value << 8 | u64::from(byte))
}

pub fn crc32c(covered: &[u8]) -> [u8; 4] {
    Crc::<u32>::new(&CRC32C_ZERO)
        .checksum(covered)
        .to_le_bytes()
}

fn put16(bytes: &mut [u8], at: usize, value: u16) {
    bytes[at..at + 2].copy_from_slice(&value.to_be_bytes());
}

fn get16(bytes: &[u8], at: usize) -> usize {
    usize::from(bytes[at]) << 8 | usize::from(bytes[at + 1])
}

/// Sum of 16-bit words with end-around carry.
pub fn ones_sum(bytes: &[u8]) -> u16 {
    let mut sum: u32 = bytes
        .chunks(2)
        .map(|pair| u32::from(pair[0]) << 8 | u32::from(pair[1]))
        .sum();
    while sum >> 16 != 0 {
        sum = (sum & 0xffff) + (sum >> 16);
    }
    sum as u16
}

/// What a frame is made from.
#[derive(Clone, Debug)]
pub struct Recipe {
    pub plane: usize,
    pub tags: Vec<u16>,
    pub v6: bool,
    pub options: Vec<u8>,
    pub ecn: u8,
    pub transport: Vec<u8>,
    pub trailer: usize,
}

impl Recipe {
    pub fn plain(plane: usize, transport: Vec<u8>) -> Self {
        Self {
            plane,
            tags: vec![],
            v6: false,
            options: vec![],
            ecn: 0,
            transport,
            trailer: 0,
        }
    }

    pub fn random(stall: &mut Stall) -> Self {
        let tags = (0..stall.below(3))
            .map(|_| [0x8100, 0x88a8, 0x9100][stall.below(3) as usize])
            .collect();
        let v6 = stall.chance(25);
        let options = if v6 || stall.chance(60) {
            0
        } else {
            4 * stall.below(11) as usize
        };
        let length = match stall.below(10) {
            0..=4 => 16 + stall.below(150),
            5..=8 => 16 + stall.below(600),
            _ => 16 + stall.below(4200),
        } as usize;
        Self {
            plane: stall.below(4) as usize,
            tags,
            v6,
            options: stall.bytes(options),
            ecn: stall.below(4) as u8,
            transport: stall.bytes(length),
            trailer: if stall.chance(10) {
                stall.below(200) as usize
            } else {
                0
            },
        }
    }

    /// The whole frame, without the Ethernet FCS.
    pub fn build(&self) -> Vec<u8> {
        let mut frame = Vec::new();
        frame.extend(own_mac(self.plane));
        frame.extend([6, 5, 4, 3, 2, 1]);
        for tag in &self.tags {
            frame.extend(tag.to_be_bytes());
            frame.extend([0x20, 0x07]);
        }
        frame.extend(if self.v6 { [0x86, 0xdd] } else { [0x08, 0x00] });
        let udp_length = 8 + self.transport.len() + 4;
        let network = frame.len();
        if self.v6 {
            frame.extend([0x60, self.ecn << 4, 0, 9]);
            frame.extend((udp_length as u16).to_be_bytes());
            frame.extend([17, 64]);
            frame.extend((0..32).map(|byte| byte * 3 + 1));
        } else {
            let header = 20 + self.options.len();
            frame.extend([0x40 | (header / 4) as u8, 0xb8 | self.ecn]);
            frame.extend(((header + udp_length) as u16).to_be_bytes());
            frame.extend([0, 0, 0x40, 0, 64, 17, 0, 0, 10, 1, 1, 1]);
            frame.extend(own_ip(self.plane));
            frame.extend(&self.options);
            fix_checksum(&mut frame, network);
        }
        let udp = frame.len();
        frame.extend(0xc123_u16.to_be_bytes());
        frame.extend(PORT.to_be_bytes());
        frame.extend((udp_length as u16).to_be_bytes());
        frame.extend([0, 0]);
        frame.extend(&self.transport);
        let crc = crc32c(&covered(&frame, network, self.v6, udp, frame.len()));
        frame.extend(crc);
        frame.extend(std::iter::repeat_n(0xee, self.trailer));
        frame
    }
}

pub fn fix_checksum(frame: &mut [u8], network: usize) {
    let header = 4 * usize::from(frame[network] & 15);
    put16(frame, network + 10, 0);
    let sum = !ones_sum(&frame[network..network + header]);
    put16(frame, network + 10, sum);
}

/// The frame up to `end` with the bytes that the CRC does not cover as zero.
fn covered(frame: &[u8], network: usize, v6: bool, udp: usize, end: usize) -> Vec<u8> {
    let mut bytes = frame[..end].to_vec();
    let addresses = if v6 {
        network + 8..network + 40
    } else {
        network + 12..network + 20
    };
    for (at, byte) in bytes.iter_mut().enumerate().take(udp + 8) {
        if !addresses.contains(&at) && at != udp + 2 && at != udp + 3 {
            *byte = 0;
        }
    }
    bytes
}

/// Puts one fault into a frame.
pub fn spoil(frame: &mut Vec<u8>, recipe: &Recipe, stall: &mut Stall) {
    let network = 14 + 4 * recipe.tags.len();
    let udp = network
        + if recipe.v6 {
            40
        } else {
            20 + recipe.options.len()
        };
    let length_at = if recipe.v6 { network + 4 } else { network + 2 };
    match stall.below(16) {
        0..=2 => {
            let at = stall.below(frame.len() as u64) as usize;
            frame[at] ^= 1 << stall.below(8);
        }
        3 => frame[stall.below(6) as usize] ^= 0x10,
        4 => put16(
            frame,
            network - 2,
            [0x0806, 0x8100, 0x86dd, 0x0800][stall.below(4) as usize],
        ),
        5 => frame[network] = stall.bits() as u8,
        6 => frame[network + 10] ^= 4,
        7 => put16(
            frame,
            network + 6,
            [0x2000, 0x0001, 0x1fff, 0x8000][stall.below(4) as usize],
        ),
        8 => {
            frame[network + if recipe.v6 { 6 } else { 9 }] =
                [0, 6, 43, 44, 60, 1][stall.below(6) as usize]
        }
        9 => frame[network + 16 + stall.below(4) as usize] ^= 0x20,
        10 => put16(
            frame,
            udp + 4,
            [0, 8, 27, 28, 200, 9000, 0xffff][stall.below(7) as usize],
        ),
        11 => {
            let value = get16(frame, length_at) as u16;
            put16(
                frame,
                length_at,
                value.wrapping_add([1, 0xffff, 300][stall.below(3) as usize]),
            );
        }
        12 => put16(frame, udp + 2, PORT ^ 0x100),
        13 | 14 => frame.truncate(1 + stall.below(frame.len() as u64) as usize),
        _ => frame[..6].fill(0xff),
    }
    if !recipe.v6 && frame.len() >= network + 60 && frame[network] >> 4 == 4 && stall.chance(70) {
        fix_checksum(frame, network);
    }
}

/// What must become of a frame.
#[derive(Clone, Debug, PartialEq)]
pub enum Fate {
    Dropped(u8),
    Good { transport: Vec<u8>, ce: bool },
}

/// Judges a frame as the design says, from its bytes alone.
pub fn judge(frame: &[u8], plane: usize, mac_error: bool) -> Fate {
    match reason(frame, plane, mac_error) {
        Err(reason) => Fate::Dropped(reason),
        Ok(good) => good,
    }
}

fn reason(frame: &[u8], plane: usize, mac_error: bool) -> Result<Fate, u8> {
    let refuse = |condition: bool, reason: u8| if condition { Err(reason) } else { Ok(()) };
    let mut bytes = frame.to_vec();
    // Headers that a frame does not have read as zero.
    bytes.resize(bytes.len().max(128), 0);
    refuse(mac_error, 1)?;
    refuse(bytes[..6] != own_mac(plane) && bytes[..6] != [0xff; 6], 2)?;
    let mut network = 14;
    while network < 22 && [0x8100, 0x88a8, 0x9100].contains(&get16(&bytes, network - 2)) {
        network += 4;
    }
    let kind = get16(&bytes, network - 2);
    refuse(kind != 0x0800 && kind != 0x86dd, 3)?;
    let v6 = kind == 0x86dd;
    let version = bytes[network] >> 4;
    let words = usize::from(bytes[network] & 15);
    refuse(
        if v6 {
            version != 6
        } else {
            version != 4 || words < 5
        },
        4,
    )?;
    let header = if v6 { 40 } else { 4 * words };
    refuse(
        !v6 && ones_sum(&bytes[network..network + header]) != 0xffff,
        5,
    )?;
    refuse(!v6 && get16(&bytes, network + 6) & 0x3fff != 0, 6)?;
    let protocol = bytes[network + if v6 { 6 } else { 9 }];
    refuse(v6 && [0, 43, 44, 50, 51, 60, 135].contains(&protocol), 7)?;
    refuse(protocol != 17, 8)?;
    refuse(!v6 && bytes[network + 16..network + 20] != own_ip(plane), 9)?;
    let udp = network + header;
    let udp_length = get16(&bytes, udp + 4);
    let ip_end = network
        + if v6 {
            40 + get16(&bytes, network + 4)
        } else {
            get16(&bytes, network + 2)
        };
    let end = udp + udp_length;
    refuse(udp_length < 28 || end > ip_end || ip_end > frame.len(), 10)?;
    refuse(get16(&bytes, udp + 2) != usize::from(PORT), 11)?;
    let message = covered(frame, network, v6, udp, end);
    refuse(crc32c(&message[..end - 4]) != message[end - 4..], 12)?;
    let traffic = if v6 {
        bytes[network + 1] >> 4
    } else {
        bytes[network + 1]
    };
    Ok(Fate::Good {
        transport: frame[udp + 8..end - 4].to_vec(),
        ce: traffic & 3 == 3,
    })
}

#[test]
fn the_software_crc_is_crc32c() {
    assert_eq!(
        Crc::<u32>::new(&crc::CRC_32_ISCSI).checksum(b"123456789"),
        0xe306_9283
    );
}
