//! Delivering: what goes on the wire, and what is told of the answer.

use std::sync::Arc;

use bytes::Bytes;
use serde_json::json;
use tokio::net::TcpListener;
use url::Url;

use crate::clock::Timestamp;
use crate::deliver::tests::{Farm, Sut};
use crate::deliver::{How, Signer};
use crate::farm::{Peer, Who};
use crate::net::failure::Class;
use crate::signature::{self, Dialect, Outcome, Parsed};
use crate::software::load;

#[tokio::test]
async fn a_delivery_is_signed_over_what_goes_on_the_wire() {
    let sut = Sut::start().await;
    sut.says("/inbox", 202, "text/plain", "unread");
    for software in ["mastodon", "misskey", "lemmy"] {
        let farm = Farm::wearing(software);
        let signer = farm.alice().await;
        let body = Bytes::from_static(br#"{"id": "x", "n": 1.0}"#);
        let delivery = farm
            .outbound
            .send(&signer, &sut.url("/inbox?a=b"), body.clone(), How::default())
            .await
            .unwrap();
        assert_eq!(
            (delivery.status, delivery.body.as_deref(), delivery.is_taken()),
            (Some(202), None, true)
        );
        let asked = sut.asked().pop().unwrap();
        assert_eq!(
            (asked.target.as_str(), &asked.body),
            ("/inbox?a=b", &body),
            "{software}"
        );
        assert_eq!(
            asked.header("content-type"),
            farm.peer.software.client.content_type
        );
        // `openssl dgst -sha256 -binary | base64` of the body.
        assert_eq!(
            asked.header("digest"),
            "SHA-256=05WQu+7sajOPSVFrJ6/rjyZbCzRJT/6QH9h4hsP13ys="
        );
        let listed = farm.peer.software.signing.cavage.post.join(" ");
        assert!(
            asked
                .header("signature")
                .contains(&format!("headers=\"{listed}\"")),
            "{software}"
        );
    }
}

/// RFC 9110 section 7.2: a default port is left out, any other belongs there, and Mastodon leaves out both. RFC 9421
/// signs the port (section 2.2.2).
#[tokio::test]
async fn the_host_has_its_port_where_the_software_sends_it_or_the_dialect_signs_it() {
    let now = Timestamp::now();
    for (software, dialect, ported) in [
        ("mastodon", Dialect::Cavage, "sut.test"),
        ("mastodon", Dialect::Rfc9421, "sut.test:8443"),
        ("misskey", Dialect::Cavage, "sut.test:8443"),
        ("misskey", Dialect::Rfc9421, "sut.test:8443"),
    ] {
        let farm = Farm::wearing(software);
        let signer = farm.alice().await;
        for (url, expected) in [
            ("https://sut.test/inbox", "sut.test"),
            ("https://SUT.test:443/inbox", "sut.test"),
            ("https://sut.test:8443/inbox", ported),
        ] {
            let url = Url::parse(url).unwrap();
            let post = signer.means(dialect, Some(b"{}"), now);
            let post = signer.post(&url, b"{}", &post).unwrap();
            let get = signer.get(&url, &signer.means(dialect, None, now)).unwrap();
            assert_eq!(
                [&post["host"], &get["host"]],
                [expected; 2],
                "{software}: {dialect:?}"
            );
        }
    }
}

#[tokio::test]
async fn what_every_profile_signs_holds_in_either_dialect() {
    let farm = Farm::new();
    farm.alice().await;
    let keys = farm
        .outbound
        .world
        .keyring
        .ready(&farm.peer.key_owner(Who::Actor(0)))
        .unwrap();
    let (url, now) = (Url::parse("https://sut.test/inbox").unwrap(), Timestamp::now());
    for software in load(None).unwrap().iter() {
        let peer = Peer::new(
            "peer2.test".parse().unwrap(),
            Arc::clone(software),
            10,
            "https",
            None,
        );
        for who in [Who::Actor(0), Who::Instance] {
            let signer = Signer::new(&peer, who, Arc::clone(&keys), Arc::clone(&farm.outbound.fresh));
            for dialect in [Dialect::Cavage, Dialect::Rfc9421] {
                let post = signer.means(dialect, Some(b"{}"), now);
                let post = signer.post(&url, b"{}", &post).unwrap();
                let get = signer.get(&url, &signer.means(dialect, None, now)).unwrap();
                let signs_gets = dialect == Dialect::Rfc9421 || software.name != "lemmy";
                let gets = if signs_gets {
                    Outcome::Valid
                } else {
                    Outcome::Unsigned
                };
                for (method, headers, body, expected) in [
                    ("POST", post, b"{}".as_slice(), Outcome::Valid),
                    ("GET", get, b"", gets),
                ] {
                    let request = signature::Request {
                        method,
                        target: "/inbox",
                        scheme: "https",
                        headers: &headers,
                        authority: None,
                        body,
                    };
                    let result = match signature::parse(&request) {
                        Parsed::Unsigned => Outcome::Unsigned,
                        Parsed::Invalid(verdict) => panic!("{verdict:?}"),
                        Parsed::Signed(found) => {
                            assert_eq!(found[0].key_id(), signer.key_id());
                            let terms = software.verifying.terms(now);
                            let verdict = found[0].verify(&request, keys.rsa.public_key(), terms);
                            assert_eq!(verdict.dialect, Some(dialect));
                            verdict.result
                        }
                    };
                    assert_eq!(result, expected, "{}: {method} in {dialect:?}", software.name);
                }
            }
        }
    }
}

#[tokio::test]
async fn what_the_other_side_says_is_reported_as_it_came() {
    let (farm, sut) = (Farm::new(), Sut::start().await);
    let signer = farm.alice().await;
    let send = async |path: &str| {
        farm.outbound
            .send(&signer, &sut.url(path), Bytes::from_static(b"{}"), How::default())
            .await
            .unwrap()
    };
    sut.says("/no", 401, "application/json", r#"{"error": "why"}"#);
    let refused = send("/no").await;
    assert_eq!(
        (refused.status, refused.body.as_deref()),
        (Some(401), Some(r#"{"error": "why"}"#))
    );
    assert!(!refused.is_taken() && refused.error.is_none());
    sut.says("/much", 500, "text/plain", "x".repeat(200_000));
    assert_eq!(
        send("/much").await.body.map(|body| body.len()),
        Some(crate::deliver::ANSWER_MAX)
    );
    let json = serde_json::to_value(&refused).unwrap();
    let keys: Vec<&String> = json.as_object().unwrap().keys().collect();
    assert_eq!(keys, ["inbox", "status", "time_ms", "dialect", "knocks", "body"]);
}

#[tokio::test]
async fn a_redirect_of_a_signed_post_is_an_answer_and_goes_nowhere() {
    let (farm, sut) = (Farm::new(), Sut::start().await);
    let signer = farm.alice().await;
    sut.says("/elsewhere", 202, "text/plain", "");
    for status in [301, 302, 303, 307, 308] {
        sut.redirects("/inbox", status, "/elsewhere");
        let inbox = sut.url("/inbox");
        let delivery = farm
            .outbound
            .send(&signer, &inbox, Bytes::from_static(b"{}"), How::default())
            .await
            .unwrap();
        assert_eq!(
            (delivery.status, delivery.location.as_deref()),
            (Some(status), Some("/elsewhere"))
        );
        assert!(!delivery.is_taken());
    }
    assert_eq!(sut.count("/elsewhere"), 0);
}

#[tokio::test]
async fn a_delivery_that_did_not_arrive_says_why() {
    let farm = Farm::new();
    let signer = farm.alice().await;
    let closed = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = closed.local_addr().unwrap().port();
    drop(closed);
    for (url, class) in [
        (format!("http://127.0.0.1:{port}/inbox"), Class::Refused),
        ("https://8.8.8.8/inbox".to_owned(), Class::Gate),
        ("https://unknown.invalid/inbox".to_owned(), Class::Dns),
    ] {
        let inbox = Url::parse(&url).unwrap();
        let delivery = farm
            .outbound
            .send(&signer, &inbox, Bytes::from_static(b"{}"), How::default())
            .await
            .unwrap();
        assert_eq!((delivery.error, delivery.status), (Some(class), None));
        assert!(!delivery.may_have_arrived() && delivery.detail.is_some());
        assert_eq!(json!(delivery)["error"], json!(class.label()));
    }
}
