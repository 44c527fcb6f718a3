//! What a sender may have taken the digest of instead: the slips known from the field. For the words of a finding
//! alone, never for its result.

use std::io;

use aws_lc_rs::digest::{Algorithm, SHA256, SHA512, digest};
use serde_json::Value;
use serde_json::ser::{Formatter, Serializer};

/// The slip that explains the digest, in words that go on from "it is". `text` is its value as it came and `given`
/// the bytes in it. Computes ten digests at most, of bodies no longer than [`MAX_GUESSED`].
pub(super) fn slip(
    body: &[u8],
    text: &str,
    given: Option<&[u8]>,
    algorithm: &'static Algorithm,
) -> Option<&'static str> {
    if body.len() > MAX_GUESSED {
        return None;
    }
    let right = digest(algorithm, body);
    let hexadecimal: String = right.as_ref().iter().map(|byte| format!("{byte:02x}")).collect();
    let is_hexadecimal = |text: &[u8]| text.eq_ignore_ascii_case(hexadecimal.as_bytes());
    if is_hexadecimal(text.as_bytes()) || given.is_some_and(is_hexadecimal) {
        return Some("that of the body in hexadecimal, where base64 of its bytes belongs");
    }
    let given = given?;
    let other = if algorithm == &SHA256 { &SHA512 } else { &SHA256 };
    if digest(other, body).as_ref() == given {
        return Some("that of the body by the other of SHA-256 and SHA-512");
    }
    let is = |text: &[u8]| digest(algorithm, text).as_ref() == given;
    if is(b"") {
        return Some("that of no body at all");
    }
    if is(&[body, b"\n"].concat()) || is(body.trim_ascii_end()) {
        return Some("that of the body but for the line end after it");
    }
    let json: Value = serde_json::from_slice(body).ok()?;
    let compact = json.to_string();
    let written = [
        compact.clone(),
        ascii(&spaced(&json)),
        ascii(&compact.replace('/', "\\/")),
        serde_json::to_string_pretty(&json).unwrap_or_default(),
    ];
    let rewritten = written.iter().any(|text| is(text.as_bytes()));
    rewritten.then_some("that of the same JSON written otherwise: sign the very bytes that are sent")
}

/// JSON with a space after each comma and colon, as Python writes it.
fn spaced(json: &Value) -> String {
    struct Spaced;
    impl Formatter for Spaced {
        fn begin_array_value<W: ?Sized + io::Write>(
            &mut self,
            writer: &mut W,
            first: bool,
        ) -> io::Result<()> {
            writer.write_all(if first { b"" } else { b", " })
        }
        fn begin_object_key<W: ?Sized + io::Write>(&mut self, writer: &mut W, first: bool) -> io::Result<()> {
            writer.write_all(if first { b"" } else { b", " })
        }
        fn begin_object_value<W: ?Sized + io::Write>(&mut self, writer: &mut W) -> io::Result<()> {
            writer.write_all(b": ")
        }
    }
    let mut text = Vec::new();
    let written = serde::Serialize::serialize(json, &mut Serializer::with_formatter(&mut text, Spaced));
    written
        .ok()
        .and_then(|()| String::from_utf8(text).ok())
        .unwrap_or_default()
}

/// JSON with what is not ASCII as `\u` escapes, as Python and PHP write it.
fn ascii(json: &str) -> String {
    let mut text = String::with_capacity(json.len());
    let mut units = [0; 2];
    for character in json.chars() {
        match character.is_ascii() {
            true => text.push(character),
            false => character
                .encode_utf16(&mut units)
                .iter()
                .for_each(|unit| text.push_str(&format!("\\u{unit:04x}"))),
        }
    }
    text
}

/// How long a body may be, in bytes, that slips are sought for.
const MAX_GUESSED: usize = 65_536;
