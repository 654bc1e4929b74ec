//! AXI4 rules: stable while stalled, 4 KiB, WLAST, strobes, responses for what was asked.

use super::Log;
use crate::axi::{AxiAddress, AxiMaster, AxiSlave, BEAT};
use std::collections::VecDeque;

const PAGE: u64 = 4096;

/// Watches one AXI4 bus.
#[derive(Debug, Clone)]
pub struct AxiMonitor {
    log: Log,
    before: (AxiMaster, AxiSlave),
    /// Beats of write bursts whose data is awaited.
    write_bursts: VecDeque<u32>,
    write_beats: u32,
    /// Last beats that came before their address.
    early_lasts: VecDeque<u32>,
    responses_due: u64,
    read_bursts: VecDeque<u32>,
    read_beats: u32,
}

impl AxiMonitor {
    /// A monitor of the bus called `place`.
    pub fn new(place: &str) -> Self {
        Self {
            log: Log::new(place),
            before: Default::default(),
            write_bursts: VecDeque::new(),
            write_beats: 0,
            early_lasts: VecDeque::new(),
            responses_due: 0,
            read_bursts: VecDeque::new(),
            read_beats: 0,
        }
    }

    /// What was broken, where and when.
    pub fn violations(&self) -> &[String] {
        &self.log.kept
    }

    /// How often rules were broken.
    pub fn count(&self) -> u64 {
        self.log.count
    }

    /// Both sides' signals of one cycle, settled.
    pub fn sample(&mut self, master: &AxiMaster, slave: &AxiSlave) {
        self.check_stable(master, slave);
        if master.aw.valid && slave.awready {
            self.check_burst("write", &master.aw);
            self.write_bursts.push_back(u32::from(master.aw.len) + 1);
        }
        if master.wvalid && slave.wready {
            self.log
                .check(master.wstrb != 0, || "write beat without a strobe".into());
            self.write_beats += 1;
            if master.wlast {
                self.early_lasts
                    .push_back(std::mem::take(&mut self.write_beats));
            }
        }
        while let (Some(beats), Some(expected)) =
            (self.early_lasts.front(), self.write_bursts.front())
        {
            let (beats, expected) = (*beats, *expected);
            self.log.check(beats == expected, || {
                format!("WLAST on beat {beats} of {expected}")
            });
            self.early_lasts.pop_front();
            self.write_bursts.pop_front();
            self.responses_due += 1;
        }
        if slave.bvalid && master.bready {
            self.log.check(self.responses_due > 0, || {
                "write response for nothing".into()
            });
            self.responses_due = self.responses_due.saturating_sub(1);
        }
        if slave.rvalid && master.rready {
            self.check_read(slave);
        }
        if master.ar.valid && slave.arready {
            self.check_burst("read", &master.ar);
            let aligned = master.ar.address.is_multiple_of(BEAT as u64);
            self.log.check(aligned, || {
                format!("read address {:#x} not aligned", master.ar.address)
            });
            self.read_bursts.push_back(u32::from(master.ar.len) + 1);
        }
        if master.wvalid || master.aw.valid || master.ar.valid || slave.rvalid || slave.bvalid {
            self.before = (master.clone(), slave.clone());
        } else {
            (
                self.before.0.wvalid,
                self.before.0.aw.valid,
                self.before.0.ar.valid,
            ) = (false, false, false);
            (self.before.1.rvalid, self.before.1.bvalid) = (false, false);
        }
        self.log.cycle += 1;
    }

