//! AXI-Lite master: one access at a time, with random skew between address and data.

use crate::axi::{AxilMasterSignals, AxilSlaveSignals};
use crate::random::Stalls;

/// An access.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Access {
    /// Reads a register.
    Read(u32),
    /// Writes a register.
    Write(u32, u32),
}

/// Drives accesses to the engine's registers.
#[derive(Debug, Clone)]
pub struct AxilMaster {
    signals: AxilMasterSignals,
    stalls: Stalls,
    /// The access that is going on.
    current: Option<Access>,
    /// Address, data still to be offered.
    to_offer: (bool, bool),
    result: Option<u32>,
    /// Responses other than OKAY.
    pub errors: u64,
}

impl AxilMaster {
    /// A master that withholds at random as `stalls` says.
    pub fn new(stalls: Stalls) -> Self {
        let signals = AxilMasterSignals::default();
        Self {
            signals,
            stalls,
            current: None,
            to_offer: (false, false),
            result: None,
            errors: 0,
        }
    }

    /// Begins an access.
    ///
    /// # Panics
    /// While another is going on.
    pub fn begin(&mut self, access: Access) {
        assert!(self.current.is_none(), "an access is going on");
        self.current = Some(access);
        self.to_offer = (true, matches!(access, Access::Write(..)));
        self.result = None;
    }

    /// Gives the access up that is going on.
    pub fn abandon(&mut self) {
        self.signals = AxilMasterSignals::default();
        self.current = None;
    }

    /// The result of the access that has ended: the value read, 0 of a write.
    pub fn take_result(&mut self) -> Option<u32> {
        self.result.take()
    }

    /// What to drive in this cycle.
    pub fn drive(&mut self) -> AxilMasterSignals {
        let s = &mut self.signals;
        match self.current {
            Some(Access::Write(address, data)) => {
                if self.to_offer.0 && !s.awvalid && !self.stalls.stall() {
                    (s.awvalid, s.awaddr, self.to_offer.0) = (true, address, false);
                }
                if self.to_offer.1 && !s.wvalid && !self.stalls.stall() {
                    (s.wvalid, s.wdata, self.to_offer.1) = (true, data, false);
                }
            }
            Some(Access::Read(address))
                if self.to_offer.0 && !s.arvalid && !self.stalls.stall() =>
            {
                (s.arvalid, s.araddr, self.to_offer.0) = (true, address, false);
            }
            _ => {}
        }
        s.bready = matches!(self.current, Some(Access::Write(..))) && !self.stalls.stall();
        s.rready = matches!(self.current, Some(Access::Read(_))) && !self.stalls.stall();
        *s
    }

    /// What is driven in this cycle.
    pub const fn signals(&self) -> &AxilMasterSignals {
        &self.signals
    }

    /// What the engine drives in this cycle, settled.
    pub fn sample(&mut self, slave: &AxilSlaveSignals) {
        let s = &mut self.signals;
        s.awvalid &= !slave.awready;
        s.wvalid &= !slave.wready;
        s.arvalid &= !slave.arready;
        if slave.bvalid && s.bready {
            self.errors += u64::from(slave.bresp != 0);
            (self.current, self.result) = (None, Some(0));
        }
        if slave.rvalid && s.rready {
            self.errors += u64::from(slave.rresp != 0);
            (self.current, self.result) = (None, Some(slave.rdata));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::generator;
    use rand::Rng;
    use std::collections::BTreeMap;

    /// A register file that answers after random times.
    #[derive(Default)]
    struct Slave {
        registers: BTreeMap<u32, u32>,
        address: Option<u32>,
        data: Option<u32>,
        read: Option<u32>,
        out: AxilSlaveSignals,
    }

    #[test]
    fn accesses_end_with_their_values_under_stalls() {
        let mut random = generator(1, 0);
        let mut master = AxilMaster::new(Stalls::new(1, 1, 100));
        let mut slave = Slave::default();
        let mut model = BTreeMap::new();
        for _ in 0..500 {
            let address = random.random_range(0..16) * 4;
            let value: u32 = random.random();
            let write = random.random();
            master.begin(if write {
                Access::Write(address, value)
            } else {
                Access::Read(address)
            });
            let result = loop {
                let m = master.drive();
                let o = slave.out;
                master.sample(&o);
                if m.awvalid && o.awready {
                    slave.address = Some(m.awaddr);
                }
                if m.wvalid && o.wready {
                    slave.data = Some(m.wdata);
                }
                if m.arvalid && o.arready {
                    slave.read = Some(m.araddr);
                }
                slave.out.bvalid &= !m.bready;
                slave.out.rvalid &= !m.rready;
                if let (Some(a), Some(d)) = (slave.address, slave.data) {
                    slave.registers.insert(a, d);
                    (slave.address, slave.data, slave.out.bvalid) = (None, None, true);
                }
                if let Some(a) = slave.read.take() {
                    slave.out.rdata = slave.registers.get(&a).copied().unwrap_or(0);
                    slave.out.rvalid = true;
                }
                slave.out.awready = slave.address.is_none() && random.random();
                slave.out.wready = slave.data.is_none() && random.random();
                slave.out.arready = !slave.out.rvalid && random.random();
                if let Some(result) = master.take_result() {
                    break result;
                }
            };
            if write {
                model.insert(address, value);
            } else {
                assert_eq!(result, model.get(&address).copied().unwrap_or(0));
            }
        }
        assert_eq!(slave.registers, model);
    }
}
