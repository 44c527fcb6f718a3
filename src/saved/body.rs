//! How long a saved body is. Editors add a line's end, loggers cut; `Content-Length` tells what was sent.

use http::HeaderMap;
use http::header::{CONTENT_LENGTH, TRANSFER_ENCODING};

use crate::saved::Note;

/// Says so where there is no body and nothing tells that none was sent, though a digest speaks of one.
pub(super) fn look_for(headers: &HeaderMap, body: &[u8], notes: &mut Vec<Note>) {
    let is_announced = headers.contains_key("digest") || headers.contains_key("content-digest");
    if body.is_empty() && length(headers).is_none() && is_announced {
        let detail = "the file has no body, and no `Content-Length` says whether there was one; hint: `--body FILE` \
                      gives it";
        notes.push(Note::new(MISSING, detail));
    }
}

/// Says so where the file has fewer bytes than there were.
pub(super) fn compare(found: usize, sent: usize, notes: &mut Vec<Note>) {
    if found < sent {
        let detail = format!("the file has {found} of its {sent} bytes; hint: `--body FILE` gives the body");
        notes.push(Note::new(MISSING, detail));
    }
}

/// The body as it was sent, as far as the file has it.
pub(super) fn settle(headers: &HeaderMap, body: Vec<u8>, notes: &mut Vec<Note>) -> Vec<u8> {
    match length(headers) {
        Some(length) => cut(body, length, notes),
        None => match is_chunked(headers).then(|| unchunked(&body)).flatten() {
            Some(whole) => {
                let detail = format!("its chunks hold {} bytes, without their sizes", whole.len());
                notes.push(Note::new("body_chunked", detail));
                whole
            }
            None => {
                if body.last() == Some(&b'\n') {
                    let detail = "it ends in a line's end and no `Content-Length` says whether that was sent; it is \
                                  taken as sent";
                    notes.push(Note::new("body_length_unknown", detail));
                }
                body
            }
        },
    }
}

fn cut(mut body: Vec<u8>, length: usize, notes: &mut Vec<Note>) -> Vec<u8> {
    let found = body.len();
    if found < length {
        let detail = format!(
            "the file has {found} of the {length} bytes that `Content-Length` says; hint: `--body FILE` gives the body"
        );
        notes.push(Note::new(TRUNCATED, detail));
        return body;
    }
    let rest = body.split_off(length);
    match rest.as_slice() {
        [] => {}
        b"\n" | b"\r\n" => {
            let detail = format!(
                "a line's end behind the {length} bytes of `Content-Length` is left out, as an editor's"
            );
            notes.push(Note::new("body_trailing_newline", detail));
        }
        more => {
            let detail = format!(
                "{} bytes behind the {length} of `Content-Length` are left out",
                more.len()
            );
            notes.push(Note::new("body_longer", detail));
        }
    }
    body
}

pub(super) fn length(headers: &HeaderMap) -> Option<usize> {
    headers.get(CONTENT_LENGTH)?.to_str().ok()?.trim().parse().ok()
}

fn is_chunked(headers: &HeaderMap) -> bool {
    let coding = headers.get(TRANSFER_ENCODING);
    coding.is_some_and(|coding| coding.as_bytes().to_ascii_lowercase().ends_with(b"chunked"))
}

/// What chunks hold (RFC 9112 section 7.1); `None` where these are no chunks, as in a log that has joined them.
fn unchunked(mut rest: &[u8]) -> Option<Vec<u8>> {
    let mut whole = Vec::new();
    loop {
        let httparse::Status::Complete((start, size)) = httparse::parse_chunk_size(rest).ok()? else {
            return None;
        };
        if size == 0 {
            return Some(whole);
        }
        let end = start.checked_add(usize::try_from(size).ok()?)?;
        whole.extend_from_slice(rest.get(start..end)?);
        rest = rest.get(end..)?.strip_prefix(b"\r\n")?;
    }
}

/// The note that the file has no body.
pub(super) const MISSING: &str = "body_missing";
/// The note that the file has not all of the body.
pub(super) const TRUNCATED: &str = "body_truncated";
