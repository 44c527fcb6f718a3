//! How an inbox answers, and what is refused.

use crate::software::check::known::REPLY;
use crate::software::check::size;
use crate::software::raw::Section;
use crate::software::{Body, Inbox, Refusals, Reply};

pub(super) fn inbox(section: &Section) -> Inbox {
    let by_reason = section.optional_section("by_reason");
    let by_reason = by_reason.iter().flat_map(|replies| {
        let one = |key| Some((replies.key_word(key)?, reply(replies, key)));
        replies.keys().into_iter().filter_map(one).collect::<Vec<_>>()
    });
    let takes = takes(section);
    Inbox {
        by_reason: by_reason.collect(),
        takes,
        body_limit: size(section, "body_limit"),
        accepted: reply(section, "accepted"),
        unsigned: reply_or_accepted(section, "unsigned"),
        bad_signature: reply(section, "bad_signature"),
        malformed: reply(section, "malformed"),
        too_large: reply(section, "too_large"),
        wrong_type: reply_or_accepted(section, "wrong_type"),
        unknown_recipient: reply(section, "unknown_recipient"),
        delete_of_unknown: reply(section, "delete_of_unknown"),
        duplicate: reply_or_accepted(section, "duplicate"),
        signer_mismatch: reply(section, "signer_mismatch"),
    }
}

/// Which media types it takes: told exactly where there is a `wrong_type` for the others.
fn takes(section: &Section) -> Vec<String> {
    let takes = section.optional_texts("takes");
    if section.has("wrong_type") && takes.is_some() == (section.string("wrong_type") == Some("accepted")) {
        section.wrong(
            "takes",
            "a list of media types belongs here, unless `wrong_type` is \"accepted\"",
        );
    }
    let takes = takes.unwrap_or_default();
    for media_type in takes.iter().filter(|text| text.parse::<mime::Mime>().is_err()) {
        section.wrong("takes", format!("`{media_type}` is no media type"));
    }
    takes
}

pub(super) fn refusals(section: &Section) -> Refusals {
    Refusals {
        unknown_actor: reply(section, "unknown_actor"),
        unknown_object: reply(section, "unknown_object"),
        unknown_path: reply(section, "unknown_path"),
        wrong_method: reply(section, "wrong_method"),
        unsigned_fetch: reply(section, "unsigned_fetch"),
    }
}

/// The word `"accepted"` in a reply's place says that such a delivery is taken like any other.
fn reply_or_accepted<'a>(section: &Section<'a>, key: &'a str) -> Option<Reply> {
    match section.string(key) {
        Some("accepted") => None,
        Some(other) => {
            section.wrong(key, format!("`{other}` is no reply: a table, or \"accepted\""));
            None
        }
        None => Some(reply(section, key)),
    }
}

pub(super) fn reply<'a>(section: &Section<'a>, key: &'a str) -> Reply {
    let section = section.section(key);
    let status = section.number("status");
    if section.has("status") && !(200..600).contains(&status) {
        section.wrong(
            "status",
            format!("`{status}` is no status of an answer: 200 to 599"),
        );
    }
    let body = match (
        section.optional_template("body", REPLY),
        section.optional_document("json", REPLY),
    ) {
        (None, None) => Body::Empty,
        (Some(text), None) => Body::Text(text),
        (None, Some(json)) => Body::Json(json),
        (Some(_), Some(_)) => {
            section.wrong("json", "either `body` or `json` can stand here");
            Body::Empty
        }
    };
    let content_type = section.optional_media_type("content_type");
    let bodiless = matches!(status, 204 | 205 | 304);
    if bodiless && !body.is_empty() {
        section.wrong("status", format!("an answer with status `{status}` has no body"));
    }
    if content_type.is_none() && !section.has("content_type") && !body.is_empty() {
        section.wrong("content_type", "missing, and there is a body");
    }
    Reply {
        status: u16::try_from(status).unwrap_or_default(),
        content_type,
        body,
    }
}
