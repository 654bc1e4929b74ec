//! Any bytes at all: no parser panics, and what is parsed is emitted to the same meaning.

use osprey_hls::wire::{
    Ack, AckPacket, Control, Data, DataPacket, Nack, NackPacket, Probe, ProbePacket, locate, verify,
};
use proptest::prelude::*;

/// Bytes that often begin like a packet of the version.
fn bytes() -> impl Strategy<Value = Vec<u8>> {
    (
        prop::collection::vec(any::<u8>(), 0..400),
        0..9_u8,
        any::<bool>(),
    )
        .prop_map(|(mut bytes, kind, valid)| {
            if valid && !bytes.is_empty() {
                bytes[0] = 0x10 | kind;
            }
            bytes
        })
}

proptest! {
    #[test]
    fn data(bytes in bytes()) {
        if let Ok(value) = Data::parse(&DataPacket::new_unchecked(&bytes[..])) {
            let mut out = vec![0xa5; value.buffer_len()];
            value.emit(&mut DataPacket::new_unchecked(&mut out[..]));
            prop_assert_eq!(&out[..48], &bytes[..48]);
        }
    }

    #[test]
    fn probe_and_nack(bytes in bytes()) {
        if let Ok(value) = Probe::parse(&ProbePacket::new_unchecked(&bytes[..])) {
            let mut out = [0xa5; 24];
            value.emit(&mut ProbePacket::new_unchecked(&mut out[..]));
            prop_assert_eq!(&out[..21], &bytes[..21]);
        }
        if let Ok(value) = Nack::parse(&NackPacket::new_unchecked(&bytes[..])) {
            let mut out = [0xa5; 32];
            value.emit(&mut NackPacket::new_unchecked(&mut out[..]));
            prop_assert_eq!(&out[..28], &bytes[..28]);
        }
    }

    #[test]
    fn ack(bytes in bytes(), window in prop::sample::select(vec![64_u16, 128, 256]), blocks in 0..6_u8) {
        let mut bytes = bytes;
        if bytes.len() > 10 {
            bytes[10] = blocks;
        }
        if let Ok(value) = Ack::parse(&AckPacket::new_unchecked(&bytes[..], window)) {
            let mut out = vec![0xa5; value.buffer_len()];
            value.emit(&mut out);
            prop_assert_eq!(&out[..11], &bytes[..11]);
            prop_assert_eq!(&out[16..], &bytes[16..out.len()]);
            prop_assert_eq!(Ack::parse(&AckPacket::new_unchecked(&out[..], window)), Ok(value));
        }
    }

    #[test]
    fn control(bytes in bytes(), kind in 0..6_u8, planes in 0..9_u8, keys in 0..9_u8) {
        let mut bytes = bytes;
        if bytes.len() > 36 {
            (bytes[16], bytes[30], bytes[35]) = (kind, planes, keys);
        }
        if let Ok(value) = Control::parse(&bytes) {
            let mut out = vec![0xa5; value.buffer_len()];
            if out.len() <= 256 {
                value.emit(&mut out);
                prop_assert_eq!(Control::parse(&out), Ok(value));
            }
        }
    }

    #[test]
    fn frames(bytes in prop::collection::vec(any::<u8>(), 0..200), ipv6 in any::<bool>()) {
        let mut bytes = bytes;
        if bytes.len() > 24 {
            let (kind, first, protocol) = if ipv6 { ([0x86, 0xdd], 0x60, 20) } else { ([8, 0], 0x45, 23) };
            bytes[12..14].copy_from_slice(&kind);
            (bytes[14], bytes[protocol]) = (first, 17);
        }
        let _ = (locate(&bytes), verify(&bytes));
    }
}
