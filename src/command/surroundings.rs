//! What stands in for flags that were not typed: environment variables, then `peerfarm.toml`, then the default.
//!
//! Both become words of the command line, `--flag=value`, and go through the same parsers. Which flags that holds for
//! is no list of its own: the flags of `serve`, wherever they stand, and `--farm`.

use std::collections::BTreeMap;
use std::fmt;

use clap::parser::ValueSource;
use clap::{Arg, ArgAction, ArgMatches, Args, Command};
use toml::de::{DeTable, DeValue};

use crate::command::serve;

/// The environment and the file around a command line.
#[derive(Clone, Debug, Default)]
pub struct Surroundings {
    /// The environment's variables.
    pub environment: BTreeMap<String, String>,
    /// `peerfarm.toml` of the working directory, where there is one.
    pub file: Option<File>,
}

/// A settings file.
#[derive(Clone, Debug)]
pub struct File {
    /// Its name, for messages.
    pub name: String,
    /// Its text.
    pub text: String,
}

/// A value that does not fit, with where it stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// A variable, or file, line and key.
    pub place: String,
    /// What is wrong and what would be right.
    pub what: String,
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.place, self.what)
    }
}

impl Surroundings {
    /// The words for those flags of `definition` that `matches` were not given.
    ///
    /// # Errors
    /// Every value that does not fit; in a file that is read, every key that no flag has.
    pub(super) fn words(
        &self,
        definition: &Command,
        matches: &ArgMatches,
    ) -> Result<Vec<String>, Vec<Problem>> {
        let serve = serve::Flags::augment_args(Command::new("serve"));
        let layered = |id: &str| id == FARM || serve.get_arguments().any(|arg| arg.get_id() == id);
        let flags: Vec<&Arg> = definition
            .get_arguments()
            .filter(|arg| layered(arg.get_id().as_str()))
            .collect();
        if flags.is_empty() {
            return Ok(Vec::new());
        }
        let (mut words, mut problems) = (Vec::new(), Vec::new());
        let file = match &self.file {
            Some(file) => file.entries(layered, &mut problems),
            None => BTreeMap::new(),
        };
        for arg in flags {
            let id = arg.get_id().as_str();
            if matches.value_source(id) == Some(ValueSource::CommandLine) {
                continue;
            }
            let Some(entry) = self.variable(arg).or_else(|| file.get(&key(id)).cloned()) else {
                continue;
            };
            if entry.values.len() > 1 && !matches!(arg.get_action(), ArgAction::Append) {
                problems.push(Problem {
                    place: entry.place,
                    what: "takes one value, no list".to_owned(),
                });
                continue;
            }
            for value in &entry.values {
                let word = format!("--{}={value}", key(id));
                match refusal(arg, &word) {
                    Some(what) => problems.push(Problem {
                        place: entry.place.clone(),
                        what,
                    }),
                    None => words.push(word),
                }
            }
        }
        if problems.is_empty() {
            Ok(words)
        } else {
            Err(problems)
        }
    }

    /// What the environment says of a flag. A variable that is set and empty counts as not set.
    fn variable(&self, arg: &Arg) -> Option<Entry> {
        let id = arg.get_id().as_str();
        let own = format!("PEERFARM_{}", id.to_ascii_uppercase());
        let others = ALSO.iter().filter(|(flag, _)| *flag == id).map(|(_, name)| *name);
        let (name, value) = std::iter::once(own.as_str()).chain(others).find_map(|name| {
            Some((
                name,
                self.environment.get(name).filter(|value| !value.is_empty())?,
            ))
        })?;
        let values = match arg.get_action() {
            ArgAction::Append => value.split(',').map(|part| part.trim().to_owned()).collect(),
            _ => vec![value.clone()],
        };
        Some(Entry {
            place: format!("`{name}`"),
            values,
        })
    }
}

/// What one place says of one flag.
#[derive(Clone, Debug)]
struct Entry {
    place: String,
    values: Vec<String>,
}

impl File {
    /// The file's entries by key. What cannot be read goes to `problems`.
    fn entries(&self, known: impl Fn(&str) -> bool, problems: &mut Vec<Problem>) -> BTreeMap<String, Entry> {
        let table = match DeTable::parse(&self.text) {
            Ok(table) => table,
            Err(error) => {
                let line = error.span().map_or(1, |span| self.line(span.start));
                let place = format!("`{}` line {line}", self.name);
                problems.push(Problem {
                    place,
                    what: error.message().to_owned(),
                });
                return BTreeMap::new();
            }
        };
        let mut entries = BTreeMap::new();
        for (name, value) in table.get_ref() {
            let line = self.line(name.span().start);
            let name = name.get_ref().as_ref();
            let place = format!("`{}` line {line}, key `{name}`", self.name);
            if !known(&name.replace('-', "_")) || name.contains('_') {
                let likely = name.replace('_', "-");
                let what = match known(&name.replace('-', "_")) {
                    true => format!("no such key; did you mean `{likely}`?"),
                    false => {
                        "no such key: keys are the flags of `peerfarm serve` without their dashes".to_owned()
                    }
                };
                problems.push(Problem { place, what });
                continue;
            }
            match values(value.get_ref()) {
                Some(values) => drop(entries.insert(name.to_owned(), Entry { place, values })),
                None => {
                    let what = "write text, a number, `true` or `false`, or a list of these".to_owned();
                    problems.push(Problem { place, what });
                }
            }
        }
        entries
    }

    /// The line, from 1, of a byte.
    fn line(&self, byte: usize) -> usize {
        let before = self.text.as_bytes().iter().take(byte);
        before.filter(|byte| **byte == b'\n').count() + 1
    }
}

/// The texts of a value; `None` for a table, or a date.
fn values(value: &DeValue<'_>) -> Option<Vec<String>> {
    let one = match value {
        DeValue::String(text) => text.to_string(),
        DeValue::Integer(number) => number.to_string(),
        DeValue::Float(number) => number.to_string(),
        DeValue::Boolean(truth) => truth.to_string(),
        DeValue::Array(items) => {
            let items = items.iter().map(|item| values(item.get_ref()));
            return Some(items.collect::<Option<Vec<_>>>()?.concat());
        }
        DeValue::Datetime(_) | DeValue::Table(_) => return None,
    };
    Some(vec![one])
}

/// Why the flag's own parser refuses this word.
fn refusal(arg: &Arg, word: &str) -> Option<String> {
    let alone = Command::new("peerfarm").no_binary_name(true).arg(arg.clone());
    let error = alone.try_get_matches_from([word]).err()?;
    let value = word.split_once('=').map_or("", |(_, value)| value);
    let values = arg.get_possible_values();
    let names: Vec<String> = values
        .iter()
        .filter(|value| !value.is_hide_set())
        .map(|value| format!("`{}`", value.get_name()))
        .collect();
    let reason = match std::error::Error::source(&error) {
        Some(source) if names.is_empty() => source.to_string(),
        _ => format!("write one of {}", names.join(", ")),
    };
    Some(match reason.starts_with('`') {
        true => reason,
        false => format!("`{value}` does not fit: {reason}"),
    })
}

/// A flag's name as typed, from its id.
fn key(id: &str) -> String {
    id.replace('_', "-")
}

/// The id of `--farm`.
const FARM: &str = "farm";

/// Variables that mean the same as a flag's own, for drop-in use.
const ALSO: [(&str, &str); 3] = [
    ("hook_latency_ms", "MOCK_LATENCY_MS"),
    ("hook_jitter_ms", "MOCK_JITTER_MS"),
    ("hook_error_rate", "MOCK_ERROR_RATE"),
];
