//! What a sender may have signed instead: the slips known from the field, tried when nothing else explains a mismatch.
//! For the words of a verdict alone, never for its result.

use std::borrow::Cow;

use aws_lc_rs::digest::{SHA256, digest};
use percent_encoding::percent_decode;

use crate::signature::cavage::base::{Base, REQUEST_TARGET, joined};
use crate::signature::cavage::proof::Proof;
use crate::signature::digest::sha256_header;
use crate::signature::key::Algorithm;

/// The slip that explains the signature, in words that go on from "it does". Verifies some twenty bases at most, and
/// none where the right one is longer than [`MAX_GUESSED`].
pub(super) fn slip(proof: &Proof, algorithm: Algorithm) -> Option<String> {
    let base = proof.base;
    let bytes = base.bytes();
    if bytes.len() > MAX_GUESSED {
        return None;
    }
    for other in RSA.into_iter().filter(|other| *other != algorithm) {
        if proof.verifies(other, &bytes).is_some() {
            return Some(format!("as `{other}`, where `{algorithm}` was expected"));
        }
    }
    for (name, value) in values(proof) {
        let tried = base.with(name, &value).bytes();
        if proof.verifies(algorithm, &tried).is_some() {
            let value = String::from_utf8_lossy(&value);
            return Some(format!("with `{name}: {value}` in its place"));
        }
    }
    SHAPES.into_iter().find_map(|(shape, words)| {
        let tried = shape.bytes(proof, &bytes)?;
        proof.verifies(algorithm, &tried).map(|_| words.to_owned())
    })
}

/// Other values that one component may have been given.
fn values(proof: &Proof) -> Vec<(&'static str, Vec<u8>)> {
    let (base, request) = (proof.base, proof.request);
    let mut values = Vec::new();
    let host = base.value("host").unwrap_or_default();
    if let Some(colon) = host.iter().rposition(|byte| *byte == b':') {
        values.push(("host", host[..colon].to_vec()));
    }
    // What a proxy on the way put in the place of the host.
    for name in ["host", "x-forwarded-host", "x-original-host"] {
        if let Some(before) = request.headers.get(name) {
            values.push(("host", before.as_bytes().to_vec()));
        }
    }
    values.extend(targets(base).into_iter().map(|target| (REQUEST_TARGET, target)));
    values.push(("content-length", request.body.len().to_string().into_bytes()));
    values.push(("digest", sha256_header(request.body).into_bytes()));
    let media_type = base.value("content-type").unwrap_or_default();
    if let Some(end) = media_type.iter().position(|byte| *byte == b';') {
        values.push(("content-type", media_type[..end].trim_ascii_end().to_vec()));
    }
    values.retain(|(name, value)| base.value(name).is_some_and(|old| old != value.as_slice()));
    values
}

/// Other values of `(request-target)`.
fn targets(base: &Base) -> Vec<Vec<u8>> {
    let line = base.value(REQUEST_TARGET).unwrap_or_default();
    let Some(space) = line.iter().position(|byte| *byte == b' ') else {
        return Vec::new();
    };
    let (method, target) = line.split_at(space + 1);
    let host = base.value("host").unwrap_or_default();
    let query = target.iter().position(|byte| *byte == b'?');
    let (path, query) = target.split_at(query.unwrap_or(target.len()));
    // A redirect from one to the other keeps the signature of the first.
    let slashed = match path.strip_suffix(b"/") {
        Some(bare) => [method, bare, query].concat(),
        None => [method, path, b"/", query].concat(),
    };
    let other_method: &[u8] = if method == b"get " { b"post " } else { b"get " };
    vec![
        [&method.to_ascii_uppercase(), target].concat(),
        [method, b"https://", host, target].concat(),
        [method, &percent_decode(target).collect::<Vec<u8>>()].concat(),
        slashed,
        [other_method, target].concat(),
    ]
}

/// Other ways to make one text of the lines.
#[derive(Clone, Copy)]
enum Shape {
    Capitalised,
    Closed,
    Crlf,
    Hashed,
    Listed,
    Sorted,
    Unspaced,
}

const SHAPES: [(Shape, &str); 7] = [
    (
        Shape::Closed,
        "with an LF at the end of the base, where none belongs",
    ),
    (
        Shape::Crlf,
        "with CRLF between the lines of the base, where LF belongs",
    ),
    (
        Shape::Listed,
        "with the names of the headers as `headers` spells them, where they belong in lower case",
    ),
    (
        Shape::Capitalised,
        "with the names of the headers in capitals, where they belong in lower case",
    ),
    (Shape::Unspaced, "without the space that belongs after each colon"),
    (
        Shape::Sorted,
        "with the lines sorted by name, where the order of `headers` belongs",
    ),
    (
        Shape::Hashed,
        "over the SHA-256 of the base, where the algorithm hashes it already",
    ),
];

impl Shape {
    /// The base in this shape; `None` where that could not be told from the right one, `bytes`.
    fn bytes(self, proof: &Proof, bytes: &[u8]) -> Option<Vec<u8>> {
        let lines = proof.base.lines();
        let named = |name: &dyn Fn(&str) -> String| {
            let lines: Vec<(String, &[u8])> = lines
                .iter()
                .map(|(old, value)| (name(old), value.as_ref()))
                .collect();
            joined(
                lines.iter().map(|(name, value)| (name.as_str(), *value)),
                ": ",
                "\n",
            )
        };
        let plain = || lines.iter().map(|(name, value)| (*name, value.as_ref()));
        let shaped = match self {
            Shape::Capitalised => named(&capitalised),
            Shape::Closed => [bytes, b"\n"].concat(),
            Shape::Crlf => joined(plain(), ": ", "\r\n"),
            Shape::Hashed => digest(&SHA256, bytes).as_ref().to_vec(),
            Shape::Listed => named(&|name: &str| spelt(proof, name)),
            Shape::Sorted => {
                let mut sorted: Vec<(&str, &Cow<[u8]>)> =
                    lines.iter().map(|(name, value)| (*name, value)).collect();
                sorted.sort_by_key(|line| line.0);
                let sorted = sorted.into_iter().map(|(name, value)| (name, value.as_ref()));
                joined(sorted, ": ", "\n")
            }
            Shape::Unspaced => joined(plain(), ":", "\n"),
        };
        (shaped != bytes).then_some(shaped)
    }
}

/// The name of a component as `headers` has it.
fn spelt(proof: &Proof, name: &str) -> String {
    let listed = proof.header.listed.iter();
    let spelt = listed.clone().find(|spelt| spelt.eq_ignore_ascii_case(name));
    spelt.map_or_else(|| name.to_owned(), Clone::clone)
}

/// `content-type` as `Content-Type`.
fn capitalised(name: &str) -> String {
    if name.starts_with('(') {
        return name.to_owned();
    }
    let mut start = true;
    name.chars()
        .map(|letter| {
            let capital = std::mem::replace(&mut start, letter == '-');
            if capital {
                letter.to_ascii_uppercase()
            } else {
                letter
            }
        })
        .collect()
}

/// What an RSA key may have computed instead; other keys compute one algorithm.
const RSA: [Algorithm; 3] = [
    Algorithm::RsaV15Sha256,
    Algorithm::RsaV15Sha512,
    Algorithm::RsaPssSha512,
];

/// How long a base may be, in bytes, that slips are sought for.
const MAX_GUESSED: usize = 65_536;
