//! A request that was saved in a file: as raw HTTP/1.1, in a HAR, as an entry of the farm's journal, or as `send
//! --misbehave` tells of it. Bytes in, a [`Saved`] out; which of them it is shows in the content.

mod body;
mod error;
mod har;
mod journal;
mod raw;

pub use error::SavedError;

use http::{HeaderMap, HeaderName, HeaderValue};
use serde_json::Value;

use crate::clock::Timestamp;
use crate::signature::{Hs2019, Parsed, Request, Window, parse};

/// A request as a file has it.
#[derive(Clone, Debug)]
pub struct Saved {
    /// The method: `POST`.
    pub method: String,
    /// Path and query, as the file has them.
    pub target: String,
    /// The scheme, where the file tells.
    pub scheme: Option<String>,
    /// The host asked for, where the file tells it apart from `Host`: `:authority`, or a whole URL.
    pub authority: Option<String>,
    /// The headers in their order; pseudo-headers are not among them.
    pub headers: HeaderMap,
    /// The body, as long as `Content-Length` says where the file has as much.
    pub body: Vec<u8>,
    /// When it was sent or arrived, where the file tells.
    pub at: Option<Told>,
    /// The window that the farm judged its dates by, where the file tells.
    pub window: Option<Window>,
    /// What `hs2019` stood for then, where the file tells.
    pub hs2019: Option<Hs2019>,
    /// What a reader has to know of the file.
    pub notes: Vec<Note>,
}

/// A moment that a file tells.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Told {
    /// The moment.
    pub at: Timestamp,
    /// What it is, in words: `when it arrived`.
    pub what: &'static str,
}

/// Something about a file that can explain a verdict.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Note {
    /// Its name, for programs: `body_truncated`.
    pub name: &'static str,
    /// In words for a person.
    pub detail: String,
}

impl Note {
    /// A note.
    pub fn new(name: &'static str, detail: impl Into<String>) -> Note {
        Note {
            name,
            detail: detail.into(),
        }
    }
}

impl Saved {
    /// The request as a signature covers it. Where the file does not tell the scheme it is `scheme`.
    pub fn request<'a>(&'a self, scheme: &'a str) -> Request<'a> {
        Request {
            method: &self.method,
            target: &self.target,
            scheme: self.scheme.as_deref().unwrap_or(scheme),
            headers: &self.headers,
            authority: self.authority.as_deref(),
            body: &self.body,
        }
    }

    /// Whether there is a signature, in whatever state.
    pub fn is_signed(&self) -> bool {
        !matches!(parse(&self.request("https")), Parsed::Unsigned)
    }

    /// Whether the file does not have the body, or not all of it.
    pub fn lacks_body(&self) -> bool {
        let mut names = self.notes.iter().map(|note| note.name);
        names.any(|name| [body::MISSING, body::TRUNCATED].contains(&name))
    }

    /// The same request with another body, which the file did not have.
    pub fn with_body(mut self, body: Vec<u8>) -> Saved {
        self.notes.retain(|note| !note.name.starts_with("body_"));
        let body = body::settle(&self.headers, body, &mut self.notes);
        Saved { body, ..self }
    }
}

/// Reads a file. Of a HAR with several requests it takes the `entry`th, counted from 1; without a number the only one
/// that is signed, or the only one there is.
///
/// # Errors
/// See [`SavedError`].
pub fn read(bytes: &[u8], entry: Option<usize>) -> Result<Saved, SavedError> {
    if bytes.len() > FILE_MAX {
        return Err(SavedError::TooLong(bytes.len()));
    }
    if bytes.starts_with(&[0xff, 0xfe]) || bytes.starts_with(&[0xfe, 0xff]) {
        return Err(SavedError::Utf16);
    }
    let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
    let start = bytes.iter().position(|byte| !byte.is_ascii_whitespace());
    let Some(start) = start else {
        return Err(SavedError::Empty);
    };
    let bytes = &bytes[start..];
    // Never quoted: it may be a private one.
    if bytes.starts_with(b"-----BEGIN ") {
        return Err(SavedError::Pem);
    }
    if bytes[0] != b'{' {
        return raw::read(bytes);
    }
    let document: Value =
        serde_json::from_slice(bytes).map_err(|error| SavedError::Json(error.to_string()))?;
    if document["log"].is_object() {
        return har::read(&document, entry);
    }
    if document["entries"].is_array() {
        return Err(SavedError::List);
    }
    // What a delivery that was wrong on purpose is told with.
    let entry = document.get("request").unwrap_or(&document);
    match entry["target"].is_string() && entry["headers"].is_array() {
        true => journal::read(entry),
        false => Err(SavedError::OtherJson),
    }
}

/// Adds a header line. A value that no header can carry is refused, never mended.
fn add(headers: &mut HeaderMap, name: &str, value: &[u8]) -> Result<(), SavedError> {
    let unfit = || SavedError::Header(excerpt(name.as_bytes()));
    let name: HeaderName = name.trim().parse().map_err(|_| unfit())?;
    let value = HeaderValue::from_bytes(value.trim_ascii()).map_err(|_| unfit())?;
    if headers.len() == FIELDS_MAX {
        return Err(SavedError::Fields);
    }
    headers.append(name, value);
    Ok(())
}

/// Scheme, authority and target of a URL, each in the bytes it has; `None` where it has no scheme and authority.
/// Without a path the target is `/` (RFC 9112 section 3.2.1); a fragment is never sent.
fn split(url: &str) -> Option<(&str, &str, String)> {
    let (scheme, rest) = url.split_once("://")?;
    let rest = rest.split('#').next().unwrap_or_default();
    let end = rest.find(['/', '?']).unwrap_or(rest.len());
    let (authority, target) = rest.split_at(end);
    let authority = authority.rsplit('@').next().unwrap_or_default();
    let target = match target.starts_with('/') {
        true => target.to_owned(),
        false => format!("/{target}"),
    };
    let is_scheme = !scheme.is_empty() && scheme.bytes().all(|byte| byte.is_ascii_alphanumeric());
    (is_scheme && !authority.is_empty()).then_some((scheme, authority, target))
}

/// The first of some foreign bytes, for a message.
fn excerpt(bytes: &[u8]) -> String {
    let line = bytes.split(|byte| *byte == b'\n').next().unwrap_or_default();
    let text = String::from_utf8_lossy(&line[..line.len().min(EXCERPT_MAX)]);
    text.trim().chars().flat_map(char::escape_debug).collect()
}

/// The longest file that is read, in bytes. A HAR of a busy page has some ten million.
pub const FILE_MAX: usize = 64 << 20;
/// How many header lines of a request are read.
const FIELDS_MAX: usize = 256;
/// How many bytes of a file a message quotes.
const EXCERPT_MAX: usize = 60;

#[cfg(test)]
mod tests;
