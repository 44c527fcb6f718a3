//! A value that is made once, by the first who needs it; making it may fail, and is then tried by the next.

use std::sync::{Mutex, OnceLock, PoisonError};

/// A cell that is empty or full, and filled once. [`std::sync::OnceLock`] cannot yet fill itself with what may fail.
#[derive(Debug)]
pub struct OnceTry<T> {
    value: OnceLock<T>,
    making: Mutex<()>,
}

impl<T> Default for OnceTry<T> {
    fn default() -> OnceTry<T> {
        OnceTry {
            value: OnceLock::new(),
            making: Mutex::new(()),
        }
    }
}

impl<T: Clone> OnceTry<T> {
    /// The value, where it is there; never waits.
    pub fn ready(&self) -> Option<T> {
        self.value.get().cloned()
    }

    /// The value; where there is none yet, it is made here, and whoever asks meanwhile waits for it.
    pub fn obtain<E>(&self, make: impl FnOnce() -> Result<T, E>) -> Result<T, E> {
        if let Some(value) = self.ready() {
            return Ok(value);
        }
        // A maker that panicked has left nothing half-made behind.
        let _making = self.making.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(value) = self.ready() {
            return Ok(value);
        }
        let made = make()?;
        Ok(self.value.get_or_init(|| made).clone())
    }
}
