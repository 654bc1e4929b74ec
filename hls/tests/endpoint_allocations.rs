//! In steady state an endpoint allocates nothing, under loss and with several connections.

use osprey_hls::endpoint::*;
use osprey_hls::wire::{ConnectionId, Incarnation, Ipv4Address, MacAddress, PlaneAddress, VERSION};
use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::collections::VecDeque;

struct Counting;

thread_local! {
    static ALLOCATIONS: Cell<u64> = const { Cell::new(0) };
}

// SAFETY: every call goes to the system's allocator unchanged; the count is a plain cell of the thread.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        ALLOCATIONS.with(|count| count.set(count.get() + 1));
        // SAFETY: the caller's promise is passed on.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        // SAFETY: the caller's promise is passed on.
        unsafe { System.dealloc(pointer, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

struct NoBytes;

impl Memory for NoBytes {
    fn place(&mut self, _: u64, _: u32, _: &[u8]) {}
    fn load(&mut self, _: u64) -> u64 {
        0
    }
    fn store(&mut self, _: u64, _: u64) {}
}

const CONNECTIONS: u32 = 4;
const PLANES: u8 = 2;

fn addresses(end: u8) -> Vec<PlaneAddress> {
    let address = |plane| PlaneAddress {
        mac: MacAddress([2, 0, 0, 0, plane, end]),
        ipv4: Ipv4Address([10, 0, plane, end]),
    };
    (0..PLANES).map(address).collect()
}

fn endpoints() -> [Endpoint; 2] {
    let mut ends =
        [0, 1].map(|end| Endpoint::new(Config::new(addresses(end)), end.into()).unwrap());
    let config = ends[0].config();
    let settled = Settled {
        version: VERSION,
        features: 0,
        mtu: config.mtu,
        planes: PLANES,
        paths_per_plane: config.paths_per_plane,
        window: config.window,
        streams: config.streams,
        slots: config.slots,
    };
    for (end, endpoint) in ends.iter_mut().enumerate() {
        for number in 1..=CONNECTIONS {
            let established = Established {
                connection: ConnectionId::new(number),
                incarnation: Incarnation(1),
                peer_connection: ConnectionId::new(number),
                peer_incarnation: Incarnation(1),
                peer_planes: addresses(1 - end as u8),
                settled,
            };
            endpoint.establish(0, established).unwrap();
        }
    }
    ends
}

/// Two endpoints whose packets take 4 us; one data packet or ACK in a hundred is lost.
struct Run {
    ends: [Endpoint; 2],
    wires: Vec<VecDeque<(u64, Transmit)>>,
    spare: Vec<Transmit>,
    now: u64,
    chance: u64,
    completed: u64,
}

impl Run {
    fn step(&mut self) {
        self.now += 340;
        for (index, wire) in self.wires.iter_mut().enumerate() {
            let mut out = self.spare.pop().unwrap();
            let lost = {
                self.chance = self
                    .chance
                    .wrapping_mul(6364136223846793005)
                    .wrapping_add(1);
                (self.chance >> 33) % 100 == 0
            };
            if self.ends[index % 2].poll_transmit(self.now, index as u8 / 2, &mut out) && !lost {
                wire.push_back((self.now + 4_000, out));
            } else {
                self.spare.push(out);
            }
        }
        for (index, wire) in self.wires.iter_mut().enumerate() {
            while wire.front().is_some_and(|(at, _)| *at <= self.now) {
                let (_, out) = wire.pop_front().unwrap();
                let arrival = Arrival {
                    plane: out.plane,
                    source: out.destination,
                    entropy: out.entropy,
                    marked: self.chance % 16 == 0,
                };
                let end = &mut self.ends[1 - index % 2];
                end.handle_packet(self.now, &arrival, &out.packet, &[], &mut NoBytes);
                self.spare.push(out);
            }
        }
        for end in &mut self.ends {
            end.handle_timeout(self.now);
            while end.poll_event().is_some() {}
        }
        while let Some(done) = self.ends[0].poll_completion() {
            self.completed += 1;
            self.post(done.connection, done.stream, done.id);
        }
    }

    fn post(&mut self, connection: ConnectionId, stream: u8, key: u64) {
        let length = 1 + (self.chance >> 40) as u32 % 200_000;
        let key_of_peer = osprey_hls::wire::Key(key as u32);
        let operation = WorkOperation::Write {
            local: 0,
            length,
            remote: 0,
            key: key_of_peer,
        };
        let request = WorkRequest { id: key, operation };
        self.ends[0]
            .post_send(self.now, connection, stream, request)
            .unwrap();
    }
}

#[test]
fn steady_state_allocates_nothing() {
    let mut ends = endpoints();
    let region = Region {
        address: 0,
        length: 1 << 30,
        rights: Rights::ALL,
    };
    let key = ends[1].register(region).unwrap();
    let mut run = Run {
        ends,
        wires: (0..2 * PLANES)
            .map(|_| VecDeque::with_capacity(64))
            .collect(),
        spare: (0..256).map(|_| Transmit::default()).collect(),
        now: 0,
        chance: 7,
        completed: 0,
    };
    for number in 1..=CONNECTIONS {
        for stream in 0..4 {
            for _ in 0..4 {
                run.post(ConnectionId::new(number), stream, key.0.into());
            }
        }
    }
    for _ in 0..200_000 {
        run.step();
    }
    let (before, sent) = (ALLOCATIONS.get(), run.ends[0].counter(Counter::SentData));
    let completed = run.completed;
    for _ in 0..200_000 {
        run.step();
    }
    // Printing allocates: count before.
    let allocations = ALLOCATIONS.get() - before;
    let sent = run.ends[0].counter(Counter::SentData) - sent;
    println!(
        "{sent} packets, {} messages, {} losses",
        run.completed - completed,
        run.ends[0].counter(Counter::Losses)
    );
    assert!(sent > 150_000, "{sent} packets");
    assert_eq!(allocations, 0);
}
