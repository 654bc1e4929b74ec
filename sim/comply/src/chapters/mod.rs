//! The tests, a file a chapter.

mod bounds;
mod ecn;
mod evidence;
mod fairness;
mod interoperation;
mod loss;
mod malformed;
mod order;
mod planes;
mod stale;
mod streams;
mod versions;

use crate::case::Case;

/// A chapter's number, title and tests.
pub struct Chapter {
    /// From 1.
    pub number: u8,
    /// What it is about.
    pub title: &'static str,
    /// Its tests.
    pub cases: &'static [Case],
}

/// All chapters.
pub const CHAPTERS: &[Chapter] = &[
    Chapter {
        number: 1,
        title: "Loss at controlled and bursty rates",
        cases: loss::CASES,
    },
    Chapter {
        number: 2,
        title: "Delayed and reordered delivery across paths",
        cases: order::CASES,
    },
    Chapter {
        number: 3,
        title: "ECN response and receiver hints",
        cases: ecn::CASES,
    },
    Chapter {
        number: 4,
        title: "Plane failure and gradual recovery",
        cases: planes::CASES,
    },
    Chapter {
        number: 5,
        title: "Duplicate and stale packets",
        cases: stale::CASES,
    },
    Chapter {
        number: 6,
        title: "Stream isolation",
        cases: streams::CASES,
    },
    Chapter {
        number: 7,
        title: "Fairness between competing senders",
        cases: fairness::CASES,
    },
    Chapter {
        number: 8,
        title: "Interoperation",
        cases: interoperation::CASES,
    },
    Chapter {
        number: 9,
        title: "Bounded memory and queues",
        cases: bounds::CASES,
    },
    Chapter {
        number: 10,
        title: "Evidence",
        cases: evidence::CASES,
    },
    Chapter {
        number: 11,
        title: "Version negotiation",
        cases: versions::CASES,
    },
    Chapter {
        number: 12,
        title: "Malformed input",
        cases: malformed::CASES,
    },
];
