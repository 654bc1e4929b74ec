//! Set-up, registration, WRITEs, completions: an application over the host library.

use super::Sample;
use crate::bench::Bench;
use crate::hosts::{BACKGROUND, Hosts, HostsError, Memory, POLL_CYCLES, at};
use crate::referee::{CompletionReferee, MemoryReferee};
use osprey_host::dma::DmaMemory;
use osprey_host::verbs::{
    Config, ConnectionHandle, MemoryRegion, PathTelemetry, Rights, Status, WorkOperation,
    WorkRequest,
};
use sha2::{Digest, Sha256};

/// Looks between two samples.
const SAMPLE_POLLS: u64 = 32;

/// What is to be sent and how.
#[derive(Debug, Clone)]
pub struct TransferConfig {
    /// The bytes.
    pub data: Vec<u8>,
    /// Bytes of a message; the last one may be shorter.
    pub message_bytes: usize,
    /// Offset of the source in its page.
    pub source_offset: usize,
    /// Offset of the target in its page.
    pub target_offset: usize,
    /// Settings of both hosts; the addresses are set here.
    pub host: Config,
    /// Planes in use.
    pub planes: usize,
    /// Source of keys, incarnations and entropy.
    pub seed: u64,
    /// Cycles without a completion after which the job is given up.
    pub patience_cycles: u64,
}

/// How far the job is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Progress {
    /// Bytes whose messages have completed.
    pub bytes: u64,
    /// Cycles since the first post.
    pub cycles: u64,
}

/// What the hosts saw.
#[derive(Debug, Clone)]
pub struct Outcome {
    /// What the referees found wrong.
    pub wrong: Vec<String>,
    /// SHA-256 of what was sent.
    pub sha256_sent: String,
    /// SHA-256 of what is in the target.
    pub sha256_received: String,
    /// Cycles from the first post to the last completion.
    pub cycles: u64,
    /// Cycles before the first post.
    pub setup_cycles: u64,
    /// Completions seen.
    pub completions: u64,
    /// The sender's paths.
    pub paths: Vec<PathTelemetry>,
    /// Counters of both sides, by number.
    pub counters: [Vec<u32>; 2],
    /// Writes of memory ordered and answered, of both sides.
    pub placements: [[u32; 2]; 2],
    /// Line use over time.
    pub samples: Vec<Sample>,
}

/// Sends the bytes and asks the referees.
pub fn transfer<B: Bench>(
    bench: &mut B,
    config: &TransferConfig,
    progress: &mut dyn FnMut(Progress),
) -> Result<Outcome, HostsError> {
    let mut hosts = Hosts::open(bench, &config.host, config.planes, config.seed)?;
    let none = Rights::default();
    let source = hosts.memory(0, config.source_offset, &config.data, none)?;
    let target_rights = Rights {
        write: true,
        ..none
    };
    let blank = vec![BACKGROUND; config.data.len()];
    let target = hosts.memory(1, config.target_offset, &blank, target_rights)?;
    let [a, b] = hosts.connect(&target.region)?;
    let mut memory = MemoryReferee::new(vec![BACKGROUND; target.buffer.length]);
    memory.expect(target.offset, &config.data);

    let begun = hosts.bench.cycle();
    let mut sender = Sender::new(a, config, &source.region, &target);
    let ended = sender.run(&mut hosts, config, begun, progress)?;

    let found = hosts.content(1, &target);
    let received = &found[target.offset..target.offset + config.data.len()];
    let mut wrong = sender.referee.judge();
    wrong.append(&mut sender.early);
    wrong.extend(
        memory
            .judge(&found)
            .into_iter()
            .map(|what| format!("memory of B: {what}")),
    );
    let (sha256_sent, sha256_received) = (sha256(&config.data), sha256(received));
    if sha256_sent != sha256_received {
        wrong.push("SHA-256 of target and source differ".into());
    }
    hosts.bench.quiesce();
    let paths = at(
        0,
        hosts.contexts[0].path_telemetry(&mut hosts.bench.port(0), a),
    )?;
    let counters = [hosts.counters(0), hosts.counters(1)];
    let placements = [hosts.placements(0), hosts.placements(1)];
    hosts.end([a, b], [source.region, target.region])?;
    Ok(Outcome {
        wrong,
        sha256_sent,
        sha256_received,
        cycles: ended - begun,
        setup_cycles: begun,
        completions: sender.referee.count(),
        paths,
        counters,
        placements,
        samples: sender.samples,
    })
}

/// Posts messages and takes completions.
struct Sender {
    handle: ConnectionHandle,
    requests: std::vec::IntoIter<WorkRequest>,
    next: Option<WorkRequest>,
    referee: CompletionReferee,
    samples: Vec<Sample>,
    done: u64,
    target: Memory,
    /// Requests that completed before their bytes were in place.
    early: Vec<String>,
}

