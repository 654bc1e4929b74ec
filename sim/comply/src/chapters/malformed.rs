//! Chapter 12: nonsense of every kind changes nothing, and is counted.

use crate::case::{Case, Context, Failure, Outcome};
use crate::session::{Session, pattern};
use osprey_hls::wire::{Common, Data, DataPacket, Operation, PacketType, PathId, Psn};
use osprey_host::udp::codec::crc;

pub(super) const CASES: &[Case] = &[
    Case {
        number: (12, 1),
        title: "random datagrams",
        rule: "T-5.1",
        run: random,
    },
    Case {
        number: (12, 2),
        title: "a right packet, cut at every length",
        rule: "T-5.1",
        run: cut,
    },
    Case {
        number: (12, 3),
        title: "right CRC, impossible fields",
        rule: "T-5.1",
        run: fields,
    },
    Case {
        number: (12, 4),
        title: "right CRC, random transport headers",
        rule: "T-5.1",
        run: headers,
    },
];

/// A transfer among the nonsense: it must arrive as if there were none.
fn beside(
    context: &mut Context,
    datagrams: impl FnOnce(&mut Session) -> Result<Vec<Vec<u8>>, Failure>,
) -> Outcome {
    context.needs_both_ends()?;
    let mut session = Session::pair(context)?;
    let datagrams = datagrams(&mut session)?;
    session.write(0, 0, 0, 1 << 20)?;
    let count = datagrams.len();
    for (index, bytes) in datagrams.iter().enumerate() {
        session
            .world
            .inject(index % 2, (index / 2 % 2) as u8, bytes)?;
        session.step()?;
    }
    session.run_for_us(50.0)?;
    session.finish()?;
    let refused = session.world.refused(0) + session.world.refused(1);
    context.note("datagrams", count);
    context.note("refused before the endpoint", refused);
    session.write(0, 0, 1 << 20, 100_000)?;
    session.finish()
}

fn random(context: &mut Context) -> Outcome {
    let seed = context.seed;
    beside(context, |_| {
        Ok((0..2_000)
            .map(|index| pattern(seed ^ index, (index * 37 % 1_400) as usize))
            .collect())
    })
}

/// A DATA packet that the connection would take, with a right CRC; `change` spoils it before.
fn data(session: &mut Session, to: usize, plane: u8, change: impl FnOnce(&mut Data)) -> Vec<u8> {
    let link = &session.links[0];
    let mut data = Data {
        common: Common {
            connection: link.accepted.unwrap_or(link.connection),
            ..Common::new(PacketType::Data)
        },
        address: link.region.address,
        key: link.region.key,
        payload_length: 64,
        operation: Operation::Write,
        stream: 0,
        message: 0,
        return_mask: 0xffff,
        message_length: 64,
        offset: 0,
        immediate: 0,
    };
    change(&mut data);
    let mut bytes = vec![0xee; data.buffer_len()];
    data.emit(&mut DataPacket::new_unchecked(&mut bytes));
    // What the header says of its length may be a lie.
    bytes.truncate(DataPacket::<&[u8]>::HEADER_LEN + 64);
    sealed(session, to, plane, bytes)
}

fn sealed(session: &Session, to: usize, plane: u8, mut bytes: Vec<u8>) -> Vec<u8> {
    let (source, destination) = session.world.injection_addresses(to, plane);
    let crc = crc(&bytes, source, destination);
    bytes.extend_from_slice(&crc);
    bytes
}

fn cut(context: &mut Context) -> Outcome {
    beside(context, |session| {
        let whole = data(session, 1, 0, |_| {});
        let at = |length: usize| {
            let bytes = whole[..length].to_vec();
            [bytes.clone(), sealed(session, 1, 0, bytes)]
        };
        Ok((0..whole.len() - 4).flat_map(at).collect())
    })
}

/// Each spoils one field; the incarnation is never right, since a stranger cannot know it.
const SPOILS: &[fn(&mut Data)] = &[
    |data| data.common.path = PathId(255),
    |data| data.common.psn = Psn::new(0xff_ffff),
    |data| data.common.connection = osprey_hls::wire::ConnectionId::new(0xff_ffff),
    |data| data.payload_length = 0xffff,
    |data| data.stream = 255,
    |data| data.message = 0xffff,
    |data| data.offset = u32::MAX,
    |data| data.message_length = u32::MAX,
    |data| data.address = u64::MAX,
    |data| data.operation = Operation::ReadResponse,
    |data| data.operation = Operation::CompareSwap,
    |data| data.common.epoch = osprey_hls::wire::Epoch(255),
];

fn fields(context: &mut Context) -> Outcome {
    beside(context, |session| {
        Ok((0..SPOILS.len() * 8)
            .map(|index| {
                data(
                    session,
                    index % 2,
                    (index / 2 % 2) as u8,
                    SPOILS[index % SPOILS.len()],
                )
            })
            .collect())
    })
}

fn headers(context: &mut Context) -> Outcome {
    let seed = context.seed;
    beside(context, |session| {
        let one = |index: u64| {
            let mut bytes = pattern(seed ^ index << 8, 16 + (index * 13 % 200) as usize);
            // Version 1, each type in turn.
            bytes[0] = 0x10 | (index % 8) as u8;
            sealed(session, (index % 2) as usize, (index / 2 % 2) as u8, bytes)
        };
        Ok((0..3_000).map(one).collect())
    })
}