    fn check_stable(&mut self, master: &AxiMaster, slave: &AxiSlave) {
        let (m, s) = &self.before;
        let log = &mut self.log;
        log.check(!m.aw.valid || s.awready || master.aw == m.aw, || {
            "AW changed while stalled".into()
        });
        log.check(!m.ar.valid || s.arready || master.ar == m.ar, || {
            "AR changed while stalled".into()
        });
        let w = |m: &AxiMaster| (m.wvalid, m.wdata, m.wstrb, m.wlast);
        log.check(!m.wvalid || s.wready || w(master) == w(m), || {
            "W changed while stalled".into()
        });
        let r = |s: &AxiSlave| (s.rvalid, s.rdata, s.rresp, s.rlast);
        log.check(!s.rvalid || m.rready || r(slave) == r(s), || {
            "R changed while stalled".into()
        });
        log.check(!s.bvalid || m.bready || slave.bvalid, || {
            "B withdrawn while stalled".into()
        });
    }

    fn check_burst(&mut self, what: &str, address: &AxiAddress) {
        let first = address.address;
        let end = first / BEAT as u64 * BEAT as u64 + (u64::from(address.len) + 1) * BEAT as u64;
        let inside = first / PAGE == (end - 1) / PAGE;
        self.log.check(inside, || {
            format!("{what} burst {first:#x} to {end:#x} crosses 4 KiB")
        });
    }

    fn check_read(&mut self, slave: &AxiSlave) {
        let Some(expected) = self.read_bursts.front().copied() else {
            self.log.check(false, || "read data for nothing".into());
            return;
        };
        self.read_beats += 1;
        let (beats, last) = (self.read_beats, slave.rlast);
        self.log.check(last == (beats == expected), || {
            format!("RLAST {last} on beat {beats} of {expected}")
        });
        if last {
            self.read_bursts.pop_front();
            self.read_beats = 0;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(steps: &[(AxiMaster, AxiSlave)]) -> Vec<String> {
        let mut monitor = AxiMonitor::new("bus");
        for (master, slave) in steps {
            monitor.sample(master, slave);
        }
        monitor.violations().to_vec()
    }

    fn aw(address: u64, len: u8) -> AxiMaster {
        AxiMaster {
            aw: AxiAddress {
                address,
                len,
                valid: true,
            },
            ..AxiMaster::default()
        }
    }

    fn w(strobe: u64, last: bool) -> AxiMaster {
        AxiMaster {
            wvalid: true,
            wstrb: strobe,
            wlast: last,
            ..AxiMaster::default()
        }
    }

    #[test]
    fn each_broken_rule_is_named_with_its_place() {
        let ready = AxiSlave {
            awready: true,
            wready: true,
            arready: true,
            ..AxiSlave::default()
        };
        let stalled = AxiSlave::default();
        let one = |steps: &[(AxiMaster, AxiSlave)], rule: &str| {
            let found = run(steps);
            assert!(
                found.len() == 1 && found[0].contains(rule),
                "{rule}: {found:?}"
            );
            assert!(found[0].starts_with("bus cycle "));
        };
        one(&[(aw(0xfc0, 1), ready.clone())], "crosses 4 KiB");
        one(
            &[
                (aw(0x1000, 0), stalled.clone()),
                (aw(0x1040, 0), stalled.clone()),
            ],
            "AW changed",
        );
        one(
            &[(w(1, true), stalled.clone()), (w(3, true), stalled.clone())],
            "W changed",
        );
        one(&[(w(0, false), ready.clone())], "without a strobe");
        one(
            &[(aw(0, 1), ready.clone()), (w(1, true), ready.clone())],
            "WLAST on beat 1 of 2",
        );
        let unaligned = AxiMaster {
            ar: AxiAddress {
                address: 8,
                len: 0,
                valid: true,
            },
            ..Default::default()
        };
        one(&[(unaligned, ready.clone())], "not aligned");
        let response = AxiSlave {
            bvalid: true,
            ..AxiSlave::default()
        };
        one(
            &[(
                AxiMaster {
                    bready: true,
                    ..Default::default()
                },
                response,
            )],
            "response for nothing",
        );
        assert_eq!(
            run(&[
                (aw(0xf80, 1), ready.clone()),
                (w(1, false), ready.clone()),
                (w(1, true), ready)
            ]),
            [""; 0]
        );
    }
}
