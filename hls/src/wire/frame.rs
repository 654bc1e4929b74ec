//! Ethernet, IP and UDP around the transport header (T-3.1): what an engine sends, and where the
//! transport header stands in what it receives.

use super::bytes::{get_u16, put};
use super::{Ipv4Address, MacAddress, PlaneAddress, WireError, need};
use std::ops::Range;

/// Bytes before the transport header in a frame that an engine sends.
pub const FRAME_HEADER_LEN: usize = 42;
/// UDP destination port, unless set otherwise.
pub const DEFAULT_UDP_PORT: u16 = 4792;

const ETHERTYPE_IPV4: u16 = 0x0800;
const ETHERTYPE_IPV6: u16 = 0x86dd;
const ETHERTYPE_VLAN: [u16; 2] = [0x8100, 0x88a8];
const PROTOCOL_UDP: u8 = 17;
const UDP_LEN: usize = 8;

/// The headers of a sent frame: no VLAN tag, IPv4 without options.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FrameHeader {
    /// Addresses of the sending port.
    pub source: PlaneAddress,
    /// Addresses of the receiving port.
    pub destination: PlaneAddress,
    /// Entropy of the path.
    pub source_port: u16,
    /// Port of the transport.
    pub destination_port: u16,
    /// Bytes behind the UDP header: transport header, payload and CRC.
    pub payload_len: usize,
    /// DSCP and ECN.
    pub traffic_class: u8,
    /// IPv4 identification.
    pub identification: u16,
}

impl FrameHeader {
    /// Writes all 42 bytes. Don't Fragment is set; the UDP checksum is 0.
    ///
    /// # Panics
    /// When the buffer is shorter than 42 bytes or the payload does not fit an IPv4 packet.
    pub fn emit(&self, bytes: &mut [u8]) {
        let udp_len = u16::try_from(self.payload_len + UDP_LEN).expect("payload fits UDP");
        let ip_len = udp_len.checked_add(20).expect("payload fits IPv4");
        put(bytes, 0, &self.destination.mac.0);
        put(bytes, 6, &self.source.mac.0);
        put(bytes, 12, &ETHERTYPE_IPV4.to_be_bytes());
        put(bytes, 14, &[0x45, self.traffic_class]);
        put(bytes, 16, &ip_len.to_be_bytes());
        put(bytes, 18, &self.identification.to_be_bytes());
        put(bytes, 20, &[0x40, 0, 64, PROTOCOL_UDP, 0, 0]);
        put(bytes, 26, &self.source.ipv4.0);
        put(bytes, 30, &self.destination.ipv4.0);
        let checksum = ipv4_checksum(&bytes[14..34]);
        put(bytes, 24, &checksum.to_be_bytes());
        put(bytes, 34, &self.source_port.to_be_bytes());
        put(bytes, 36, &self.destination_port.to_be_bytes());
        put(bytes, 38, &udp_len.to_be_bytes());
        put(bytes, 40, &[0, 0]);
    }
}

/// The checksum of an IPv4 header whose checksum field is zero (or 0 when the field holds the right one).
fn ipv4_checksum(header: &[u8]) -> u16 {
    let mut sum: u32 = header
        .chunks(2)
        .map(|pair| u32::from(get_u16(pair, 0)))
        .sum();
    while sum > 0xffff {
        sum = (sum & 0xffff) + (sum >> 16);
    }
    !(sum as u16)
}

/// Where things stand in a frame.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Located {
    /// Source and destination MAC addresses.
    pub mac: (MacAddress, MacAddress),
    /// VLAN tags.
    pub vlan_tags: usize,
    /// Source and destination IPv4 address; `None` for IPv6.
    pub ipv4: Option<(Ipv4Address, Ipv4Address)>,
    /// Bytes of both IP addresses.
    pub addresses: Range<usize>,
    /// UDP source port.
    pub source_port: u16,
    /// UDP destination port.
    pub destination_port: u16,
    /// First byte of the transport header.
    pub transport: usize,
    /// End of what the UDP length covers: CRC included, Ethernet padding not.
    pub end: usize,
}

/// Finds the transport header: 0-2 VLAN tags, IPv4 with or without options, or IPv6 without
/// extension headers, then UDP.
///
/// A frame that is shorter than its UDP length says is *not* refused (it may lack the CRC yet): `end`
/// lies behind it then.
pub fn locate(frame: &[u8]) -> Result<Located, WireError> {
    need(frame.len(), 14)?;
    let (mut at, mut tags) = (12, 0);
    while tags < 2 && ETHERTYPE_VLAN.contains(&get_u16(frame, at)) {
        (at, tags) = (at + 4, tags + 1);
        need(frame.len(), at + 2)?;
    }
    let ethertype = get_u16(frame, at);
    let ip = at + 2;
    let (udp, addresses, ipv4) = match ethertype {
        ETHERTYPE_IPV4 => locate_ipv4(frame, ip)?,
        ETHERTYPE_IPV6 => (locate_ipv6(frame, ip)?, ip + 8..ip + 40, None),
        other => {
            return Err(WireError::Field {
                field: "ethertype",
                found: other.into(),
            });
        }
    };
    need(frame.len(), udp + UDP_LEN)?;
    let udp_len = usize::from(get_u16(frame, udp + 4));
    if udp_len < UDP_LEN {
        return Err(WireError::Field {
            field: "UDP length",
            found: udp_len as u64,
        });
    }
    let mac = |at: usize| MacAddress(std::array::from_fn(|i| frame[at + i]));
    Ok(Located {
        mac: (mac(6), mac(0)),
        vlan_tags: tags,
        ipv4,
        addresses,
        source_port: get_u16(frame, udp),
        destination_port: get_u16(frame, udp + 2),
        transport: udp + UDP_LEN,
        end: udp + udp_len,
    })
}

