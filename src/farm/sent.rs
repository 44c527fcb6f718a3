//! Notes that an actor was told to send. They stand in no outbox, but whoever got one can fetch it at its id.

use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Mutex, PoisonError};

use crate::farm::Note;
use crate::farm::notes::Place;
use crate::ids::Host;

/// How many sent notes are kept; the oldest makes room for the next, and is then unknown at its id.
pub const SENT_MAX: usize = 10_000;

/// The sent notes, by peer and place.
#[derive(Debug, Default)]
pub struct SentNotes {
    kept: Mutex<Kept>,
}

#[derive(Debug, Default)]
struct Kept {
    notes: HashMap<(Host, Place), Arc<Note>>,
    order: VecDeque<(Host, Place)>,
    evicted: u64,
}

impl SentNotes {
    /// Keeps a note.
    pub fn keep(&self, host: &Host, place: Place, note: Note) {
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        let key = (host.clone(), place);
        if kept.notes.insert(key.clone(), Arc::new(note)).is_none() {
            kept.order.push_back(key);
        }
        if kept.order.len() > SENT_MAX
            && let Some(oldest) = kept.order.pop_front()
        {
            kept.notes.remove(&oldest);
            kept.evicted += 1;
        }
    }

    /// How many were forgotten since that was last asked for anew.
    pub fn evicted(&self) -> u64 {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner).evicted
    }

    /// Counts what is forgotten anew, and tells how many there were.
    pub fn forget_evicted(&self) -> u64 {
        std::mem::take(&mut self.kept.lock().unwrap_or_else(PoisonError::into_inner).evicted)
    }

    /// The note at that place.
    pub fn note(&self, host: &Host, place: Place) -> Option<Arc<Note>> {
        let kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        kept.notes.get(&(host.clone(), place)).cloned()
    }
}
