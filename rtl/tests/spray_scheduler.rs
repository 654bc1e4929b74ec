//! The spray scheduler against plain queues: numbers of every path, places in messages, windows, credits,
//! the best path (design rules 2 to 4), with ACKs, losses, probes and starts anew at random.

mod bench;
mod schedule;

use bench::seeds;
use osprey_rtl::emit;
use osprey_rtl::tx::spray_scheduler::SprayScheduler;
use osprey_verilated::{Model, Source, lint};
use schedule::{Bench, Load, Profile};

fn source() -> Source {
    source_with_window(6)
}

fn source_with_window(window_bits: usize) -> Source {
    let text = emit::verilog("spray_scheduler", SprayScheduler::new(4, 2, window_bits));
    Source::new("spray_scheduler", text)
}

#[test]
fn the_verilog_is_clean() {
    lint(&source()).unwrap();
}

#[test]
fn every_packet_goes_once_in_order_within_windows() {
    seeds(
        "spray_scheduler::every_packet_goes_once_in_order_within_windows",
        8,
        |seed| {
            let window_bits = 5 + (seed % 2) as usize;
            let model = Model::build(&source_with_window(window_bits)).unwrap();
            let profile = Profile::random(seed).with_window(window_bits);
            let mut bench = Bench::new(&model, seed, profile);
            bench.run(6_000);
            bench.drain();
            bench.count_credits();
            bench.reopen();
            bench.run(2_000);
            bench.drain();
        },
    );
}

#[test]
fn a_lone_connection_uses_every_plane_alike() {
    let model = Model::build(&source()).unwrap();
    for planes in [2, 4] {
        let mut bench = Bench::new(&model, 5, Profile::lone(planes, 100));
        bench.load(Load {
            connection: 3,
            packets: 100_000,
        });
        bench.run(4_000);
        let sent: Vec<_> = bench.data_by_plane[..planes as usize].to_vec();
        let (least, most) = (sent.iter().min().unwrap(), sent.iter().max().unwrap());
        assert!(
            *least > 60 && most - least <= 2,
            "planes are not served alike: {sent:?}"
        );
    }
}

#[test]
fn resends_of_one_connection_do_not_starve_a_plane() {
    let model = Model::build(&source()).unwrap();
    for planes in [2, 4] {
        let mut bench = Bench::new(&model, 6, Profile::lone(planes, 0));
        bench.load(Load {
            connection: 3,
            packets: 4_000,
        });
        bench.run(2_000);
        bench.lose_everything(true);
        let before = bench.resends_by_plane;
        bench.run(100);
        let sent: Vec<_> = (0..planes as usize)
            .map(|plane| bench.resends_by_plane[plane] - before[plane])
            .collect();
        let (least, most) = (sent.iter().min().unwrap(), sent.iter().max().unwrap());
        assert!(most - least <= 2, "planes are not served alike: {sent:?}");
    }
}

/// Not one more, or the receiver would take it for a packet one lap before.
#[test]
fn a_hole_lets_a_whole_window_follow() {
    for window_bits in [5, 6] {
        let model = Model::build(&source_with_window(window_bits)).unwrap();
        let profile = Profile::lone(2, 0).with_window(window_bits);
        let mut bench = Bench::new(&model, 8, profile);
        bench.load(Load {
            connection: 3,
            packets: 4_000,
        });
        assert_eq!(bench.spans_behind_holes(), [1 << window_bits; 16]);
    }
}

#[test]
fn a_stopped_connection_resends_nothing() {
    let model = Model::build(&source()).unwrap();
    let mut bench = Bench::new(&model, 7, Profile::lone(2, 0));
    bench.load(Load {
        connection: 3,
        packets: 4_000,
    });
    bench.run(2_000);
    bench.lose_everything(false);
    bench.run(2_000);
    assert_eq!(bench.resends_by_plane, [0; 4]);
    assert_eq!(bench.waiting(), 0, "resends stay in the way");
}
