//! What happens at an engine's ports, cycle by cycle: a list of transfers, for measurements.
//!
//! Records only that something moved and how much of it, never content; the monitors judge, this does not.

use crate::axi::{AxiMaster, AxiSlave, AxilMasterSignals, AxilSlaveSignals, StreamBeat};

/// First address of the doorbells on AXI-Lite.
const DOORBELLS: u32 = 1 << 24;

/// What moved.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum What {
    /// A doorbell was written.
    Doorbell,
    /// A read burst of so many beats was asked for.
    ReadAddress {
        /// Beats.
        beats: u32,
    },
    /// A beat came from memory.
    ReadBeat,
    /// A beat went to memory.
    WriteBeat {
        /// Bytes with a strobe.
        bytes: u32,
    },
    /// Memory answered a write burst.
    WriteResponse,
    /// A beat left on a plane.
    Out(Place),
    /// A beat arrived on a plane.
    In(Place),
}

/// Where in its frame a beat is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Place {
    /// Plane.
    pub plane: usize,
    /// First beat of its frame.
    pub first: bool,
    /// Last beat of its frame.
    pub last: bool,
}

/// One transfer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Event {
    /// Cycle, of the pair's count.
    pub cycle: u64,
    /// What moved.
    pub what: What,
}

/// The transfers of one engine.
#[derive(Debug, Clone, Default)]
pub struct Activity {
    cycle: u64,
    events: Vec<Event>,
    /// Planes whose frame has begun: out, in.
    begun: [u32; 2],
    /// The address of a register write that waits for its data.
    register: u32,
}

impl Activity {
    /// Nothing yet; the next cycle has number `cycle`.
    pub fn starting_at(cycle: u64) -> Self {
        Self {
            cycle,
            ..Self::default()
        }
    }

    /// Transfers so far, in order.
    pub fn events(&self) -> &[Event] {
        &self.events
    }

    fn push(&mut self, what: What) {
        let cycle = self.cycle;
        self.events.push(Event { cycle, what });
    }

    fn place(&mut self, direction: usize, plane: usize, last: bool) -> Place {
        let begun = &mut self.begun[direction];
        let first = *begun >> plane & 1 == 0;
        *begun = *begun & !(1 << plane) | u32::from(!last) << plane;
        Place { plane, first, last }
    }

    /// A beat that the engine is given.
    pub fn receive(&mut self, plane: usize, beat: &StreamBeat) {
        if beat.valid {
            let place = self.place(1, plane, beat.last);
            self.push(What::In(place));
        }
    }

    /// A beat that the engine offers.
    pub fn transmit(&mut self, plane: usize, beat: &StreamBeat, ready: bool) {
        if beat.valid && ready {
            let place = self.place(0, plane, beat.last);
            self.push(What::Out(place));
        }
    }

    /// The memory's bus in this cycle.
    pub fn memory(&mut self, master: &AxiMaster, slave: &AxiSlave) {
        if master.ar.valid && slave.arready {
            let beats = u32::from(master.ar.len) + 1;
            self.push(What::ReadAddress { beats });
        }
        if slave.rvalid && master.rready {
            self.push(What::ReadBeat);
        }
        if master.wvalid && slave.wready {
            let bytes = master.wstrb.count_ones();
            self.push(What::WriteBeat { bytes });
        }
        if slave.bvalid && master.bready {
            self.push(What::WriteResponse);
        }
    }

    /// The registers' bus in this cycle.
    pub fn registers(&mut self, master: &AxilMasterSignals, slave: &AxilSlaveSignals) {
        if master.awvalid {
            self.register = master.awaddr;
        }
        if master.wvalid && slave.wready && self.register >= DOORBELLS {
            self.push(What::Doorbell);
        }
    }

    /// The cycle is over.
    pub fn tick(&mut self) {
        self.cycle += 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn beats_know_their_place_and_doorbells_their_address() {
        let mut activity = Activity::starting_at(7);
        let beat = |last| StreamBeat {
            last,
            valid: true,
            ..StreamBeat::default()
        };
        for last in [false, false, true, true] {
            activity.transmit(2, &beat(last), true);
            activity.transmit(3, &beat(last), false);
            activity.tick();
        }
        let firsts: Vec<_> = activity
            .events()
            .iter()
            .map(|event| match event.what {
                What::Out(place) => (event.cycle, place.plane, place.first, place.last),
                other => panic!("{other:?}"),
            })
            .collect();
        let expected = [
            (7, 2, true, false),
            (8, 2, false, false),
            (9, 2, false, true),
            (10, 2, true, true),
        ];
        assert_eq!(firsts, expected);
        let slave = AxilSlaveSignals {
            wready: true,
            ..AxilSlaveSignals::default()
        };
        for awaddr in [0x40, 0x0100_1000] {
            let master = AxilMasterSignals {
                awaddr,
                awvalid: true,
                wvalid: true,
                ..AxilMasterSignals::default()
            };
            activity.registers(&master, &slave);
        }
        let last = Event {
            cycle: 11,
            what: What::Doorbell,
        };
        assert_eq!(activity.events()[4..], [last]);
    }
}