type Ipv4Layout = (usize, Range<usize>, Option<(Ipv4Address, Ipv4Address)>);

/// Start of the UDP header and the addresses, of the IPv4 header at `ip`.
fn locate_ipv4(frame: &[u8], ip: usize) -> Result<Ipv4Layout, WireError> {
    need(frame.len(), ip + 20)?;
    let header_len = usize::from(frame[ip] & 15) * 4;
    if frame[ip] >> 4 != 4 || header_len < 20 {
        return Err(WireError::Field {
            field: "IP version",
            found: frame[ip].into(),
        });
    }
    need(frame.len(), ip + header_len)?;
    let fragment = get_u16(frame, ip + 6) & 0x3fff;
    if fragment != 0 {
        return Err(WireError::Field {
            field: "fragment",
            found: fragment.into(),
        });
    }
    if frame[ip + 9] != PROTOCOL_UDP {
        return Err(WireError::Field {
            field: "protocol",
            found: frame[ip + 9].into(),
        });
    }
    let address = |at: usize| Ipv4Address(std::array::from_fn(|i| frame[at + i]));
    Ok((
        ip + header_len,
        ip + 12..ip + 20,
        Some((address(ip + 12), address(ip + 16))),
    ))
}

/// Start of the UDP header behind the IPv6 header at `ip`.
fn locate_ipv6(frame: &[u8], ip: usize) -> Result<usize, WireError> {
    need(frame.len(), ip + 40)?;
    if frame[ip] >> 4 != 6 {
        return Err(WireError::Field {
            field: "IP version",
            found: frame[ip].into(),
        });
    }
    if frame[ip + 6] != PROTOCOL_UDP {
        return Err(WireError::Field {
            field: "protocol",
            found: frame[ip + 6].into(),
        });
    }
    Ok(ip + 40)
}

#[cfg(test)]
mod tests {
    use super::*;

    // From the field reports: an IPv4 header whose checksum needs two folds.
    #[test]
    fn field_case_7_checksum_folds_twice() {
        let header = [
            0x45, 0x00, 0x00, 0x30, 0x28, 0x6d, 0x40, 0x00, 0x40, 0x11, 0x00, 0x00, 0xc0, 0xa8,
            0xc8, 0x00, 0xc0, 0xa8, 0xc8, 0xff,
        ];
        assert_eq!(ipv4_checksum(&header), 0xfffe);
    }

    #[test]
    fn headers_as_typed_by_hand() {
        let header = FrameHeader {
            source: PlaneAddress {
                mac: MacAddress([2, 0, 0, 0, 0, 1]),
                ipv4: Ipv4Address([10, 0, 0, 1]),
            },
            destination: PlaneAddress {
                mac: MacAddress([2, 0, 0, 0, 0, 2]),
                ipv4: Ipv4Address([10, 0, 0, 2]),
            },
            source_port: 0xc001,
            destination_port: 4792,
            payload_len: 28,
            traffic_class: 0,
            identification: 0,
        };
        let mut bytes = [0xa5; 42];
        header.emit(&mut bytes);
        // The IP header's checksum: 4500+0038+0000+4000+4011+0a00+0001+0a00+0002 = d94c, complement 26b3.
        let expected = [
            0x02, 0, 0, 0, 0, 2, 0x02, 0, 0, 0, 0, 1, 0x08, 0x00, 0x45, 0x00, 0x00, 0x38, 0x00,
            0x00, 0x40, 0x00, 0x40, 0x11, 0x26, 0xb3, 0x0a, 0x00, 0x00, 0x01, 0x0a, 0x00, 0x00,
            0x02, 0xc0, 0x01, 0x12, 0xb8, 0x00, 0x24, 0x00, 0x00,
        ];
        assert_eq!(bytes, expected);
        let located = locate(&bytes).unwrap();
        assert_eq!(
            (
                located.transport,
                located.source_port,
                located.destination_port
            ),
            (42, 0xc001, 4792)
        );
        for len in 0..42 {
            assert!(
                matches!(locate(&bytes[..len]), Err(WireError::Truncated { .. })),
                "length {len}"
            );
        }
    }

    // Field case 4: options must not be taken for ports.
    #[test]
    fn field_case_4_options_move_the_ports() {
        let mut frame = vec![0; 12];
        frame.extend([
            0x08, 0x00, 0x46, 0, 0, 0x24, 0, 0, 0x40, 0, 0x40, 0x11, 0, 0, 10, 0, 0, 1, 10, 0, 0, 2,
        ]);
        frame.extend([
            0xc0, 0x00, 0x12, 0xb7, 0xd0, 0x05, 0x12, 0xb8, 0x00, 0x0c, 0, 0, 1, 2, 3, 4,
        ]);
        let located = locate(&frame).unwrap();
        assert_eq!(
            (
                located.transport,
                located.source_port,
                located.destination_port
            ),
            (46, 0xd005, 4792)
        );
        frame[14] = 0x44;
        assert!(locate(&frame).is_err());
    }
}
