//! From a profile as typed to a profile as meant: which keys there are, what each must be, and which values each
//! template may name.

mod known;
mod places;
mod proofs;
mod replies;
mod signing;
mod verifying;

use std::collections::HashMap;

use http::{HeaderName, HeaderValue};

use crate::ids::Host;
use crate::software::check::places::{documents, nodeinfo, urls, webfinger};
use crate::software::check::proofs::proofs;
use crate::software::check::replies::{inbox, refusals};
use crate::software::check::signing::signing;
use crate::software::check::verifying::verifying;
use crate::software::notes::Notes;
use crate::software::raw::Section;
use crate::software::{Client, FACTS, HostMeta, Ids, Keys, Problem, RsaBits, Software};

/// Reads one profile. `file` is what problems name it; `taken` has the names of the profiles beside it, with their
/// files.
pub(super) fn profile(
    file: &str,
    text: &str,
    taken: &HashMap<String, String>,
) -> Result<Software, Vec<Problem>> {
    let notes = Notes::new(file, text);
    let table = notes.parse();
    let software = table
        .as_ref()
        .and_then(|table| software(&Section::root(&notes, table), taken));
    match (software, notes.take()) {
        (Some(software), problems) if problems.is_empty() => Ok(software),
        (_, problems) => Err(problems),
    }
}

/// Every section is read before any is found wanting, so that each reports its own problems.
fn software(root: &Section, taken: &HashMap<String, String>) -> Option<Software> {
    let ids = ids(&root.section("ids"));
    let keys = keys(&root.section("keys"));
    let signing = signing(&root.section("signing"));
    let urls = urls(&root.section("urls"));
    let documents = documents(&root.section("documents"), &urls);
    let software = Software {
        name: name(root, taken),
        version: root.text("version"),
        instance_name: root.template("instance_name", &["origin", "host", "authority"]),
        webfinger: webfinger(&root.section("webfinger")),
        host_meta: root.optional_section("host_meta").map(|section| HostMeta {
            json: section.flag("json"),
        }),
        nodeinfo: nodeinfo(&root.section("nodeinfo")),
        verifying: verifying(&root.section("verifying")),
        proofs: root
            .optional_section("proofs")
            .map(|section| proofs(&section, &urls))
            .unwrap_or_default(),
        inbox: inbox(&root.section("inbox")),
        refusals: refusals(&root.section("refusals")),
        client: client(&root.section("client")),
        facts: root
            .optional_section("facts")
            .map(|section| facts(&section))
            .unwrap_or_default(),
        ids: ids?,
        keys: keys?,
        signing: signing?,
        urls,
        documents,
    };
    Some(software)
}

/// A name makes hosts (`<name>1.test`), so it has to be one label of a host name.
fn name(root: &Section, taken: &HashMap<String, String>) -> String {
    let name = root.text("name");
    let fits = !name.contains(['.', '_']) && name.parse::<Host>().is_ok_and(|host| host.as_str() == name);
    if root.string("name").is_some() && !fits {
        root.wrong(
            "name",
            format!("`{name}` makes no host names: lower-case letters, digits and hyphens"),
        );
    }
    if let Some(other) = taken.get(&name) {
        root.wrong("name", format!("`{name}` is also the name in `{other}`"));
    }
    name
}

fn ids(section: &Section) -> Option<Ids> {
    let (actor, note) = (section.word("actor"), section.word("note"));
    Some(Ids {
        actor: actor?,
        note: note?,
    })
}

fn keys(section: &Section) -> Option<Keys> {
    let rsa_bits = match section.number("rsa_bits") {
        2048 => Some(RsaBits::Rsa2048),
        4096 => Some(RsaBits::Rsa4096),
        // Missing, or no number: that is noted already.
        0 => None,
        other => section.right(
            "rsa_bits",
            Err(format!("`{other}` bits are not made here: 2048 or 4096")),
        ),
    };
    Some(Keys { rsa_bits: rsa_bits? })
}

/// Names of headers, lower case, and the components in parentheses that the draft adds.
fn headers(section: &Section, key: &'static str, names: Vec<String>) -> Vec<String> {
    for name in &names {
        let inner = name
            .strip_prefix('(')
            .and_then(|name| name.strip_suffix(')'))
            .unwrap_or(name);
        let lower = !inner.bytes().any(|byte| byte.is_ascii_uppercase());
        if !lower || HeaderName::try_from(inner).is_err() {
            section.wrong(key, format!("`{name}` is no header name in lower case"));
        }
    }
    names
}

fn client(section: &Section) -> Client {
    let accept = section.texts("accept");
    for value in accept
        .iter()
        .filter(|value| HeaderValue::from_str(value).is_err())
    {
        section.wrong(
            "accept",
            format!("`{}` cannot stand in a header", value.escape_debug()),
        );
    }
    Client {
        user_agent: section.template("user_agent", &["origin", "host", "version"]),
        accept,
        content_type: section.media_type("content_type"),
        timeout: section.span("timeout"),
        fetch_timeout: section.span("fetch_timeout"),
        body_limit: size(section, "body_limit"),
        redirects: section.number("redirects").try_into().unwrap_or(usize::MAX),
        host_with_port: section.flag("host_with_port"),
    }
}

fn size(section: &Section, key: &'static str) -> usize {
    let size = section.number(key);
    if size > BODY_MAX {
        section.wrong(
            key,
            format!("`{size}` bytes are more than the farm reads: at most {BODY_MAX}"),
        );
    }
    usize::try_from(size).unwrap_or(usize::MAX)
}

fn facts(section: &Section) -> Vec<(String, String)> {
    let fact = |(name, _): &(&'static str, &str)| Some(((*name).to_owned(), section.optional_text(name)?));
    FACTS.iter().filter_map(fact).collect()
}

/// The largest body limit a profile may set, in bytes.
const BODY_MAX: u64 = 16 << 20;
