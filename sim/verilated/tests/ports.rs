//! Ports of every size class, the build cache, and traces.

use osprey_verilated::{Fields, Model, Source, Stall, workspace_root};
use std::time::Instant;

const WIDTHS: [usize; 10] = [1, 8, 9, 32, 33, 64, 65, 200, 512, 576];

/// Each output is a register behind its input, each `w` a wire.
fn registers() -> String {
    let mut names = Vec::new();
    let mut body = String::new();
    for width in WIDTHS {
        names.extend([
            format!("i${width}"),
            format!("o${width}"),
            format!("w${width}"),
        ]);
        let range = format!("[{}:0]", width - 1);
        body += &format!(
            "input wire {range} i${width};\noutput reg {range} o${width};\noutput wire {range} w${width};\n"
        );
        body += &format!(
            "always @(posedge clock) o${width} <= i${width};\nassign w${width} = ~i${width};\n"
        );
    }
    format!(
        "module registers(clock,{});\ninput wire clock;\n{body}endmodule\n",
        names.join(",")
    )
}

fn mask(width: usize, words: &mut [u32]) {
    for (index, word) in words.iter_mut().enumerate() {
        let bits = width.saturating_sub(32 * index);
        if bits < 32 {
            *word &= (1 << bits) - 1;
        }
    }
}

#[test]
fn every_word_of_every_width_arrives() {
    let model = Model::build(&Source::new("registers", registers())).unwrap();
    let mut stall = Stall::new(44);
    for round in 0..100 {
        for width in WIDTHS {
            let mut value = stall.words(width.div_ceil(32));
            mask(width, &mut value);
            model.input(&format!("i${width}")).set_words(&value);
            let before = model.output(&format!("o${width}")).words();
            model.eval();
            assert_eq!(
                model.output(&format!("o${width}")).words(),
                before,
                "round {round}: {width} bits before the clock"
            );
            let mut inverted: Vec<u32> = value.iter().map(|word| !word).collect();
            mask(width, &mut inverted);
            assert_eq!(
                model.output(&format!("w${width}")).words(),
                inverted,
                "round {round}: {width} bits, wire"
            );
            model.cycle();
            assert_eq!(
                model.output(&format!("o${width}")).words(),
                value,
                "round {round}: {width} bits"
            );
        }
    }
    assert_eq!(model.cycles(), 1000);
}

#[test]
fn narrow_values_bytes_and_fields() {
    const FIELDS: Fields = &[("low", 5), ("middle", 40), ("high", 20)];
    let model = Model::build(&Source::new("registers", registers())).unwrap();
    model.input("i$33").set(0x1_2345_6789_u64);
    model
        .input("i$65")
        .set_field(FIELDS, "middle", 0xab_cdef_0123_u64);
    model.input("i$65").set_field(FIELDS, "high", 0xfedcb_u32);
    model
        .input("i$512")
        .set_bytes(&(0..64).collect::<Vec<u8>>());
    model.cycle();
    assert_eq!(model.output("o$33").get(), 0x1_2345_6789);
    assert_eq!(model.output("o$65").field(FIELDS, "middle"), 0xab_cdef_0123);
    assert_eq!(model.output("o$65").record(FIELDS).get("high"), 0xfedcb);
    assert_eq!(model.output("o$65").field(FIELDS, "low"), 0);
    assert_eq!(model.output("o$512").words()[1], 0x0706_0504);
    assert_eq!(model.output("o$512").bytes()[63], 63);
}

#[test]
fn a_second_build_is_found_and_instances_are_separate() {
    let source = Source::new("registers", registers());
    let first = Model::build(&source).unwrap();
    let start = Instant::now();
    let second = Model::build(&source).unwrap();
    assert!(
        start.elapsed().as_millis() < 500,
        "the second build took {:?}",
        start.elapsed()
    );
    first.input("i$8").set(7u8);
    first.cycle();
    second.cycle();
    assert_eq!(
        (first.output("o$8").get(), second.output("o$8").get()),
        (7, 0)
    );
    let port = first.output("o$8");
    drop(first);
    assert_eq!(port.get(), 7, "a port keeps its model alive");
}

#[test]
fn registered_inputs_come_in_with_the_edge() {
    let source = Source::new("registers", registers());
    let model = Model::build(&source.with_registered_inputs().unwrap()).unwrap();
    for width in WIDTHS {
        let (ones, zeros) = (ones(width), vec![0; width.div_ceil(32)]);
        let (input, wire, register) = (
            model.input(&format!("i${width}")),
            model.output(&format!("w${width}")),
            model.output(&format!("o${width}")),
        );
        model.eval();
        assert_eq!(wire.words(), ones, "{width} bits: inputs begin at 0");
        input.set_words(&ones);
        model.eval();
        assert_eq!(wire.words(), ones, "{width} bits: nothing without an edge");
        model.cycle();
        assert_eq!(
            (wire.words(), register.words()),
            (zeros.clone(), zeros),
            "{width} bits"
        );
        model.cycle();
        assert_eq!(register.words(), ones, "{width} bits: a cycle later");
    }
}

fn ones(width: usize) -> Vec<u32> {
    let mut words = vec![u32::MAX; width.div_ceil(32)];
    mask(width, &mut words);
    words
}

#[test]
fn a_trace_writes_a_file() {
    let model = Model::build(&Source::new("registers", registers()).with_trace()).unwrap();
    let path = std::env::temp_dir().join(format!("osprey-trace-{}.vcd", std::process::id()));
    model.trace(&path);
    model.input("i$9").set(0x155_u16);
    (0..4).for_each(|_| model.cycle());
    drop(model);
    let text = std::fs::read_to_string(&path).unwrap();
    std::fs::remove_file(&path).unwrap();
    assert!(
        text.contains("$enddefinitions") && text.contains("b101010101"),
        "{text}"
    );
}

#[test]
#[should_panic(expected = "port `i$9` has 9 bits: 0x200 does not fit")]
fn a_value_too_wide_is_refused() {
    Model::build(&Source::new("registers", registers()))
        .unwrap()
        .input("i$9")
        .set(0x200_u16);
}

#[test]
#[should_panic(expected = "no Input called `o$9`; ports are: ")]
fn an_unknown_port_is_refused() {
    Model::build(&Source::new("registers", registers()))
        .unwrap()
        .input("o$9");
}

#[test]
fn a_text_that_verilator_refuses_is_named() {
    let error = Model::build(&Source::new(
        "bad",
        "module bad(x); input x; wire y = z; endmodule",
    ))
    .err()
    .unwrap();
    assert!(
        error.to_string().contains("verilator failed on `bad`"),
        "{error}"
    );
    assert!(workspace_root().join("Cargo.toml").exists());
}

#[test]
fn a_name_that_cpp_uses_is_a_port_like_any_other() {
    let text = "module names(interrupt, a__b); input wire interrupt; output wire a__b; assign a__b = interrupt; endmodule";
    let model = Model::build(&Source::new("names", text)).unwrap();
    model.input("interrupt").set(1);
    model.eval();
    assert!(model.output("a__b").is_set());
}
