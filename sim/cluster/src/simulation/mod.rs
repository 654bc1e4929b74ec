//! One run of a scenario: endpoints on a fabric, from the first event to the last completion.
//!
//! The loop takes events in order of time and passes them on: a packet at the end of a link to the network or to its
//! endpoint, a port that became free and a timer to the endpoint they belong to. It decides nothing about transport.

mod flows;
mod host;
mod prefetch;
mod setup;

use crate::event_queue::{Event, EventQueue};
use crate::fault::Change;
use crate::network::{ARRIVAL, Flight, Network, Slot};
use crate::referee::Delivery;
use crate::scenario::Scenario;
use flows::Flows;
use host::{Host, Witnessed, host_of};
use osprey_hls::endpoint::{Arrival, Packet, Side, Status, Transmit, WorkOperation, WorkRequest};
use osprey_hls::wire::{ConnectionId, Key};
use std::collections::VecDeque;

mod outcome;

/// A port may be free.
const PORT: u32 = 2;
/// An endpoint wants to be woken.
const TIMER: u32 = 3;
/// A flow may start.
const START: u32 = 4;
/// A fault begins or ends.
const CHANGE: u32 = 5;

/// Bytes of Ethernet, IPv4, UDP, CRC and check sequence around a transport packet.
const FRAME_OVERHEAD_BYTES: usize = 14 + 20 + 8 + 4 + 4;
/// Least bytes of a frame.
const FRAME_BYTES_MIN: usize = 64;

/// The sending end of a connection.
#[derive(Debug)]
struct Way {
    connection: ConnectionId,
    /// Key of the receiver's memory.
    key: Key,
    /// Flows that the endpoint's queue had no room for.
    waiting: VecDeque<u32>,
}

/// A run.
#[derive(Debug)]
pub struct Simulation {
    scenario: Scenario,
    queue: EventQueue,
    now_ps: u64,
    network: Network<Transmit>,
    hosts: Vec<Host>,
    /// Connections by (sender, receiver).
    ways: Vec<Way>,
    /// The way of each flow.
    way_of: Vec<u32>,
    changes: Vec<Change>,
    flows: Flows,
    /// Address to which each flow is written.
    addresses: Vec<u64>,
    delivery: Delivery,
    /// Bytes of DATA on the last link, by sample.
    samples: Vec<u64>,
    sample_ps: u64,
    data_packets: u64,
}

/// How far a run has come.
#[derive(Debug, Clone, Copy)]
pub struct Progress {
    /// Simulated time, microseconds.
    pub now_us: f64,
    /// Flows that are complete.
    pub completed: usize,
    /// All flows.
    pub flows: usize,
    /// DATA packets sent.
    pub data_packets: u64,
}

/// Events between two calls of the progress function.
const EVENTS_PER_PROGRESS: u64 = 1 << 20;

impl Simulation {
    /// Runs until every flow is complete and nothing is under way, or the limit is reached.
    pub fn run(&mut self, mut progress: impl FnMut(Progress)) {
        let limit_ps = (self.scenario.limit_us * 1e6) as u64;
        let mut events = 0u64;
        while self.flows.open > 0 {
            let Some(event) = self.queue.pop() else { break };
            if event.time_ps > limit_ps {
                break;
            }
            self.now_ps = event.time_ps;
            self.look_ahead();
            self.handle(event);
            events += 1;
            if events % EVENTS_PER_PROGRESS == 0 {
                progress(self.progress());
            }
        }
    }

    fn progress(&self) -> Progress {
        let flows = self.flows.traffic.flows.len();
        Progress {
            now_us: self.now_ps as f64 * 1e-6,
            completed: flows - self.flows.open,
            flows,
            data_packets: self.data_packets,
        }
    }

    #[inline]
    fn handle(&mut self, event: Event) {
        match event.kind {
            ARRIVAL => {
                if self
                    .network
                    .arrive(&mut self.queue, self.now_ps, event.argument)
                {
                    self.deliver(event.argument);
                }
            }
            PORT => {
                let planes = self.network.topology.planes();
                let (host, plane) = (event.argument / planes, event.argument % planes);
                self.transmit(host, plane);
                // A resend that turns out to be needless can complete a message.
                self.take_completions(host);
            }
            TIMER => self.wake(event.argument),
            START => self.start(event.argument),
            _ => self.network.apply(&self.changes[event.argument as usize]),
        }
    }

    fn now_ns(&self) -> u64 {
        self.now_ps / 1_000
    }

    /// A packet has reached its host. One with flipped bits ends at the CRC.
    fn deliver(&mut self, slot: Slot) {
        let flight = *self.network.flight(slot);
        if !flight.corrupt {
            self.sample(&flight);
            self.hand_over(flight, slot);
        }
        self.network.release(slot);
        if !flight.corrupt {
            self.take_completions(flight.to);
            self.settle(flight.to);
        }
    }

