//! The map against itself and against addresses typed by hand from the specification.

use super::*;

#[test]
fn registers_do_not_overlap() {
    let mut seen = std::collections::BTreeMap::new();
    for block in BLOCKS {
        for register in block.registers {
            assert!(register.width >= 1 && register.width <= 32);
            let doorbell = register.offset >= doorbell::BASE;
            for index in 0..register.count {
                let at = register.at(index);
                assert_eq!(at % 4, 0);
                assert_eq!(at >= doorbell::BASE, doorbell);
                let before = seen.insert(at, register.name);
                assert_eq!(before, None, "{} at {at:#x}", register.name);
            }
        }
    }
}

#[test]
fn fields_do_not_overlap_and_stay_inside() {
    for entry in table::TABLES
        .iter()
        .map(|t| &t.entry)
        .chain(RECORDS.iter().copied())
    {
        let mut used = vec![false; usize::from(entry.words) * 32];
        for field in entry.fields {
            for bit in field.lowest_bit()..field.lowest_bit() + u32::from(field.width) {
                let bit = &mut used[bit as usize];
                assert!(
                    !std::mem::replace(bit, true),
                    "{}.{}",
                    entry.name,
                    field.name
                );
            }
        }
    }
}

#[test]
fn addresses_as_in_the_specification() {
    let expected = [
        (identity::MAP_HASH.offset, 0x008),
        (identity::CAPABILITIES2.offset, 0x010),
        (control::TIME_INCREMENT.offset, 0x044),
        (control::CONNECTIONS_IN_USE.offset, 0x074),
        (table::STATUS.offset, 0x104),
        (table::DATA.at(15), 0x17c),
        (plane::IPV4.at(2), 0x248),
        (counters::Counter::ConnectionErrors.offset(), 0x4fc),
        (doorbell::COMPLETION_CONSUMER.at(3), 0x0100_3008),
    ];
    for (found, address) in expected {
        assert_eq!(found, address);
    }
}

#[test]
fn counters_are_numbered_without_gaps() {
    assert!(counters::COUNTERS.len() <= counters::COUNTERS_MAX as usize);
    for (number, counter) in counters::Counter::ALL.iter().enumerate() {
        assert_eq!(*counter as usize, number);
        assert_eq!(counter.name(), format!("{counter:?}"));
    }
}

#[test]
fn fields_are_set_and_read_back_over_dirty_words() {
    for entry in table::TABLES
        .iter()
        .map(|t| &t.entry)
        .chain(RECORDS.iter().copied())
    {
        for field in entry.fields {
            let mut words = [0xa5a5_a5a5_u32; 16];
            let before = words;
            for value in [0, field.max(), field.max() / 3] {
                field.set(&mut words, value);
                assert_eq!(field.get(&words), value, "{}", field.name);
            }
            field.set(&mut words, field.get(&before));
            assert_eq!(words, before, "{} touches its neighbours", field.name);
        }
    }
}

#[test]
fn the_committed_reference_is_up_to_date() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../docs/registers.md");
    let committed = std::fs::read_to_string(path).unwrap_or_default();
    assert!(
        committed == reference(),
        "docs/registers.md is old: run `cargo run -p osprey-hls --bin registers > docs/registers.md`"
    );
}
