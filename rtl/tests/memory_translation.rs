//! Keys, bounds and pages against arithmetic in 128 bits (field cases 26, 28, 31, 35).

mod bench;

use bench::seeds;
use osprey_rtl::dma::memory_translation::{
    KeyEntry, MemoryTranslation, TranslateRequest, Translated,
};
use osprey_rtl::emit;
use osprey_verilated::{Model, Record, Source, Stall, lint};
use std::collections::VecDeque;

const KEYS: u64 = 128;
const PAGES: u64 = 4096;
/// Page table entries that each key owns.
const OWN_PAGES: u64 = PAGES / KEYS;
const SHIFTS: [u32; 3] = [12, 21, 30];

fn source() -> Source {
    Source::new(
        "memory_translation",
        emit::verilog("memory_translation", MemoryTranslation::new(7, 12)),
    )
}

#[derive(Clone, Copy, Default, Debug)]
struct Region {
    valid: bool,
    local: bool,
    remote: bool,
    size: u64,
    key: u64,
    first: u64,
    base: u64,
    length: u64,
}

#[derive(Clone, Copy, Debug)]
struct Request {
    key: u64,
    address: u64,
    length: u64,
    remote: bool,
}

#[derive(PartialEq, Debug, Clone, Copy)]
enum Answer {
    BadKey,
    OutOfBounds,
    Granted,
}

struct Memory {
    regions: Vec<Region>,
    pages: Vec<u64>,
}

impl Memory {
    fn ask(&self, request: &Request) -> (Answer, Region) {
        let region = self.regions[(request.key % KEYS) as usize];
        let granted = if request.remote {
            region.remote
        } else {
            region.local
        };
        if !region.valid || region.key != request.key || !granted {
            return (Answer::BadKey, region);
        }
        // A region may end at 2^64 but not go round it; nor may a range.
        let (start, end) = (
            u128::from(region.base),
            u128::from(region.base) + u128::from(region.length),
        );
        let (from, to) = (
            u128::from(request.address),
            u128::from(request.address) + u128::from(request.length),
        );
        // Nothing may also be written just behind a region's end, which may be 2^64.
        let behind =
            request.length == 0 && request.address.wrapping_sub(region.base) == region.length;
        let inside = from >= start && to <= end || behind;
        (
            if inside {
                Answer::Granted
            } else {
                Answer::OutOfBounds
            },
            region,
        )
    }

    fn bus(&self, region: &Region, address: u64) -> u64 {
        let shift = SHIFTS[region.size as usize];
        let page = (address >> shift) - (region.base >> shift) + region.first;
        self.pages[page as usize] | address & ((1 << shift) - 1)
    }
}

/// A region of up to `OWN_PAGES` pages anywhere, often at an end of the address space.
fn region(stall: &mut Stall, index: u64) -> Region {
    let size = stall.below(3);
    let shift = SHIFTS[size as usize];
    let most = (OWN_PAGES - 1) << shift;
    let length = match stall.below(4) {
        0 => 1 + stall.below(8_192),
        1 => most,
        2 => 1 << shift,
        _ => 1 + stall.below(most),
    };
    let base = match stall.below(4) {
        0 => 0u64.wrapping_sub(length),
        1 => stall.below(64),
        2 => (stall.bits() >> 20 << 12) & (u64::MAX >> 1),
        _ => stall.bits() >> 1,
    };
    let rights = stall.below(8);
    Region {
        valid: !stall.chance(10),
        local: rights != 0,
        remote: rights != 1,
        size,
        key: (stall.bits() >> 44) << 12 | index,
        first: index * OWN_PAGES,
        base,
        length,
    }
}

fn request(stall: &mut Stall, memory: &Memory) -> Request {
    let region = memory.regions[stall.below(KEYS) as usize];
    let length = match stall.below(5) {
        0 => 0,
        1 => 4096,
        2 => 1 + stall.below(128),
        _ => 1 + stall.below(4096),
    };
    let end = region.base.wrapping_add(region.length);
    let address = match stall.below(8) {
        0 => region.base,
        1 => region.base.wrapping_sub(1 + stall.below(4096)),
        2 => end.wrapping_sub(length),
        3 => end.wrapping_sub(length).wrapping_add(1 + stall.below(4096)),
        4 => end.wrapping_sub(stall.below(4096)),
        5 => (stall.bits() % region.length).wrapping_add(region.base) | 0xfff,
        6 => stall.bits(),
        _ => (stall.bits() % region.length).wrapping_add(region.base),
    };
    let stale = if stall.chance(5) {
        1 << (12 + stall.below(20))
    } else {
        0
    };
    // The indices of other tables would fit into a key's 12 bits; only this one's are used.
    Request {
        key: region.key ^ stale,
        address,
        length,
        remote: stall.chance(50),
    }
}

struct Pending {
    at: u64,
    request: Request,
    answer: Answer,
    region: Region,
}

