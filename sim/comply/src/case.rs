//! A test of the suite: its number, the rule that it checks, and what it found.

use crate::world::{Nic, Target};
use osprey_host::udp::UdpError;
use std::net::SocketAddrV4;

/// Why a test did not pass.
#[derive(Debug, thiserror::Error)]
pub enum Failure {
    /// The implementation is wrong.
    #[error("{0}")]
    Wrong(String),
    /// The target cannot show what is asked.
    #[error("{0}")]
    Skip(String),
    /// The test could not run.
    #[error(transparent)]
    Udp(#[from] UdpError),
}

/// What a test returns.
pub type Outcome = Result<(), Failure>;

/// `Err` with what is wrong, unless it is right.
pub fn ensure(right: bool, wrong: impl FnOnce() -> String) -> Outcome {
    if right {
        Ok(())
    } else {
        Err(Failure::Wrong(wrong()))
    }
}

/// What a test is given, and what it leaves.
#[derive(Debug)]
pub struct Context {
    /// What is under test.
    pub target: Target,
    /// Source of all chance.
    pub seed: u64,
    /// The implementation elsewhere, of a mixed target.
    pub peer: Vec<SocketAddrV4>,
    /// Names and values that show what happened.
    pub evidence: Vec<(String, String)>,
}

impl Context {
    /// Leaves evidence.
    pub fn note(&mut self, name: &str, value: impl ToString) {
        self.evidence.push((name.to_owned(), value.to_string()));
    }

    /// Goes on only where the other end can be looked at.
    pub fn needs_both_ends(&self) -> Outcome {
        skip_if(
            self.target.is_mixed(),
            "looks into the other end, which is elsewhere",
        )
    }

    /// Goes on only in virtual time, where rates mean something.
    pub fn needs_virtual_time(&self) -> Outcome {
        skip_if(
            !self.target.is_virtual(),
            "compares rates, which a shared machine does not keep",
        )
    }

    /// The NICs of a test that asks for the least of both: an engine offers the nearest that it can.
    pub fn nearest(&self, mut nics: [Nic; 2]) -> [Nic; 2] {
        if let Target::Rtl(engine) = self.target {
            nics[engine.end] = (engine.nearest)(nics[engine.end]);
        }
        nics
    }

    /// Goes on only where an end is no engine, or one that has this.
    pub fn needs(&self, end: usize, ability: Ability) -> Outcome {
        skip_if(self.target.engine() == Some(end), ability.lacking())
    }

    /// Goes on only where no end is an engine that lacks this.
    pub fn needs_everywhere(&self, ability: Ability) -> Outcome {
        skip_if(self.target.engine().is_some(), ability.lacking())
    }
}

/// What the engine lacks so far (README.md, Not yet).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ability {
    /// SEND and receive requests.
    Send,
    /// More than one stream.
    Streams,
    /// Windows that follow marks.
    Congestion,
    /// Shares that a receiver grants.
    Share,
    /// Packets of a dead path go over others.
    Fences,
    /// A ring of evidence.
    Events,
    /// Answers to probes by other planes than theirs, which T-2.7 allows and does not ask for.
    OtherPlanes,
}

impl Ability {
    /// Why a test is skipped.
    const fn lacking(self) -> &'static str {
        match self {
            Self::Send => "the engine has no SEND",
            Self::Streams => "the engine has one stream a connection",
            Self::Congestion => "the engine's windows are fixed: no ECN response",
            Self::Share => "the engine neither grants nor takes shares",
            Self::Fences => {
                "the engine does not fence paths: a plane's silent death ends a connection"
            }
            Self::Events => "the engine has no ring of evidence",
            Self::OtherPlanes => "the engine answers a probe by the plane that it came by",
        }
    }
}

fn skip_if(skips: bool, reason: &str) -> Outcome {
    if skips {
        return Err(Failure::Skip(reason.into()));
    }
    Ok(())
}

/// A test.
#[derive(Debug, Clone, Copy)]
pub struct Case {
    /// Chapter and number, such as 1.3.
    pub number: (u8, u8),
    /// What happens, in a few words.
    pub title: &'static str,
    /// Clauses of docs/transport.md.
    pub rule: &'static str,
    /// Does it.
    pub run: fn(&mut Context) -> Outcome,
}

impl Case {
    /// Name: C-chapter.number.
    pub fn name(&self) -> String {
        format!("C-{}.{}", self.number.0, self.number.1)
    }
}
