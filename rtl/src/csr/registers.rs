//! The register file of BAR0 and the doorbells of BAR2 (`docs/registers.md`).
//!
//! Holds what the host sets and shows what the engine says. Tables are written and read through a window of
//! sixteen words and a command; the entry itself goes to `table_router`. Also keeps the time.

use crate::bundle;
use crate::csr::path_telemetry::{LossTelemetry, SendTelemetry};
use crate::rx::placement::ControlRing;
use crate::tx::frame_request::PlaneAddress;
use rust_hdl::prelude::*;

bundle! {
    /// One table access: `data` is the entry that is written.
    TableAccess { index: 20, table: 4, write: 1, read: 1 }
}

bundle! {
    /// A doorbell.
    Doorbell { connection: 12, register: 2, value: 32 }
}

#[derive(LogicBlock)]
pub struct Registers {
    pub clock: Signal<In, Clock>,
    pub reset: Signal<In, Bit>,
    pub write_valid: Signal<In, Bit>,
    pub address: Signal<In, Bits<32>>,
    pub write_data: Signal<In, Bits<32>>,
    /// Settled two cycles after the address.
    pub read_data: Signal<Out, Bits<32>>,
    pub enable: Signal<Out, Bit>,
    pub time_now: Signal<Out, Bits<32>>,
    pub now: Signal<Out, Bits<16>>,
    pub udp_port: Signal<Out, Bits<16>>,
    pub probe_timer: Signal<Out, Bits<16>>,
    pub probe_interval: Signal<Out, Bits<16>>,
    pub probe_backoff_max: Signal<Out, Bits<4>>,
    pub ack_delay: Signal<Out, Bits<16>>,
    pub control_ring: Signal<Out, ControlRing>,
    /// The ring was set: it starts from its first entry.
    pub control_ring_set: Signal<Out, Bit>,
    pub connections_in_use: Signal<Out, Bits<13>>,
    pub own: [Signal<Out, PlaneAddress>; 4],
    pub link_up: Signal<In, Bits<4>>,
    pub placement_issued: Signal<In, Bits<32>>,
    pub placement_done: Signal<In, Bits<32>>,
    pub counter_index: Signal<Out, Bits<6>>,
    pub counter: Signal<In, Bits<32>>,
    /// The cycle after it was written.
    pub doorbell: Signal<Out, Doorbell>,
    pub doorbell_valid: Signal<Out, Bit>,
    /// The cycle after the command was written.
    pub access: Signal<Out, TableAccess>,
    pub access_valid: Signal<Out, Bit>,
    pub entry: Signal<Out, Bits<512>>,
    pub clear_busy: Signal<In, Bit>,
    /// The table read is answered, with one of the two.
    pub answered: Signal<In, Bit>,
    pub send_words: Signal<In, SendTelemetry>,
    pub loss_words: Signal<In, LossTelemetry>,
    map_hash: Constant<Bits<32>>,
    capabilities: Constant<Bits<32>>,
    capabilities2: Constant<Bits<32>>,
    planes: Constant<Bits<3>>,
    enabled: DFF<Bit>,
    increment: DFF<Bits<16>>,
    fraction: DFF<Bits<17>>,
    carried: Signal<Local, Bits<17>>,
    clock_time: DFF<Bits<32>>,
    port: DFF<Bits<16>>,
    timer: DFF<Bits<16>>,
    interval: DFF<Bits<16>>,
    backoff: DFF<Bits<4>>,
    delay: DFF<Bits<16>>,
    ring_low: DFF<Bits<32>>,
    ring_high: DFF<Bits<32>>,
    ring_entries: DFF<Bits<4>>,
    ring_set: DFF<Bit>,
    in_use: DFF<Bits<13>>,
    mac_low: [DFF<Bits<32>>; 4],
    mac_high: [DFF<Bits<16>>; 4],
    ip: [DFF<Bits<32>>; 4],
    word: [DFF<Bits<32>>; 16],
    waiting: DFF<Bit>,
    access_now: DFF<TableAccess>,
    access_comes: DFF<Bit>,
    doorbell_now: DFF<Doorbell>,
    doorbell_comes: DFF<Bit>,
    of_loss: DFF<Bit>,
    offset: Signal<Local, Bits<12>>,
    in_bar0: Signal<Local, Bit>,
    in_bar2: Signal<Local, Bit>,
    writes: Signal<Local, Bit>,
    plane: Signal<Local, Bits<2>>,
    field: Signal<Local, Bits<3>>,
    here: Signal<Local, Bits<2>>,
    here3: Signal<Local, Bits<3>>,
    window: Signal<Local, Bits<4>>,
    at: Signal<Local, Bits<4>>,
    in_planes: Signal<Local, Bit>,
    in_window: Signal<Local, Bit>,
    command: Signal<Local, Bit>,
    answer: Signal<Local, Bits<512>>,
    shown: Signal<Local, Bits<32>>,
    shown_q: DFF<Bits<32>>,
    high16: Signal<Local, Bits<16>>,
    low32: Signal<Local, Bits<32>>,
    own_now: Signal<Local, PlaneAddress>,
    mac48: Signal<Local, Bits<48>>,
    all: Signal<Local, Bits<512>>,
    wide: Signal<Local, Bits<512>>,
    link: Signal<Local, Bits<4>>,
}

