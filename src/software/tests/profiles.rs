//! What the profiles that come with the farm say on the wire.

use serde_json::{Value, json};

use super::*;
use crate::signature::Reason;

fn of_alice(software: &Software) -> Values {
    let mut values = Values::default()
        .with("origin", "https://a.test")
        .with("host", "a.test")
        .with("authority", "a.test")
        .with("name", "alice")
        .with("handle", "alice@a.test")
        .with("id", "9q2m5x0k4r")
        .with("number", 1);
    for (name, template) in [
        ("actor", Some(&software.urls.actor)),
        ("profile", Some(&software.urls.profile)),
        ("inbox", Some(&software.urls.inbox)),
        ("outbox", Some(&software.urls.outbox)),
        ("followers", software.urls.followers.as_ref()),
        ("key", Some(&software.urls.key)),
        ("shared_inbox", software.urls.shared_inbox.as_ref()),
    ] {
        if let Some(template) = template {
            let url = template.render(&values);
            values.set(name, url);
        }
    }
    values
}

/// Expected values from the servers' own sources, as far as each names them.
#[test]
fn urls_have_the_shapes_of_their_software() {
    let profiles = profiles();
    for (name, expected) in [
        (
            "mastodon",
            [
                "/users/alice",
                "/users/alice/inbox",
                "/inbox",
                "/users/alice#main-key",
                "/users/alice/statuses/7",
            ],
        ),
        (
            "misskey",
            [
                "/users/9q2m5x0k4r",
                "/users/9q2m5x0k4r/inbox",
                "/inbox",
                "/users/9q2m5x0k4r#main-key",
                "/notes/7",
            ],
        ),
        (
            "lemmy",
            [
                "/u/alice",
                "/u/alice/inbox",
                "/inbox",
                "/u/alice#main-key",
                "/comment/7",
            ],
        ),
    ] {
        let software = profiles.get(name).unwrap();
        let values = of_alice(software).with("note", "7");
        let urls = &software.urls;
        let shared = urls.shared_inbox.as_ref().unwrap();
        let written =
            [&urls.actor, &urls.inbox, shared, &urls.key, &urls.note].map(|url| url.render(&values));
        assert_eq!(
            written,
            expected.map(|path| format!("https://a.test{path}")),
            "{name}"
        );
    }
}

/// I13: `publicKey` has to survive expansion. Lemmy's remote context includes security/v1.
#[test]
fn actors_are_whole_and_their_context_covers_the_key() {
    for software in profiles().iter() {
        let values = of_alice(software).with("public_key_pem", "PEM");
        let actor = software.documents.actor.render(&values);
        let context = actor["@context"].as_array().unwrap();
        let covers = [
            "https://w3id.org/security/v1",
            "https://join-lemmy.org/context.json",
        ];
        assert!(
            context
                .iter()
                .any(|part| covers.contains(&part.as_str().unwrap_or_default())),
            "{}",
            software.name
        );
        assert!(context.contains(&json!("https://www.w3.org/ns/activitystreams")));
        for key in ["id", "type", "inbox", "outbox", "preferredUsername"] {
            assert!(actor[key].is_string(), "{}: {key}", software.name);
        }
        assert_eq!(actor["publicKey"]["owner"], actor["id"]);
        assert_eq!(actor["publicKey"]["publicKeyPem"], "PEM");
        assert_eq!(actor["endpoints"]["sharedInbox"], "https://a.test/inbox");
        assert_eq!(actor.get("followers").is_some(), software.name != "lemmy");
    }
}

/// I01: the Accept carries the Follow's id byte for byte, and an id of its own.
#[test]
fn an_accept_names_the_follow_it_accepts() {
    for software in profiles().iter() {
        let follow = "https://s.test/f/1?x=%7E";
        let values = of_alice(software)
            .with("accept", "https://a.test/x")
            .with("follow_id", follow)
            .with("follower", "https://s.test/u");
        let accept = software.documents.accept.render(&values);
        let object = &accept["object"];
        assert_eq!(
            (&object["id"], &object["actor"]),
            (&json!(follow), &json!("https://s.test/u")),
            "{}",
            software.name
        );
        assert_eq!(
            (&object["object"], &accept["id"]),
            (&accept["actor"], &json!("https://a.test/x"))
        );
        assert_eq!(accept.get("to").is_some(), software.name == "lemmy");
    }
}

