//! The values of header fields, as both dialects sign them.

use std::borrow::Cow;

use http::HeaderMap;

/// The lines of a field in order, without the space around them. An obsolete line fold needs no care: `HeaderValue`
/// holds none.
pub(super) fn lines<'a>(name: &str, headers: &'a HeaderMap) -> impl Iterator<Item = &'a [u8]> {
    let lines = headers.get_all(name).into_iter();
    lines.map(|value| value.as_bytes().trim_ascii())
}

/// The lines of a field combined by a comma and a space (RFC 9110 section 5.3); an empty field is an empty value.
pub(super) fn combined<'a>(name: &str, headers: &'a HeaderMap) -> Option<Cow<'a, [u8]>> {
    let mut lines = lines(name, headers);
    let first = Cow::Borrowed(lines.next()?);
    Some(lines.fold(first, |mut combined, line| {
        combined.to_mut().extend_from_slice(b", ");
        combined.to_mut().extend_from_slice(line);
        combined
    }))
}
