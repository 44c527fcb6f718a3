//! How a server finds actors and reads what peers publish, over the wire: WebFinger, host-meta, NodeInfo, documents.

use std::net::SocketAddr;

use ::peerfarm::Running;
use ::peerfarm::command::serve::KeyMode;
use ::peerfarm::farm::Who;
use http::HeaderMap;
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use crate::support::raw::{self, Answer};
use crate::support::{DEADLINE, Request, Sut, farm, farm_with};

const HOST: &str = "mastodon1.test";

/// A farm, and the first Mastodon in it.
struct Found {
    running: Running,
    to: SocketAddr,
    /// `https://mastodon1.test:41234`.
    origin: String,
    /// `mastodon1.test:41234`.
    authority: String,
}

impl Found {
    async fn start() -> Found {
        let running = farm(&Sut::start(&[]).await).notes(45).start().await.unwrap();
        let to = running.addresses().listen_http.unwrap();
        let peer = running.peer(HOST).unwrap();
        let (origin, authority) = (peer.origin.clone(), peer.authority().to_owned());
        Found {
            running,
            to,
            origin,
            authority,
        }
    }

    async fn ask(&self, method: &str, target: &str, headers: &[(&'static str, &str)]) -> Answer {
        let mut map = HeaderMap::new();
        map.insert("host", self.authority.parse().unwrap());
        for (name, value) in headers {
            map.append(*name, value.parse().unwrap());
        }
        raw::send(self.to, method, target, &map, b"").await
    }

    async fn finger(&self, query: &str) -> Answer {
        let target = format!("/.well-known/webfinger?{query}");
        self.ask("GET", &target, &[("origin", "https://x.test")]).await
    }

    fn alice(&self) -> String {
        format!("acct:alice@{}", self.authority)
    }
}

fn one(answer: &Answer, name: &str) -> String {
    let values = answer.header(name);
    assert_eq!(values.len(), 1, "`{name}` in {answer:?}");
    values[0].clone()
}

#[tokio::test]
async fn an_account_is_found_however_it_is_written() {
    let found = Found::start().await;
    let alice = found.alice();
    let first = found.finger(&format!("resource={alice}")).await;
    assert_eq!(
        (first.status, one(&first, "content-type")),
        (200, "application/jrd+json".to_owned())
    );
    let jrd = first.json();
    let (actor, page) = (
        format!("{}/users/alice", found.origin),
        format!("{}/@alice", found.origin),
    );
    assert_eq!(
        (&jrd["subject"], &jrd["aliases"]),
        (&alice.as_str().into(), &json!([page, actor]))
    );
    let own = json!({"rel": "self", "type": "application/activity+json", "href": actor});
    assert!(jrd["links"].as_array().unwrap().contains(&own), "{jrd}");
    let encode = |text: &str| text.replace(':', "%3A").replace('/', "%2F").replace('@', "%40");
    for resource in [
        encode(&alice),
        encode(&alice).to_lowercase(),
        format!("acct:alice@{HOST}"),
        format!("acct:ALICE@{}", found.authority.to_uppercase()),
        actor.clone(),
        encode(&actor),
        encode(&page),
    ] {
        let answer = found.finger(&format!("resource={resource}")).await;
        assert_eq!((answer.status, answer.json()), (200, jrd.clone()), "{resource}");
    }
}

#[tokio::test]
async fn what_cannot_be_found_is_no_bad_request() {
    let found = Found::start().await;
    let alice = found.alice();
    for (query, status) in [
        (String::new(), 400),
        ("resource=".to_owned(), 400),
        (format!("resource={alice}&resource={alice}"), 400),
        ("resource=foobar".to_owned(), 400),
        (format!("resource=mailto:alice@{HOST}"), 404),
        (format!("resource=acct:nobody@{HOST}"), 404),
        // A raw `+` is a plus, in a name that nobody here has.
        (format!("resource=acct:alice+x@{HOST}"), 404),
        ("resource=acct:alice@elsewhere.test".to_owned(), 404),
    ] {
        let answer = found.finger(&query).await;
        assert_eq!(
            (answer.status, one(&answer, "access-control-allow-origin")),
            (status, "*".to_owned()),
            "{query}"
        );
        assert!(
            !answer.header("content-type").concat().contains("html"),
            "{query}"
        );
    }
}

#[tokio::test]
async fn links_are_kept_by_their_relation() {
    let found = Found::start().await;
    let alice = found.alice();
    for (rel, expected) in [
        ("&rel=self", &["self"][..]),
        ("&rel=nope", &[]),
        (
            "&rel=self&rel=http%3A%2F%2Fwebfinger.net%2Frel%2Fprofile-page",
            &["http://webfinger.net/rel/profile-page", "self"],
        ),
    ] {
        let jrd = found.finger(&format!("resource={alice}{rel}")).await.json();
        let links = jrd["links"].as_array().unwrap();
        let rels: Vec<&str> = links.iter().map(|link| link["rel"].as_str().unwrap()).collect();
        assert_eq!(
            (&rels[..], &jrd["subject"]),
            (expected, &alice.as_str().into()),
            "{rel}"
        );
    }
}

#[tokio::test]
async fn scripts_of_any_origin_may_look_around() {
    let found = Found::start().await;
    let asks = [
        ("origin", "https://x.test"),
        ("access-control-request-method", "GET"),
        ("access-control-request-headers", "accept"),
    ];
    for target in [
        "/.well-known/webfinger",
        "/.well-known/webfinger?resource=acct:nobody@mastodon1.test",
        "/.well-known/host-meta",
        "/.well-known/host-meta.json",
        "/.well-known/nodeinfo",
        "/nodeinfo/2.0",
    ] {
        let preflight = found.ask("OPTIONS", target, &asks).await;
        assert_eq!(preflight.status, 204, "{target}");
        assert_eq!(one(&preflight, "access-control-allow-origin"), "*");
        assert!(one(&preflight, "access-control-allow-methods").contains("GET"));
        let answer = found.ask("GET", target, &asks).await;
        assert_eq!(one(&answer, "access-control-allow-origin"), "*", "{target}");
    }
}

#[tokio::test]
async fn host_meta_and_nodeinfo_lead_on() {
    let found = Found::start().await;
    let template = format!("{}/.well-known/webfinger?resource={{uri}}", found.origin);
    let xrd = found.ask("GET", "/.well-known/host-meta", &[]).await;
    assert!(
        one(&xrd, "content-type").starts_with("application/xrd+xml"),
        "{xrd:?}"
    );
    assert!(
        xrd.text().contains(&format!("template=\"{template}\"")),
        "{}",
        xrd.text()
    );
    assert_eq!(xrd.text().matches("<Link ").count(), 1);
    let twin = found.ask("GET", "/.well-known/host-meta.json", &[]).await;
    assert_eq!(
        twin.json()["links"],
        json!([{"rel": "lrdd", "template": template}])
    );
    let links = found.ask("GET", "/.well-known/nodeinfo", &[]).await.json();
    let rel = "http://nodeinfo.diaspora.software/ns/schema/2.0";
    let href = format!("{}/nodeinfo/2.0", found.origin);
    assert_eq!(links, json!({"links": [{"rel": rel, "href": href}]}));
    let document = raw::get(found.to, &href, None).await.json();
    assert_eq!(
        (&document["version"], &document["software"]["name"]),
        (&"2.0".into(), &"mastodon".into())
    );
    assert_eq!(
        document["usage"],
        json!({"users": {"total": 10, "activeMonth": 10, "activeHalfyear": 10}, "localPosts": 450})
    );
}

#[tokio::test]
async fn an_accept_decides_between_document_and_page() {
    let found = Found::start().await;
    let profile = r#"application/ld+json; profile="https://www.w3.org/ns/activitystreams""#;
    for (lines, is_page) in [
        (&["application/activity+json"][..], false),
        (&[profile], false),
        (&["text/html;q=0.1", profile, "application/activity+json"], false),
        (&["*/*"], false),
        (
            &["text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8"],
            true,
        ),
    ] {
        let headers: Vec<_> = lines.iter().map(|line| ("accept", *line)).collect();
        let answer = found.ask("GET", "/users/%61lice", &headers).await;
        assert_eq!(
            (answer.status, one(&answer, "vary")),
            (200, "Accept".to_owned()),
            "{lines:?}"
        );
        let media = one(&answer, "content-type");
        assert!(
            media.starts_with(if is_page {
                "text/html"
            } else {
                "application/activity+json"
            }),
            "{lines:?}: {media}"
        );
    }
}

#[tokio::test]
async fn a_head_is_a_get_without_the_body() {
    let found = Found::start().await;
    let whole = found
        .ask("GET", "/users/alice/outbox", &[("connection", "close")])
        .await;
    let mut stream = TcpStream::connect(found.to).await.unwrap();
    let request = format!(
        "HEAD /users/alice/outbox HTTP/1.1\r\nhost: {}\r\nconnection: close\r\n\r\n",
        found.authority
    );
    stream.write_all(request.as_bytes()).await.unwrap();
    let mut bytes = Vec::new();
    tokio::time::timeout(DEADLINE, stream.read_to_end(&mut bytes))
        .await
        .unwrap()
        .unwrap();
    let text = String::from_utf8(bytes).unwrap();
    let (head, body) = text.split_once("\r\n\r\n").unwrap();
    let undated = |head: &str| {
        head.lines()
            .filter(|line| !line.starts_with("date:"))
            .map(str::to_owned)
            .collect::<Vec<_>>()
    };
    assert_eq!((undated(head), body), (undated(&whole.head), ""));
}

#[tokio::test]
async fn an_outbox_is_read_to_its_end() {
    let found = Found::start().await;
    let whole = raw::get(found.to, &format!("{}/users/alice/outbox", found.origin), None)
        .await
        .json();
    let (mut next, mut creates) = (whole["first"].clone(), Vec::new());
    while let Some(url) = next.as_str() {
        let page = raw::get(found.to, url, None).await.json();
        assert_eq!(page["id"], url);
        creates.extend(page["orderedItems"].as_array().unwrap().iter().cloned());
        next = page["next"].clone();
    }
    assert_eq!((creates.len(), &whole["totalItems"]), (45, &45.into()));
    for id in [&creates[0]["id"], &creates[44]["object"]["id"]] {
        let document = raw::get(found.to, id.as_str().unwrap(), Some("application/activity+json"))
            .await
            .json();
        assert_eq!(document["id"], *id);
    }
}

#[tokio::test]
async fn every_actor_shows_a_key_of_its_own_name() {
    let found = Found::start().await;
    for peer in found.running.peers() {
        for who in [Who::Actor(0), Who::Instance] {
            let url = peer.actor_url(who);
            let actor = raw::get(found.to, &url, Some("application/activity+json"))
                .await
                .json();
            assert_eq!(
                (&actor["id"], &actor["publicKey"]["owner"]),
                (&url.as_str().into(), &url.as_str().into())
            );
            let pem = actor["publicKey"]["publicKeyPem"].as_str().unwrap();
            assert!(pem.starts_with("-----BEGIN PUBLIC KEY-----"), "{pem}");
            let name = actor["preferredUsername"].as_str().unwrap();
            assert!(!name.is_empty() && !name.contains(':'), "{name}");
        }
    }
}

#[tokio::test]
async fn fetches_count_by_kind_and_status() {
    let found = Found::start().await;
    let alice = found.alice();
    found.finger(&format!("resource={alice}")).await;
    found.finger("resource=").await;
    for target in [
        "/users/alice",
        "/users/nobody",
        "/@alice",
        "/users/alice/outbox",
        "/users/alice/statuses/1",
        "/.well-known/nodeinfo",
        "/.well-known/host-meta",
        "/nowhere",
    ] {
        found.ask("GET", target, &[]).await;
    }
    let stats = serde_json::to_value(found.running.stats()).unwrap();
    let fetches = &stats["hosts"][HOST]["fetches"];
    for (kind, status) in [
        ("webfinger", json!({"200": 1, "400": 1})),
        ("actor", json!({"200": 1, "404": 1})),
        ("page", json!({"200": 1})),
        ("collection", json!({"200": 1})),
        ("object", json!({"404": 1})),
        ("nodeinfo", json!({"200": 1})),
        ("host_meta", json!({"200": 1})),
        ("unknown", json!({"404": 1})),
    ] {
        assert_eq!(fetches[kind]["status"], status, "{kind} in {fetches}");
    }
    assert_eq!(stats["totals"]["requests"], Value::from(0));
}

#[tokio::test]
async fn a_broken_key_file_is_told_and_counted() {
    let (farm, _state) = farm_with(|settings| {
        settings.listen_http = Some(settings.control);
        settings.keys = KeyMode::OnDemand;
        let folder = settings.state.join("keys").join(HOST);
        std::fs::create_dir_all(&folder).unwrap();
        std::fs::write(folder.join("alice.pem"), "no key\n").unwrap();
    })
    .await;
    let mut plain = TcpStream::connect(farm.addresses().listen_http.unwrap())
        .await
        .unwrap();
    let mut fetch = async |name: &str| {
        let actor = Request::get(&format!("https://{HOST}/users/{name}"));
        actor.send_over(&mut plain).await
    };
    let answer = fetch("alice").await;
    assert_eq!(answer.status, 500);
    assert!(
        answer.text().contains("alice.pem` does not hold"),
        "{}",
        answer.text()
    );
    assert_eq!(fetch("bob").await.status, 200, "the others go on");
    let fetches = &farm.stats().hosts[&HOST.parse().unwrap()].fetches["actor"];
    assert_eq!(fetches.status, [(200, 1), (500, 1)].into());
}
