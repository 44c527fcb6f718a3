//! The values of fields (RFC 9421 section 2.1): as they are, as structure, as one member, as bytes.

use sfv::{Dictionary, FieldType, Item, List, ListEntry, Parser};

use crate::signature::rfc9421::Component;
use crate::signature::{Reason, base64};

/// The value of a field that has these lines.
///
/// # Errors
/// Where the message has no such field, or the parameters ask for a structure that is not there.
pub(super) fn value(component: &Component, lines: &[&[u8]]) -> Result<Vec<u8>, (Reason, String)> {
    if component.has("tr") {
        let why = "it is to come from the trailers, which the farm does not read".to_owned();
        return Err((Reason::HeaderMissing, why));
    }
    if lines.is_empty() {
        return Err((Reason::HeaderMissing, "it is not there".to_owned()));
    }
    if component.has("bs") {
        let wrapped: Vec<String> = lines
            .iter()
            .map(|line| format!(":{}:", base64::encode(line)))
            .collect();
        return Ok(wrapped.join(", ").into_bytes());
    }
    let joined = lines.join(b", ".as_slice());
    if let Some(key) = component.text("key") {
        return member(&joined, key).map(String::into_bytes);
    }
    if component.has("sf") {
        let text = strict(component.name(), &joined).map_err(|why| (Reason::Malformed, why))?;
        return Ok(text.into_bytes());
    }
    Ok(joined)
}

/// A member of a dictionary (section 2.1.2), as structured fields write it.
fn member(field: &[u8], key: &str) -> Result<String, (Reason, String)> {
    let dictionary: Dictionary = Parser::new(field).parse().map_err(|fault| {
        let why = format!("it is no dictionary of structured fields, as `key` needs: {fault}");
        (Reason::Malformed, why)
    })?;
    match dictionary.get(key) {
        Some(entry) => Ok(written(entry)),
        None => Err((Reason::HeaderMissing, format!("it has no member `{key}`"))),
    }
}

/// A member by itself, as a list of one would be written: `?1`, `2;x=1`, `(a b)`.
fn written(entry: &ListEntry) -> String {
    vec![entry.clone()].serialize().unwrap_or_default()
}

/// A field as structured fields write it (section 2.1.1). The standard wants its type known. Of a field whose type is
/// not, the value decides, where no two types would have it written differently.
fn strict(name: &str, field: &[u8]) -> Result<String, String> {
    let dictionary = || Parser::new(field).parse::<Dictionary>().map(|it| it.serialize());
    if DICTIONARIES.contains(&name) {
        let written = dictionary().map_err(|fault| format!("it is no dictionary, as `sf` needs: {fault}"))?;
        return Ok(written.unwrap_or_default());
    }
    let list = || Parser::new(field).parse::<List>().map(|it| it.serialize());
    let item = || Parser::new(field).parse::<Item>().map(|it| Some(it.serialize()));
    let mut readings: Vec<String> = [dictionary(), list(), item()]
        .into_iter()
        .flatten()
        .map(Option::unwrap_or_default)
        .collect();
    readings.dedup();
    match readings.as_slice() {
        [one] => Ok(one.clone()),
        [] => Err("it is no structured field, as `sf` needs".to_owned()),
        several => Err(format!(
            "`sf` could mean `{}`: its type is not known",
            several.join("` or `")
        )),
    }
}

/// Fields that are dictionaries: RFC 9421 sections 4 and 5, RFC 9530, RFC 9218.
const DICTIONARIES: [&str; 8] = [
    "accept-signature",
    "content-digest",
    "priority",
    "repr-digest",
    "signature",
    "signature-input",
    "want-content-digest",
    "want-repr-digest",
];
