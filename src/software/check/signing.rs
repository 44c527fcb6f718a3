//! Who knocks how: the dialects that are sent, and how each is written.

use crate::signature::Dialect;
use crate::signature::rfc9421::{self, Component};
use crate::software::check::headers;
use crate::software::check::known::ACTOR;
use crate::software::raw::Section;
use crate::software::{CavageSigning, Rfc9421Signing, SecondKnock, Signing};

pub(super) fn signing(section: &Section) -> Option<Signing> {
    let (first, second) = dialects(section);
    // The table of a dialect that it does not knock in is for whoever asks for that dialect.
    let table = |dialect: Dialect| match [first, second].contains(&Some(dialect)) {
        true => Some(section.section(dialect.name())),
        false => section.optional_section(dialect.name()),
    };
    let cavage = match table(Dialect::Cavage) {
        Some(table) => cavage(&table),
        None => Some(CavageSigning::default()),
    };
    let rfc9421 = table(Dialect::Rfc9421).map(|table| rfc9421(&table));
    let second = second_knock(section, second);
    let key_id = section.template("key_id", ACTOR);
    Some(Signing {
        first: first?,
        second,
        key_id,
        cavage: cavage?,
        rfc9421: rfc9421.unwrap_or_default(),
    })
}

/// The dialects in the order in which it knocks.
fn dialects(section: &Section) -> (Option<Dialect>, Option<Dialect>) {
    let listed = section.texts("dialects").len();
    let mut dialects = section.words("dialects").into_iter();
    let (first, second) = (dialects.next(), dialects.next());
    if section.has("dialects") && listed == 0 {
        section.wrong(
            "dialects",
            "empty: name the dialect it signs in, or two in their order",
        );
    }
    if listed > 2 || (first.is_some() && first == second) {
        section.wrong(
            "dialects",
            "each dialect stands here once, in the order it knocks in",
        );
        return (first, None);
    }
    (first, second)
}

/// What only who speaks two dialects has.
fn second_knock(section: &Section, dialect: Option<Dialect>) -> Option<SecondKnock> {
    let after = section.optional_statuses("knock_again");
    let remembers = section.optional_span("remembers");
    let Some(dialect) = dialect else {
        for key in ["knock_again", "remembers"] {
            if section.has(key) {
                section.wrong(key, "there is no second knock: `dialects` names one dialect");
            }
        }
        return None;
    };
    if after.as_ref().is_none_or(Vec::is_empty) {
        section.wrong(
            "knock_again",
            "which answers make it knock again? for instance `[400, 401]` or `[\"4xx\"]`",
        );
    }
    Some(SecondKnock {
        dialect,
        after: after.unwrap_or_default(),
        remembers,
    })
}

fn cavage(section: &Section) -> Option<CavageSigning> {
    let parameters = section.word("parameters");
    let signing = CavageSigning {
        post: headers(section, "post", section.texts("post")),
        get: section
            .optional_texts("get")
            .map(|get| headers(section, "get", get)),
        algorithm: section.text("algorithm"),
        query: section.flag("query"),
        get_digest: section.flag("get_digest"),
        parameters: parameters?,
        created: section.optional_flag("created").unwrap_or_default(),
        expires: section.optional_span("expires"),
    };
    times(section, &signing);
    Some(signing)
}

/// `(created)` and `(expires)` need their parameters, and a name of the algorithm that allows them (draft-cavage-12
/// section 2.3).
fn times(section: &Section, signing: &CavageSigning) {
    let keys = [("post", Some(&signing.post)), ("get", signing.get.as_ref())];
    for (key, names) in keys {
        for name in names.into_iter().flatten() {
            let parameter = match name.as_str() {
                "(created)" if !signing.created => "created = true",
                "(expires)" if signing.expires.is_none() => "expires = \"5m\"",
                "(created)" | "(expires)" => "",
                _ => continue,
            };
            if !parameter.is_empty() {
                section.wrong(
                    key,
                    format!("`{name}` is signed and never sent: `{parameter}` sends it"),
                );
            }
            let forbidding = ["rsa", "hmac", "ecdsa"];
            if forbidding
                .iter()
                .any(|start| signing.algorithm.starts_with(start))
            {
                let algorithm = &signing.algorithm;
                section.wrong(
                    key,
                    format!("`{name}` is forbidden under `{algorithm}`; `hs2019` allows it"),
                );
            }
        }
    }
}

fn rfc9421(section: &Section) -> Rfc9421Signing {
    Rfc9421Signing {
        label: label(section),
        post: components(section, "post", section.texts("post")),
        get: section
            .optional_texts("get")
            .map(|get| components(section, "get", get)),
        names_algorithm: section.flag("names_algorithm"),
        expires: section.optional_span("expires"),
        nonce: section.optional_flag("nonce").unwrap_or_default(),
        tag: tag(section),
    }
}

/// A label is a key of a dictionary (RFC 9651 section 3.1.2).
fn label(section: &Section) -> String {
    let label = section.text("label");
    let fits = label.starts_with(|first: char| first.is_ascii_lowercase() || first == '*')
        && label
            .bytes()
            .all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || b"_-.*".contains(&byte));
    if section.string("label").is_some() && !fits {
        section.wrong(
            "label",
            format!(
                "`{label}` is no label: lower-case letters, digits, `_`, `-`, `.` and `*`, a letter first"
            ),
        );
    }
    label
}

/// A tag is a string (RFC 9651 section 3.3.3).
fn tag(section: &Section) -> Option<String> {
    let tag = section.optional_text("tag");
    if let Some(tag) = tag
        .as_ref()
        .filter(|tag| tag.bytes().any(|byte| !(0x20..0x7f).contains(&byte)))
    {
        section.wrong("tag", format!("`{}` is not printable ASCII", tag.escape_debug()));
    }
    tag
}

/// Components that a request has.
pub(super) fn components(section: &Section, key: &'static str, names: Vec<String>) -> Vec<Component> {
    let component = |name: String| {
        let component = section.right(
            key,
            name.parse()
                .map_err(|error: rfc9421::ComponentError| error.to_string()),
        )?;
        let of_response = |component: &Component| component.name() == "@status";
        if of_response(&component) {
            section.wrong(key, "`@status` is a response's, and requests are signed here");
        }
        Some(component)
    };
    let components: Vec<Component> = names.into_iter().filter_map(component).collect();
    for (index, component) in components.iter().enumerate() {
        if components[..index].contains(component) {
            section.wrong(key, format!("`{component}` stands here twice"));
        }
    }
    components
}