impl Registers {
    /// What the identity registers show: hash of the register map and the two capability words; and how many of the four
    /// planes there are: registers of the others read as 0.
    pub fn new(map_hash: u32, capabilities: u32, capabilities2: u32, planes: usize) -> Self {
        Self {
            map_hash: Constant::new(u64::from(map_hash).into()),
            capabilities: Constant::new(u64::from(capabilities).into()),
            capabilities2: Constant::new(u64::from(capabilities2).into()),
            planes: Constant::new((planes as u64).into()),
            ..Self::unset()
        }
    }
}

impl Registers {
    fn unset() -> Self {
        Self {
            clock: Default::default(),
            reset: Default::default(),
            write_valid: Default::default(),
            address: Default::default(),
            write_data: Default::default(),
            read_data: Default::default(),
            enable: Default::default(),
            time_now: Default::default(),
            now: Default::default(),
            udp_port: Default::default(),
            probe_timer: Default::default(),
            probe_interval: Default::default(),
            probe_backoff_max: Default::default(),
            ack_delay: Default::default(),
            control_ring: Default::default(),
            control_ring_set: Default::default(),
            connections_in_use: Default::default(),
            own: Default::default(),
            link_up: Default::default(),
            placement_issued: Default::default(),
            placement_done: Default::default(),
            counter_index: Default::default(),
            counter: Default::default(),
            doorbell: Default::default(),
            doorbell_valid: Default::default(),
            access: Default::default(),
            access_valid: Default::default(),
            entry: Default::default(),
            clear_busy: Default::default(),
            answered: Default::default(),
            send_words: Default::default(),
            loss_words: Default::default(),
            map_hash: Constant::new(0u64.into()),
            capabilities: Constant::new(0u64.into()),
            capabilities2: Constant::new(0u64.into()),
            planes: Constant::new(4u64.into()),
            enabled: Default::default(),
            increment: Default::default(),
            fraction: Default::default(),
            carried: Default::default(),
            clock_time: Default::default(),
            port: Default::default(),
            timer: Default::default(),
            interval: Default::default(),
            backoff: Default::default(),
            delay: Default::default(),
            ring_low: Default::default(),
            ring_high: Default::default(),
            ring_entries: Default::default(),
            ring_set: Default::default(),
            in_use: Default::default(),
            mac_low: Default::default(),
            mac_high: Default::default(),
            ip: Default::default(),
            word: Default::default(),
            waiting: Default::default(),
            access_now: Default::default(),
            access_comes: Default::default(),
            doorbell_now: Default::default(),
            doorbell_comes: Default::default(),
            of_loss: Default::default(),
            offset: Default::default(),
            in_bar0: Default::default(),
            in_bar2: Default::default(),
            writes: Default::default(),
            plane: Default::default(),
            field: Default::default(),
            here: Default::default(),
            here3: Default::default(),
            window: Default::default(),
            at: Default::default(),
            in_planes: Default::default(),
            in_window: Default::default(),
            command: Default::default(),
            answer: Default::default(),
            shown: Default::default(),
            shown_q: Default::default(),
            high16: Default::default(),
            low32: Default::default(),
            own_now: Default::default(),
            mac48: Default::default(),
            all: Default::default(),
            wide: Default::default(),
            link: Default::default(),
        }
    }
}

