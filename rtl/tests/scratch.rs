use osprey_rtl::*;
fn put(n: &str, v: String) {
    std::fs::write(format!("/tmp/probe/{n}.v"), v).unwrap();
}
macro_rules! each { ($($n:ident = $e:expr;)*) => { $(#[test] fn $n() { put(stringify!($n), emit::verilog(stringify!($n), $e)); })* } }
each! {
    path_sequence = rx::path_sequence::PathSequence::new(8);
    path_sequence256 = rx::path_sequence::PathSequence256::new(8);
    ack_generator = tx::ack_generator::AckGenerator::new(5);
    ack_processor = tx::ack_processor::AckProcessor::new(8);
    spray_scheduler = tx::spray_scheduler::SprayScheduler::new(4);
    forced_queue = tx::forced_queue::ForcedQueue::new(9);
    work_queue = tx::work_queue::WorkQueue::new(4);
}
