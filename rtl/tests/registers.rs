//! The register file against the map as its page states it: widths, identity, planes, tables, doorbells.

mod bench;

use bench::seeds;
use osprey_rtl::csr::path_telemetry::{LossTelemetry, SendTelemetry};
use osprey_rtl::csr::registers::{Doorbell, Registers, TableAccess};
use osprey_rtl::emit;
use osprey_rtl::rx::placement::ControlRing;
use osprey_rtl::tx::frame_request::PlaneAddress;
use osprey_verilated::{Model, Port, Record, Source, Stall, lint};

fn source(planes: usize) -> Source {
    let registers = Registers::new(0x1234_5678, 0x0408_0604, 0x0608_0a40, planes);
    Source::new("registers", emit::verilog("registers", registers))
}

/// Offset, bits kept, value after reset.
const PLAIN: [(u64, u64, u64); 11] = [
    (0x040, 1, 0),
    (0x044, 0xffff, 2048),
    (0x04c, 0xffff, 4792),
    (0x050, 0xffff, 94),
    (0x054, 0xffff, 39),
    (0x058, 0xf, 11),
    (0x05c, 0xffff, 24),
    (0x068, 0xffff_ffff, 0),
    (0x06c, 0xffff_ffff, 0),
    (0x070, 0xf, 0),
    (0x074, 0x1fff, 1),
];

struct Bench {
    model: Model,
    stall: Stall,
    bus: [Port; 3],
    read_data: Port,
}

impl Bench {
    fn new(seed: u64) -> Self {
        Self::of_planes(seed, 4)
    }

    fn of_planes(seed: u64, planes: usize) -> Self {
        let model = Model::build(&source(planes)).unwrap();
        model.reset();
        let bus = ["write_valid", "address", "write_data"].map(|name| model.input(name));
        let read_data = model.output("read_data");
        Self {
            model,
            stall: Stall::new(seed),
            bus,
            read_data,
        }
    }

    /// Passes a write on, as the port does; leaves its outputs of that cycle to be looked at.
    fn show(&mut self, offset: u64, value: u64) {
        self.bus[0].set(1);
        self.bus[1].set(offset);
        self.bus[2].set(value);
        self.model.eval();
    }

    fn finish(&mut self) {
        self.model.cycle();
        self.bus[0].set(0);
        self.model.eval();
    }

    fn write(&mut self, offset: u64, value: u64) {
        self.show(offset, value);
        self.finish();
    }

    fn read(&mut self, offset: u64) -> u64 {
        self.bus[1].set(offset);
        self.model.cycle();
        self.model.eval();
        self.read_data.get()
    }

    fn word(&mut self) -> u64 {
        self.stall.below(1 << 32)
    }

    fn output(&self, name: &str) -> Port {
        self.model.output(name)
    }
}

fn registers(bench: &mut Bench) {
    for (offset, value) in [
        (0, 0x4f53_5052),
        (4, 1),
        (8, 0x1234_5678),
        (0xc, 0x0408_0604),
        (0x10, 0x0608_0a40),
    ] {
        assert_eq!(bench.read(offset), value, "{offset:#x}");
        bench.write(offset, 0);
        assert_eq!(bench.read(offset), value, "{offset:#x} is read only");
    }
    let mut values = PLAIN.map(|(_, _, reset)| reset);
    for _ in 0..200 {
        for ((offset, ..), value) in PLAIN.iter().zip(values) {
            assert_eq!(bench.read(*offset), value, "{offset:#x}");
        }
        let at = bench.stall.below(PLAIN.len() as u64) as usize;
        let value = bench.word();
        bench.write(PLAIN[at].0, value);
        assert_eq!(
            bench.output("control_ring_set").is_set(),
            PLAIN[at].0 == 0x070
        );
        values[at] = value & PLAIN[at].1;
        // BAR2 and the counters' window hold none of these.
        bench.write(0x0100_0000 + PLAIN[at].0, !value & 0xffff_ffff);
        let ring = bench.output("control_ring").record(ControlRing::FIELDS);
        assert_eq!(ring.get("address"), values[8] << 32 | values[7]);
        assert_eq!(ring.get("log_entries"), values[9]);
        let outputs = [
            "enable",
            "udp_port",
            "probe_timer",
            "probe_interval",
            "probe_backoff_max",
            "ack_delay",
        ];
        let places = [0, 2, 3, 4, 5, 6];
        for (name, place) in outputs.iter().zip(places) {
            assert_eq!(bench.output(name).get(), values[place], "{name}");
        }
        assert_eq!(bench.output("connections_in_use").get(), values[10]);
    }
}

fn planes(bench: &mut Bench) {
    let link = bench.stall.below(16);
    bench.model.input("link_up").set(link);
    for plane in 0..4u64 {
        let [low, high, ip] = [0; 3].map(|_| bench.word());
        for (field, value) in [low, high, ip].into_iter().enumerate() {
            bench.write(0x200 + plane * 0x20 + 4 * field as u64, value);
        }
        let own = bench
            .output(&format!("own${plane}"))
            .record(PlaneAddress::FIELDS);
        assert_eq!(
            (own.get("mac"), own.get("ip")),
            ((high & 0xffff) << 32 | low, ip),
            "plane {plane}"
        );
        let read = [0, 4, 8, 12].map(|field| bench.read(0x200 + plane * 0x20 + field));
        assert_eq!(
            read,
            [low, high & 0xffff, ip, link >> plane & 1],
            "plane {plane}"
        );
    }
    for (name, offset) in [("placement_issued", 0x060), ("placement_done", 0x064)] {
        let value = bench.word();
        bench.model.input(name).set(value);
        assert_eq!(bench.read(offset), value, "{name}");
    }
    for index in 0..64u64 {
        let value = bench.word();
        bench.bus[1].set(0x400 + 4 * index);
        bench.model.eval();
        assert_eq!(bench.output("counter_index").get(), index);
        bench.model.input("counter").set(value);
        assert_eq!(bench.read(0x400 + 4 * index), value, "counter {index}");
    }
}

