//! What is wrong with a profile or the roster, and where.

use std::fmt;

use serde::Serialize;

/// One thing wrong, with its place.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct Problem {
    /// The file as it was named: `peers/mastodon.toml`.
    pub file: String,
    /// The line, from 1.
    pub line: usize,
    /// The key with the tables above it: `urls.inbox`; empty where the whole file is meant.
    pub key: String,
    /// What is wrong and what would be right.
    pub message: String,
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}: ", self.file, self.line)?;
        if !self.key.is_empty() {
            write!(f, "{}: ", self.key)?;
        }
        f.write_str(&self.message)
    }
}

/// Everything wrong in all files, by file and line; never empty. Prints one a line.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(transparent)]
pub struct Problems(Vec<Problem>);

impl Problems {
    /// These problems in order, or `None` where there are none.
    pub fn of(mut problems: Vec<Problem>) -> Option<Problems> {
        problems.sort();
        problems.dedup();
        (!problems.is_empty()).then_some(Problems(problems))
    }

    /// Each of them.
    pub fn iter(&self) -> std::slice::Iter<'_, Problem> {
        self.0.iter()
    }
}

impl fmt::Display for Problems {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, problem) in self.0.iter().enumerate() {
            let separator = if index == 0 { "" } else { "\n" };
            write!(f, "{separator}{problem}")?;
        }
        Ok(())
    }
}

impl std::error::Error for Problems {}
