//! Raw HTTP/1.1 (RFC 9112), as people paste it: lines that end in CRLF or LF, a whole URL as target, the version that
//! a tool shows for HTTP/2, the `> ` that `curl -v` puts before each line, or pseudo-headers instead of a first line.

use http::HeaderMap;

use crate::clock::Timestamp;
use crate::saved::{FIELDS_MAX, Saved, SavedError, Told, add, body, excerpt, split};

/// Reads a request.
pub(super) fn read(bytes: &[u8]) -> Result<Saved, SavedError> {
    let (lines, rest, at) = match curl(bytes) {
        Some(lines) => (lines, &[][..], answered(bytes)),
        None => {
            let (lines, rest) = head(bytes);
            (lines, rest, None)
        }
    };
    let first = lines.first().copied().unwrap_or_default();
    let (start, fields) = match first.starts_with(b":") {
        true => pseudo(&lines)?,
        false => (
            // No more of it than of any key is the same: it may be one without its armour.
            Start::read(first)
                .ok_or_else(|| SavedError::NoRequest(excerpt(&first[..first.len().min(16)])))?,
            1,
        ),
    };
    let folded = lines
        .iter()
        .skip(fields)
        .position(|line| line.starts_with(b" ") || line.starts_with(b"\t"));
    if let Some(index) = folded {
        return Err(SavedError::Folded(fields + index + 1));
    }
    let headers = parsed(&lines[fields..])?;
    let mut notes = Vec::new();
    body::look_for(&headers, rest, &mut notes);
    let body = body::settle(&headers, rest.to_vec(), &mut notes);
    let Start {
        method,
        target,
        scheme,
        authority,
    } = start;
    Ok(Saved {
        method,
        target,
        scheme,
        authority,
        headers,
        body,
        at,
        window: None,
        hs2019: None,
        notes,
    })
}

/// What stands before the headers.
#[derive(Default)]
struct Start {
    method: String,
    target: String,
    scheme: Option<String>,
    authority: Option<String>,
}

impl Start {
    /// Reads `METHOD target HTTP/version`. The version does not matter: tools write `HTTP/2` into the same form.
    fn read(line: &[u8]) -> Option<Start> {
        let line = std::str::from_utf8(line).ok()?.trim_end();
        let (method, rest) = line.split_once(' ')?;
        let (target, version) = rest.rsplit_once(' ')?;
        let fits = is_method(method) && version.starts_with("HTTP/") && is_target(target);
        fits.then(|| match split(target) {
            Some((scheme, authority, target)) => Start {
                method: method.to_owned(),
                target,
                scheme: Some(scheme.to_ascii_lowercase()),
                authority: Some(authority.to_owned()),
            },
            None => Start {
                method: method.to_owned(),
                target: target.to_owned(),
                ..Start::default()
            },
        })
    }
}

/// The pseudo-headers at the start (RFC 9113 section 8.3.1), and how many lines they take.
fn pseudo(lines: &[&[u8]]) -> Result<(Start, usize), SavedError> {
    let mut start = Start::default();
    let count = lines.iter().take_while(|line| line.starts_with(b":")).count();
    for line in &lines[..count] {
        let text = String::from_utf8_lossy(&line[1..]);
        let (name, value) = text.split_once(':').unwrap_or_default();
        let value = value.trim().to_owned();
        match name.trim() {
            "method" => start.method = value,
            "path" => start.target = value,
            "scheme" => start.scheme = Some(value),
            "authority" => start.authority = Some(value),
            _ => {
                return Err(SavedError::Head(format!(
                    "`{}` is no pseudo-header",
                    excerpt(line)
                )));
            }
        }
    }
    if !is_method(&start.method) {
        return Err(SavedError::Missing(":method"));
    }
    match is_target(&start.target) {
        true => Ok((start, count)),
        false => Err(SavedError::Missing(":path")),
    }
}

