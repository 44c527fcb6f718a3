//! Who follows whom: followers that were accepted, follows that wait for an Accept, follows that got one.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use indexmap::IndexMap;

use crate::ids::Host;

use crate::farm::Who;

/// How many relations the farm holds in all; one more is refused and shows in `bounds.relations_refused`.
pub const RELATIONS_MAX: usize = 1_000_000;

/// A Follow as it came or as it was sent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Follow {
    /// The Follow's id, byte for byte.
    pub id: String,
    /// Who follows, for a follower; whom the actor follows, for a following.
    pub other: String,
}

/// What became of a follower.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AddFollower {
    /// It is kept, and its Follow is to be accepted.
    Added,
    /// The bound [`RELATIONS_MAX`] refuses it.
    Full,
    /// This very Follow was kept before.
    Known,
}

/// Followers and followings of every actor of the farm.
#[derive(Debug, Default)]
pub struct Relations {
    inner: Mutex<Inner>,
}

#[derive(Debug, Default)]
struct Inner {
    actors: HashMap<(Host, Who), Ties>,
    /// Whose Follow has that id, of those sent (pending and following).
    sent: HashMap<(Host, String), Who>,
    /// Whom the Follow of that id and that follower is of: the id is the follower's word, and anybody can say it.
    received: HashMap<(Host, String, String), Who>,
    count: usize,
    refused: u64,
}

/// Each list by the other actor's id, with the Follow's id; oldest first as long as nobody leaves.
#[derive(Debug, Default)]
struct Ties {
    followers: IndexMap<String, String>,
    following: IndexMap<String, String>,
    pending: IndexMap<String, String>,
}

impl Relations {
    /// Keeps a follower; a second Follow of the same actor takes the place of the first.
    pub fn add_follower(&self, host: &Host, who: Who, follow: Follow) -> AddFollower {
        let mut inner = self.lock();
        let known = inner
            .actors
            .get(&(host.clone(), who))
            .and_then(|ties| ties.followers.get(&follow.other));
        if known.is_some_and(|id| *id == follow.id) {
            return AddFollower::Known;
        }
        let before = known.cloned();
        if before.is_none() && !inner.has_room() {
            return AddFollower::Full;
        }
        if let Some(id) = &before {
            inner
                .received
                .remove(&(host.clone(), id.clone(), follow.other.clone()));
        }
        inner.count += usize::from(before.is_none());
        let received = (host.clone(), follow.id.clone(), follow.other.clone());
        inner.received.insert(received, who);
        inner.ties(host, who).followers.insert(follow.other, follow.id);
        AddFollower::Added
    }

    /// Lets a follower go, by its actor id. True where there was one.
    pub fn remove_follower(&self, host: &Host, who: Who, follower: &str) -> bool {
        let mut inner = self.lock();
        let Some(id) = inner.ties(host, who).followers.swap_remove(follower) else {
            return false;
        };
        inner.received.remove(&(host.clone(), id, follower.to_owned()));
        inner.count -= 1;
        true
    }

    /// Lets a follower go, by the id of its Follow; only `follower` itself may. Whom it followed.
    pub fn remove_follower_by_follow(&self, host: &Host, id: &str, follower: &str) -> Option<Who> {
        let received = (host.clone(), id.to_owned(), follower.to_owned());
        let who = *self.lock().received.get(&received)?;
        self.remove_follower(host, who, follower).then_some(who)
    }

    /// A Follow was sent and waits for its answer. False where the bound refuses it.
    pub fn add_pending(&self, host: &Host, who: Who, follow: Follow) -> bool {
        let mut inner = self.lock();
        if !inner.ties(host, who).pending.contains_key(&follow.other) {
            if !inner.has_room() {
                return false;
            }
            inner.count += 1;
        }
        inner.sent.insert((host.clone(), follow.id.clone()), who);
        if let Some(before) = inner.ties(host, who).pending.insert(follow.other, follow.id) {
            inner.sent.remove(&(host.clone(), before));
        }
        true
    }

    /// An Accept came from `other` for the Follow with that id, or (no id) for whatever waits for `other`. True where
    /// one waited.
    pub fn accept_pending(&self, host: &Host, who: Who, id: Option<&str>, other: &str) -> bool {
        let mut inner = self.lock();
        let ties = inner.ties(host, who);
        let waits_for = |follow: &String| id.is_none_or(|id| id == follow);
        if !ties.pending.get(other).is_some_and(waits_for) {
            return false;
        }
        let Some(follow) = ties.pending.swap_remove(other) else {
            return false;
        };
        if let Some(before) = ties.following.insert(other.to_owned(), follow) {
            inner.sent.remove(&(host.clone(), before));
            inner.count -= 1;
        }
        true
    }

    /// Whose Follow has that id, waiting or accepted.
    pub fn owner_of_follow(&self, host: &Host, id: &str) -> Option<Who> {
        self.lock().sent.get(&(host.clone(), id.to_owned())).copied()
    }

