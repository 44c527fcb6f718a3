//! What is asked of a signature: the dialects that are read, and what each needs besides.

use crate::signature::NOTES;
use crate::signature::rfc9421::AcceptSignatureError;
use crate::software::check::headers;
use crate::software::check::signing::components;
use crate::software::raw::Section;
use crate::software::{Accepted, Verifying};

pub(super) fn verifying(section: &Section) -> Verifying {
    let cavage = section.optional_section("cavage");
    let rfc9421 = section.optional_section("rfc9421");
    if cavage.is_none() && rfc9421.is_none() {
        section.wrong(
            "cavage",
            "missing, and `rfc9421` too: which dialect does it read?",
        );
    }
    let wanted = rfc9421.as_ref().and_then(|table| {
        let text = table.optional_text("accept_signature")?;
        let parsed = text
            .parse()
            .map_err(|error: AcceptSignatureError| error.to_string());
        table.right("accept_signature", parsed)
    });
    Verifying {
        past: section.span("past"),
        future: section.span("future"),
        tolerates: section.words("tolerates"),
        refuses: notes(section, "refuses"),
        authorized_fetch: section.flag("authorized_fetch"),
        hs2019: cavage
            .as_ref()
            .filter(|table| table.has("hs2019"))
            .and_then(|table| table.word("hs2019"))
            .unwrap_or_default(),
        accept_signature: wanted,
        cavage: cavage.map(|table| accepted(&table, headers)),
        rfc9421: rfc9421.map(|table| accepted(&table, component_names)),
    }
}

/// Notes on signatures, by their names; none where the key is absent.
fn notes(section: &Section, key: &'static str) -> Vec<&'static str> {
    let names = section.optional_texts(key).unwrap_or_default();
    let known = |name: String| {
        let found = NOTES.iter().find(|(note, _)| *note == name);
        if found.is_none() {
            let all: Vec<&str> = NOTES.iter().map(|(note, _)| *note).collect();
            section.wrong(
                key,
                format!("unknown note `{name}`, expected one of `{}`", all.join("`, `")),
            );
        }
        found.map(|(note, _)| *note)
    };
    names.into_iter().filter_map(known).collect()
}

fn accepted(section: &Section, names: fn(&Section, &'static str, Vec<String>) -> Vec<String>) -> Accepted {
    let required = |key| names(section, key, section.texts(key));
    if section
        .optional_texts("algorithms")
        .is_some_and(|listed| listed.is_empty())
    {
        section.wrong("algorithms", "empty: leave it out for all that the farm verifies");
    }
    Accepted {
        requires_post: required("requires_post"),
        requires_get: required("requires_get"),
        algorithms: section.has("algorithms").then(|| section.words("algorithms")),
    }
}

/// Components as verdicts write them.
fn component_names(section: &Section, key: &'static str, names: Vec<String>) -> Vec<String> {
    let components = components(section, key, names);
    components.iter().map(ToString::to_string).collect()
}
