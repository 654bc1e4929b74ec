//! One cycle of the surroundings: what is offered, what is given back.

use super::{Bench, CAPACITY, Change, Load, STAGES};
use osprey_rtl::tx::ack_processor::Forced;
use osprey_verilated::Record;

impl Bench<'_> {
    pub(super) fn step(&mut self) {
        self.offer_heads();
        self.offer_load();
        self.give_back();
        self.unfetched_before = self.ports.unfetched.get();
        self.ports.unfetched.set(self.unfetched);
        let hold = self.profile.load > 0 && self.stall.chance(15);
        let had_room = self.ports.job_room.is_set();
        self.ports.job_room.set(!hold);
        self.model.eval();
        self.spend_on_acks();
        self.model.eval();
        self.see();
        self.commit();
        for plane in 0..4 {
            let ready = self.ports.heads[plane][2].is_set();
            assert!(
                !ready || had_room,
                "cycle {}: taken without room for its job",
                self.cycle
            );
            assert!(
                !ready || self.held[plane],
                "cycle {}: a head from nowhere is taken",
                self.cycle
            );
            if ready {
                let order = self.heads[plane].pop_front().expect("it is offered");
                // Told a cycle after it was taken.
                self.taken.push_back((self.cycle - 1, order));
                self.held[plane] = false;
            }
        }
        for (plane, reserved) in self.reserved.iter().enumerate() {
            assert!(
                *reserved <= CAPACITY,
                "cycle {}: plane {plane} holds {reserved} beats",
                self.cycle
            );
        }
        self.model.cycle();
        self.cycle += 1;
        self.quiet();
    }

    fn offer_heads(&mut self) {
        for plane in 0..4 {
            let waits = !self.heads[plane].is_empty() && !self.mute;
            self.held[plane] = waits && (self.held[plane] || self.stall.chance(70));
            self.ports.heads[plane][1].set(self.held[plane]);
            if self.held[plane] {
                self.ports.heads[plane][0].set_record(&self.heads[plane][0]);
            }
        }
    }

    fn offer_load(&mut self) {
        let Some(&Load {
            connection,
            packets,
        }) = self.loads.front()
        else {
            return;
        };
        let known = &mut self.connections[connection as usize];
        let number = known.messages.len() as u64;
        if number - known.message as u64 >= 64 {
            self.loads.rotate_left(1);
            return;
        }
        known.messages.push(packets);
        self.loads.pop_front();
        let values = [
            connection,
            (number + 1) & 0xffff,
            number % 64,
            packets - 1,
            1,
            1,
        ];
        for (port, value) in self.ports.load.iter().zip(values) {
            port.set(value);
        }
        // It is written a cycle after it came.
        self.wakes[connection as usize].push_back(self.cycle + 1);
        self.changes.push_back((
            self.cycle + 1,
            Change::Messages(connection, number as usize + 1),
        ));
    }

    /// Beats leave the planes' FIFOs, and reservations turn out too large.
    fn give_back(&mut self) {
        if self.frozen {
            return;
        }
        for plane in 0..4 {
            if self.leaving[plane] > 0 && self.stall.chance(self.profile.drain) {
                self.leaving[plane] -= 1;
                self.reserved[plane] -= 1;
                self.ports.freed[plane].set(1);
            }
        }
        if self.stall.chance(50)
            && let Some((plane, beats)) = self.unused.pop_front()
        {
            self.reserved[plane as usize] -= beats;
            self.ports.returned[0].set(plane);
            self.ports.returned[1].set(beats);
        }
    }

    fn spend_on_acks(&mut self) {
        if self.profile.load == 0 || self.frozen || !self.stall.chance(3) {
            return;
        }
        let plane = self.stall.below(self.profile.planes);
        if self.ports.ack_room.get() >> plane & 1 == 1 {
            let beats = 2 + self.stall.below(2);
            self.ports.ack[0].set(plane);
            self.ports.ack[1].set(beats);
            self.reserved[plane as usize] += beats;
            self.leaving[plane as usize] += beats;
        }
    }

    /// What was written before the choice that is committed now was taken.
    fn see(&mut self) {
        let cycle = self.cycle;
        let is_seen = |(at, _): &(u64, Change)| at + STAGES < cycle;
        while let Some(first) = self.changes.iter().position(is_seen) {
            match self.changes.remove(first).expect("it was found").1 {
                Change::Messages(connection, count) => {
                    self.connections[connection as usize].seen_messages = count;
                    if count == 0 {
                        let fresh = &mut self.connections[connection as usize];
                        (fresh.message, fresh.index) = (0, 0);
                        fresh.messages.clear();
                    }
                }
                Change::Settings(connection, settings) => {
                    self.connections[connection as usize].seen_settings = settings;
                }
                Change::Suspects(slot, paths) => {
                    let plane = slot as usize & 3;
                    self.connections[slot as usize >> 2].seen_suspects[plane] = paths;
                }
                Change::Acked(pair, told) => {
                    if let Some(path) = self.paths.get_mut(&pair) {
                        path.seen = told;
                    }
                }
            }
        }
    }

    pub fn run(&mut self, cycles: u64) {
        for _ in 0..cycles {
            self.disturb();
            self.step();
        }
    }

    /// Loads, ACKs, losses, probes, changes of settings, each with its chance.
    fn disturb(&mut self) {
        let profile = self.profile;
        let open: usize = self
            .connections
            .iter()
            .map(|known| known.messages.len() - known.message)
            .sum();
        if self.stall.chance(profile.load) && open + self.loads.len() < 70 {
            let connection = 1 + self.stall.below(profile.connections);
            let packets = if self.stall.chance(50) {
                1
            } else {
                1 + self.stall.below(40)
            };
            self.load(Load {
                connection,
                packets,
            });
        }
        self.unfetched = if self.stall.chance(50) {
            0
        } else {
            self.stall.bits()
        };
        if profile.probe > 0
            && self.stall.chance(profile.probe)
            && self.heads.iter().all(|head| head.len() < 300)
        {
            self.push_order();
        }
        if profile.settings > 0 && self.stall.chance(profile.settings) {
            let connection = 1 + self.stall.below(profile.connections);
            if self.stall.chance(50) {
                let (mask, window) = (self.mask(), 1 + self.stall.below(64));
                self.write_settings(connection, (true, mask, window));
            }
            let (plane, paths) = (self.stall.below(profile.planes), self.stall.below(256));
            self.write_suspects(connection, plane, paths);
        }
        if !self.frozen && self.stall.chance(profile.ack) {
            self.acknowledge_some(profile.loss);
        }
    }

    fn push_order(&mut self) {
        let connection = 1 + self.stall.below(self.profile.connections);
        let plane = self.stall.below(self.profile.planes);
        let control = self.stall.chance(20);
        let pair = if control {
            plane << 3
        } else {
            connection << 5 | plane << 3 | self.stall.below(8)
        };
        let order = Record::new(Forced::FIELDS)
            .with("kind", if control { 2 } else { 1 })
            .with("pair", pair)
            .with("slot", self.stall.below(64))
            .with("train", self.stall.below(256))
            .with("timeout", self.stall.chance(50));
        self.heads[plane as usize].push_back(order);
    }

    fn acknowledge_some(&mut self, loss: u64) {
        let flying: Vec<_> = self
            .paths
            .iter()
            .filter(|(_, path)| !path.flying.is_empty())
            .map(|(pair, path)| (*pair, path.flying.len()))
            .collect();
        if flying.is_empty() {
            return;
        }
        let (pair, most) = self.stall.pick(&flying);
        let count = 1 + self.stall.below(most as u64) as usize;
        self.acknowledge(pair, count, loss);
    }

    /// Until all that was loaded has been sent and acknowledged: no packet may be forgotten.
    pub fn drain(&mut self) {
        for connection in 1..=self.profile.connections {
            for plane in 0..self.profile.planes {
                self.write_suspects(connection, plane, 0);
                self.step();
            }
        }
        self.unfetched = 0;
        self.progress = self.cycle;
        let drain = std::mem::replace(&mut self.profile.drain, 100);
        loop {
            let waits = self
                .connections
                .iter()
                .any(|known| known.message < known.messages.len());
            let busy = !self.loads.is_empty() || self.heads.iter().any(|head| !head.is_empty());
            let flies = self.paths.values().any(|path| !path.flying.is_empty());
            if !(waits || busy || flies || !self.taken.is_empty()) {
                break;
            }
            assert!(
                self.cycle < self.progress + 5_000,
                "cycle {}: packets are left",
                self.cycle
            );
            self.acknowledge_some(self.profile.loss / 2);
            self.step();
        }
        while self.reserved.iter().any(|&beats| beats > 0) {
            self.step();
        }
        self.profile.drain = drain;
    }

    /// All credits are back: each plane starts as many frames as its FIFO holds, not one more or less.
    pub fn count_credits(&mut self) {
        (0..20).for_each(|_| self.step());
        self.write_settings(1, (true, (1 << (8 * self.profile.planes)) - 1, 64));
        self.load(Load {
            connection: 1,
            packets: 100,
        });
        self.frozen = true;
        let before = self.data_by_plane;
        (0..2_000).for_each(|_| self.step());
        for plane in 0..self.profile.planes as usize {
            assert_eq!(
                self.data_by_plane[plane] - before[plane],
                7,
                "frames on plane {plane}"
            );
        }
        self.frozen = false;
        self.drain();
    }
}