impl Default for Registers {
    fn default() -> Self {
        Self::unset()
    }
}

impl Logic for Registers {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(
            self,
            clock,
            enabled,
            increment,
            fraction,
            clock_time,
            port,
            timer,
            interval,
            backoff,
            delay,
            ring_low,
            ring_high,
            ring_entries,
            ring_set,
            in_use,
            waiting,
            access_now,
            access_comes,
            doorbell_now,
            doorbell_comes,
            of_loss,
            shown_q
        );

        // The time: a fraction that carries.
        self.carried.next =
            (self.fraction.q.val() & 0xffff) + bit_cast::<17, 16>(self.increment.q.val());
        self.fraction.d.next = self.carried.val();
        if self.carried.val().get_bit(16) {
            self.clock_time.d.next = self.clock_time.q.val() + 1;
        }
        self.time_now.next = self.clock_time.q.val();
        self.now.next = self.clock_time.q.val().get_bits::<16>(0);

        self.offset.next = bit_cast::<12, 32>(self.address.val());
        self.in_bar2.next = self.address.val().get_bit(24);
        self.in_bar0.next = !self.address.val().get_bits::<20>(12).any();
        self.writes.next = self.write_valid.val() & self.in_bar0.val();
        self.ring_set.d.next = false;
        if self.writes.val() {
            if self.offset.val() == 0x040 {
                self.enabled.d.next = self.write_data.val().get_bit(0);
            }
            if self.offset.val() == 0x044 {
                self.increment.d.next = self.write_data.val().get_bits::<16>(0);
            }
            if self.offset.val() == 0x04c {
                self.port.d.next = self.write_data.val().get_bits::<16>(0);
            }
            if self.offset.val() == 0x050 {
                self.timer.d.next = self.write_data.val().get_bits::<16>(0);
            }
            if self.offset.val() == 0x054 {
                self.interval.d.next = self.write_data.val().get_bits::<16>(0);
            }
            if self.offset.val() == 0x058 {
                self.backoff.d.next = self.write_data.val().get_bits::<4>(0);
            }
            if self.offset.val() == 0x05c {
                self.delay.d.next = self.write_data.val().get_bits::<16>(0);
            }
            if self.offset.val() == 0x068 {
                self.ring_low.d.next = self.write_data.val();
            }
            if self.offset.val() == 0x06c {
                self.ring_high.d.next = self.write_data.val();
            }
            if self.offset.val() == 0x070 {
                self.ring_entries.d.next = self.write_data.val().get_bits::<4>(0);
                self.ring_set.d.next = true;
            }
            if self.offset.val() == 0x074 {
                self.in_use.d.next = self.write_data.val().get_bits::<13>(0);
            }
        }
        self.enable.next = self.enabled.q.val();
        self.udp_port.next = self.port.q.val();
        self.probe_timer.next = self.timer.q.val();
        self.probe_interval.next = self.interval.q.val();
        self.probe_backoff_max.next = self.backoff.q.val();
        self.ack_delay.next = self.delay.q.val();
        self.control_ring.next.address = bit_cast::<64, 32>(self.ring_high.q.val()) << 32;
        self.control_ring.next.address = (bit_cast::<64, 32>(self.ring_high.q.val()) << 32)
            | bit_cast::<64, 32>(self.ring_low.q.val());
        self.control_ring.next.log_entries = self.ring_entries.q.val();
        self.control_ring_set.next = self.ring_set.q.val();
        self.connections_in_use.next = self.in_use.q.val();

