//! What a sender may have signed instead: the slips known from the field, tried when nothing else explains a mismatch.
//! For the words of a verdict alone, never for its result.

use percent_encoding::percent_decode;

use crate::signature::cavage::base::{Base, REQUEST_TARGET};

/// The slip that explains the signature, in words. Verifies five bases at most.
pub(super) fn slip(base: &Base, verifies: impl Fn(&[u8]) -> bool) -> Option<String> {
    for (name, value) in candidates(base) {
        if verifies(&base.with(name, &value).bytes()) {
            let value = String::from_utf8_lossy(&value);
            return Some(format!("it does with `{name}: {value}` in its place"));
        }
    }
    let closed = [&base.bytes(), b"\n".as_slice()].concat();
    verifies(&closed).then(|| "it does with an LF at the end of the base, where none belongs".to_owned())
}

/// Other values that one component may have been given.
fn candidates(base: &Base) -> Vec<(&'static str, Vec<u8>)> {
    let mut candidates = Vec::new();
    let host = base.value("host").unwrap_or_default();
    if let Some(colon) = host.iter().rposition(|byte| *byte == b':') {
        candidates.push(("host", host[..colon].to_vec()));
    }
    let line = base.value(REQUEST_TARGET).unwrap_or_default();
    if let Some(space) = line.iter().position(|byte| *byte == b' ') {
        let (method, target) = line.split_at(space + 1);
        candidates.push((REQUEST_TARGET, [&method.to_ascii_uppercase(), target].concat()));
        candidates.push((REQUEST_TARGET, [method, b"https://", host, target].concat()));
        let decoded: Vec<u8> = percent_decode(target).collect();
        if decoded != target {
            candidates.push((REQUEST_TARGET, [method, &decoded].concat()));
        }
    }
    candidates
}
