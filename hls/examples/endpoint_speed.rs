//! Data packets a second of processor time through two endpoints, with the least fabric that there can be.
//!
//! `cargo run --release -p osprey-hls --example endpoint_speed [connections] [planes] [loss per mille]`

use osprey_hls::endpoint::*;
use osprey_hls::wire::{ConnectionId, Incarnation, Ipv4Address, MacAddress, PlaneAddress, VERSION};
use std::collections::VecDeque;
use std::time::Instant;

const DELAY_NS: u64 = 4_000;
const LENGTH: u32 = 1 << 30;

struct NoBytes;

impl Memory for NoBytes {
    fn place(&mut self, _: u64, _: u32, _: &[u8]) {}
    fn load(&mut self, _: u64) -> u64 {
        0
    }
    fn store(&mut self, _: u64, _: u64) {}
}

/// One direction of one plane: packets on their way, oldest first.
#[derive(Default)]
struct Wire {
    free_at: u64,
    packets: VecDeque<(u64, Box<Transmit>)>,
}

fn address(end: u8, plane: u8) -> PlaneAddress {
    PlaneAddress {
        mac: MacAddress([2, 0, 0, 0, plane, end]),
        ipv4: Ipv4Address([10, 0, plane, end]),
    }
}

fn endpoints(connections: u32, planes: u8) -> [Endpoint; 2] {
    let addresses = |end| {
        (0..planes)
            .map(|plane| address(end, plane))
            .collect::<Vec<_>>()
    };
    let mut ends = [0, 1].map(|end| {
        let config = Config {
            connections_max: connections,
            ..Config::new(addresses(end))
        };
        Endpoint::new(config, u64::from(end)).expect("a good configuration")
    });
    let config = ends[0].config();
    let settled = Settled {
        version: VERSION,
        features: 0,
        mtu: config.mtu,
        planes,
        paths_per_plane: config.paths_per_plane,
        window: config.window,
        streams: config.streams,
        slots: config.slots,
    };
    for (end, endpoint) in ends.iter_mut().enumerate() {
        for number in 1..=connections {
            let connection = ConnectionId::new(number);
            let established = Established {
                connection,
                incarnation: Incarnation(1),
                peer_connection: connection,
                peer_incarnation: Incarnation(1),
                peer_planes: addresses(1 - end as u8),
                settled,
            };
            endpoint.establish(0, established).expect("a connection");
        }
    }
    ends
}

fn main() {
    let mut arguments = std::env::args()
        .skip(1)
        .map(|a| a.parse::<u64>().expect("a number"));
    let connections = arguments.next().unwrap_or(1) as u32;
    let planes = arguments.next().unwrap_or(1) as u8;
    let loss_per_mille = arguments.next().unwrap_or(0);
    let mut ends = endpoints(connections, planes);
    let region = Region {
        address: 0,
        length: 1 << 40,
        rights: Rights::ALL,
    };
    let key = ends[1].register(region).expect("a key");
    for number in 1..=connections {
        let operation = WorkOperation::Write {
            local: 0,
            length: LENGTH,
            remote: 0,
            key,
        };
        let request = WorkRequest { id: 0, operation };
        for _ in 0..16 {
            ends[0]
                .post_send(0, ConnectionId::new(number), 0, request)
                .expect("posted");
        }
    }
    let mut wires: Vec<Wire> = (0..2 * planes).map(|_| Wire::default()).collect();
    let (mut now, mut chance) = (0_u64, 1_u64);
    // Boxed, so that the figure is that of the endpoints and not of moving packets about.
    let mut spare: Vec<Box<Transmit>> = Vec::new();
    let start = Instant::now();
    while ends[0].counter(Counter::SentData) < 3_000_000 {
        let mut next = u64::MAX;
        for index in 0..wires.len() {
            let (from, plane) = (index % 2, index / 2);
            while wires[index].free_at <= now {
                let mut out = spare.pop().unwrap_or_default();
                if !ends[from].poll_transmit(now, plane as u8, &mut out) {
                    spare.push(out);
                    break;
                }
                let bytes = 74 + out.packet.header_len() + out.packet.payload_len();
                let free_at = now + bytes as u64 * 8 / 100;
                wires[index].free_at = free_at;
                chance = chance
                    .wrapping_mul(6364136223846793005)
                    .wrapping_add(1442695040888963407);
                if (chance >> 33) % 1000 >= loss_per_mille {
                    wires[index].packets.push_back((free_at + DELAY_NS, out));
                } else {
                    spare.push(out);
                }
            }
            let busy = Some(wires[index].free_at).filter(|at| *at > now);
            let arrival = wires[index].packets.front().map(|(at, _)| *at);
            next = next
                .min(busy.unwrap_or(u64::MAX))
                .min(arrival.unwrap_or(u64::MAX));
        }
        for end in &ends {
            next = next.min(end.poll_timeout().unwrap_or(u64::MAX));
        }
        now = next;
        for index in 0..wires.len() {
            let to = 1 - index % 2;
            while wires[index]
                .packets
                .front()
                .is_some_and(|(at, _)| *at <= now)
            {
                let (_, out) = wires[index].packets.pop_front().expect("a packet");
                let arrival = Arrival {
                    plane: out.plane,
                    source: out.destination,
                    entropy: out.entropy,
                    marked: false,
                };
                ends[to].handle_packet(now, &arrival, &out.packet, &[], &mut NoBytes);
                spare.push(out);
            }
        }
        for end in &mut ends {
            end.handle_timeout(now);
            while end.poll_completion().is_some() {}
            while end.poll_event().is_some() {}
        }
    }
    let seconds = start.elapsed().as_secs_f64();
    let data = ends[0].counter(Counter::SentData);
    let placed = ends[1].counter(Counter::ReceivedData);
    println!(
        "{connections} connections, {planes} planes, {loss_per_mille} per mille lost: {:.2} M data packets a \
         second, {:.0} ns each; {placed} placed in {now} ns, {} ACKs, {} probes, {} resends",
        data as f64 / seconds / 1e6,
        seconds * 1e9 / data as f64,
        ends[1].counter(Counter::SentAcks),
        ends[0].counter(Counter::SentProbes),
        ends[0].counter(Counter::Resends),
    );
}
