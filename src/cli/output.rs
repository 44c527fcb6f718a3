//! Writing: results to stdout, everything else to stderr. A reader that has gone is no failure.

use std::error::Error;
use std::io::{self, IsTerminal, Write};

use crate::launch::StartError;

/// Writes a result to stdout, with a line's end if it has none.
///
/// # Errors
/// When stdout cannot be written. A closed pipe is none: who has read enough may go.
pub(super) fn result(text: &str) -> io::Result<Written> {
    let mut stdout = io::stdout().lock();
    let end = if text.is_empty() || text.ends_with('\n') {
        ""
    } else {
        "\n"
    };
    let written = stdout
        .write_all(text.as_bytes())
        .and_then(|()| stdout.write_all(end.as_bytes()))
        .and_then(|()| stdout.flush());
    match written {
        Ok(()) => Ok(Written::Whole),
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(Written::ReaderGone),
        Err(error) => Err(error),
    }
}

/// Whether anybody still reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Written {
    /// The reader has gone.
    ReaderGone,
    /// All was written.
    Whole,
}

/// Writes an error to stderr, or several, one a line.
pub(super) fn error(text: &str) {
    for line in text.lines() {
        // There is no place left to tell of a stderr that is closed.
        let _ = writeln!(io::stderr(), "error: {line}");
    }
}

/// Says on stderr what goes on.
pub(super) fn notice(text: &str) {
    let _ = writeln!(io::stderr(), "{text}");
}

/// An error and its causes, each once.
pub(super) fn chain(error: &dyn Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        let said = error.to_string();
        if !text.contains(&said) {
            text.push_str(&format!(": {said}"));
        }
        cause = error.source();
    }
    text
}

/// Why a farm did not start, with what to do next.
pub(super) fn not_started(error: &StartError) -> String {
    match error.hint() {
        Some(hint) => format!("{}; hint: {hint}", chain(error)),
        None => chain(error),
    }
}

/// What somebody else wrote, safe for a terminal: control characters but line ends and tabs become escapes.
pub(super) fn foreign(text: &str) -> String {
    let mut safe = String::with_capacity(text.len());
    for letter in text.chars() {
        match letter {
            '\n' | '\t' => safe.push(letter),
            _ if letter.is_control() => safe.extend(letter.escape_default()),
            _ => safe.push(letter),
        }
    }
    safe
}

/// Whether stdout is a terminal.
pub(super) fn on_terminal() -> bool {
    io::stdout().is_terminal()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_others_wrote_cannot_steer_a_terminal() {
        assert_eq!(foreign("a\u{1b}[2Jb\r\n\tc\u{9b}"), "a\\u{1b}[2Jb\\r\n\tc\\u{9b}");
    }

    #[test]
    fn a_chain_says_each_thing_once() {
        let inner = io::Error::other("disk full");
        let outer = io::Error::other(inner);
        assert_eq!(chain(&outer), "disk full");
    }
}