/// The lines of the head, without their ends, and the body. A head may end with the file.
fn head(bytes: &[u8]) -> (Vec<&[u8]>, &[u8]) {
    let (mut lines, mut rest) = (Vec::new(), bytes);
    while !rest.is_empty() {
        let end = memchr::memchr(b'\n', rest);
        let (line, after) = match end {
            Some(end) => (&rest[..end], &rest[end + 1..]),
            None => (rest, &[][..]),
        };
        rest = after;
        let line = line.strip_suffix(b"\r").unwrap_or(line);
        // The headers, and what may stand before them.
        if line.is_empty() || lines.len() > FIELDS_MAX + PSEUDO_MAX {
            break;
        }
        lines.push(line);
    }
    (lines, rest)
}

/// The head among what `curl -v` prints: its lines begin with `> `, and the last one has nothing but that. The body is
/// not printed.
fn curl(bytes: &[u8]) -> Option<Vec<&[u8]>> {
    let sent = |line: &&[u8]| line.first() == Some(&b'>');
    let lines = bytes.split(|byte| *byte == b'\n').skip_while(|line| !sent(line));
    let lines = lines.map_while(|line| line.strip_prefix(b">"));
    let lines = lines.map(|line| line.strip_prefix(b" ").unwrap_or(line));
    let lines = lines.map(|line| line.strip_suffix(b"\r").unwrap_or(line));
    let lines: Vec<&[u8]> = lines
        .take_while(|line| !line.is_empty())
        .take(FIELDS_MAX + PSEUDO_MAX + 1)
        .collect();
    lines.first().and_then(|first| Start::read(first)).map(|_| lines)
}

/// When the answer was given, by the `Date` among the lines that `curl -v` begins with `< `.
fn answered(bytes: &[u8]) -> Option<Told> {
    let lines = bytes.split(|byte| *byte == b'\n');
    let received = lines.filter_map(|line| std::str::from_utf8(line.strip_prefix(b"< ")?).ok());
    let date = received.filter_map(|line| line.split_once(':'));
    let date = date.filter(|(name, _)| name.eq_ignore_ascii_case("date"));
    let at = date
        .map(|(_, value)| Timestamp::parse_http_date(value.trim()))
        .next()??;
    Some(Told {
        at,
        what: "when it was answered, by the answer's `Date`",
    })
}

/// The header lines, as `httparse` has them.
fn parsed(lines: &[&[u8]]) -> Result<HeaderMap, SavedError> {
    let mut text = lines.join(b"\r\n".as_slice());
    text.extend_from_slice(b"\r\n\r\n");
    if lines.is_empty() {
        return Ok(HeaderMap::new());
    }
    let mut fields = [httparse::EMPTY_HEADER; FIELDS_MAX];
    let found = match httparse::parse_headers(&text, &mut fields) {
        Ok(httparse::Status::Complete((_, found))) => found,
        Ok(httparse::Status::Partial) => return Err(SavedError::Missing("end of the head")),
        Err(httparse::Error::TooManyHeaders) => return Err(SavedError::Fields),
        Err(error) => return Err(SavedError::Head(at_fault(lines, error))),
    };
    let mut headers = HeaderMap::new();
    for field in found {
        add(&mut headers, field.name, field.value)?;
    }
    Ok(headers)
}

/// The first line that does not parse alone, in words.
fn at_fault(lines: &[&[u8]], error: httparse::Error) -> String {
    let broken = lines.iter().find(|line| {
        let text = [line, b"\r\n\r\n".as_slice()].concat();
        httparse::parse_headers(&text, &mut [httparse::EMPTY_HEADER; 2]).is_err()
    });
    match broken {
        Some(line) => format!("`{}` is no header: {error}", excerpt(line)),
        None => error.to_string(),
    }
}

/// A token (RFC 9110 section 5.6.2).
fn is_method(text: &str) -> bool {
    http::Method::from_bytes(text.as_bytes()).is_ok()
}

/// Anything that can stand in a first line: no blanks, no control characters.
fn is_target(text: &str) -> bool {
    !text.is_empty()
        && !text
            .bytes()
            .any(|byte| byte.is_ascii_whitespace() || byte.is_ascii_control())
}

/// How many lines may stand before the headers.
const PSEUDO_MAX: usize = 4;
