//! Where the cycles of one message go, on engines that do nothing else.
//!
//! Stages end where something is seen at a port. Host memory answers at once, so that its latency is not
//! in the figures: add it where the name of a stage says so.

use super::load::{Load, run};
use super::{Better, Figure, MeasureError};
use crate::activity::{Activity, What};

/// Last beat in to first payload beat to memory.
const TARGET_PLACEMENT: f64 = 32.0;

/// Goes along an engine's transfers.
struct Walk<'a> {
    activity: &'a Activity,
    side: &'static str,
}

impl Walk<'_> {
    /// The cycle of the first transfer from `from` on that `is` what is looked for.
    fn first(
        &self,
        what: &'static str,
        from: u64,
        is: impl Fn(What) -> bool,
    ) -> Result<u64, MeasureError> {
        let side = self.side;
        self.activity
            .events()
            .iter()
            .find(|event| event.cycle >= from && is(event.what))
            .map(|event| event.cycle)
            .ok_or(MeasureError::NotSeen { what, side })
    }

    /// The last before `until`.
    fn last(
        &self,
        what: &'static str,
        until: u64,
        is: impl Fn(What) -> bool,
    ) -> Result<u64, MeasureError> {
        let side = self.side;
        self.activity
            .events()
            .iter()
            .rfind(|event| event.cycle < until && is(event.what))
            .map(|event| event.cycle)
            .ok_or(MeasureError::NotSeen { what, side })
    }
}

const fn is_write(what: What) -> bool {
    matches!(what, What::WriteBeat { .. })
}

const fn is_response(what: What) -> bool {
    matches!(what, What::WriteResponse)
}

const fn is_address(what: What) -> bool {
    matches!(what, What::ReadAddress { .. })
}

const fn is_read(what: What) -> bool {
    matches!(what, What::ReadBeat)
}

fn out_first(what: What) -> bool {
    matches!(what, What::Out(place) if place.first)
}

fn in_last(what: What) -> bool {
    matches!(what, What::In(place) if place.last)
}

fn measure(bytes: usize, name: &str) -> Result<Vec<Figure>, MeasureError> {
    let load = Load {
        connections: 1,
        messages: 1,
        bytes,
        offsets: (0, 0),
        memory_cycles: 0,
    };
    let activities = run(&load)?;
    let walk = |side: usize| Walk {
        activity: &activities[side],
        side: ["A", "B"][side],
    };
    let (a, b) = (walk(0), walk(1));
    let doorbell = a.first("doorbell", 0, |what| what == What::Doorbell)?;
    let fetch = a.first("read of the work request", doorbell, is_address)?;
    let request = a.first("work request", fetch, is_read)?;
    let read = a.first("read of the payload", request, is_address)?;
    let payload = a.first("payload from memory", read, is_read)?;
    let out = a.first("first beat out", payload, out_first)?;
    let arrived = b.first("last beat in", out, in_last)?;
    let written = b.first("first beat to memory", arrived, is_write)?;
    let answered = b.last("answer of memory", u64::MAX, is_response)?;
    let last_written = b.last("last beat to memory", answered, is_write)?;
    let ack_out = b.first("ACK out", answered, out_first)?;
    let ack_in = a.first("ACK in", ack_out, in_last)?;
    let completed = a.first("completion to memory", ack_in, is_write)?;
    let stage = |what: &str, from: u64, to: u64| {
        let value = (to - from) as f64;
        Figure::plain(
            format!("latency {name}: {what}"),
            value,
            "cycles",
            Better::Lower,
        )
    };
    Ok(vec![
        stage("doorbell to first beat out", doorbell, out),
        stage("- doorbell to read of the work request", doorbell, fetch),
        stage("- read to work request (memory)", fetch, request),
        stage("- work request to read of the payload", request, read),
        stage("- read to payload (memory)", read, payload),
        stage("- payload to first beat out", payload, out),
        stage("wire, first beat out to last beat in", out, arrived),
        stage("last beat in to first beat to memory", arrived, written).target(TARGET_PLACEMENT),
        stage("first beat to last beat to memory", written, last_written),
        stage("last beat to its answer (memory)", last_written, answered),
        stage("answer to ACK out", answered, ack_out),
        stage("wire, ACK out to its last beat in", ack_out, ack_in),
        stage("ACK in to completion to memory", ack_in, completed),
        stage("doorbell to completion to memory", doorbell, completed),
    ])
}

/// A small and a full packet.
pub(super) fn figures() -> Result<Vec<Figure>, MeasureError> {
    Ok([measure(64, "64 B")?, measure(4096, "4 KiB")?].concat())
}
