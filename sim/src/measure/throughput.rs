//! How much the engine carries when nothing around it is the limit.
//!
//! The steady state: from the cycle in which a quarter of the payload is placed to that of three quarters.

use super::load::{Load, run};
use super::{Better, Figure, MeasureError};
use crate::activity::{Activity, What};

/// Payload bytes of a full packet.
const MTU: usize = 4096;
/// Ethernet, IPv4 and UDP 42, transport 48, CRC 4.
const FRAME_EXTRA: usize = 42 + 48 + 4;
const BEAT: usize = 64;
/// Of the bus limit, for messages of a page and more.
const TARGET_FRACTION: f64 = 0.95;
/// Cycles between messages of 64 bytes.
const TARGET_SMALL_CYCLES: f64 = 6.0;

/// Connections, messages of each, bytes of each message.
const LOADS: [(usize, usize, usize); 6] = [
    (16, 64, 64),
    (16, 64, 256),
    (16, 64, 1024),
    (16, 48, 4096),
    (4, 10, 65_536),
    (2, 2, 1 << 20),
];

/// Beats of the frames of a message.
fn beats(bytes: usize) -> usize {
    let frame = |payload: usize| (payload + FRAME_EXTRA).div_ceil(BEAT);
    bytes / MTU * frame(MTU)
        + if bytes.is_multiple_of(MTU) {
            0
        } else {
            frame(bytes % MTU)
        }
}

/// Payload bytes a cycle that the headers leave of the bus.
fn limit(bytes: usize) -> f64 {
    bytes as f64 / beats(bytes) as f64
}

/// Payload bytes a cycle in the steady state.
fn placed(receiver: &Activity, total: usize) -> Result<f64, MeasureError> {
    let (mut sum, mut from) = (0_usize, None);
    for event in receiver.events() {
        let What::WriteBeat { bytes } = event.what else {
            continue;
        };
        sum += bytes as usize;
        match from {
            None if sum >= total / 4 => from = Some((event.cycle, sum)),
            Some((cycle, begun)) if sum >= total / 4 * 3 => {
                return Ok((sum - begun) as f64 / (event.cycle - cycle) as f64);
            }
            _ => {}
        }
    }
    Err(MeasureError::NotSeen {
        what: "three quarters of the payload",
        side: "B",
    })
}

fn size(bytes: usize) -> String {
    match bytes {
        0..1024 => format!("{bytes} B"),
        1024..1_048_576 => format!("{} KiB", bytes / 1024),
        _ => format!("{} MiB", bytes >> 20),
    }
}

fn measure(load: &Load, note: &str) -> Result<Vec<Figure>, MeasureError> {
    let [_, receiver] = run(load)?;
    let rate = placed(&receiver, load.total())?;
    let name = format!(
        "throughput {}, {} connections{note}",
        size(load.bytes),
        load.connections
    );
    let fraction = Figure::plain(
        format!("{name}: of the bus limit"),
        rate / limit(load.bytes),
        "fraction",
        Better::Higher,
    );
    let full = load.bytes >= MTU && load.connections > 1;
    let cycles = Figure::plain(
        format!("{name}: between messages"),
        load.bytes as f64 / rate,
        "cycles",
        Better::Lower,
    );
    let small = load.bytes == 64 && load.connections == 16;
    Ok(vec![
        Figure::plain(
            format!("{name}: payload"),
            rate,
            "bytes a cycle",
            Better::Higher,
        ),
        if full {
            fraction.target(TARGET_FRACTION)
        } else {
            fraction
        },
        if small {
            cycles.target(TARGET_SMALL_CYCLES)
        } else {
            cycles
        },
    ])
}

/// All sizes, aligned; a page also from and to odd addresses, and over a single connection.
pub(super) fn figures() -> Result<Vec<Figure>, MeasureError> {
    let load = |(connections, messages, bytes): (usize, usize, usize)| Load {
        connections,
        messages,
        bytes,
        offsets: (0, 0),
        memory_cycles: 100,
    };
    let mut all = Vec::new();
    for each in LOADS {
        all.extend(measure(&load(each), "")?);
    }
    let odd = Load {
        offsets: (3, 13),
        ..load((16, 48, 4096))
    };
    all.extend(measure(&odd, ", odd addresses")?);
    all.extend(measure(&load((1, 8, 65_536)), "")?);
    Ok(all)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn beats_are_those_of_the_wire() {
        let expected = [
            (64, 3),
            (256, 6),
            (1024, 18),
            (4096, 66),
            (4097, 69),
            (65_536, 16 * 66),
        ];
        for (bytes, count) in expected {
            assert_eq!(beats(bytes), count, "{bytes} bytes");
        }
    }
}
