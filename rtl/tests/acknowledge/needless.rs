//! A packet that was only overtaken is sent again: what becomes of the needless copy's log entry.

use super::Bench;

impl Bench<'_> {
    /// The copy is walked after the packet one lap on has arrived, which stands at the same place of the vector.
    pub fn walk_a_copy_one_lap_later(&mut self) {
        let pair = *self.paths.keys().next().expect("a path is open");
        let first = self.paths[&pair].psn;
        // The second and the third packet overtake the first.
        for _ in 0..3 {
            self.send_new(pair, false);
            self.step();
        }
        let late = self.wire(pair);
        self.deliver(pair, 1);
        self.tell(pair);
        assert_eq!(self.again.len(), 1, "the first counts as lost");
        // The third is not told of yet when the copy goes out, so that a block can come before the copy is walked.
        let [copy_of, psn, _, _] = self.again.pop_front().expect("it is there");
        assert_eq!((copy_of, psn), (pair, first));
        self.transmit(pair, Some(psn), true);
        self.step();
        self.paths.get_mut(&pair).expect("it is open").arrive(late);
        self.deliver(pair, 1);
        self.tell(pair);
        let told = self.paths[&pair].told.0;
        assert_eq!(told, (first + 3) & 0xff_ffff, "all three are told of");
        // On to the packet one lap on; then the block that walks the copy.
        for _ in 3..=64 {
            self.send_new(pair, false);
            self.step();
        }
        self.deliver(pair, 62);
        self.tell(pair);
        assert!(self.again.is_empty(), "the copy is not lost");
        assert_eq!(self.fresh, 3);
    }

    /// Takes the oldest transmission off the wire.
    fn wire(&mut self, pair: u64) -> super::Sent {
        let path = self.paths.get_mut(&pair).expect("it is open");
        path.wire.pop_front().expect("something is on its way")
    }

    fn deliver(&mut self, pair: u64, count: usize) {
        for _ in 0..count {
            let sent = self.wire(pair);
            self.paths.get_mut(&pair).expect("it is open").arrive(sent);
        }
    }

    /// One block to the sender, and time for all that follows.
    fn tell(&mut self, pair: u64) {
        let block = self.snapshot(pair).expect("something has come");
        self.snapshots.push_back((pair, block));
        self.bring();
        (0..200).for_each(|_| self.step());
    }
}
