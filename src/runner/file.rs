//! Files that a command names.

use std::fs;
use std::io::{self, Read};
use std::path::Path;

use crate::runner::Failure;

/// The bytes of a file, or of stdin for `-`: at most one more than `most`, so that whoever asks can tell it is longer.
pub(super) fn read(file: &Path, most: usize) -> Result<Vec<u8>, Failure> {
    let unread = |error| Failure::File {
        file: file.to_owned(),
        error,
    };
    let reader: Box<dyn Read> = match file.as_os_str() == "-" {
        true => Box::new(io::stdin()),
        false => Box::new(fs::File::open(file).map_err(unread)?),
    };
    let mut bytes = Vec::new();
    let limit = most as u64 + 1;
    reader.take(limit).read_to_end(&mut bytes).map_err(unread)?;
    Ok(bytes)
}
