//! A plane's address in CONTROL messages and the socket behind it (T-8.2).
//!
//! A software endpoint has no MAC address of its own; that field carries its UDP port, behind a locally administered prefix.

use osprey_hls::wire::{DEFAULT_UDP_PORT, Ipv4Address, MacAddress, PlaneAddress};
use std::net::{Ipv4Addr, SocketAddrV4};

/// First four bytes of such a MAC address: locally administered, then "OSP".
const PREFIX: [u8; 4] = [0x02, 0x4f, 0x53, 0x50];

/// The address that CONTROL messages tell for a socket.
pub fn plane_address(socket: SocketAddrV4) -> PlaneAddress {
    let [high, low] = socket.port().to_be_bytes();
    let [a, b, c, d] = PREFIX;
    PlaneAddress {
        mac: MacAddress([a, b, c, d, high, low]),
        ipv4: Ipv4Address(socket.ip().octets()),
    }
}

/// The socket of an address; without a port in it, the port of the transport.
pub fn socket_address(plane: &PlaneAddress) -> SocketAddrV4 {
    let mac = plane.mac.0;
    let port = if mac[..4] == PREFIX {
        u16::from_be_bytes([mac[4], mac[5]])
    } else {
        DEFAULT_UDP_PORT
    };
    SocketAddrV4::new(Ipv4Addr::from(plane.ipv4.0), port)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_socket_survives_the_way_through_a_plane_address() {
        let socket = SocketAddrV4::new(Ipv4Addr::new(10, 1, 2, 3), 61_234);
        assert_eq!(socket_address(&plane_address(socket)), socket);
        let engine = PlaneAddress {
            mac: MacAddress([2, 0, 0, 0, 0, 1]),
            ipv4: Ipv4Address([10, 0, 0, 1]),
        };
        assert_eq!(socket_address(&engine).port(), 4792);
    }
}