fn tables(bench: &mut Bench) {
    for _ in 0..50 {
        let words: Vec<u32> = (0..16).map(|_| bench.word() as u32).collect();
        for (at, word) in words.iter().enumerate() {
            bench.write(0x140 + 4 * at as u64, u64::from(*word));
        }
        let (table, index) = (1 + bench.stall.below(6), bench.stall.below(1 << 20));
        bench.write(0x100, 1 << 28 | table << 24 | index);
        assert!(bench.output("access_valid").is_set());
        assert_eq!(bench.output("entry").words(), words);
        let access = bench.output("access").record(TableAccess::FIELDS);
        assert_eq!(
            ["index", "table", "write", "read"].map(|name| access.get(name)),
            [index, table, 1, 0]
        );
        bench.bus[1].set(0x104);
        bench.model.cycle();
        assert_eq!(bench.read_data.get(), 1, "busy while it goes");
        bench.model.eval();
        assert!(!bench.output("access_valid").is_set());
        assert_eq!(bench.read(0x104), 0);
        bench.model.input("clear_busy").set(1);
        assert_eq!(bench.read(0x104), 1, "busy while a connection starts anew");
        bench.model.input("clear_busy").set(0);
    }
    for (table, port, fields) in [
        (7, "send_words", SendTelemetry::FIELDS),
        (8, "loss_words", LossTelemetry::FIELDS),
    ] {
        bench.write(0x100, 1 << 29 | table << 24 | 3);
        assert_eq!(bench.read(0x104), 1, "busy until it is answered");
        let mut record = Record::new(fields);
        for &(name, bits) in fields {
            let value = bench.stall.bits() >> (64 - bits);
            record.set(name, value);
        }
        bench.model.input(port).set_record(&record);
        bench.model.input("answered").set(1);
        bench.model.cycle();
        bench.model.input("answered").set(0);
        bench.model.input(port).set_record(&Record::new(fields));
        assert_eq!(bench.read(0x104), 0);
        for (at, word) in record.words().iter().enumerate() {
            assert_eq!(
                bench.read(0x140 + 4 * at as u64),
                u64::from(*word),
                "table {table}, word {at}"
            );
        }
    }
}

fn doorbells(bench: &mut Bench) {
    for _ in 0..100 {
        let (connection, register, value) =
            (bench.stall.below(4096), bench.stall.below(3), bench.word());
        bench.write(0x0100_0000 | connection << 12 | register << 2, value);
        assert!(bench.output("doorbell_valid").is_set());
        let doorbell = bench.output("doorbell").record(Doorbell::FIELDS);
        let got = ["connection", "register", "value"].map(|name| doorbell.get(name));
        assert_eq!(got, [connection, register, value]);
        bench.model.cycle();
        bench.model.eval();
        assert!(!bench.output("doorbell_valid").is_set());
        bench.write(connection << 2 & 0xfff, value);
        assert!(
            !bench.output("doorbell_valid").is_set(),
            "BAR0 rings nobody"
        );
        bench.model.cycle();
    }
}

#[test]
fn the_verilog_is_clean() {
    lint(&source(4)).unwrap();
}

#[test]
fn the_map_is_as_stated() {
    seeds("registers::the_map_is_as_stated", 3, |seed| {
        let mut bench = Bench::new(seed);
        registers(&mut bench);
        planes(&mut bench);
        tables(&mut bench);
        doorbells(&mut bench);
    });
}

#[test]
fn planes_that_are_not_there_have_no_address() {
    let mut bench = Bench::of_planes(5, 2);
    for plane in 0..4u64 {
        for field in [0, 4, 8] {
            let (offset, value) = (0x200 + plane * 0x20 + field, 1 + bench.stall.below(0xfffe));
            bench.write(offset, value);
            let kept = if plane < 2 { value } else { 0 };
            assert_eq!(bench.read(offset), kept, "plane {plane}, field {field}");
        }
        let own = bench.output(&format!("own${plane}"));
        assert_eq!(own.words().iter().any(|word| *word != 0), plane < 2);
    }
}

/// TIME counts units of 128 ns: TIME_INCREMENT / 65536 of one a clock.
#[test]
fn the_time_runs_at_its_increment() {
    let mut bench = Bench::new(9);
    for increment in [0u64, 1, 2048, 0x5555, 0xffff] {
        bench.write(0x044, increment);
        let start = bench.output("time_now").get();
        (0..10_000).for_each(|_| bench.model.cycle());
        bench.model.eval();
        let passed = bench.output("time_now").get() - start;
        let expected = 10_000 * increment >> 16;
        assert!(passed.abs_diff(expected) <= 1, "{passed}, not {expected}");
        assert_eq!(
            bench.output("now").get(),
            bench.output("time_now").get() & 0xffff
        );
    }
}
