//! What happens to a frame on its way, as the suite's ways say: they decide on packets, here it is done to frames.

use crate::fault::{Fault, Spoiler};
use osprey_comply::world::Ways;
use osprey_hls::endpoint::Packet;
use osprey_hls::wire::{CRC_LEN, Located, locate};
use osprey_host::udp::{Fate, flip};
use osprey_sim::fabric;
use osprey_sim::mixed::{Edge, NS_PER_CYCLE};
use std::cell::RefCell;
use std::rc::Rc;

/// W of every connection of an engine.
const WINDOW: u16 = 64;
/// Most findings that are kept.
const FINDINGS_MAX: usize = 16;

/// Frames that are no packets of the format, in words.
pub(crate) type Findings = Rc<RefCell<Vec<String>>>;

/// Lets the ways decide on every frame. The engine is end `engine` of the ways and side 0 of the bench; what it sends is
/// spoilt first, if a fault is planted.
pub(crate) fn edge(engine: usize, ways: Ways, findings: Findings, fault: Option<Fault>) -> Edge {
    let mut spoiler = Spoiler::new(fault);
    Box::new(move |side, plane, frame| {
        if side == 0
            && let Some((located, packet)) = packet(frame)
            && !spoiler.leaves(frame, &located, &packet)
        {
            return fabric::Fate::Lose;
        }
        let Some((located, packet)) = packet(frame) else {
            let mut findings = findings.borrow_mut();
            if findings.len() < FINDINGS_MAX {
                let who = ["the engine", "the endpoint"][side];
                findings.push(format!(
                    "{who} sent a frame that is no packet: {frame:02x?}"
                ));
            }
            return fabric::Fate::Pass;
        };
        let end = if side == 0 { engine } else { 1 - engine };
        let mut ways = ways.borrow_mut();
        let way = ways.get_mut(end).and_then(|ways| ways.get_mut(plane));
        let fate = way.map_or(Fate::Pass, |way| way.decide(&packet));
        match fate {
            Fate::Pass => fabric::Fate::Pass,
            Fate::Drop => fabric::Fate::Lose,
            Fate::Twice => fabric::Fate::Duplicate,
            Fate::Late(ns) => fabric::Fate::Late(ns.div_ceil(NS_PER_CYCLE)),
            Fate::Mark => {
                mark(frame);
                fabric::Fate::Pass
            }
            Fate::Flip(bit) => {
                // What the CRC of the transport covers; for the rest there is the frame's own, which is not simulated.
                flip(&mut frame[located.transport..located.end], bit);
                fabric::Fate::Pass
            }
        }
    })
}

fn packet(frame: &[u8]) -> Option<(Located, Packet)> {
    let located = locate(frame).ok()?;
    let end = located.end.checked_sub(CRC_LEN)?;
    let bytes = frame.get(located.transport..end)?;
    let (packet, _) = Packet::parse(bytes, WINDOW).ok()?;
    Some((located, packet))
}

/// Marks a frame without tags as a switch does: both ECN bits, and the header's checksum as RFC 1624 has it.
fn mark(frame: &mut [u8]) {
    let word = |frame: &[u8], at: usize| u16::from_be_bytes([frame[at], frame[at + 1]]);
    let (before, sum) = (word(frame, 14), word(frame, 24));
    let after = before | 3;
    let mut folded = u32::from(!sum) + u32::from(!before) + u32::from(after);
    while folded > 0xffff {
        folded = (folded & 0xffff) + (folded >> 16);
    }
    frame[15] |= 3;
    frame[24..26].copy_from_slice(&(!(folded as u16)).to_be_bytes());
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mark_keeps_the_checksum_right() {
        // 4502+0038+0000+4000+4011+0a00+0001+0a00+0002 = d94e, complement 26b1; with 4503 one less.
        let mut frame = [0; 42];
        frame[14..34].copy_from_slice(&[
            0x45, 0x02, 0x00, 0x38, 0, 0, 0x40, 0, 0x40, 0x11, 0x26, 0xb1, 10, 0, 0, 1, 10, 0, 0, 2,
        ]);
        mark(&mut frame);
        assert_eq!((frame[15], &frame[24..26]), (3, &[0x26, 0xb0][..]));
    }
}
