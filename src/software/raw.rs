//! A TOML file as typed: a table whose every key knows its line. Reading a key is what makes it known, so the list of
//! keys exists once, in the code that uses them; a key that nobody read is reported as unknown.
//!
//! A reader that finds a value missing or wrong notes the problem and hands out an empty value in its place, so one
//! pass finds every problem. What was read must not be used before [`Notes::take`] has come back empty.

use std::cell::RefCell;
use std::ops::{Range, RangeInclusive};
use std::time::Duration;

use http::HeaderValue;
use serde::de::IntoDeserializer;
use serde::de::value::{Error as WordError, StrDeserializer};
use toml::Spanned;
use toml::de::{DeTable, DeValue};

use crate::software::notes::Notes;
use crate::software::{Document, Template, TemplateError};
use crate::units::Span;

/// One table of the file. When it is dropped, the keys that nobody asked for are reported.
#[must_use]
pub(super) struct Section<'a> {
    notes: &'a Notes<'a>,
    path: String,
    span: Range<usize>,
    /// `None` where the table is missing, which is reported once; then nothing in it is missing besides.
    table: Option<&'a DeTable<'a>>,
    asked: RefCell<Vec<&'a str>>,
}

impl<'a> Section<'a> {
    /// The whole file.
    pub(super) fn root(notes: &'a Notes<'a>, table: &'a Spanned<DeTable<'a>>) -> Section<'a> {
        Section::new(notes, String::new(), table.span(), Some(table.get_ref()))
    }

    /// A table within this one.
    pub(super) fn section(&self, key: &'a str) -> Section<'a> {
        self.optional_section(key).unwrap_or_else(|| {
            self.missing(key);
            Section::new(self.notes, self.path_of(key), self.span.clone(), None)
        })
    }

    /// A table within this one that may be absent.
    pub(super) fn optional_section(&self, key: &'a str) -> Option<Section<'a>> {
        let value = self.value(key)?;
        let table = self.typed(key, "a table", value.as_ref().as_table());
        Some(Section::new(self.notes, self.path_of(key), value.span(), table))
    }

    /// An array of tables within this one.
    pub(super) fn sections(&self, key: &'a str) -> Vec<Section<'a>> {
        if !self.has(key) {
            self.missing(key);
        }
        self.optional_sections(key)
    }

    /// An array of tables within this one; none where it is absent.
    pub(super) fn optional_sections(&self, key: &'a str) -> Vec<Section<'a>> {
        let Some(array) = self
            .value(key)
            .and_then(|value| self.typed(key, "an array of tables", value.as_ref().as_array()))
        else {
            return Vec::new();
        };
        let section = |(index, value): (usize, &'a Spanned<DeValue<'a>>)| {
            let path = format!("{}[{index}]", self.path_of(key));
            let table = value.as_ref().as_table();
            if table.is_none() {
                self.notes
                    .add(value.span().start, path.clone(), not_a("a table", value));
            }
            Section::new(self.notes, path, value.span(), table)
        };
        array.iter().enumerate().map(section).collect()
    }

    /// The keys of a table whose keys are free, each of them known by this.
    pub(super) fn keys(&self) -> Vec<&'a str> {
        let keys: Vec<&'a str> = self
            .table
            .iter()
            .flat_map(|table| table.keys().map(|key| key.get_ref().as_ref()))
            .collect();
        self.asked.borrow_mut().extend(&keys);
        keys
    }

    /// Whether there is such a key.
    pub(super) fn has(&self, key: &'a str) -> bool {
        self.value(key).is_some()
    }

    /// The string there, where it is one.
    pub(super) fn string(&self, key: &'a str) -> Option<&'a str> {
        self.value(key)?.as_ref().as_str()
    }

    /// A string.
    pub(super) fn text(&self, key: &'a str) -> String {
        self.required(key, Section::optional_text)
    }

    /// A string that may be absent.
    pub(super) fn optional_text(&self, key: &'a str) -> Option<String> {
        let value = self.value(key)?;
        self.typed(key, "a string", value.as_ref().as_str())
            .map(str::to_owned)
    }

    /// An array of strings.
    pub(super) fn texts(&self, key: &'a str) -> Vec<String> {
        self.required(key, Section::optional_texts)
    }

    /// An array of strings that may be absent.
    pub(super) fn optional_texts(&self, key: &'a str) -> Option<Vec<String>> {
        let array = self
            .value(key)
            .and_then(|value| self.typed(key, "an array of strings", value.as_ref().as_array()))?;
        let member = |value: &Spanned<DeValue<'a>>| {
            let text = value.as_ref().as_str();
            if text.is_none() {
                self.notes
                    .add(value.span().start, self.path_of(key), not_a("a string", value));
            }
            text.map(str::to_owned)
        };
        Some(array.iter().filter_map(member).collect())
    }

    /// A whole number from 0.
    pub(super) fn number(&self, key: &'a str) -> u64 {
        let number = |section: &Self, key| {
            let integer = section.typed(key, "a whole number", section.value(key)?.as_ref().as_integer())?;
            let number = u64::from_str_radix(integer.as_str(), integer.radix());
            section.right(
                key,
                number.map_err(|_| format!("`{integer}` is no whole number from 0")),
            )
        };
        self.required(key, number)
    }

    /// `true` or `false`.
    pub(super) fn flag(&self, key: &'a str) -> bool {
        self.required(key, Section::optional_flag)
    }

    /// `true` or `false`; may be absent.
    pub(super) fn optional_flag(&self, key: &'a str) -> Option<bool> {
        self.typed(key, "true or false", self.value(key)?.as_ref().as_bool())
    }

    /// A span of time: `"30s"`.
    pub(super) fn span(&self, key: &'a str) -> Duration {
        self.required(key, Section::optional_span)
    }

    /// A span of time that may be absent.
    pub(super) fn optional_span(&self, key: &'a str) -> Option<Duration> {
        let text = self.optional_text(key)?;
        let span = self.right(key, text.parse::<Span>().map_err(|error| error.to_string()));
        span.map(Span::duration)
    }

    /// Statuses of refusals, `404`, or all of a kind, `"4xx"`; may be absent.
    pub(super) fn optional_statuses(&self, key: &'a str) -> Option<Vec<RangeInclusive<u16>>> {
        let array = self
            .value(key)
            .and_then(|value| self.typed(key, "an array of statuses", value.as_ref().as_array()))?;
        let member = |value: &Spanned<DeValue<'a>>| {
            let value = value.as_ref();
            let number = value
                .as_integer()
                .and_then(|integer| integer.as_str().parse().ok());
            let statuses = match (number, value.as_str()) {
                (Some(status @ 400..=599), _) => Some(status..=status),
                (_, Some("4xx")) => Some(400..=499),
                (_, Some("5xx")) => Some(500..=599),
                _ => None,
            };
            if statuses.is_none() {
                self.wrong(
                    key,
                    "only statuses from 400 to 599, `\"4xx\"` and `\"5xx\"` can stand here",
                );
            }
            statuses
        };
        Some(array.iter().filter_map(member).collect())
    }

    /// One word of a closed list, by the type's names; `None` where it is missing or another, which is noted.
    pub(super) fn word<T: serde::de::DeserializeOwned>(&self, key: &'a str) -> Option<T> {
        if !self.has(key) {
            self.missing(key);
        }
        self.read_word(key, &self.optional_text(key)?)
    }

    /// Words of a closed list; none where the key is absent.
    pub(super) fn words<T: serde::de::DeserializeOwned>(&self, key: &'a str) -> Vec<T> {
        let words = self.optional_texts(key).unwrap_or_default();
        words
            .iter()
            .filter_map(|word| self.read_word(key, word))
            .collect()
    }

    /// What a key of a free table means, as a word of a closed list.
    pub(super) fn key_word<T: serde::de::DeserializeOwned>(&self, key: &'a str) -> Option<T> {
        self.read_word(key, key)
    }

    /// A media type that can stand in a header.
    pub(super) fn media_type(&self, key: &'a str) -> String {
        self.required(key, Section::optional_media_type)
    }

    /// A media type that may be absent.
    pub(super) fn optional_media_type(&self, key: &'a str) -> Option<String> {
        let text = self.optional_text(key)?;
        let parses = text.parse::<mime::Mime>().is_ok() && HeaderValue::from_str(&text).is_ok();
        let right = if parses {
            Ok(text)
        } else {
            Err(format!("`{text}` is no media type"))
        };
        self.right(key, right)
    }

    /// A template that may name `known`.
    pub(super) fn template(&self, key: &'a str, known: &[&str]) -> Template {
        self.required(key, |section, key| section.optional_template(key, known))
    }

    /// A template that may be absent.
    pub(super) fn optional_template(&self, key: &'a str, known: &[&str]) -> Option<Template> {
        self.parsed(key, |text| Template::parse(text, known))
    }

    /// A JSON document that may name `known`.
    pub(super) fn document(&self, key: &'a str, known: &[&str]) -> Document {
        self.required(key, |section, key| section.optional_document(key, known))
    }

    /// A JSON document that may be absent.
    pub(super) fn optional_document(&self, key: &'a str, known: &[&str]) -> Option<Document> {
        self.parsed(key, |text| Document::parse(text, known))
    }

    /// Notes a problem at a key, or at the table where the key is absent. Of a missing table nothing more is said.
    pub(super) fn wrong(&self, key: &'a str, message: impl Into<String>) {
        if self.table.is_none() {
            return;
        }
        let at = self
            .value(key)
            .map_or(self.span.start, |value| value.span().start);
        self.notes.add(at, self.path_of(key), message.into());
    }

    /// A result, or a problem at that key.
    pub(super) fn right<T>(&self, key: &'a str, result: Result<T, impl Into<String>>) -> Option<T> {
        result.map_err(|message| self.wrong(key, message)).ok()
    }

    fn new(
        notes: &'a Notes<'a>,
        path: String,
        span: Range<usize>,
        table: Option<&'a DeTable<'a>>,
    ) -> Section<'a> {
        Section {
            notes,
            path,
            span,
            table,
            asked: RefCell::default(),
        }
    }

    fn value(&self, key: &'a str) -> Option<&'a Spanned<DeValue<'a>>> {
        self.asked.borrow_mut().push(key);
        self.table?.get(key)
    }

    fn required<T: Default>(&self, key: &'a str, read: impl FnOnce(&Self, &'a str) -> Option<T>) -> T {
        if !self.has(key) {
            self.missing(key);
        }
        read(self, key).unwrap_or_default()
    }

    fn missing(&self, key: &'a str) {
        self.wrong(key, "missing");
    }

    fn typed<T>(&self, key: &'a str, wanted: &str, found: Option<T>) -> Option<T> {
        if let (None, Some(value)) = (&found, self.table.and_then(|table| table.get(key))) {
            self.wrong(key, not_a(wanted, value));
        }
        found
    }

    fn read_word<T: serde::de::DeserializeOwned>(&self, key: &'a str, word: &str) -> Option<T> {
        let deserializer: StrDeserializer<'_, WordError> = word.into_deserializer();
        self.right(
            key,
            T::deserialize(deserializer).map_err(|error| error.to_string()),
        )
    }

    /// Notes a template's error on the line where it stands, within a string of many lines too.
    fn parsed<T>(&self, key: &'a str, parse: impl FnOnce(&str) -> Result<T, TemplateError>) -> Option<T> {
        let error = match parse(&self.optional_text(key)?) {
            Ok(parsed) => return Some(parsed),
            Err(error) => error,
        };
        let span = self.value(key)?.span();
        let source = &self.notes.text[span.clone()];
        let within = match &error {
            TemplateError::Unknown { name, .. } => source.find(&format!("{{{name}}}")).unwrap_or(0),
            TemplateError::Unbalanced(rest) => source.find(rest.as_str()).unwrap_or(0),
            TemplateError::Json { line, .. } => start_of_line(source, *line),
        };
        self.notes
            .add(span.start + within, self.path_of(key), error.to_string());
        None
    }

    fn path_of(&self, key: &str) -> String {
        if self.path.is_empty() {
            key.to_owned()
        } else {
            format!("{}.{key}", self.path)
        }
    }
}

impl Drop for Section<'_> {
    fn drop(&mut self) {
        let asked = self.asked.borrow();
        for key in self.table.iter().flat_map(|table| table.keys()) {
            if !asked.contains(&key.get_ref().as_ref()) {
                let mut known = asked.clone();
                known.sort_unstable();
                known.dedup();
                let message = format!("unknown key; known here: {}", known.join(", "));
                self.notes
                    .add(key.span().start, self.path_of(key.get_ref()), message);
            }
        }
    }
}

/// Where a line of the string begins within its source; a line break right after the opening quotes is not part of
/// the string.
fn start_of_line(source: &str, line: usize) -> usize {
    let opening = source
        .find('\n')
        .filter(|at| source[..*at].trim_end().chars().all(|c| c == '\'' || c == '"'));
    let mut start = opening.map_or(0, |at| at + 1);
    for _ in 1..line {
        match source[start..].find('\n') {
            Some(at) => start += at + 1,
            None => break,
        }
    }
    start
}

fn not_a(wanted: &str, value: &Spanned<DeValue<'_>>) -> String {
    format!("{wanted} belongs here, not {}", value.as_ref().type_str())
}
