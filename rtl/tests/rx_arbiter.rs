//! The arbiter: whole frames, no plane forgotten, none started without leave, none delayed for its end when idle.

use osprey_rtl::emit;
use osprey_rtl::rx::RxArbiter;
use osprey_verilated::{Model, Source, Stall, lint};
use rust_hdl::prelude::*;
use std::collections::VecDeque;

fn text() -> String {
    let mut arbiter = RxArbiter::default();
    arbiter.clock.connect();
    arbiter.reset.connect();
    arbiter.grant_enable.connect();
    for plane in 0..4 {
        arbiter.data[plane].connect();
        arbiter.bytes[plane].connect();
        arbiter.last[plane].connect();
        arbiter.error[plane].connect();
        arbiter.valid[plane].connect();
        arbiter.complete[plane].connect();
        arbiter.two_complete[plane].connect();
    }
    emit::verilog("rx_arbiter", arbiter)
}

/// A beat: what its lanes hold, those behind a frame's end too, how many of them count, and whether it is a last one.
#[derive(Clone)]
struct Beat {
    data: Vec<u8>,
    bytes: usize,
    last: bool,
}

impl Beat {
    fn random(stall: &mut Stall, last: bool) -> Self {
        let bytes = if last {
            1 + stall.below(64) as usize
        } else {
            64
        };
        let data = stall.bytes(64);
        Self { data, bytes, last }
    }
}

/// What a plane's port holds.
#[derive(Default)]
struct Plane {
    beats: VecDeque<Beat>,
}

impl Plane {
    fn drive(&self, model: &Model, plane: usize) {
        let front = self.beats.front();
        let set = |name: &str, value: u64| model.input(&format!("{name}${plane}")).set(value);
        set("valid", u64::from(front.is_some()));
        set("bytes", front.map_or(0, |front| front.bytes as u64));
        set("last", u64::from(front.is_some_and(|front| front.last)));
        if let Some(front) = front {
            model.input(&format!("data${plane}")).set_bytes(&front.data);
        }
        set("complete", u64::from(self.complete() > 0));
        set("two_complete", u64::from(self.complete() > 1));
    }

    fn complete(&self) -> usize {
        self.beats.iter().filter(|beat| beat.last).count()
    }
}

#[test]
fn random_frames_of_four_planes() {
    let model = Model::build(&Source::new("rx_arbiter", text())).unwrap();
    model.reset();
    let mut stall = Stall::new(61);
    let mut planes: [Plane; 4] = Default::default();
    let mut expected: [VecDeque<Beat>; 4] = Default::default();
    let mut left = [0; 4];
    let mut under_way: Option<(usize, u64)> = None;
    let mut allowed = [false; 4];
    let mut taken = [0; 4];
    // Information of `out_info`: bytes 7, first, last, error, plane 2, index 8.
    for cycle in 0..40_000u64 {
        for plane in 0..4 {
            if planes[plane].beats.len() < 20 && stall.chance(40) {
                if left[plane] == 0 {
                    left[plane] = 1 + stall.below(9);
                }
                left[plane] -= 1;
                let beat = Beat::random(&mut stall, left[plane] == 0);
                planes[plane].beats.push_back(beat);
            }
            planes[plane].drive(&model, plane);
        }
        let grant = cycle / 100 % 3 != 0;
        model.input("grant_enable").set(grant);
        model.eval();
        let info = model.output("out_info").get();
        let (first, last, plane) = (
            info >> 7 & 1 == 1,
            info >> 8 & 1 == 1,
            (info >> 10 & 3) as usize,
        );
        if model.output("out_valid").is_set() {
            let beat = expected[plane].pop_front().expect("a beat from nowhere");
            let mut data = beat.data.clone();
            data[beat.bytes..].fill(0);
            assert_eq!(model.output("out_data").bytes(), data, "cycle {cycle}");
            assert_eq!((info & 127, last), (beat.bytes as u64, beat.last));
            let index = match under_way {
                None => 0,
                Some((current, index)) => {
                    assert_eq!(current, plane, "cycle {cycle}: a frame is broken into");
                    index + 1
                }
            };
            assert_eq!((first, info >> 12), (index == 0, index), "cycle {cycle}");
            assert!(
                !first || allowed.iter().any(|&allowed| allowed),
                "cycle {cycle}: started without leave"
            );
            under_way = if last { None } else { Some((plane, index)) };
            taken[plane] += 1;
        }
        allowed.rotate_right(1);
        allowed[0] = grant;
        for plane in 0..4 {
            let valid = model.input(&format!("valid${plane}")).is_set();
            if valid && model.output(&format!("ready${plane}")).is_set() {
                expected[plane].extend(planes[plane].beats.pop_front());
            }
        }
        model.cycle();
    }
    let most = *taken.iter().max().unwrap();
    assert!(
        taken.iter().all(|&count| count * 10 > most * 9),
        "planes got {taken:?} beats"
    );
}

#[test]
fn an_idle_arbiter_does_not_wait_for_the_end() {
    let model = Model::build(&Source::new("rx_arbiter", text())).unwrap();
    model.reset();
    model.input("grant_enable").set(1);
    model.input("valid$2").set(1);
    (0..3).for_each(|_| model.cycle());
    assert!(model.output("out_valid").is_set());
}

#[test]
fn the_verilog_is_clean() {
    lint(&Source::new("rx_arbiter", text())).unwrap();
}