impl Sender {
    fn new(
        handle: ConnectionHandle,
        config: &TransferConfig,
        source: &MemoryRegion,
        target: &Memory,
    ) -> Self {
        let mut offset = 0;
        let request = |(number, chunk): (usize, &[u8])| {
            let operation = WorkOperation::Write {
                local: source.address + offset,
                length: chunk.len() as u32,
                remote: target.region.address + offset,
                key: target.region.key,
            };
            offset += chunk.len() as u64;
            let id = number as u64;
            WorkRequest { id, operation }
        };
        let mut chunks: Vec<&[u8]> = config.data.chunks(config.message_bytes).collect();
        if chunks.is_empty() {
            // Nothing is still a message.
            chunks.push(&[]);
        }
        let requests: Vec<_> = chunks.into_iter().enumerate().map(request).collect();
        let mut requests = requests.into_iter();
        let next = requests.next();
        Self {
            handle,
            requests,
            next,
            referee: Default::default(),
            samples: Vec::new(),
            done: 0,
            target: target.clone(),
            early: Vec::new(),
        }
    }

    /// Runs until all has completed; the cycle of the last completion.
    fn run<B: Bench>(
        &mut self,
        hosts: &mut Hosts<'_, B>,
        config: &TransferConfig,
        begun: u64,
        progress: &mut dyn FnMut(Progress),
    ) -> Result<u64, HostsError> {
        let (total, mut last, mut polls) = (config.data.len() as u64, begun, 0_u64);
        self.sample(hosts, begun);
        while self.next.is_some() || self.referee.open() > 0 {
            self.post(hosts)?;
            hosts.bench.run(POLL_CYCLES);
            let before = self.referee.count();
            self.poll(hosts, &config.data)?;
            let now = hosts.bench.cycle();
            if self.referee.count() != before {
                last = now;
            } else if now - last > config.patience_cycles {
                let (cycles, done, counters) = (now - last, self.done, hosts.counters_text());
                return Err(HostsError::Stalled {
                    cycles,
                    done,
                    total,
                    counters,
                });
            }
            polls += 1;
            if polls.is_multiple_of(SAMPLE_POLLS) {
                self.sample(hosts, begun);
                hosts.progress()?;
                progress(Progress {
                    bytes: self.done,
                    cycles: now - begun,
                });
            }
        }
        self.sample(hosts, begun);
        progress(Progress {
            bytes: self.done,
            cycles: last - begun,
        });
        Ok(last)
    }

    fn sample<B: Bench>(&mut self, hosts: &Hosts<'_, B>, begun: u64) {
        let cycle = hosts.bench.cycle() - begun;
        self.samples.push(Sample {
            cycle,
            bytes: self.done,
            line_bytes: hosts.bench.line_bytes(),
        });
    }

    /// Posts until the library refuses for lack of room.
    fn post<B: Bench>(&mut self, hosts: &mut Hosts<'_, B>) -> Result<(), HostsError> {
        while let Some(request) = self.next {
            let limit = hosts.contexts[0].config().send_entries();
            let slots =
                at(0, hosts.contexts[0].settled(self.handle))?.map_or(0, |s| u32::from(s.slots));
            if at(0, hosts.contexts[0].outstanding(self.handle))? >= limit.min(slots) {
                break;
            }
            at(
                0,
                hosts.contexts[0].post_send(&mut hosts.bench.port(0), self.handle, &request),
            )?;
            self.referee.posted(request.id);
            self.next = self.requests.next();
        }
        Ok(())
    }

    /// Takes completions; what they tell of must be in the target's memory by now.
    fn poll<B: Bench>(&mut self, hosts: &mut Hosts<'_, B>, data: &[u8]) -> Result<(), HostsError> {
        let mut completions = Vec::new();
        at(
            0,
            hosts.contexts[0].poll(&mut hosts.bench.port(0), self.handle, &mut completions),
        )?;
        for completion in completions {
            self.referee
                .completed(completion.id, completion.status == Status::Ok);
            let sent = &data[self.done as usize..][..completion.length as usize];
            let mut found = vec![0; sent.len()];
            let (buffer, at) = (&self.target.buffer, self.target.offset + self.done as usize);
            hosts.bench.port(1).read(buffer, at, &mut found);
            if found != sent && self.early.len() < 4 {
                let what = "completed before its bytes were in place";
                self.early.push(format!("request {} {what}", completion.id));
            }
            self.done += u64::from(completion.length);
        }
        Ok(())
    }
}

fn sha256(bytes: &[u8]) -> String {
    Sha256::digest(bytes)
        .iter()
        .map(|byte| format!("{byte:02x}"))
        .collect()
}
