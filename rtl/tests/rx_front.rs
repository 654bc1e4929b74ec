//! The receive front against a plain Rust judge of frames: same fate, same bytes, same order on each plane.

mod frames;

use frames::{Fate, PORT, Recipe, judge, little, own_ip, own_mac, spoil};
use osprey_rtl::emit;
use osprey_rtl::rx::{FrameInfo, RxFront};
use osprey_verilated::{Model, Port, Source, Stall, lint};
use rust_hdl::prelude::*;
use std::collections::VecDeque;
use std::rc::Rc;

fn text() -> String {
    let mut front = RxFront::new();
    front.clock.connect();
    front.reset.connect();
    front.header_ready.connect();
    front.payload_ready.connect();
    front.udp_port.connect();
    for plane in 0..4 {
        front.tdata[plane].connect();
        front.tkeep[plane].connect();
        front.tvalid[plane].connect();
        front.tlast[plane].connect();
        front.tuser[plane].connect();
        front.own_mac[plane].connect();
        front.own_ip[plane].connect();
    }
    emit::verilog("rx_front", front)
}

/// One plane's MAC: sends frames it is given, with gaps.
struct Mac {
    ports: [Port; 5],
    queue: VecDeque<(Vec<u8>, bool)>,
    sent: usize,
}

impl Mac {
    fn new(model: &Model, plane: usize) -> Self {
        let ports = ["tdata", "tkeep", "tvalid", "tlast", "tuser"]
            .map(|name| model.input(&format!("{name}${plane}")));
        Self {
            ports,
            queue: VecDeque::new(),
            sent: 0,
        }
    }

    fn drive(&mut self, gap: bool) {
        let [data, keep, valid, last, user] = &self.ports;
        valid.set(0);
        let Some((frame, error)) = self.queue.front().filter(|_| !gap) else {
            return;
        };
        let rest = &frame[self.sent..];
        let here = rest.len().min(64);
        // Lanes behind the frame's end hold anything: here what stands in other places as bytes of a frame.
        let junk = rest[..here].iter().chain(frame.iter()).rev().cycle();
        let lanes: Vec<u8> = rest[..here].iter().chain(junk).take(64).copied().collect();
        data.set_bytes(&lanes);
        keep.set(u64::MAX >> (64 - here));
        last.set(here == rest.len());
        user.set(*error && here == rest.len());
        valid.set(1);
        self.sent += here;
        if here == rest.len() {
            self.queue.pop_front();
            self.sent = 0;
        }
    }
}

struct Bench {
    model: Rc<Model>,
    macs: Vec<Mac>,
    stall: Stall,
    /// Fates still to be seen, by plane.
    fates: Vec<VecDeque<Fate>>,
    /// Good packets whose header was seen and whose payload was not.
    payloads: VecDeque<Vec<u8>>,
    taken: VecDeque<Vec<u8>>,
    payload: Vec<u8>,
    seen: [u64; 32],
    oversize: u64,
    full: u64,
}

impl Bench {
    fn new(seed: u64) -> Self {
        let model = Rc::new(Model::build(&Source::new("rx_front", text())).unwrap());
        for plane in 0..4 {
            model
                .input(&format!("own_mac${plane}"))
                .set(little(&own_mac(plane)));
            model
                .input(&format!("own_ip${plane}"))
                .set(little(&own_ip(plane)));
        }
        model.input("udp_port").set(PORT);
        model.reset();
        let macs = (0..4).map(|plane| Mac::new(&model, plane)).collect();
        Self {
            model,
            macs,
            stall: Stall::new(seed),
            fates: vec![VecDeque::new(); 4],
            payloads: VecDeque::new(),
            taken: VecDeque::new(),
            payload: Vec::new(),
            seen: [0; 32],
            oversize: 0,
            full: 0,
        }
    }

    fn send(&mut self, plane: usize, frame: Vec<u8>, error: bool) {
        self.fates[plane].push_back(judge(&frame, plane, error || frame.len() > 146 * 64));
        self.macs[plane].queue.push_back((frame, error));
    }