        // Planes.
        self.in_planes.next = (self.offset.val() >= 0x200) & (self.offset.val() < 0x280);
        self.plane.next = self.offset.val().get_bits::<2>(5);
        self.field.next = self.offset.val().get_bits::<3>(2);
        self.link.next = self.link_up.val() >> self.plane.val();
        self.shown.next = 0.into();
        for i in 0..4 {
            self.mac_low[i].clock.next = self.clock.val();
            self.mac_high[i].clock.next = self.clock.val();
            self.ip[i].clock.next = self.clock.val();
            self.mac_low[i].d.next = self.mac_low[i].q.val();
            self.mac_high[i].d.next = self.mac_high[i].q.val();
            self.ip[i].d.next = self.ip[i].q.val();
            self.here.next = i.to_bits();
            self.here3.next = i.to_bits();
            if self.writes.val()
                & self.in_planes.val()
                & (self.plane.val() == self.here.val())
                & (self.here3.val() < self.planes.val())
            {
                if self.field.val() == 0 {
                    self.mac_low[i].d.next = self.write_data.val();
                }
                if self.field.val() == 1 {
                    self.mac_high[i].d.next = self.write_data.val().get_bits::<16>(0);
                }
                if self.field.val() == 2 {
                    self.ip[i].d.next = self.write_data.val();
                }
            }
            self.high16.next = self.mac_high[i].q.val();
            self.low32.next = self.mac_low[i].q.val();
            self.mac48.next = bit_cast::<48, 16>(self.high16.val()) << 32;
            self.own_now.next.mac = self.mac48.val() | bit_cast::<48, 32>(self.low32.val());
            self.own_now.next.ip = self.ip[i].q.val();
            self.own[i].next = self.own_now.val();
            if self.in_planes.val() & (self.plane.val() == self.here.val()) {
                if self.field.val() == 0 {
                    self.shown.next = self.mac_low[i].q.val();
                }
                if self.field.val() == 1 {
                    self.shown.next = bit_cast::<32, 16>(self.high16.val());
                }
                if self.field.val() == 2 {
                    self.shown.next = self.ip[i].q.val();
                }
                if self.field.val() == 3 {
                    self.shown.next = bit_cast::<32, 4>(self.link.val()) & 1;
                }
            }
        }

        // Tables.
        self.in_window.next = self.offset.val().get_bits::<6>(6) == 5;
        self.window.next = self.offset.val().get_bits::<4>(2);
        self.command.next = self.writes.val() & (self.offset.val() == 0x100);
        self.access_now.d.next.index = self.write_data.val().get_bits::<20>(0);
        self.access_now.d.next.table = self.write_data.val().get_bits::<4>(24);
        self.access_now.d.next.write = self.write_data.val().get_bits::<1>(28);
        self.access_now.d.next.read = self.write_data.val().get_bits::<1>(29);
        self.access_comes.d.next = self.command.val();
        self.access.next = self.access_now.q.val();
        self.access_valid.next = self.access_comes.q.val();
        if self.command.val() & self.write_data.val().get_bit(29) {
            self.waiting.d.next = (self.write_data.val().get_bits::<4>(24) == 7)
                | (self.write_data.val().get_bits::<4>(24) == 8);
            self.of_loss.d.next = self.write_data.val().get_bits::<4>(24) == 8;
        }
        self.answer.next = bit_cast::<512, 160>(self.send_words.val().into());
        if self.of_loss.q.val() {
            self.answer.next = bit_cast::<512, 256>(self.loss_words.val().into());
        }
        if self.answered.val() {
            self.waiting.d.next = false;
        }
        self.all.next = 0.into();
        for i in 0..16 {
            self.word[i].clock.next = self.clock.val();
            self.word[i].d.next = self.word[i].q.val();
            self.at.next = i.to_bits();
            if self.writes.val() & self.in_window.val() & (self.window.val() == self.at.val()) {
                self.word[i].d.next = self.write_data.val();
            }
            if self.answered.val() & self.waiting.q.val() {
                self.word[i].d.next = self.answer.val().get_bits::<32>(i * 32);
            }
            self.low32.next = self.word[15 - i].q.val();
            self.wide.next = bit_cast::<512, 32>(self.low32.val());
            self.all.next = self.all.val() << 32;
            self.all.next = self.all.val() | self.wide.val();
            if self.in_window.val() & (self.window.val() == self.at.val()) {
                self.shown.next = self.word[i].q.val();
            }
        }
        self.entry.next = self.all.val();

