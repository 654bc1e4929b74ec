//! Health of a path (T-2.10): the states, and every transition there is, in one table.
//!
//! ```text
//!          first timer            condemned            FENCE_ACK           probe of the new epoch
//!   GOOD ------------> SUSPECT ------------> DOWN ------------> FENCED ------------------> PROBING
//!    ^  <------------    |                    ^                                               |
//!    |      answered     |                    | link down (from GOOD too)                     |
//!    +-------------------------------------------------------------------------- answered ----+
//! ```
//!
//! Which events happen when is decided in [`super::probe`] and [`super::fence`].

/// Health of a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Health {
    /// Takes packets.
    Good,
    /// A timer has sent a probe that is not answered: takes no new packets.
    Suspect,
    /// Condemned: its epoch is being closed at the receiver.
    Down,
    /// Its epoch is closed; the next one has not begun.
    Fenced,
    /// A probe of the new epoch is on its way.
    Probing,
}

/// What happens to a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum HealthEvent {
    /// The probe timer has sent a probe.
    TimerProbe,
    /// A newer block came.
    Answered,
    /// The path is given up.
    Condemned,
    /// The receiver has closed the epoch.
    FenceAnswered,
    /// A probe of the new epoch is sent.
    ReturnProbe,
}

/// Every transition; any other pair is refused.
pub const TRANSITIONS: &[(Health, HealthEvent, Health)] = &[
    (Health::Good, HealthEvent::TimerProbe, Health::Suspect),
    (Health::Good, HealthEvent::Answered, Health::Good),
    (Health::Good, HealthEvent::Condemned, Health::Down),
    (Health::Suspect, HealthEvent::TimerProbe, Health::Suspect),
    (Health::Suspect, HealthEvent::Answered, Health::Good),
    (Health::Suspect, HealthEvent::Condemned, Health::Down),
    (Health::Down, HealthEvent::FenceAnswered, Health::Fenced),
    (Health::Fenced, HealthEvent::ReturnProbe, Health::Probing),
    (Health::Probing, HealthEvent::ReturnProbe, Health::Probing),
    (Health::Probing, HealthEvent::Answered, Health::Good),
];

impl Health {
    /// All states.
    pub const ALL: [Self; 5] = [
        Self::Good,
        Self::Suspect,
        Self::Down,
        Self::Fenced,
        Self::Probing,
    ];

    /// The state after `event`, if the table has one.
    pub fn after(self, event: HealthEvent) -> Option<Self> {
        TRANSITIONS
            .iter()
            .find(|(from, what, _)| (*from, *what) == (self, event))
            .map(|(_, _, to)| *to)
    }

    /// Whether packets of the current epoch are still sent by it.
    pub const fn is_live(self) -> bool {
        matches!(self, Self::Good | Self::Suspect)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const EVENTS: [HealthEvent; 5] = [
        HealthEvent::TimerProbe,
        HealthEvent::Answered,
        HealthEvent::Condemned,
        HealthEvent::FenceAnswered,
        HealthEvent::ReturnProbe,
    ];

    /// The whole table as text: a row a state, a column an event, `-` where there is no transition.
    fn table() -> String {
        let mut text = format!("{:<8}", "");
        for event in EVENTS {
            text += &format!(" {:<13}", format!("{event:?}"));
        }
        for state in Health::ALL {
            text += &format!("\n{:<8}", format!("{state:?}"));
            for event in EVENTS {
                let to = state
                    .after(event)
                    .map_or("-".into(), |to| format!("{to:?}"));
                text += &format!(" {to:<13}");
            }
        }
        text.lines()
            .map(str::trim_end)
            .collect::<Vec<_>>()
            .join("\n")
    }

    #[test]
    fn every_transition_is_in_the_table() {
        println!("{}", table());
        let expected = "
         TimerProbe    Answered      Condemned     FenceAnswered ReturnProbe
Good     Suspect       Good          Down          -             -
Suspect  Suspect       Good          Down          -             -
Down     -             -             -             Fenced        -
Fenced   -             -             -             -             Probing
Probing  -             Good          -             -             Probing";
        assert_eq!(format!("\n{}", table()), expected);
    }

    #[test]
    fn no_pair_stands_twice_and_every_state_can_come_back_to_good() {
        for (n, (from, event, _)) in TRANSITIONS.iter().enumerate() {
            let same = |(f, e, _): &&(Health, HealthEvent, Health)| (f, e) == (from, event);
            assert_eq!(TRANSITIONS.iter().position(|t| same(&t)), Some(n));
        }
        for state in Health::ALL {
            let mut reached = vec![state];
            for _ in 0..Health::ALL.len() {
                let next = |s: &Health| {
                    EVENTS
                        .iter()
                        .filter_map(|e| s.after(*e))
                        .collect::<Vec<_>>()
                };
                reached = reached
                    .iter()
                    .flat_map(next)
                    .chain(reached.clone())
                    .collect();
            }
            assert!(reached.contains(&Health::Good), "{state:?}");
        }
    }
}
