//! Where things are and what they say: URLs, documents, discovery.

use crate::software::check::known::{ACTOR, ACTOR_PATH, FRESH, NOTE_PATH, PERSON, SERVER, SERVER_PATH, all};
use crate::software::check::replies::reply;
use crate::software::raw::Section;
use crate::software::{Documents, NodeInfo, NodeInfoDocument, Template, Urls, WebFinger};

pub(super) fn urls(section: &Section) -> Urls {
    let server = |key| rooted(section, key, SERVER_PATH);
    let actor = |key| rooted(section, key, ACTOR_PATH);
    let note = |key| rooted(section, key, NOTE_PATH);
    let optional = |key| section.has(key).then(|| actor(key));
    Urls {
        actor: actor("actor"),
        profile: actor("profile"),
        inbox: actor("inbox"),
        shared_inbox: section.has("shared_inbox").then(|| server("shared_inbox")),
        outbox: actor("outbox"),
        followers: optional("followers"),
        following: optional("following"),
        featured: optional("featured"),
        page: section.template("page", &["collection", "page"]),
        note: note("note"),
        create: note("create"),
        follow: section.template("follow", &all(&[ACTOR, FRESH])),
        accept: section.template("accept", &all(&[ACTOR, FRESH, &["follow"]])),
        undo: section.template("undo", &all(&[ACTOR, FRESH, &["follow"]])),
        activity: section.template("activity", &all(&[ACTOR, FRESH, &["type"]])),
        key: section.template("key", ACTOR),
        ed25519_key: section.optional_template("ed25519_key", ACTOR),
        instance: server("instance"),
        instance_inbox: server("instance_inbox"),
        instance_outbox: server("instance_outbox"),
        instance_key: section.template("instance_key", &all(&[SERVER, &["name", "handle", "actor"]])),
        key_document: optional("key_document"),
    }
}

/// A URL that a request can ask for: it begins with `{origin}`, and the rest tells whose it is.
fn rooted(section: &Section, key: &'static str, known: &[&str]) -> Template {
    let template = section.template(key, known);
    if template != Template::default() && !template.is_rooted() {
        section.wrong(
            key,
            "begins with `{origin}`, else no request could be matched against it",
        );
    }
    template
}

pub(super) fn documents(section: &Section, urls: &Urls) -> Documents {
    let document = |key, more: &[&str]| section.document(key, &all(&[ACTOR, more]));
    let documents = Documents {
        content_type: section.media_type("content_type"),
        actor: document("actor", PERSON),
        instance: document("instance", PERSON),
        note: document(
            "note",
            &[
                "object",
                "note",
                "create",
                "content",
                "text",
                "published",
                "to",
                "cc",
                "tag",
            ],
        ),
        create: document("create", &["create", "object", "published", "to", "cc"]),
        follow: document("follow", &["follow", "target"]),
        accept: document("accept", &["accept", "follow", "follow_id", "follower"]),
        undo: document("undo", &["undo", "follow", "follow_id", "target"]),
        collection: document("collection", &["collection", "total", "first", "last"]),
        page: document(
            "page",
            &["page_url", "collection", "total", "items", "next", "prev"],
        ),
        key: section.optional_document("key", &all(&[ACTOR, &["public_key_pem"]])),
    };
    if urls.key_document.is_some() && !section.has("key") {
        section.wrong("key", "missing, and `urls.key_document` says where it is");
    }
    if urls.key_document.is_none() && section.has("key") {
        section.wrong("key", "nothing leads to it: `urls.key_document` is missing");
    }
    documents
}

pub(super) fn webfinger(section: &Section) -> WebFinger {
    let known = all(&[ACTOR, &["resource"]]);
    WebFinger {
        by_url: section.flag("by_url"),
        document: section.document("document", &known),
        instance: section.optional_document("instance", &known),
        content_type: section.media_type("content_type"),
        bad_resource: reply(section, "bad_resource"),
        foreign_host: reply(section, "foreign_host"),
        unknown_user: reply(section, "unknown_user"),
    }
}

pub(super) fn nodeinfo(section: &Section) -> NodeInfo {
    let document = |section: &Section| NodeInfoDocument {
        version: section.text("version"),
        url: rooted(section, "url", SERVER_PATH),
        document: section.document("document", &all(&[SERVER, &["users", "posts"]])),
        content_type: section.media_type("content_type"),
    };
    let documents: Vec<NodeInfoDocument> = section.sections("documents").iter().map(document).collect();
    let link = |section: &Section| (section.text("rel"), section.template("href", SERVER));
    let redirect = |section: &Section| {
        let (path, to) = (section.text("path"), section.text("to"));
        if section.has("path") && !path.starts_with('/') {
            section.wrong("path", format!("`{path}` is no path: it begins with `/`"));
        }
        let target = documents.iter().position(|document| document.version == to);
        let target = target.ok_or_else(|| format!("no document here has version `{to}`"));
        Some((path, section.right("to", target)?))
    };
    NodeInfo {
        extra_links: section
            .optional_sections("extra_links")
            .iter()
            .map(link)
            .collect(),
        redirects: section
            .optional_sections("redirects")
            .iter()
            .filter_map(redirect)
            .collect(),
        documents,
    }
}
