//! The read engine against a slave of bytes that answers late and in order.

use osprey_rtl::dma::{DmaRead, ReadCommand};
use osprey_rtl::emit;
use osprey_verilated::{Model, Record, Source, Stall, lint};
use rust_hdl::prelude::*;
use std::collections::VecDeque;

fn text() -> String {
    let mut read = DmaRead::new();
    read.clock.connect();
    read.reset.connect();
    read.command.connect();
    read.command_valid.connect();
    read.arready.connect();
    read.rdata.connect();
    read.rresp.connect();
    read.rlast.connect();
    read.rvalid.connect();
    read.payload_ready.connect();
    read.request_ready.connect();
    emit::verilog("dma_read", read)
}

/// The beat of memory at a beat's number.
fn memory(beat: u64) -> Vec<u8> {
    Stall::new(beat ^ 0x5555).bytes(64)
}

/// A beat that must come out: data, marked as the last of its packet.
type Expected = VecDeque<(Vec<u8>, bool)>;

fn command(stall: &mut Stall, expected: &mut [Expected; 2]) -> Record {
    let request = stall.chance(20);
    let address = stall.bits() & 0x0000_ffff_ffff_ffff;
    let room = 4096 - address % 4096;
    let most = room.min(stall.pick(&[64, 256, 4096]));
    let length = if request {
        64.min(room)
    } else {
        1 + stall.below(most)
    };
    let last = stall.chance(70);
    let beats = address / 64..(address + length).div_ceil(64);
    let end = beats.end;
    expected[usize::from(request)]
        .extend(beats.map(|beat| (memory(beat), last && beat + 1 == end)));
    Record::new(ReadCommand::FIELDS)
        .with("address", address)
        .with("length", length)
        .with("last", last)
        .with("work_request", request)
}

fn check_outputs(model: &Model, expected: &mut [Expected; 2]) {
    for (queue, name) in expected.iter_mut().zip(["payload", "request"]) {
        let output = |part: &str| model.output(&format!("{name}_{part}"));
        if output("valid").is_set() && model.input(&format!("{name}_ready")).is_set() {
            let (mut data, last) = queue.pop_front().expect("a beat that nobody asked for");
            let got = output("data").bytes();
            if name == "request" {
                // A work request's reserved bits are not kept.
                (data[1], data[3]) = (0, 0);
            }
            assert_eq!(got, data[..got.len()], "{name}");
            if name == "payload" {
                assert_eq!(output("last").is_set(), last);
            }
        }
    }
}

fn run(seed: u64, commands: usize, chances: [u64; 4]) -> u64 {
    let model = Model::build(&Source::new("dma_read", text())).unwrap();
    model.reset();
    let mut stall = Stall::new(seed);
    let mut expected = [Expected::new(), Expected::new()];
    let mut commands: VecDeque<_> = (0..commands)
        .map(|_| command(&mut stall, &mut expected))
        .collect();
    // Beats that the slave owes: number, last of its burst, cycle from which it may come.
    let mut owed: VecDeque<(u64, bool, u64)> = VecDeque::new();
    let input = |name: &str| model.input(name);
    let output = |name: &str| model.output(name);
    while expected.iter().any(|queue| !queue.is_empty()) {
        let now = model.cycles();
        assert!(now < 2_000_000, "hangs");
        input("command_valid").set(!commands.is_empty() && stall.chance(chances[0]));
        if let Some(command) = commands.front() {
            input("command").set_record(command);
        }
        input("arready").set(stall.chance(chances[1]));
        let due = owed
            .front()
            .filter(|(_, _, from)| *from <= now && stall.chance(chances[2]))
            .copied();
        input("rvalid").set(due.is_some());
        if let Some((beat, last, _)) = due {
            input("rdata").set_bytes(&memory(beat));
            input("rlast").set(last);
            input("rresp").set(if beat % 97 == 0 { 2 } else { 0 });
        }
        input("payload_ready").set(stall.chance(chances[3]));
        input("request_ready").set(stall.chance(chances[3]));
        model.eval();
        assert!(output("rready").is_set(), "the bus is made to wait");
        if output("arvalid").is_set() && input("arready").is_set() {
            let (address, beats) = (output("araddr").get(), output("arlen").get() + 1);
            assert!(
                address % 64 == 0
                    && beats <= 64
                    && address / 4096 == (address + 64 * beats - 1) / 4096
            );
            let first = address / 64;
            owed.extend(
                (first..first + beats).map(|beat| (beat, beat + 1 == first + beats, now + 30)),
            );
        }
        if due.is_some() {
            owed.pop_front();
        }
        check_outputs(&model, &mut expected);
        assert_eq!(
            output("read_error").is_set(),
            due.is_some_and(|(beat, ..)| beat % 97 == 0)
        );
        if input("command_valid").is_set() && output("command_ready").is_set() {
            commands.pop_front();
        }
        model.cycle();
    }
    model.cycles()
}

#[test]
fn random_commands_with_stalls() {
    run(31, 1500, [100, 100, 100, 100]);
    run(32, 1500, [50, 50, 50, 50]);
    run(33, 1500, [100, 100, 100, 20]);
    run(34, 1500, [100, 20, 30, 100]);
}

#[test]
fn the_verilog_is_clean() {
    lint(&Source::new("dma_read", text())).unwrap();
}