fn check(memory: &Memory, pending: &Pending, translated: &Record) {
    let context = format!(
        "cycle {}: {:x?} in {:x?}",
        pending.at, pending.request, pending.region
    );
    let got = (
        translated.get("bad_key") == 1,
        translated.get("out_of_bounds") == 1,
    );
    let expected = (
        pending.answer == Answer::BadKey,
        pending.answer == Answer::OutOfBounds,
    );
    assert_eq!(got, expected, "{context}");
    if pending.answer != Answer::Granted {
        return;
    }
    let Request {
        address, length, ..
    } = pending.request;
    let [address0, length0, address1] =
        ["address0", "length0", "address1"].map(|name| translated.get(name));
    assert_eq!(translated.get("length"), length, "{context}");
    assert_eq!(length0, length.min(4096 - address % 4096), "{context}");
    for byte in [
        0,
        1,
        length0.wrapping_sub(1),
        length0,
        length0 + 1,
        length.wrapping_sub(1),
    ] {
        if byte < length {
            let place = if byte < length0 {
                address0 + byte
            } else {
                address1 + (byte - length0)
            };
            assert_eq!(
                place,
                memory.bus(&pending.region, address + byte),
                "byte {byte}, {context}"
            );
        }
    }
}

#[test]
fn the_verilog_is_clean() {
    lint(&source()).unwrap();
}

#[test]
fn field_cases_26_28_31_35_bounds_generations_and_pages() {
    seeds(
        "memory_translation::field_cases_26_28_31_35_bounds_generations_and_pages",
        6,
        |seed| {
            let model = Model::build(&source()).unwrap();
            let mut stall = Stall::new(seed);
            let [asked, key_index, key_entry, key_write] =
                ["request", "key_index", "key_entry", "key_write"].map(|name| model.input(name));
            let [page_index, page_address, page_write] =
                ["page_index", "page_address", "page_write"].map(|name| model.input(name));
            let [refused, translated] = ["refused", "translated"].map(|name| model.output(name));
            let mut memory = Memory {
                regions: vec![Region::default(); KEYS as usize],
                pages: vec![0; PAGES as usize],
            };
            let mut pending: VecDeque<Pending> = VecDeque::new();
            let mut granted = [0; 3];
            for cycle in 0..20_000u64 {
                key_write.set(0);
                page_write.set(0);
                // A key is given out with its pages before its first use; later keys change under way.
                let index = if cycle < KEYS * 40 {
                    cycle / 40
                } else {
                    stall.below(KEYS)
                };
                let (writes, dies) = (cycle < KEYS * 40 && cycle % 40 == 0, stall.chance(2));
                let mut after = memory.regions[index as usize];
                if writes {
                    after = region(&mut stall, index);
                } else if dies && cycle >= KEYS * 40 {
                    after.valid = !after.valid;
                    after.key ^= u64::from(stall.chance(50)) << 12;
                }
                if writes || dies {
                    key_index.set(index);
                    key_entry.set_record(
                        &Record::new(KeyEntry::FIELDS)
                            .with("valid", after.valid)
                            .with("local", after.local)
                            .with("remote", after.remote)
                            .with("page_size", after.size)
                            .with("key", after.key)
                            .with("first_page", after.first)
                            .with("base", after.base)
                            .with("length", after.length),
                    );
                    key_write.set(1);
                }
                if cycle < KEYS * 40 && cycle % 40 < OWN_PAGES {
                    // Pages lie apart from each other (case 35).
                    let shift =
                        SHIFTS[memory.regions[index as usize].size.max(after.size) as usize];
                    let page = index * OWN_PAGES + cycle % 40;
                    memory.pages[page as usize] = stall.bits() >> shift << shift;
                    page_index.set(page);
                    page_address.set(memory.pages[page as usize]);
                    page_write.set(1);
                }
                if cycle > KEYS * 40 + 8 {
                    let request = request(&mut stall, &memory);
                    asked.set_record(
                        &Record::new(TranslateRequest::FIELDS)
                            .with("key", request.key)
                            .with("address", request.address)
                            .with("length", request.length)
                            .with("remote", request.remote),
                    );
                    let (mut answer, region) = memory.ask(&request);
                    // What is being written is neither the old key nor the new one.
                    if (writes || dies) && request.key % KEYS == index {
                        answer = Answer::BadKey;
                    }
                    pending.push_back(Pending {
                        at: cycle,
                        request,
                        answer,
                        region,
                    });
                }
                model.eval();
                if let Some(asked) = pending.iter().find(|pending| pending.at + 4 == cycle) {
                    assert_eq!(
                        refused.is_set(),
                        asked.answer != Answer::Granted,
                        "cycle {cycle}: {:x?}",
                        asked.request
                    );
                }
                if pending
                    .front()
                    .is_some_and(|pending| pending.at + 8 == cycle)
                {
                    let pending = pending.pop_front().expect("there is one");
                    check(&memory, &pending, &translated.record(Translated::FIELDS));
                    granted[pending.answer as usize] += 1;
                }
                memory.regions[index as usize] = after;
                model.cycle();
            }
            assert!(
                granted.iter().all(|&count| count > 500),
                "bad key, out, granted: {granted:?}"
            );
        },
    );
}