    /// Takes back a Follow that was sent to `other`, waiting or accepted; a Reject does the same.
    pub fn remove_following(&self, host: &Host, who: Who, other: &str) -> Option<Follow> {
        let mut inner = self.lock();
        let ties = inner.ties(host, who);
        let id = ties
            .pending
            .swap_remove(other)
            .or_else(|| ties.following.swap_remove(other))?;
        inner.sent.remove(&(host.clone(), id.clone()));
        inner.count -= 1;
        Some(Follow {
            id,
            other: other.to_owned(),
        })
    }

    /// So many followers of an actor, from that place on.
    pub fn followers(&self, host: &Host, who: Who, from: usize, most: usize) -> Vec<Follow> {
        self.page(host, who, |ties| &ties.followers, from, most)
    }

    /// So many of those an actor follows, from that place on; those that only wait are not among them.
    pub fn following(&self, host: &Host, who: Who, from: usize, most: usize) -> Vec<Follow> {
        self.page(host, who, |ties| &ties.following, from, most)
    }

    /// How many follow an actor, and how many it follows.
    pub fn counts(&self, host: &Host, who: Who) -> (usize, usize) {
        match self.lock().actors.get(&(host.clone(), who)) {
            Some(ties) => (ties.followers.len(), ties.following.len()),
            None => (0, 0),
        }
    }

    /// How many relations the bound refused since that was last forgotten.
    pub fn refused(&self) -> u64 {
        self.lock().refused
    }

    /// Counts refusals anew, and tells how many there were.
    pub fn forget_refused(&self) -> u64 {
        std::mem::take(&mut self.lock().refused)
    }

    fn page(
        &self,
        host: &Host,
        who: Who,
        list: fn(&Ties) -> &IndexMap<String, String>,
        from: usize,
        most: usize,
    ) -> Vec<Follow> {
        let inner = self.lock();
        let Some(ties) = inner.actors.get(&(host.clone(), who)) else {
            return Vec::new();
        };
        let follow = |(other, id): (&String, &String)| Follow {
            id: id.clone(),
            other: other.clone(),
        };
        list(ties).iter().skip(from).take(most).map(follow).collect()
    }

    /// A panic elsewhere leaves whole entries behind.
    fn lock(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Inner {
    fn ties(&mut self, host: &Host, who: Who) -> &mut Ties {
        self.actors.entry((host.clone(), who)).or_default()
    }

    /// Whether one more has room; where not, that is counted.
    fn has_room(&mut self) -> bool {
        let room = self.count < RELATIONS_MAX;
        self.refused += u64::from(!room);
        room
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ALICE: Who = Who::Actor(0);

    fn host() -> Host {
        "a.test".parse().unwrap()
    }

    fn follow(id: &str, other: &str) -> Follow {
        Follow {
            id: id.to_owned(),
            other: other.to_owned(),
        }
    }

    #[test]
    fn the_same_follow_is_accepted_once_and_a_new_one_again() {
        let (relations, host) = (Relations::default(), host());
        assert_eq!(
            relations.add_follower(&host, ALICE, follow("f1", "u1")),
            AddFollower::Added
        );
        assert_eq!(
            relations.add_follower(&host, ALICE, follow("f1", "u1")),
            AddFollower::Known
        );
        assert_eq!(
            relations.add_follower(&host, ALICE, follow("f2", "u1")),
            AddFollower::Added
        );
        assert_eq!(relations.counts(&host, ALICE), (1, 0));
        assert!(relations.remove_follower(&host, ALICE, "u1"));
        assert_eq!(
            relations.add_follower(&host, ALICE, follow("f2", "u1")),
            AddFollower::Added
        );
    }

    #[test]
    fn a_bare_id_undoes_the_follow_of_its_sender_alone() {
        let (relations, host) = (Relations::default(), host());
        relations.add_follower(&host, ALICE, follow("f1", "u1"));
        assert_eq!(relations.remove_follower_by_follow(&host, "f1", "u2"), None);
        assert_eq!(
            relations.remove_follower_by_follow(&host, "f1", "u1"),
            Some(ALICE)
        );
        assert_eq!(relations.counts(&host, ALICE), (0, 0));
    }

    #[test]
    fn who_reuses_the_id_of_another_s_follow_changes_nothing_for_him() {
        let (relations, host) = (Relations::default(), host());
        relations.add_follower(&host, ALICE, follow("f1", "u1"));
        relations.add_follower(&host, Who::Actor(1), follow("f1", "thief"));
        assert_eq!(
            relations.remove_follower_by_follow(&host, "f1", "u1"),
            Some(ALICE)
        );
    }

    #[test]
    fn an_accept_makes_of_a_pending_follow_a_following() {
        let (relations, host) = (Relations::default(), host());
        assert!(relations.add_pending(&host, ALICE, follow("f9", "u2")));
        assert_eq!(relations.owner_of_follow(&host, "f9"), Some(ALICE));
        assert!(!relations.accept_pending(&host, ALICE, Some("f8"), "u2"));
        assert!(!relations.accept_pending(&host, ALICE, Some("f9"), "u3"));
        assert!(relations.accept_pending(&host, ALICE, Some("f9"), "u2"));
        assert_eq!(relations.following(&host, ALICE, 0, 9), [follow("f9", "u2")]);
        assert_eq!(
            relations.remove_following(&host, ALICE, "u2"),
            Some(follow("f9", "u2"))
        );
        assert_eq!(relations.counts(&host, ALICE), (0, 0));
    }
}