    fn send_random(&mut self) {
        let recipe = Recipe::random(&mut self.stall);
        let mut frame = recipe.build();
        if self.stall.chance(40) {
            spoil(&mut frame, &recipe, &mut self.stall);
        }
        let error = self.stall.chance(3);
        self.send(recipe.plane, frame, error);
    }

    /// One cycle; what is judged must be what the plane sent next.
    fn cycle(&mut self, gap: u64, header_ready: u64, payload_ready: u64) {
        for mac in &mut self.macs {
            mac.drive(self.stall.chance(gap));
        }
        let model = self.model.clone();
        let output = |name: &str| model.output(name);
        self.model
            .input("header_ready")
            .set(self.stall.chance(header_ready));
        self.model
            .input("payload_ready")
            .set(self.stall.chance(payload_ready));
        self.model.eval();
        self.full += u64::from(output("drop_full").get().count_ones());
        self.oversize += u64::from(output("drop_oversize").get().count_ones());
        if output("header_valid").is_set() && self.model.input("header_ready").is_set() {
            let info = output("header_info").record(FrameInfo::FIELDS);
            let plane = info.get("plane") as usize;
            let at = self.fates[plane]
                .iter()
                .position(|fate| matches!(fate, Fate::Good { .. }))
                .expect("a good frame");
            let Some(Fate::Good { transport, ce }) = self.fates[plane].remove(at) else {
                unreachable!()
            };
            assert_eq!(info.get("transport_bytes") as usize, transport.len());
            assert_eq!(info.get("ce") == 1, ce);
            assert_eq!(info.get("beats") as usize, transport.len().div_ceil(64));
            let head = transport.len().min(48);
            assert_eq!(output("header_data").bytes()[..head], transport[..head]);
            self.payloads.push_back(transport);
        }
        if output("payload_valid").is_set() && self.model.input("payload_ready").is_set() {
            self.payload.extend(output("payload_data").bytes());
            if output("payload_last").is_set() {
                let payload = std::mem::take(&mut self.payload);
                self.taken.push_back(payload);
            }
        }
        self.compare_payloads();
        if output("judged").is_set() {
            self.check_judged();
        }
        self.model.cycle();
    }

    /// Headers and payloads are taken separately: either may be ahead.
    fn compare_payloads(&mut self) {
        while !self.payloads.is_empty() && !self.taken.is_empty() {
            let (expected, payload) = (
                self.payloads.pop_front().unwrap(),
                self.taken.pop_front().unwrap(),
            );
            assert_eq!(payload.len(), expected.len().div_ceil(64) * 64);
            assert_eq!(payload[..expected.len()], expected);
        }
    }

    fn check_judged(&mut self) {
        let plane = self.model.output("judged_plane").get() as usize;
        let reason = self.model.output("drop_reason").get() as u8;
        self.seen[usize::from(reason)] += 1;
        if reason == 0 {
            return;
        }
        // Good frames before it may still wait for their header to be taken.
        let at = self.fates[plane]
            .iter()
            .position(|fate| matches!(fate, Fate::Dropped(_)))
            .expect("a bad frame");
        assert_eq!(
            self.fates[plane].remove(at),
            Some(Fate::Dropped(reason)),
            "cycle {}",
            self.model.cycles()
        );
    }

    fn waiting(&self) -> usize {
        self.fates.iter().map(VecDeque::len).sum::<usize>() + self.payloads.len()
    }
}

fn random_frames(count: u32, seed: u64) -> Bench {
    let mut bench = Bench::new(seed);
    let mut left = count;
    let mut idle = 0;
    while bench.waiting() > 0 || left > 0 {
        if left > 0 && bench.waiting() < 12 {
            left -= 1;
            bench.send_random();
        }
        let busy = bench.waiting();
        let gap = [0, 0, 30, 80][(bench.model.cycles() / 1000 % 4) as usize];
        bench.cycle(gap, 95, 80);
        idle = if bench.waiting() == busy { idle + 1 } else { 0 };
        assert!(
            idle < 5000,
            "the front hangs; seed {seed}, cycle {}",
            bench.model.cycles()
        );
    }
    bench
}