#[test]
fn a_page_without_a_next_one_has_no_such_key() {
    for software in profiles().iter() {
        let values = Values::default()
            .with("total", 41)
            .with("items", json!([{"@context": "x", "id": "y"}]))
            .with("prev", "p");
        let page = software.documents.page.render(&values);
        assert!(
            page.get("next").is_none() && page["prev"] == "p",
            "{}",
            software.name
        );
        assert_eq!(
            (&page["totalItems"], &page["orderedItems"]),
            (&json!(41), &json!([{"id": "y"}]))
        );
    }
}

/// The answers that the three are told apart by.
#[test]
fn refusals_are_those_of_the_software() {
    let profiles = profiles();
    let status = |name: &str, reason: Reason| {
        let inbox = &profiles.get(name).unwrap().inbox;
        let own = inbox.by_reason.iter().find(|(of, _)| *of == reason);
        own.map_or(inbox.bad_signature.status, |(_, reply)| reply.status)
    };
    for (reason, mastodon, misskey, lemmy) in [
        (Reason::SignatureMismatch, 401, 202, 400),
        (Reason::DateTooOld, 401, 401, 400),
        (Reason::DigestMissing, 401, 401, 400),
        (Reason::KeyFetchFailed, 503, 202, 400),
    ] {
        assert_eq!(status("mastodon", reason), mastodon, "{reason:?}");
        assert_eq!(status("misskey", reason), misskey, "{reason:?}");
        assert_eq!(status("lemmy", reason), lemmy, "{reason:?}");
    }
    for (name, accepted, limit, foreign) in [
        ("mastodon", 202, 1_048_576, 404),
        ("misskey", 202, 65_536, 422),
        ("lemmy", 200, 262_144, 400),
    ] {
        let software = profiles.get(name).unwrap();
        assert_eq!(
            (software.inbox.accepted.status, software.inbox.body_limit),
            (accepted, limit),
            "{name}"
        );
        assert_eq!(
            (
                software.inbox.too_large.status,
                software.webfinger.foreign_host.status
            ),
            (413, foreign),
            "{name}"
        );
    }
    assert!(profiles.get("lemmy").unwrap().host_meta.is_none());
}

#[test]
fn a_refusal_stays_json_whatever_the_detail_holds() {
    let profiles = profiles();
    let values = Values::default()
        .with("reason", "malformed")
        .with("detail", "a \"quoted\" {brace}\n")
        .with("key_id", "k\\");
    for name in ["mastodon", "lemmy"] {
        let body = profiles
            .get(name)
            .unwrap()
            .inbox
            .bad_signature
            .body
            .render(&values);
        let body: Value = serde_json::from_str(&body).unwrap();
        assert_eq!(body["detail"], "a \"quoted\" {brace}\n", "{name}");
        assert!(body.to_string().contains("malformed"), "{name}");
    }
}

#[test]
fn an_inbox_takes_the_media_types_of_its_software() {
    let profiles = profiles();
    let takes = |name: &str, media_type: Option<&str>| profiles.get(name).unwrap().inbox.takes(media_type);
    for (media_type, mastodon, misskey, lemmy) in [
        (Some("application/activity+json"), true, true, true),
        (
            Some("Application/LD+JSON; profile=\"https://www.w3.org/ns/activitystreams\""),
            true,
            true,
            true,
        ),
        (Some("application/octet-stream"), true, false, true),
        (Some("text/plain"), true, false, false),
        (Some("é"), true, false, false),
        (None, true, false, false),
    ] {
        let taken = ["mastodon", "misskey", "lemmy"].map(|name| takes(name, media_type));
        assert_eq!(taken, [mastodon, misskey, lemmy], "{media_type:?}");
    }
}

/// NodeInfo PROTOCOL.md and the 2.0 and 2.1 schemas: keys that must be there, the pattern of the name.
#[test]
fn nodeinfo_has_what_its_schema_requires() {
    for software in profiles().iter() {
        for document in &software.nodeinfo.documents {
            let values = Values::default()
                .with("users", 10)
                .with("posts", 20)
                .with("version", "1")
                .with("host", "a.test");
            let rendered = document.document.render(&values);
            assert_eq!(rendered["version"], document.version.as_str());
            for key in [
                "software",
                "protocols",
                "services",
                "openRegistrations",
                "usage",
                "metadata",
            ] {
                assert!(rendered.get(key).is_some(), "{}: {key}", software.name);
            }
            assert_eq!(rendered["usage"]["users"]["total"], 10);
            assert_eq!(rendered["software"]["name"], software.name.as_str());
            assert!(
                rendered["services"]["inbound"].is_array() && rendered["services"]["outbound"].is_array()
            );
        }
    }
}
