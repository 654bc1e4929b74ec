//! Packets under way: from a host's port through the links of a route to another host's port.
//!
//! The network knows links, routes and fates. It does not know what a packet says: bodies of type `B` lie in slots
//! that the sender fills in place and the receiver reads in place. One event a hop, none to leave a queue.

use crate::event_queue::{Event, EventQueue};
use crate::fate::Outcome;
use crate::fault::Change;
use crate::link::{Link, LinkConfig, Sent};
use crate::topology::{Route, Topology};
use osprey_hls::prefetch::prefetch;
use rand::{RngCore, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

/// A packet's number while it is under way.
pub type Slot = u32;

/// What the network must know of a packet.
#[derive(Debug, Clone, Copy, Default)]
#[repr(align(64))]
pub struct Flight {
    pub(crate) route: Route,
    /// Next link of the route.
    pub(crate) hop: u8,
    /// Bytes on the wire, check sequence included.
    pub bytes: u16,
    /// Whether some queue marked it.
    pub marked: bool,
    /// Whether bits flipped on the way.
    pub corrupt: bool,
    /// Whether a receiver sent it: an ACK, FENCE_ACK or NACK.
    pub ack: bool,
    /// Whether it is DATA.
    pub data: bool,
    /// Plane.
    pub plane: u8,
    /// Source.
    pub from: u32,
    /// Destination.
    pub to: u32,
}

impl Flight {
    /// The link that it takes next.
    #[inline]
    fn next_link(&self) -> usize {
        self.route.links[usize::from(self.hop)] as usize
    }

    /// The link that it was given last.
    #[inline]
    fn given_link(&self) -> usize {
        self.route.links[usize::from(self.hop) - 1] as usize
    }

    /// Whether it is at the end of its route.
    #[inline]
    pub fn has_arrived(&self) -> bool {
        self.hop == self.route.len
    }
}

/// What the network did, in packets.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, serde::Serialize, serde::Deserialize)]
pub struct NetworkCounts {
    /// Given to it.
    pub entered: u64,
    /// Of these, copies that a fault made.
    pub duplicated: u64,
    /// Delivered.
    pub delivered: u64,
    /// Delivered with flipped bits.
    pub corrupted: u64,
    /// Deleted by a fault.
    pub lost: u64,
    /// Of these, DATA.
    pub lost_data: u64,
    /// Dropped at a full queue.
    pub queue_full: u64,
}

/// Event of a packet that arrives at the end of a link.
pub const ARRIVAL: u32 = 1;

/// The fabric and what is under way in it.
#[derive(Debug)]
pub struct Network<B> {
    /// Its shape.
    pub topology: Topology,
    /// Its links, by number.
    pub links: Vec<Link>,
    /// What links are made of.
    link: LinkConfig,
    flights: Vec<Flight>,
    bodies: Vec<B>,
    free: Vec<Slot>,
    random: Xoshiro256PlusPlus,
    /// What happened so far.
    pub counts: NetworkCounts,
}

impl<B: Clone + Default> Network<B> {
    /// An idle fabric; all chance in it comes from `seed`.
    pub fn new(topology: Topology, link: LinkConfig, seed: u64) -> Self {
        let links = (topology.planes() * topology.links_per_plane()) as usize;
        Self {
            topology,
            links: vec![Link::new(&link); links],
            link,
            flights: Vec::new(),
            bodies: Vec::new(),
            free: Vec::new(),
            random: Xoshiro256PlusPlus::seed_from_u64(seed),
            counts: NetworkCounts::default(),
        }
    }

    /// A slot to fill; [`send`](Self::send) or [`release`](Self::release) must follow.
    #[inline]
    pub fn take_slot(&mut self) -> Slot {
        self.free.pop().unwrap_or_else(|| {
            self.flights.push(Flight::default());
            self.bodies.push(B::default());
            (self.bodies.len() - 1) as Slot
        })
    }

    /// Asks early for a packet's flight.
    #[inline]
    pub fn prefetch_flight(&self, slot: Slot) {
        prefetch(&self.flights[slot as usize]);
    }

    /// Asks early for the link that a packet takes next.
    #[inline]
    pub fn prefetch_link(&self, slot: Slot) {
        prefetch(&self.links[self.flights[slot as usize].next_link()]);
    }

    /// Gives a slot back.
    #[inline]
    pub fn release(&mut self, slot: Slot) {
        self.free.push(slot);
    }

    /// Packets under way.
    pub fn under_way(&self) -> usize {
        self.flights.len() - self.free.len()
    }

    /// The body in a slot.
    #[inline]
    pub fn body(&self, slot: Slot) -> &B {
        &self.bodies[slot as usize]
    }

    /// The body in a slot, to be filled.
    #[inline]
    pub fn body_mut(&mut self, slot: Slot) -> &mut B {
        &mut self.bodies[slot as usize]
    }

    /// The flight in a slot.
    #[inline]
    pub fn flight(&self, slot: Slot) -> &Flight {
        &self.flights[slot as usize]
    }

    /// Sends a packet off. Returns when the sender's port is free again.
    pub fn send(
        &mut self,
        queue: &mut EventQueue,
        now_ps: u64,
        slot: Slot,
        entropy: u16,
        flight: Flight,
    ) -> u64 {
        let route = self
            .topology
            .route(flight.plane.into(), flight.from, flight.to, entropy);
        let first = route.links[0] as usize;
        self.flights[slot as usize] = Flight {
            route,
            hop: 0,
            ..flight
        };
        self.counts.entered += 1;
        self.forward(queue, now_ps, slot);
        self.links[first].free_at_ps()
    }

    /// A packet is at the end of a link: sends it on, or says that it has arrived (the slot is then the caller's).
    #[inline]
    pub fn arrive(&mut self, queue: &mut EventQueue, now_ps: u64, slot: Slot) -> bool {
        let flight = &self.flights[slot as usize];
        if flight.has_arrived() {
            self.counts.delivered += 1;
            self.counts.corrupted += u64::from(flight.corrupt);
            return true;
        }
        self.forward(queue, now_ps, slot);
        false
    }

    /// Makes a change of a fault.
    pub fn apply(&mut self, change: &Change) {
        change.apply(&mut self.links, &self.link);
    }

    /// Puts a packet on the next link of its route. What a fault deletes has used the line nevertheless.
    #[inline]
    fn forward(&mut self, queue: &mut EventQueue, now_ps: u64, slot: Slot) {
        let flight = &mut self.flights[slot as usize];
        let link = &mut self.links[flight.next_link()];
        flight.hop += 1;
        let Some(fate) = link.armed() else {
            self.transmit(queue, now_ps, slot, 0);
            return;
        };
        match fate.decide(flight.ack, &mut self.random) {
            Outcome::Pass => self.transmit(queue, now_ps, slot, 0),
            Outcome::Lose => self.lose(now_ps, slot),
            Outcome::Corrupt => {
                flight.corrupt = true;
                self.transmit(queue, now_ps, slot, 0);
            }
            Outcome::Duplicate => self.duplicate(queue, now_ps, slot),
            Outcome::Delay(by_ps) => self.transmit(queue, now_ps, slot, by_ps),
        }
    }

    /// Queues a packet on the link that its flight has just been given.
    #[inline]
    fn transmit(&mut self, queue: &mut EventQueue, now_ps: u64, slot: Slot, late_ps: u64) {
        let flight = &mut self.flights[slot as usize];
        let link = &mut self.links[flight.given_link()];
        let dice = self.random.next_u32();
        match link.send(&self.link, now_ps, flight.bytes.into(), dice) {
            Sent::Arrives { at_ps, marked } => {
                flight.marked |= marked;
                queue.push(Event {
                    time_ps: at_ps + late_ps,
                    kind: ARRIVAL,
                    argument: slot,
                });
            }
            Sent::QueueFull => {
                self.counts.queue_full += 1;
                self.release(slot);
            }
        }
    }

    fn lose(&mut self, now_ps: u64, slot: Slot) {
        let flight = &self.flights[slot as usize];
        let link = &mut self.links[flight.given_link()];
        link.send(&self.link, now_ps, flight.bytes.into(), u32::MAX);
        self.counts.lost += 1;
        self.counts.lost_data += u64::from(flight.data);
        self.release(slot);
    }

    fn duplicate(&mut self, queue: &mut EventQueue, now_ps: u64, slot: Slot) {
        let copy = self.take_slot();
        self.flights[copy as usize] = self.flights[slot as usize];
        self.bodies[copy as usize] = self.bodies[slot as usize].clone();
        self.counts.entered += 1;
        self.counts.duplicated += 1;
        self.transmit(queue, now_ps, slot, 0);
        self.transmit(queue, now_ps, copy, 0);
    }

    /// Whether every packet that entered is accounted for.
    pub fn balances(&self) -> bool {
        let gone = self.counts.delivered + self.counts.lost + self.counts.queue_full;
        self.counts.entered == gone + self.under_way() as u64
    }
}