#[test]
fn random_frames_meet_their_fate() {
    let bench = random_frames(20_000, 1);
    assert_eq!(bench.full, 0);
    for reason in 0..=12 {
        assert!(
            bench.seen[reason] > 20,
            "reason {reason} was seen {} times",
            bench.seen[reason]
        );
    }
}

#[test]
#[ignore = "a soak of some minutes"]
fn a_million_random_frames_meet_their_fate() {
    random_frames(1_000_000, 2);
}

#[test]
fn an_idle_front_answers_within_20_cycles() {
    let mut bench = Bench::new(3);
    for length in [16, 48, 100, 1024 + 48, 4096 + 48] {
        bench.send(2, Recipe::plain(2, vec![0x5a; length]).build(), false);
        while !bench.macs[2].queue.is_empty() {
            bench.cycle(0, 0, 0);
        }
        let start = bench.model.cycles();
        while !bench.model.output("header_valid").is_set() {
            bench.cycle(0, 0, 0);
            assert!(bench.model.cycles() < start + 100, "no header");
        }
        let latency = bench.model.cycles() - start;
        println!("{length} bytes: header {latency} cycles after the last beat");
        assert!(latency <= 20, "{length} bytes: {latency} cycles");
        while bench.waiting() > 0 {
            bench.cycle(0, 100, 100);
        }
    }
}

#[test]
fn back_to_back_frames_of_one_plane_lose_nothing() {
    for length in [16, 20, 48 + 128, 48 + 256, 1000] {
        let mut bench = Bench::new(4);
        for number in 0..200u8 {
            bench.send(1, Recipe::plain(1, vec![number; length]).build(), false);
        }
        while bench.waiting() > 0 {
            bench.cycle(0, 100, 100);
            assert!(bench.model.cycles() < 20_000, "hangs with {length} bytes");
        }
        assert_eq!((bench.full, bench.seen[0]), (0, 200), "{length} bytes");
        // A frame of one beat costs a second cycle.
        let beats = 200 * (46 + length as u64).div_ceil(64).max(2);
        assert!(
            bench.model.cycles() < beats + 60,
            "{length} bytes: {} cycles, {beats} beats",
            bench.model.cycles()
        );
    }
}

#[test]
fn a_blocked_front_drops_whole_frames_and_recovers() {
    let mut bench = Bench::new(5);
    for _ in 0..100 {
        let frame = Recipe::plain(0, vec![7; 2000]).build();
        bench.macs[0].queue.push_back((frame, false));
    }
    while !bench.macs[0].queue.is_empty() {
        bench.cycle(0, 0, 0);
    }
    assert!(
        bench.full > 50,
        "{} frames were dropped for want of room",
        bench.full
    );
    let expected = judge(&Recipe::plain(0, vec![7; 2000]).build(), 0, false);
    bench.fates[0] = (0..100 - bench.full).map(|_| expected.clone()).collect();
    while bench.waiting() > 0 {
        bench.cycle(0, 100, 100);
        assert!(bench.model.cycles() < 20_000, "hangs");
    }
}

#[test]
fn a_frame_without_end_is_cut() {
    let mut bench = Bench::new(6);
    let long = Recipe::plain(3, vec![1; 9216 - 54]).build();
    assert!(long.len() <= 146 * 64);
    bench.send(3, long, false);
    bench.send(3, vec![0xff; 20_000], false);
    bench.send(3, Recipe::plain(3, vec![2; 100]).build(), false);
    while bench.waiting() > 0 {
        bench.cycle(0, 100, 100);
        assert!(bench.model.cycles() < 5000, "hangs");
    }
    assert_eq!((bench.oversize, bench.seen[1], bench.seen[0]), (1, 1, 2));
}

#[test]
fn the_verilog_is_clean() {
    lint(&Source::new("rx_front", text())).unwrap();
}
