//! The signature base (draft-cavage-12 section 2.3): the lines that are signed.

use std::borrow::Cow;

use crate::signature::Request;
use crate::signature::field::combined;

/// The covered components with their values, in order.
#[derive(Clone, Debug)]
pub(super) struct Base<'a> {
    lines: Vec<(&'a str, Cow<'a, [u8]>)>,
    /// Covered components the request does not have, lower case. They have no line.
    pub(super) missing: Vec<&'a str>,
}

/// The values of `(created)` and `(expires)`, where the signature has them.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Times<'a> {
    pub(super) created: Option<&'a str>,
    pub(super) expires: Option<&'a str>,
}

impl<'a> Base<'a> {
    /// Gathers the components in `covered`, which are in lower case.
    pub(super) fn build(
        covered: impl IntoIterator<Item = &'a str>,
        request: &Request<'a>,
        times: Times<'a>,
    ) -> Base<'a> {
        let mut base = Base {
            lines: Vec::new(),
            missing: Vec::new(),
        };
        for name in covered {
            match value(name, request, times) {
                Some(value) => base.lines.push((name, value)),
                None => base.missing.push(name),
            }
        }
        base
    }

    /// The value that stands for a component.
    pub(super) fn value(&self, name: &str) -> Option<&[u8]> {
        let line = self.lines.iter().find(|line| line.0 == name);
        line.map(|line| line.1.as_ref())
    }

    /// The same base with another value for a component, where it has that component.
    pub(super) fn with<'b>(&'b self, name: &str, value: &'b [u8]) -> Base<'b> {
        let lines = self.lines.iter().map(|(other, old)| {
            let value = if *other == name { value } else { old };
            (*other, Cow::Borrowed(value))
        });
        Base {
            lines: lines.collect(),
            missing: Vec::new(),
        }
    }

    /// The base with the query cut off the target; `None` where the target is not covered or has none.
    pub(super) fn without_query(&self) -> Option<Base<'a>> {
        let mut base = self.clone();
        let mut cut = false;
        for line in base.lines.iter_mut().filter(|line| line.0 == REQUEST_TARGET) {
            if let Some(end) = line.1.iter().position(|byte| *byte == b'?') {
                line.1.to_mut().truncate(end);
                cut = true;
            }
        }
        cut.then_some(base)
    }

    /// The components with their values, in order.
    pub(super) fn lines(&self) -> &[(&'a str, Cow<'a, [u8]>)] {
        &self.lines
    }

    /// The bytes to sign: `name: value` a line, an LF between lines and none at the end.
    pub(super) fn bytes(&self) -> Vec<u8> {
        let lines = self.lines.iter().map(|(name, value)| (*name, value.as_ref()));
        joined(lines, ": ", "\n")
    }
}

/// Lines made of names and values, with `end` between them.
pub(super) fn joined<'b>(
    lines: impl Iterator<Item = (&'b str, &'b [u8])>,
    colon: &str,
    end: &str,
) -> Vec<u8> {
    let mut bytes = Vec::new();
    for (index, (name, value)) in lines.enumerate() {
        if index > 0 {
            bytes.extend_from_slice(end.as_bytes());
        }
        bytes.extend_from_slice(name.as_bytes());
        bytes.extend_from_slice(colon.as_bytes());
        bytes.extend_from_slice(value);
    }
    bytes
}

fn value<'a>(name: &str, request: &Request<'a>, times: Times<'a>) -> Option<Cow<'a, [u8]>> {
    match name {
        REQUEST_TARGET => {
            let target = format!("{} {}", request.method.to_ascii_lowercase(), request.target);
            Some(Cow::Owned(target.into_bytes()))
        }
        CREATED => times.created.map(|text| Cow::Borrowed(text.as_bytes())),
        EXPIRES => times.expires.map(|text| Cow::Borrowed(text.as_bytes())),
        // HTTP/2 has no `Host` line (RFC 9113 section 8.3.1).
        "host" if request.authority.is_some() => request.authority.map(|text| Cow::Borrowed(text.as_bytes())),
        _ => combined(name, request.headers),
    }
}

pub(super) const REQUEST_TARGET: &str = "(request-target)";
pub(super) const CREATED: &str = "(created)";
pub(super) const EXPIRES: &str = "(expires)";
