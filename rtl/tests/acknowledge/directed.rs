//! Cases that chance does not bring about: a needless copy that is walked late, a plane without room for resends.

use super::{Bench, Outcome};

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

    /// A block is passed over while its plane has no room; the next one walks all that it would have.
    pub fn pass_over_while_there_is_no_room(&mut self) {
        let pair = *self.paths.keys().next().expect("a path is open");
        let plane = pair >> 3 & 3;
        for lost in [true, false, false] {
            self.send_new(pair, lost);
            self.step();
        }
        self.model.input("resend_room").set(!(1 << plane) & 15u64);
        self.deliver(pair, 1);
        let block = self.snapshot(pair).expect("something has come");
        // In the model's view it has never been told.
        self.snapshots.push_back((pair, block));
        let before = (self.paths[&pair].walked, self.paths[&pair].told);
        self.bring_unjudged(pair);
        (0..200).for_each(|_| self.step());
        assert!(
            self.outcomes.is_empty() && self.again.is_empty(),
            "it was walked"
        );
        assert_eq!((self.paths[&pair].walked, self.paths[&pair].told), before);
        self.model.input("resend_room").set(15);
        self.deliver(pair, 1);
        self.tell(pair);
        assert_eq!(self.again.len(), 1, "the loss is found now");
        assert_eq!(self.fresh, 1);
    }

    /// The block that waits goes out as it is; the sender must take it for an old one.
    fn bring_unjudged(&mut self, pair: u64) {
        let (_, block) = self.snapshots.pop_front().expect("a block waits");
        self.outcomes.push_back((pair, Outcome::Stale, block, 0));
        let bytes = super::frame(pair >> 5, &[block], &mut self.stall);
        self.beats.push_back((bytes, true));
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
