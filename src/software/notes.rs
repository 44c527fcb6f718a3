//! The problems of one file, as they are found, and what turns places in it into lines.

use std::cell::RefCell;

use toml::Spanned;
use toml::de::DeTable;

use crate::software::Problem;

/// The problems of one file, as they are found.
pub(super) struct Notes<'a> {
    file: &'a str,
    pub(super) text: &'a str,
    problems: RefCell<Vec<Problem>>,
}

impl<'a> Notes<'a> {
    /// For a file of that name with that text.
    pub(super) fn new(file: &'a str, text: &'a str) -> Notes<'a> {
        Notes {
            file,
            text,
            problems: RefCell::default(),
        }
    }

    /// Parses the file. `None` where it is no TOML; every place where it is not is noted.
    pub(super) fn parse(&self) -> Option<Spanned<DeTable<'a>>> {
        let (table, errors) = DeTable::parse_recoverable(self.text);
        for error in &errors {
            let at = error.span().map_or(0, |span| span.start);
            self.add(at, String::new(), error.message().to_owned());
        }
        errors.is_empty().then_some(table)
    }

    /// Whether no problem was found so far.
    pub(super) fn is_empty(&self) -> bool {
        self.problems.borrow().is_empty()
    }

    /// The problems found.
    pub(super) fn take(self) -> Vec<Problem> {
        self.problems.into_inner()
    }

    /// Notes a problem at a byte of the file.
    pub(super) fn add(&self, at: usize, key: String, message: String) {
        self.problems.borrow_mut().push(Problem {
            file: self.file.to_owned(),
            line: 1 + self.text[..at.min(self.text.len())].matches('\n').count(),
            key,
            message,
        });
    }
}
