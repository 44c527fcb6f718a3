//! What is remembered of an origin: that the second dialect was taken there, so that the next request knocks in it
//! first. Each peer remembers for itself, as servers do.

use std::collections::{HashMap, VecDeque};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use tokio::time::Instant;

use crate::ids::Host;

/// The origins at which the second dialect was taken. What is not here is knocked at in the first.
#[derive(Debug, Default)]
pub(super) struct Taken {
    inner: Mutex<Inner>,
}

#[derive(Debug, Default)]
struct Inner {
    since: HashMap<Place, Instant>,
    /// The places in `since`, the longest known first.
    order: VecDeque<Place>,
}

/// A peer, and the origin at which it knocked.
type Place = (Host, String);

impl Taken {
    /// Whether the second dialect was taken there, not longer than `remembers` ago.
    pub(super) fn is_second(&self, peer: &Host, origin: &str, remembers: Duration, now: Instant) -> bool {
        let inner = self.inner.lock().unwrap_or_else(PoisonError::into_inner);
        let since = inner.since.get(&(peer.clone(), origin.to_owned()));
        since.is_some_and(|since| now.duration_since(*since) < remembers)
    }

    /// Remembers which of the two was taken there last.
    pub(super) fn remember(&self, peer: &Host, origin: &str, is_second: bool, now: Instant) {
        let place = (peer.clone(), origin.to_owned());
        let mut inner = self.inner.lock().unwrap_or_else(PoisonError::into_inner);
        if !is_second {
            if inner.since.remove(&place).is_some() {
                inner.order.retain(|other| *other != place);
            }
            return;
        }
        if inner.since.insert(place.clone(), now).is_some() {
            return;
        }
        inner.order.push_back(place);
        if inner.order.len() > TAKEN_MAX
            && let Some(oldest) = inner.order.pop_front()
        {
            inner.since.remove(&oldest);
        }
    }
}

/// How many origins are remembered over all peers; the longest known makes room, and is knocked at anew.
const TAKEN_MAX: usize = 10_000;

#[cfg(test)]
mod tests {
    use super::*;

    const DAY: Duration = Duration::from_hours(24);

    #[test]
    fn what_was_taken_last_counts_for_as_long_as_the_software_remembers() {
        let (taken, now) = (Taken::default(), Instant::now());
        let [one, other]: [Host; 2] = ["a.test", "b.test"].map(|host| host.parse().unwrap());
        let known = |peer: &Host, origin: &str, later| taken.is_second(peer, origin, DAY, now + later);
        taken.remember(&one, "https://s.test", true, now);
        assert!(known(&one, "https://s.test", Duration::ZERO));
        assert!(
            !known(&one, "http://s.test", Duration::ZERO) && !known(&other, "https://s.test", Duration::ZERO)
        );
        assert!(known(&one, "https://s.test", DAY - Duration::from_secs(1)));
        assert!(!known(&one, "https://s.test", DAY));
        taken.remember(&one, "https://s.test", true, now + DAY);
        assert!(known(&one, "https://s.test", DAY));
        taken.remember(&one, "https://s.test", false, now + DAY);
        assert!(!known(&one, "https://s.test", DAY));
    }

    #[test]
    fn the_oldest_makes_room() {
        let (taken, now) = (Taken::default(), Instant::now());
        let peer: Host = "a.test".parse().unwrap();
        let remember = |number: usize| taken.remember(&peer, &number.to_string(), true, now);
        (0..TAKEN_MAX).for_each(remember);
        remember(TAKEN_MAX - 1);
        remember(TAKEN_MAX);
        let known = |number: usize| taken.is_second(&peer, &number.to_string(), DAY, now);
        assert!(!known(0) && known(1) && known(TAKEN_MAX));
        assert_eq!(taken.inner.lock().unwrap().order.len(), TAKEN_MAX);
    }
}
