//! Any bytes as a frame, and as a transport header: no parser panics, and what is parsed is said again the same.

use osprey_hls::endpoint::Packet;
use osprey_hls::wire::{
    CRC_LEN, FRAME_HEADER_LEN, FrameHeader, PlaneAddress, locate, seal, verify,
};

/// Runs every parser on `bytes`.
pub fn frame(bytes: &[u8]) {
    let sealed = verify(bytes);
    match locate(bytes) {
        Ok(located) => {
            assert!(located.transport <= bytes.len(), "headers are in the frame");
            assert!(located.end >= located.transport, "the UDP length counts");
            let end = located.end.saturating_sub(CRC_LEN).min(bytes.len());
            if end > located.transport {
                transport(&bytes[located.transport..end]);
            }
        }
        Err(_) => assert!(sealed.is_err(), "what cannot be found has no CRC"),
    }
    transport(bytes);
}

/// Reads a transport header with each W.
fn transport(bytes: &[u8]) {
    for window in [64, 128, 256] {
        if let Ok((packet, payload_at)) = Packet::parse(bytes, window) {
            again(&packet, payload_at, bytes, window);
        }
    }
}

/// The packet said again means the same, alone and in a frame.
fn again(packet: &Packet, payload_at: usize, bytes: &[u8], window: u16) {
    assert_eq!(payload_at, packet.header_len());
    let length = payload_at + packet.payload_len();
    assert!(length <= bytes.len(), "the payload is in the packet");
    let header = FrameHeader {
        source: PlaneAddress::default(),
        destination: PlaneAddress::default(),
        source_port: 50_000,
        destination_port: 4_792,
        payload_len: length + CRC_LEN,
        traffic_class: 2,
        identification: 0,
    };
    let mut frame = vec![0xa5; FRAME_HEADER_LEN + length];
    if length + CRC_LEN + 28 > usize::from(u16::MAX) {
        return;
    }
    header.emit(&mut frame);
    packet.emit(&mut frame[FRAME_HEADER_LEN..]);
    let said = Packet::parse(&frame[FRAME_HEADER_LEN..], window);
    assert_eq!(said.as_ref(), Ok(&(packet.clone(), payload_at)));
    seal(&mut frame).expect("a frame of our own");
    assert_eq!(verify(&frame), Ok(true));
    let last = frame.len() - 1 - usize::from(bytes[0]) % (length + CRC_LEN);
    frame[last] ^= 1;
    assert_eq!(verify(&frame), Ok(false), "a bit is wrong");
}