    fn hand_over(&mut self, flight: Flight, slot: Slot) {
        let now = self.now_ns();
        let transmit = self.network.body(slot);
        let arrival = Arrival {
            plane: flight.plane,
            source: host::address(flight.from, flight.plane.into()),
            entropy: transmit.entropy,
            marked: flight.marked,
        };
        let mut memory = Witnessed {
            host: flight.to,
            delivery: &mut self.delivery,
        };
        let endpoint = &mut self.hosts[flight.to as usize].endpoint;
        endpoint.handle_packet(now, &arrival, &transmit.packet, &[], &mut memory);
    }

    fn sample(&mut self, flight: &Flight) {
        if flight.data {
            let index = (self.now_ps / self.sample_ps) as usize;
            if index >= self.samples.len() {
                self.samples.resize(index + 1, 0);
            }
            self.samples[index] += u64::from(flight.bytes);
        }
    }

    fn wake(&mut self, host: u32) {
        let state = &mut self.hosts[host as usize];
        if state.timer_ps != self.now_ps {
            return;
        }
        state.timer_ps = u64::MAX;
        state.endpoint.handle_timeout(self.now_ps / 1_000);
        self.take_completions(host);
        self.settle(host);
    }

    /// Lets every idle port send and looks when the endpoint wants to be woken.
    #[inline]
    fn settle(&mut self, host: u32) {
        for plane in 0..self.network.topology.planes() {
            if self.hosts[host as usize].port_free_ps[plane as usize] <= self.now_ps {
                self.transmit(host, plane);
            }
        }
        self.arm(host);
    }

    fn arm(&mut self, host: u32) {
        let state = &mut self.hosts[host as usize];
        let Some(next) = state.endpoint.poll_timeout() else {
            return;
        };
        let next_ps = (next * 1_000).max(self.now_ps);
        if next_ps < state.timer_ps {
            state.timer_ps = next_ps;
            self.queue.push(Event {
                time_ps: next_ps,
                kind: TIMER,
                argument: host,
            });
        }
    }

    /// A port is free: sends what the endpoint has for it, one packet.
    fn transmit(&mut self, host: u32, plane: u32) {
        let now = self.now_ns();
        let state = &mut self.hosts[host as usize];
        if state.port_free_ps[plane as usize] > self.now_ps {
            return;
        }
        let slot = self.network.take_slot();
        let out = self.network.body_mut(slot);
        if !state.endpoint.poll_transmit(now, plane as u8, out) {
            self.network.release(slot);
            return;
        }
        let (entropy, to) = (out.entropy, host_of(&out.destination));
        let (data, ack) = match &out.packet {
            Packet::Data(_) => (true, false),
            Packet::Ack(_) | Packet::Nack(_) => (false, true),
            Packet::Probe(_) | Packet::Control(_) => (false, false),
        };
        let length = out.packet.header_len() + out.packet.payload_len() + FRAME_OVERHEAD_BYTES;
        let bytes = length.max(FRAME_BYTES_MIN) as u16;
        let flight = Flight {
            bytes,
            data,
            ack,
            plane: plane as u8,
            from: host,
            to,
            ..Flight::default()
        };
        self.data_packets += u64::from(data);
        let free_ps = self
            .network
            .send(&mut self.queue, self.now_ps, slot, entropy, flight);
        self.hosts[host as usize].port_free_ps[plane as usize] = free_ps;
        let argument = host * self.network.topology.planes() + plane;
        self.queue.push(Event {
            time_ps: free_ps,
            kind: PORT,
            argument,
        });
    }

    /// Posts a flow.
    fn start(&mut self, index: u32) {
        let host = self.flows.traffic.flows[index as usize].from;
        self.flows.started_ps[index as usize] = self.now_ps;
        self.ways[self.way_of[index as usize] as usize]
            .waiting
            .push_back(index);
        self.post(self.way_of[index as usize]);
        self.settle(host);
    }

    /// Posts what waits on a way, as far as the endpoint has room.
    fn post(&mut self, way: u32) {
        let now = self.now_ns();
        let way = &mut self.ways[way as usize];
        while let Some(index) = way.waiting.front().copied() {
            let flow = &self.flows.traffic.flows[index as usize];
            let operation = WorkOperation::Write {
                local: 0,
                length: flow.bytes as u32,
                remote: self.addresses[index as usize],
                key: way.key,
            };
            let request = WorkRequest {
                id: index.into(),
                operation,
            };
            let endpoint = &mut self.hosts[flow.from as usize].endpoint;
            if endpoint.post_send(now, way.connection, 0, request).is_err() {
                break;
            }
            way.waiting.pop_front();
        }
    }

    fn take_completions(&mut self, host: u32) {
        while let Some(completion) = self.hosts[host as usize].endpoint.poll_completion() {
            if completion.side == Side::Receive {
                continue;
            }
            let index = completion.id as u32;
            if completion.status != Status::Ok {
                let status = completion.status;
                self.delivery
                    .findings
                    .add(|| format!("flow {index} ended with {status:?}"));
            }
            self.delivery.completed(index);
            let queue = &mut self.queue;
            let start = |next, at| {
                queue.push(Event {
                    time_ps: at,
                    kind: START,
                    argument: next,
                })
            };
            self.flows.complete(index, self.now_ps, start);
            let way = self.way_of[index as usize];
            if !self.ways[way as usize].waiting.is_empty() {
                self.post(way);
            }
        }
    }
}
