//! A test of the suite: its number, the rule that it checks, and what it found.

use crate::world::Target;
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
        match self.target {
            Target::Mixed => Err(Failure::Skip(
                "looks into the other end, which is elsewhere".into(),
            )),
            _ => Ok(()),
        }
    }

    /// Goes on only in virtual time, where rates mean something.
    pub fn needs_virtual_time(&self) -> Outcome {
        match self.target {
            Target::Model => Ok(()),
            _ => Err(Failure::Skip(
                "compares rates, which a shared machine does not keep".into(),
            )),
        }
    }
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
