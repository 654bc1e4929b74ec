//! What a peer may say: packets whose fields are small numbers or numbers near what the connection knows, so that a fuzzer
//! gets past the first checks.

use arbitrary::{Arbitrary, Unstructured};
use arrayvec::ArrayVec;
use osprey_hls::endpoint::Packet;
use osprey_hls::wire::{
    Ack, AckBlock, BLOCKS_MAX, Bitvector, Common, ConnectionId, Control, Data, Epoch, Flags,
    Incarnation, Key, Nack, NackReason, Operation, Ordinal, PacketType, PathId, Probe, Psn,
};

/// What a packet must name to be heard.
#[derive(Debug, Clone, Copy)]
pub struct Listener {
    /// Number at the endpoint.
    pub connection: ConnectionId,
    /// Incarnation at the endpoint.
    pub incarnation: Incarnation,
    /// A key of the endpoint's memory, and where that is.
    pub key: Key,
    /// First address of that memory.
    pub address: u64,
    /// W.
    pub window: u16,
}

/// A signed step around zero, as a number of the ring.
fn near(input: &mut Unstructured) -> arbitrary::Result<u32> {
    Ok(i32::from(i8::arbitrary(input)?) as u32)
}

/// A small number, or now and then any.
fn small(input: &mut Unstructured) -> arbitrary::Result<u32> {
    match u8::arbitrary(input)? {
        255 => u32::arbitrary(input),
        value => Ok(value.into()),
    }
}

fn common(input: &mut Unstructured, kind: PacketType, to: &Listener) -> arbitrary::Result<Common> {
    let [path, epoch, flags] = <[u8; 3]>::arbitrary(input)?;
    Ok(Common {
        flags: Flags(flags & 31),
        incarnation: to.incarnation,
        connection: to.connection,
        path: PathId(path % 20),
        psn: Psn::new(near(input)? & 0xff_ffff),
        epoch: Epoch(epoch % 3),
        ordinal: Ordinal(near(input)? as u16),
        timestamp: 0,
        ..Common::new(kind)
    })
}

fn data(input: &mut Unstructured, to: &Listener) -> arbitrary::Result<(Packet, usize)> {
    let common = common(input, PacketType::Data, to)?;
    let code = input.int_in_range(0..=8)?;
    let unit = *input.choose(&[1, 8, 16, 256])?;
    let message_length = small(input)?.wrapping_mul(unit);
    let offset = small(input)?.min(1 << 20);
    let payload_length = small(input)?.saturating_mul(8).min(4_096) as u16;
    let data = Data {
        common,
        address: to.address.wrapping_add(u64::from(small(input)?) * 8),
        key: Key(to.key.0 ^ u32::from(u8::arbitrary(input)? == 255)),
        payload_length,
        operation: Operation::from_code(code).unwrap_or(Operation::Write),
        stream: input.int_in_range(0..=4)?,
        message: near(input)? as u16,
        return_mask: u16::arbitrary(input)?,
        message_length,
        offset,
        immediate: 0,
    };
    Ok((Packet::Data(data), payload_length.into()))
}

fn ack(input: &mut Unstructured, to: &Listener) -> arbitrary::Result<Packet> {
    let fence = u8::arbitrary(input)? % 4 == 0;
    let mut blocks = ArrayVec::<_, BLOCKS_MAX>::new();
    for _ in 0..input.int_in_range(1..=BLOCKS_MAX)? {
        let common = common(input, PacketType::Ack, to)?;
        let mut bitvector = Bitvector::new(to.window);
        let bits = u64::arbitrary(input)?;
        for bit in (0..64).filter(|bit| bits >> bit & 1 == 1) {
            bitvector.toggle(Psn::new(bit * u32::from(to.window / 64)));
        }
        blocks.push(AckBlock {
            path: common.path,
            epoch: common.epoch,
            cumulative: common.psn,
            flags: 0,
            ordinal: common.ordinal,
            timestamp: 0,
            delay: u16::arbitrary(input)?,
            marked: small(input)? as u16,
            received: small(input)? as u16,
            bitvector,
        });
    }
    Ok(Packet::Ack(Ack {
        kind: if fence {
            PacketType::FenceAck
        } else {
            PacketType::Ack
        },
        flags: Flags(0),
        incarnation: to.incarnation,
        connection: to.connection,
        return_path: PathId(u8::arbitrary(input)? % 20),
        share: u16::arbitrary(input)?,
        sent: Option::arbitrary(input)?,
        blocks,
    }))
}

fn probe(input: &mut Unstructured, to: &Listener) -> arbitrary::Result<Packet> {
    let kind = if bool::arbitrary(input)? {
        PacketType::Fence
    } else {
        PacketType::Probe
    };
    let [fenced_path, fenced_epoch, train] = <[u8; 3]>::arbitrary(input)?;
    Ok(Packet::Probe(Probe {
        common: common(input, kind, to)?,
        return_mask: u16::arbitrary(input)?,
        train,
        fenced_path: PathId(fenced_path % 20),
        fenced_epoch: Epoch(fenced_epoch % 3),
    }))
}

fn nack(input: &mut Unstructured, to: &Listener) -> arbitrary::Result<Packet> {
    use NackReason::{Access, InvalidRequest, NoReceiveRequest, NoResource};
    let reasons = [NoReceiveRequest, NoResource, Access, InvalidRequest];
    // Those that end the connection are rare, so that others are reached.
    let reason = match u8::arbitrary(input)? {
        254 => reasons[2],
        255 => reasons[3],
        n => reasons[usize::from(n) % 2],
    };
    Ok(Packet::Nack(Nack {
        common: common(input, PacketType::Nack, to)?,
        reason,
        stream: input.int_in_range(0..=4)?,
        message: near(input)? as u16,
        detail: small(input)?.into(),
    }))
}

/// CONTROL is read from bytes: its bodies have few fields that must agree.
fn control(input: &mut Unstructured) -> arbitrary::Result<Option<Packet>> {
    let mut bytes = [0; 256];
    let length = input.int_in_range(0..=240)?;
    input.fill_buffer(&mut bytes[16..16 + length])?;
    bytes[0] = 0x16;
    Ok(Control::parse(&bytes[..16 + length])
        .ok()
        .map(Packet::Control))
}

/// A packet to the listener, and the bytes of its payload.
pub fn packet(
    input: &mut Unstructured,
    to: &Listener,
) -> arbitrary::Result<Option<(Packet, usize)>> {
    Ok(match input.int_in_range(0..=15)? {
        0 => control(input)?.map(|packet| (packet, 0)),
        1 => Some((nack(input, to)?, 0)),
        2 | 3 => Some((probe(input, to)?, 0)),
        4..=9 => Some(data(input, to)?),
        _ => Some((ack(input, to)?, 0)),
    })
}
