//! Table entries taken apart, against the words and bits of `docs/registers.md`.

mod bench;

use bench::seeds;
use osprey_rtl::csr::registers::TableAccess;
use osprey_rtl::csr::table_router::TableRouter;
use osprey_rtl::dma::memory_translation::KeyEntry;
use osprey_rtl::emit;
use osprey_rtl::rx::classifier::ReceiveSettings;
use osprey_rtl::tx::frame_request::{Peer, Route};
use osprey_rtl::tx::message_completion::CompletionRing;
use osprey_rtl::tx::spray_scheduler::SendSettings;
use osprey_rtl::tx::work_queue::SendRing;
use osprey_verilated::{Model, Record, Source, Stall, lint};

fn source() -> Source {
    let text = emit::verilog("table_router", TableRouter::default());
    Source::new("table_router", text)
}

/// The strobes by table number, with the one of the three that are read.
const WRITES: [(u64, &str); 6] = [
    (1, "connection_write"),
    (2, "route_write"),
    (3, "entropy_write"),
    (4, "key_write"),
    (5, "page_write"),
    (6, "clear_start"),
];
const READS: [(u64, &str); 2] = [(7, "read_send"), (8, "read_loss")];

struct Entry(Vec<u32>);

impl Entry {
    /// Bits `high:low` of a word.
    fn bits(&self, word: usize, high: u32, low: u32) -> u64 {
        u64::from(self.0[word] >> low) & ((1 << (high - low + 1)) - 1)
    }

    /// Two words, the low half first.
    fn long(&self, word: usize) -> u64 {
        u64::from(self.0[word]) | u64::from(self.0[word + 1]) << 32
    }
}

fn check_strobes(model: &Model, table: u64, write: bool, read: bool) {
    for (number, name) in WRITES {
        let expected = write && table == number;
        assert_eq!(
            model.output(name).is_set(),
            expected,
            "{name}, table {table}"
        );
    }
    for (number, name) in READS {
        let expected = read && table == number;
        assert_eq!(
            model.output(name).is_set(),
            expected,
            "{name}, table {table}"
        );
    }
}

fn check_record(
    model: &Model,
    port: &str,
    fields: &'static [(&'static str, usize)],
    expected: &[(&str, u64)],
) {
    let got = model.output(port).record(fields);
    assert_eq!(
        expected.len(),
        fields.len(),
        "every field of {port} is checked"
    );
    for &(name, value) in expected {
        assert_eq!(got.get(name), value, "{name} of {port}");
    }
}

fn check_parts(model: &Model, index: u64, entry: &Entry) {
    let incarnations = (entry.bits(3, 15, 0), entry.bits(3, 31, 16));
    let (receives, sends) = (entry.bits(0, 0, 0), entry.bits(0, 1, 1));
    check_record(
        model,
        "receive",
        ReceiveSettings::FIELDS,
        &[
            ("enabled", receives),
            ("incarnation", incarnations.0),
            ("paths", entry.bits(1, 31, 0)),
        ],
    );
    check_record(
        model,
        "send",
        SendSettings::FIELDS,
        &[
            ("enabled", sends),
            ("paths", entry.bits(1, 31, 0)),
            ("window", entry.bits(8, 7, 0)),
        ],
    );
    check_record(
        model,
        "send_ring",
        SendRing::FIELDS,
        &[
            ("enabled", sends),
            ("address", entry.long(4)),
            ("log_entries", entry.bits(0, 19, 16)),
            ("mtu_shift", entry.bits(0, 11, 8)),
        ],
    );
    check_record(
        model,
        "completion_ring",
        CompletionRing::FIELDS,
        &[
            ("address", entry.long(6)),
            ("log_entries", entry.bits(0, 23, 20)),
        ],
    );
    check_record(
        model,
        "peer",
        Peer::FIELDS,
        &[
            ("connection", entry.bits(2, 23, 0)),
            ("incarnation", incarnations.1),
        ],
    );
    check_record(
        model,
        "route",
        Route::FIELDS,
        &[
            ("mac", entry.long(0) & 0xffff_ffff_ffff),
            ("ip", entry.bits(2, 31, 0)),
        ],
    );
    let generation = entry.bits(1, 19, 0);
    check_record(
        model,
        "key",
        KeyEntry::FIELDS,
        &[
            ("valid", entry.bits(0, 0, 0)),
            ("local", entry.bits(0, 1, 1)),
            ("remote", entry.bits(0, 2, 2)),
            ("page_size", entry.bits(0, 5, 4)),
            ("key", generation << 12 | index & 0xfff),
            ("first_page", entry.bits(2, 19, 0)),
            ("base", entry.long(4)),
            ("length", entry.long(6)),
        ],
    );
    for (name, value) in [
        ("entropy", entry.bits(0, 15, 0)),
        ("page_address", entry.long(0)),
        ("clear_psn", entry.bits(0, 23, 0)),
        ("clear_epoch", entry.bits(0, 31, 24)),
        ("clear_ordinal", entry.bits(1, 15, 0)),
        ("index", index),
        ("connection", index & 0xfff),
    ] {
        assert_eq!(model.output(name).get(), value, "{name}");
    }
}

fn run(seed: u64) {
    let model = Model::build(&source()).unwrap();
    let mut stall = Stall::new(seed);
    for _ in 0..3_000 {
        let [table, index] = [stall.below(16), stall.below(1 << 20)];
        let [valid, write, read] = [80, 50, 50].map(|chance| stall.chance(chance));
        let access = Record::new(TableAccess::FIELDS)
            .with("index", index)
            .with("table", table)
            .with("write", write)
            .with("read", read);
        let mut entry = Entry(stall.words(16));
        // Bits that the page does not list are zero.
        entry.0[1] &= if table == 4 { 0xf_ffff } else { 0xffff_ffff };
        model.input("access").set_record(&access);
        model.input("access_valid").set(valid);
        model.input("entry").set_words(&entry.0);
        model.eval();
        check_strobes(&model, table, valid && write, valid && read);
        if table == 4 || entry.bits(1, 31, 20) == 0 {
            check_parts(&model, index, &entry);
        }
    }
}

#[test]
fn every_word_goes_where_the_page_says() {
    seeds("table_router::every_word_goes_where_the_page_says", 4, run);
}

#[test]
fn the_verilog_is_clean() {
    lint(&source()).unwrap();
}
