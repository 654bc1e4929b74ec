//! The demonstration as a program: what it does with bad input, and that a file goes through.
//!
//! The run needs the emitted Verilog of `edge`; without it that test says so and passes.

use osprey_sim::engine::source;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

fn demo(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_demo"))
        .args(arguments)
        .output()
        .expect("the program starts")
}

fn scratch(name: &str) -> PathBuf {
    Path::new(env!("CARGO_TARGET_TMPDIR")).join(name)
}

#[test]
fn bad_input_is_one_clear_line_and_a_status() {
    let cases: [(&[&str], &str); 13] = [
        (&["--file", "/no/such/file"], "/no/such/file"),
        (&["--loss", "200%"], "100%"),
        (&["--loss", "much"], "much"),
        (&["--loss", "60%", "--duplication", "50%"], "below 100%"),
        (&["--planes", "0"], "--planes 0"),
        (&["--planes", "5"], "--planes 5"),
        (&["--planes", "3", "--config", "edge"], "edge has 2"),
        (&["--paths", "9"], "--paths 9"),
        (&["--pcap", "/no/such/folder/a.pcapng"], "/no/such/folder"),
        (&["--json", "/no/such/folder/a.json"], "/no/such/folder"),
        (&["--config", "huge"], "huge"),
        (&["--mtu", "1500"], "--mtu 1500"),
        (&["--speed", "9"], "--speed"),
    ];
    let report = scratch("bad.html");
    for (arguments, named) in cases {
        if arguments.contains(&"edge") && source("edge", false).is_err() {
            continue;
        }
        let mut all = arguments.to_vec();
        all.extend(["--report", report.to_str().unwrap()]);
        let output = demo(&all);
        let text = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{arguments:?}: {text}");
        assert_eq!(text.lines().count(), 1, "{arguments:?}: {text}");
        assert!(text.contains(named), "{arguments:?}: {text}");
        assert!(output.stdout.is_empty(), "{arguments:?}");
    }
}

#[test]
fn a_file_goes_through_and_leaves_its_traces() {
    if let Err(error) = source("edge", false) {
        eprintln!("skipped: {error}");
        return;
    }
    let [file, json, page, pcap] = ["a.bin", "a.json", "a.html", "a.pcapng"].map(scratch);
    std::fs::write(&file, vec![7; 4097]).unwrap();
    let text = |path: &PathBuf| path.to_str().unwrap().to_owned();
    let (file, json, page, pcap) = (text(&file), text(&json), text(&page), text(&pcap));
    let options = [
        "--config", "edge", "--planes", "2", "--loss", "5%", "--file", &file, "--json", &json,
        "--report", &page, "--pcap", &pcap,
    ];
    let output = demo(&options);
    let shown = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{shown}");
    assert!(shown.starts_with("verdict      pass"), "{shown}");
    assert!(shown.contains(&page), "{shown}");
    let result: serde_json::Value =
        serde_json::from_str(&std::fs::read_to_string(&json).unwrap()).unwrap();
    assert_eq!(
        (&result["verdict"], &result["bytes"]),
        (&"pass".into(), &4097.into())
    );
    assert!(std::fs::read_to_string(&page).unwrap().contains("</html>"));
    assert_eq!(std::fs::read(&pcap).unwrap()[..4], [0x0a, 0x0d, 0x0d, 0x0a]);
}
