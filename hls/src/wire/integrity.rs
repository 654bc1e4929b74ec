//! The CRC of a frame (T-3.9): CRC-32C that starts at 0 and covers, in place, what no hop changes.
//!
//! Plain and slow on purpose: it is the reference that circuits are tested against.

use super::{Located, WireError, locate, need};

/// Bytes of the CRC at the end of a frame.
pub const CRC_LEN: usize = 4;

/// Reflected polynomial of CRC-32C.
const POLYNOMIAL: u32 = 0x82f6_3b78;

/// Runs the CRC register over `bytes`; neither start value nor complement is applied here.
pub fn crc32c(state: u32, bytes: &[u8]) -> u32 {
    bytes.iter().fold(state, |state, byte| {
        (0..8).fold(state ^ u32::from(*byte), |s, _| {
            s >> 1 ^ if s & 1 == 1 { POLYNOMIAL } else { 0 }
        })
    })
}

/// The bytes that the CRC covers: the frame up to `end`, with everything that a hop may change zeroed.
fn covered(frame: &[u8], located: &Located, end: usize) -> Vec<u8> {
    let mut bytes = vec![0; end];
    let addresses = located.addresses.clone();
    bytes[addresses.clone()].copy_from_slice(&frame[addresses]);
    let port = located.transport - 6..located.transport - 4;
    bytes[port.clone()].copy_from_slice(&frame[port]);
    bytes[located.transport..].copy_from_slice(&frame[located.transport..end]);
    bytes
}

/// The four bytes that belong behind `frame[..end]`, `end` being the end of the payload.
fn crc_at(frame: &[u8], located: &Located, end: usize) -> [u8; CRC_LEN] {
    (!crc32c(0, &covered(frame, located, end))).to_le_bytes()
}

/// The CRC of a frame without one: Ethernet header to the end of the payload.
pub fn frame_crc(frame: &[u8]) -> Result<[u8; CRC_LEN], WireError> {
    Ok(crc_at(frame, &locate(frame)?, frame.len()))
}

/// Appends the CRC to a frame without one. Its length fields must already count the CRC.
pub fn seal(frame: &mut Vec<u8>) -> Result<(), WireError> {
    let crc = frame_crc(frame)?;
    frame.extend(crc);
    Ok(())
}

/// Whether the last four bytes that the UDP length covers are the right CRC. Padding is not looked at.
pub fn verify(frame: &[u8]) -> Result<bool, WireError> {
    let located = locate(frame)?;
    let end = located.end;
    need(frame.len(), end)?;
    if end < located.transport + CRC_LEN {
        return Err(WireError::Truncated {
            needed: CRC_LEN,
            held: end - located.transport,
        });
    }
    Ok(crc_at(frame, &located, end - CRC_LEN)[..] == frame[end - CRC_LEN..end])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wire::{FrameHeader, Ipv4Address, MacAddress, PlaneAddress};

    #[test]
    fn register_matches_the_published_check_value() {
        assert_eq!(!crc32c(!0, b"123456789"), 0xe306_9283);
        let library = crc::Crc::<u32>::new(&crc::CRC_32_ISCSI);
        let bytes: Vec<u8> = (0..1000).map(|n| (n * 7) as u8).collect();
        assert_eq!(!crc32c(!0, &bytes), library.checksum(&bytes));
    }

    fn frame() -> Vec<u8> {
        let port = |n| PlaneAddress {
            mac: MacAddress([2, 0, 0, 0, 0, n]),
            ipv4: Ipv4Address([10, 0, 0, n]),
        };
        let header = FrameHeader {
            source: port(1),
            destination: port(2),
            source_port: 0xc001,
            destination_port: 4792,
            payload_len: 64 + CRC_LEN,
            traffic_class: 0,
            identification: 0,
        };
        let mut frame = vec![0xa5; 42];
        header.emit(&mut frame);
        frame.extend((0..64).map(|n| n * 3));
        frame
    }

    #[test]
    fn covers_addresses_destination_port_and_transport_only() {
        let mut sealed = frame();
        seal(&mut sealed).unwrap();
        assert_eq!(verify(&sealed), Ok(true));
        for at in 0..sealed.len() {
            let mut flipped = sealed.clone();
            flipped[at] ^= 0x10;
            let hop_may_change = at < 12 // MAC addresses
                || (15..26).contains(&at) && ![20, 21, 23].contains(&at)
                || (34..36).contains(&at) // UDP source port
                || (40..42).contains(&at); // UDP checksum
            if hop_may_change {
                assert_eq!(verify(&flipped), Ok(true), "byte {at}");
            } else {
                assert_ne!(verify(&flipped), Ok(true), "byte {at}");
            }
        }
    }

    #[test]
    fn vlan_tags_and_padding_leave_the_crc_alone() {
        let plain = frame();
        let crc = frame_crc(&plain).unwrap();
        let mut tagged = plain[..12].to_vec();
        tagged.extend([0x88, 0xa8, 0x00, 0x05, 0x81, 0x00, 0x20, 0x07]);
        tagged.extend(&plain[12..]);
        assert_eq!(frame_crc(&tagged).unwrap(), crc);
        let mut padded = plain;
        padded.extend(crc);
        padded.extend([0xee; 9]);
        assert_eq!(verify(&padded), Ok(true));
    }

    #[test]
    fn equals_the_register_run_over_the_covered_fields_alone() {
        let frame = frame();
        let mut state = crc32c(0, &[10, 0, 0, 1, 10, 0, 0, 2, 0, 0, 0x12, 0xb8, 0, 0, 0, 0]);
        state = crc32c(state, &frame[42..]);
        assert_eq!(frame_crc(&frame).unwrap(), (!state).to_le_bytes());
    }

    // The worked example of T-3.9, made by an independent script.
    #[test]
    fn worked_example_of_the_specification() {
        let frame = [
            0x02, 0x00, 0x00, 0x00, 0x00, 0x02, 0x02, 0x00, 0x00, 0x00, 0x00, 0x01, 0x08,
            0x00, //
            0x45, 0x00, 0x00, 0x38, 0x00, 0x00, 0x40, 0x00, 0x40, 0x11, 0x26, 0xb3, //
            0x0a, 0x00, 0x00, 0x01, 0x0a, 0x00, 0x00, 0x02, //
            0xc0, 0x01, 0x12, 0xb8, 0x00, 0x24, 0x00, 0x00, //
            0x13, 0x01, 0xbe, 0xef, 0x00, 0x00, 0x05, 0x09, 0x00, 0x00, 0x00, 0x03, 0x00, 0x2a,
            0x00, 0x63, //
            0x0f, 0xf0, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, //
            0x61, 0xc4, 0x1e, 0xc9,
        ];
        assert_eq!(verify(&frame), Ok(true));
        assert_eq!(frame_crc(&frame[..66]), Ok([0x61, 0xc4, 0x1e, 0xc9]));
    }
}
