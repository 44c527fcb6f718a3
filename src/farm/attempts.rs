//! The how-manyth attempt of a delivery this is, for rules that treat a retry apart.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

use crate::ids::DeliveryId;
use crate::stats::IdDigest;

/// How many deliveries are remembered at least before the oldest start again at the first attempt.
pub const ATTEMPTS_MAX: usize = 1 << 20;

/// Attempts by host, path and delivery id. Two generations, as the ids in the stats have them.
#[derive(Debug, Default)]
pub struct Attempts {
    generations: Mutex<Generations>,
}

#[derive(Debug, Default)]
struct Generations {
    young: HashMap<IdDigest, u32>,
    old: HashMap<IdDigest, u32>,
    evicted: u64,
}

impl Attempts {
    /// Counts one more attempt and gives its number, from 1.
    pub fn next(&self, host: &str, path: &str, id: &DeliveryId) -> u32 {
        let key = IdDigest::of(&format!("{host} {path}"), id);
        let mut generations = self.generations.lock().unwrap_or_else(PoisonError::into_inner);
        let before = generations.young.get(&key).or_else(|| generations.old.get(&key));
        let attempt = before.copied().unwrap_or(0).saturating_add(1);
        generations.young.insert(key, attempt);
        if generations.young.len() >= ATTEMPTS_MAX {
            let young = std::mem::take(&mut generations.young);
            let forgotten = std::mem::replace(&mut generations.old, young);
            let kept_on = forgotten.keys().filter(|key| generations.old.contains_key(key));
            generations.evicted += (forgotten.len() - kept_on.count()) as u64;
        }
        attempt
    }

    /// How many deliveries were forgotten since the last clearing.
    pub fn evicted(&self) -> u64 {
        self.generations
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .evicted
    }

    /// Every delivery starts again at its first attempt. How many had been forgotten before.
    pub fn clear(&self) -> u64 {
        let mut generations = self.generations.lock().unwrap_or_else(PoisonError::into_inner);
        std::mem::take(&mut *generations).evicted
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn attempts_are_counted_by_id_and_place() {
        let (attempts, id) = (Attempts::default(), DeliveryId::new("evt_1"));
        assert_eq!([1, 2], [(); 2].map(|()| attempts.next("a.test", "/hook/a", &id)));
        assert_eq!(attempts.next("a.test", "/hook/b", &id), 1);
        attempts.clear();
        assert_eq!(attempts.next("a.test", "/hook/a", &id), 1);
    }
}