        // Doorbells: a 4 KiB page a connection.
        self.doorbell_now.d.next.connection = self.address.val().get_bits::<12>(12);
        self.doorbell_now.d.next.register = self.address.val().get_bits::<2>(2);
        self.doorbell_now.d.next.value = self.write_data.val();
        self.doorbell_comes.d.next = self.write_valid.val() & self.in_bar2.val();
        self.doorbell.next = self.doorbell_now.q.val();
        self.doorbell_valid.next = self.doorbell_comes.q.val();

        // What is read.
        if self.offset.val() == 0x000 {
            self.shown.next = 0x4f53_5052_u64.into();
        }
        if self.offset.val() == 0x004 {
            self.shown.next = 1.into();
        }
        if self.offset.val() == 0x008 {
            self.shown.next = self.map_hash.val();
        }
        if self.offset.val() == 0x00c {
            self.shown.next = self.capabilities.val();
        }
        if self.offset.val() == 0x010 {
            self.shown.next = self.capabilities2.val();
        }
        if self.offset.val() == 0x040 {
            self.shown.next = 0.into();
            if self.enabled.q.val() {
                self.shown.next = 1.into();
            }
        }
        if self.offset.val() == 0x044 {
            self.shown.next = bit_cast::<32, 16>(self.increment.q.val());
        }
        if self.offset.val() == 0x048 {
            self.shown.next = self.clock_time.q.val();
        }
        if self.offset.val() == 0x04c {
            self.shown.next = bit_cast::<32, 16>(self.port.q.val());
        }
        if self.offset.val() == 0x050 {
            self.shown.next = bit_cast::<32, 16>(self.timer.q.val());
        }
        if self.offset.val() == 0x054 {
            self.shown.next = bit_cast::<32, 16>(self.interval.q.val());
        }
        if self.offset.val() == 0x058 {
            self.shown.next = bit_cast::<32, 4>(self.backoff.q.val());
        }
        if self.offset.val() == 0x05c {
            self.shown.next = bit_cast::<32, 16>(self.delay.q.val());
        }
        if self.offset.val() == 0x060 {
            self.shown.next = self.placement_issued.val();
        }
        if self.offset.val() == 0x064 {
            self.shown.next = self.placement_done.val();
        }
        if self.offset.val() == 0x068 {
            self.shown.next = self.ring_low.q.val();
        }
        if self.offset.val() == 0x06c {
            self.shown.next = self.ring_high.q.val();
        }
        if self.offset.val() == 0x070 {
            self.shown.next = bit_cast::<32, 4>(self.ring_entries.q.val());
        }
        if self.offset.val() == 0x074 {
            self.shown.next = bit_cast::<32, 13>(self.in_use.q.val());
        }
        if self.offset.val() == 0x104 {
            self.shown.next = 0.into();
            if self.clear_busy.val() | self.waiting.q.val() | self.access_comes.q.val() {
                self.shown.next = 1.into();
            }
        }
        self.counter_index.next = self.offset.val().get_bits::<6>(2);
        self.shown_q.d.next = self.shown.val();
        self.read_data.next = self.shown_q.q.val();
        if (self.offset.val() >= 0x400) & (self.offset.val() < 0x500) {
            self.read_data.next = self.counter.val();
        }
        if !self.in_bar0.val() {
            self.read_data.next = 0.into();
        }
        if self.reset.val() {
            self.enabled.d.next = false;
            self.increment.d.next = 2048.into();
            self.port.d.next = 4792.into();
            self.timer.d.next = 94.into();
            self.interval.d.next = 39.into();
            self.backoff.d.next = 11.into();
            self.delay.d.next = 24.into();
            self.ring_entries.d.next = 0.into();
            self.in_use.d.next = 1.into();
            self.waiting.d.next = false;
            self.access_comes.d.next = false;
            self.doorbell_comes.d.next = false;
        }
    }
}
