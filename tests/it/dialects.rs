//! Who knocks how, which dialects a software takes, and what it tells the others.

use std::time::Duration;

use peerfarm::Running;
use serde_json::{Value, json};

use crate::support::{
    Api, By, Meets, Received, Request, Sut, changed, farm, last_entry, persona, plain, raw, softwares,
};

/// What Mastodon asks of RFC 9421, and what it and most others send.
const OF_POST: [&str; 3] = ["@method", "@target-uri", "content-digest"];

/// What a peer does not read it answers so that the sender tries its other dialect.
#[tokio::test]
async fn a_dialect_that_is_not_read_gets_401_and_the_other_is_taken() {
    let sut = Sut::start(&["u1"]).await;
    let (modern, _dirs) = changed(&sut, &[(cavage_table(), "")]).await;
    let usual = farm(&sut).start().await.unwrap();
    let of = |farm: &Running, host: &str| persona(farm, &format!("alice@{host}"));
    for (farm, alice, takes) in [
        (
            &usual,
            of(&usual, "mastodon1.test"),
            ["cavage", "rfc9421"].as_slice(),
        ),
        (&usual, of(&usual, "misskey1.test"), &["cavage"]),
        (&usual, of(&usual, "lemmy1.test"), &["cavage"]),
        (&modern, of(&modern, "mastodon1.test"), &["rfc9421"]),
    ] {
        for dialect in ["rfc9421", "cavage"] {
            let create = create(&sut, &alice.inbox, &format!("{dialect}{}", takes.len()));
            let signed = match dialect {
                "cavage" => create.signed(&sut, "u1"),
                _ => create.signed_rfc9421(&sut, "u1", "sig1", &OF_POST),
            };
            let answer = signed.send(plain(farm)).await;
            let entry = last_entry(farm).await;
            let verdict = &entry["verdict"];
            // The verdict is the specification's, whoever is asked.
            assert_eq!(
                (&verdict["result"], &verdict["dialect"]),
                (&json!("valid"), &json!(dialect)),
                "{verdict}"
            );
            if takes.contains(&dialect) {
                assert_eq!(answer.status, alice.taken, "{}: {answer:?}", alice.handle);
                assert_eq!(entry["outcome"], "accepted");
                continue;
            }
            assert_eq!(answer.status, 401, "{}: {answer:?}", alice.handle);
            assert_eq!(answer.header("x-peerfarm-reason"), ["unsupported_dialect"]);
            assert_eq!(
                (&entry["outcome"], &entry["notes"][0]),
                (&json!("refused"), &json!("refused: unsupported_dialect")),
                "{entry}"
            );
        }
        // Nor does one that holds nothing become another failure, or worse a success.
        let torn = create(&sut, &alice.inbox, "torn").with("signature-input", "sig1=(");
        let answer = torn.with("signature", "sig1=:AA==:").send(plain(farm)).await;
        assert_eq!(answer.status, 401, "{answer:?}");
        let reason = if takes.contains(&"rfc9421") {
            "malformed"
        } else {
            "unsupported_dialect"
        };
        assert_eq!(answer.header("x-peerfarm-reason"), [reason]);
    }
}

#[tokio::test]
async fn what_signature_would_do_is_told_where_the_profile_says_so() {
    let sut = Sut::start(&["u1"]).await;
    let asked = r#"sig1=("@method" "@target-uri" "content-digest");created"#;
    let (telling, _dirs) = changed(
        &sut,
        &[
            (cavage_table(), ""),
            (
                "[verifying.rfc9421]",
                &format!("[verifying.rfc9421]\naccept_signature = '{asked}'"),
            ),
            ("authorized_fetch = false", "authorized_fetch = true"),
        ],
    )
    .await;
    let silent = farm(&sut).start().await.unwrap();
    for (farm, tells) in [(&telling, vec![asked.to_owned()]), (&silent, vec![])] {
        let alice = persona(farm, "alice@mastodon1.test");
        let told = async |request: Request, status: u16| {
            let answer = request.send(plain(farm)).await;
            assert_eq!(answer.status, status, "{answer:?}");
            answer.header("accept-signature")
        };
        let whole = || create(&sut, &alice.inbox, "1");
        assert_eq!(told(whole(), 401).await, tells);
        let tampered = whole()
            .signed_rfc9421(&sut, "u1", "sig1", &OF_POST)
            .tampered(b"{}");
        assert_eq!(told(tampered, 400).await, [""; 0], "no 401");
        let uncovered = whole().signed_rfc9421(&sut, "u1", "sig1", &OF_POST[..2]);
        assert_eq!(told(uncovered, 401).await, tells);
        let taken = whole().signed_rfc9421(&sut, "u1", "sig1", &OF_POST);
        assert_eq!(told(taken, 202).await, [""; 0]);
    }
    let alice = persona(&telling, "alice@mastodon1.test");
    let get = || Request::get(&alice.id).with("accept", "application/activity+json");
    let by_cavage = get().signed_over(&sut, "u1", &["(request-target)", "host", "date"]);
    for refused in [get(), by_cavage] {
        let answer = refused.send(plain(&telling)).await;
        assert_eq!(
            (answer.status, answer.header("accept-signature")),
            (401, vec![asked.to_owned()])
        );
    }
}

#[tokio::test]
async fn what_must_be_signed_is_the_dialects_own() {
    let sut = Sut::start(&["u1"]).await;
    // By the specification any of these names the target; Mastodon wants `@target-uri`.
    let by_parts = ["@method", "@authority", "@path", "content-digest"];
    let wanted = "requires_post = [\"@method\", \"@target-uri\", \"content-digest\"]";
    let (lenient, _dirs) = changed(&sut, &[(wanted, "requires_post = []")]).await;
    let strict = farm(&sut).start().await.unwrap();
    for (farm, status) in [(&strict, 401), (&lenient, 202)] {
        let alice = persona(farm, "alice@mastodon1.test");
        let signed = create(&sut, &alice.inbox, "1").signed_rfc9421(&sut, "u1", "sig1", &by_parts);
        let answer = signed.send(plain(farm)).await;
        assert_eq!(answer.status, status, "{answer:?}");
        assert_eq!(last_entry(farm).await["verdict"]["result"], "valid");
        if status == 401 {
            assert_eq!(answer.header("x-peerfarm-reason"), ["header_not_signed"]);
            assert!(
                answer.text().contains("mastodon wants `@target-uri` signed"),
                "{answer:?}"
            );
        }
        // What is wanted of RFC 9421 is not wanted of draft-cavage.
        let other = create(&sut, &alice.inbox, "2").signed(&sut, "u1");
        assert_eq!(other.send(plain(farm)).await.status, 202);
    }
}

#[tokio::test]
async fn an_algorithm_that_the_software_does_not_verify_is_refused() {
    let sut = Sut::start(&["u1"]).await;
    let farm = farm(&sut).start().await.unwrap();
    let key = peerfarm::signature::key::SigningKey::generate_ed25519().unwrap();
    let mut document = sut.actor_document("u1");
    document["publicKey"]["publicKeyPem"] = key.public_pem().unwrap().into();
    sut.serve_at("/users/u1", 200, document);
    let key_id = sut.key_id("u1");
    for (alice, refused) in softwares(&farm, "alice")
        .into_iter()
        .zip([Some(401), None, Some(400)])
    {
        let signed = create(&sut, &alice.inbox, "1").signed_by(By {
            algorithm: "hs2019",
            ..By::of(&key_id, &key)
        });
        let answer = signed.send(plain(&farm)).await;
        assert_eq!(answer.status, refused.unwrap_or(alice.taken), "{answer:?}");
        let verdict = last_entry(&farm).await["verdict"].take();
        assert_eq!(
            (&verdict["result"], &verdict["algorithm"]),
            (&json!("valid"), &json!("ed25519"))
        );
        if refused.is_some() {
            assert_eq!(answer.header("x-peerfarm-reason"), ["unsupported_algorithm"]);
        }
    }
}

#[tokio::test]
async fn a_refused_delivery_knocks_again_in_the_other_dialect() {
    let sut = Sut::start(&["u1"]).await;
    let farm = farm(&sut).start().await.unwrap();
    let mut seen = 0;
    for (first, knocks) in [
        (401, Some(401)),
        (400, Some(400)),
        (403, None),
        (500, None),
        (503, None),
    ] {
        sut.meets("POST", "cavage", Meets::Refusal(first));
        let delivery = sent(
            &farm,
            "mastodon1.test",
            json!({"to": sut.actor("u1"), "note": "hello"}),
        )
        .await;
        let received = sut.received(seen + 1).await.split_off(seen);
        seen += received.len();
        let Some(status) = knocks else {
            assert_eq!(
                (&delivery["status"], &delivery["dialect"], &delivery["knocks"]),
                (&json!(first), &json!("cavage"), &Value::Null)
            );
            assert_eq!(dialects(&received), ["cavage"]);
            continue;
        };
        assert_eq!(
            (&delivery["status"], &delivery["dialect"], &delivery["knocks"]),
            (
                &json!(202),
                &json!("rfc9421"),
                &json!([{"dialect": "cavage", "status": status}])
            ),
            "{delivery}"
        );
        assert_eq!(dialects(&received), ["cavage", "rfc9421"]);
        let [one, other] = received.as_slice() else {
            unreachable!()
        };
        assert_eq!(one.body, other.body);
        let has =
            |request: &Received| ["digest", "content-digest"].map(|name| request.header(name).is_some());
        assert_eq!((has(one), has(other)), ([true, false], [false, true]));
        let input = other.header("signature-input").unwrap();
        assert!(
            input.starts_with(r#"sig1=("@method" "@target-uri" "content-digest");created="#),
            "{input}"
        );
    }
}

#[tokio::test]
async fn a_software_of_one_dialect_knocks_once() {
    let sut = Sut::start(&["u1"]).await;
    let farm = farm(&sut).start().await.unwrap();
    sut.meets("POST", "cavage", Meets::Refusal(401));
    for host in ["misskey1.test", "lemmy1.test"] {
        let delivery = sent(&farm, host, json!({"to": sut.actor("u1"), "note": "hello"})).await;
        assert_eq!(
            (&delivery["status"], &delivery["dialect"], &delivery["knocks"]),
            (&json!(401), &json!("cavage"), &Value::Null)
        );
    }
    assert_eq!(dialects(&sut.received(2).await), ["cavage", "cavage"]);
}

#[tokio::test]
async fn a_fetch_knocks_like_a_delivery() {
    let sut = Sut::start(&["u1"]).await;
    let farm = farm(&sut).start().await.unwrap();
    sut.meets("GET", "cavage", Meets::Refusal(401));
    let alice = persona(&farm, "alice@mastodon1.test");
    let signed = create(&sut, &alice.inbox, "1").signed(&sut, "u1");
    // The key of the signature is fetched.
    assert_eq!(signed.send(plain(&farm)).await.status, 202);
    let fetched = sut.fetched();
    assert_eq!(dialects(&fetched), ["cavage", "rfc9421"]);
    let input = fetched[1].header("signature-input").unwrap();
    assert!(
        input.starts_with(r#"sig1=("@method" "@target-uri");created="#),
        "{input}"
    );
    let digests = |fetch: &Received| ["digest", "content-digest"].map(|name| fetch.header(name).is_some());
    assert!(fetched.iter().all(|fetch| digests(fetch) == [false, false]));

    sut.meets("GET", "cavage", Meets::Refusal(500));
    let note = json!({"to": sut.actor("u1"), "note": "hello"});
    let failed = command(&farm, "mastodon1.test", "send", &note).await;
    assert_eq!(failed.status, 502, "{failed:?}");
    assert_eq!(dialects(&sut.fetched()[2..]), ["cavage"]);
}

#[tokio::test]
async fn what_was_taken_is_remembered_where_the_software_does() {
    let sut = Sut::start(&["u1"]).await;
    let (keeping, _dirs) = changed(
        &sut,
        &[(
            "knock_again = [400, 401]",
            "knock_again = [\"4xx\"]\nremembers = \"24h\"",
        )],
    )
    .await;
    let forgetting = farm(&sut).start().await.unwrap();
    let (both, first) = (vec!["cavage", "rfc9421"], vec!["rfc9421"]);
    for (farm, again) in [(&keeping, &first), (&forgetting, &both)] {
        sut.takes_all();
        refuse(&sut, "cavage", 401);
        let knocks = async |host: &str| {
            let delivery = sent(farm, host, json!({"to": sut.actor("u1"), "note": "hello"})).await;
            let knocks = delivery["knocks"].as_array().cloned().unwrap_or_default();
            let knocks = knocks
                .iter()
                .chain([&delivery])
                .map(|knock| knock["dialect"].as_str().unwrap());
            knocks.map(str::to_owned).collect::<Vec<_>>()
        };
        // The look-up before the delivery has knocked already, at the same origin and by the same peer.
        assert_eq!(&knocks("mastodon1.test").await, again);
        assert_eq!(&knocks("mastodon1.test").await, again);
        // Another server has to learn for itself, but its look-up does.
        let fetched = sut.fetched().len();
        assert_eq!(&knocks("mastodon2.test").await, again);
        assert_eq!(dialects(&sut.fetched()[fetched..])[..2], ["cavage", "rfc9421"]);
        if again == &both {
            continue;
        }
        // It changes its mind when the server does.
        sut.takes_all();
        refuse(&sut, "rfc9421", 403);
        let fetched = sut.fetched().len();
        assert_eq!(knocks("mastodon1.test").await, ["cavage"]);
        assert_eq!(dialects(&sut.fetched()[fetched..]), ["rfc9421", "cavage"]);
        assert_eq!(knocks("mastodon1.test").await, ["cavage"]);
    }
}

#[tokio::test]
async fn the_order_and_the_statuses_are_the_profiles() {
    let sut = Sut::start(&["u1"]).await;
    let (farm, _dirs) = changed(
        &sut,
        &[
            (
                "dialects = [\"cavage\", \"rfc9421\"]\nknock_again = [400, 401]",
                "dialects = [\"rfc9421\", \"cavage\"]\nknock_again = [\"4xx\", \"5xx\"]",
            ),
            (
                "post = [\"@method\", \"@target-uri\", \"content-digest\"]",
                "post = [\"@method\", \"@target-uri\", \"@authority\", \"host\", \"date\", \"content-digest\", \"digest\"]",
            ),
            ("names_algorithm = false", "names_algorithm = true\nexpires = \"5m\"\nnonce = true\ntag = \"fedi\""),
        ],
    )
    .await;
    refuse(&sut, "rfc9421", 503);
    let note = || json!({"to": sut.actor("u1"), "note": "hello"});
    let delivery = sent(&farm, "mastodon1.test", note()).await;
    assert_eq!(
        (&delivery["status"], &delivery["dialect"], &delivery["knocks"]),
        (
            &json!(202),
            &json!("cavage"),
            &json!([{"dialect": "rfc9421", "status": 503}])
        )
    );
    sent(&farm, "mastodon1.test", note()).await;
    let received = sut.received(4).await;
    assert_eq!(dialects(&received), ["rfc9421", "cavage", "rfc9421", "cavage"]);
    // Both digests where both are signed.
    assert!(received[0].header("digest").is_some() && received[0].header("content-digest").is_some());
    let parameters = |request: &Received| {
        let input = request.header("signature-input").unwrap().to_owned();
        let parameters = input.split(')').nth(1).unwrap().split(';').skip(1);
        let parameters = parameters.map(|parameter| parameter.split_once('=').unwrap());
        parameters
            .map(|(name, value)| (name.to_owned(), value.to_owned()))
            .collect::<Vec<_>>()
    };
    let [one, other] = [&received[0], &received[2]].map(parameters);
    let value = |of: &[(String, String)], name: &str| {
        of.iter()
            .find(|(found, _)| found == name)
            .unwrap_or_else(|| panic!("{name}"))
            .1
            .clone()
    };
    let time = |name| value(&one, name).parse::<i64>().unwrap();
    assert_eq!(time("expires") - time("created"), 300);
    assert_eq!(
        (value(&one, "alg"), value(&one, "tag")),
        (r#""rsa-v1_5-sha256""#.into(), r#""fedi""#.into())
    );
    assert_ne!(value(&one, "nonce"), value(&other, "nonce"));
}

#[tokio::test]
async fn created_stands_for_the_date_where_the_profile_says_so() {
    let sut = Sut::start(&["u1"]).await;
    let (farm, _dirs) = changed(
        &sut,
        &[
            (
                "post = [\"host\", \"date\", \"content-type\", \"digest\", \"(request-target)\"]",
                "post = [\"(request-target)\", \"(created)\", \"(expires)\", \"host\", \"digest\"]",
            ),
            (
                "algorithm = \"rsa-sha256\"",
                "algorithm = \"hs2019\"\ncreated = true\nexpires = \"5m\"",
            ),
        ],
    )
    .await;
    let delivery = sent(
        &farm,
        "mastodon1.test",
        json!({"to": sut.actor("u1"), "note": "hello"}),
    )
    .await;
    assert_eq!(delivery["status"], 202);
    let received = sut.received(1).await;
    let signature = received[0].header("signature").unwrap();
    let time = |name: &str| {
        let (_, rest) = signature.split_once(&format!(",{name}=")).unwrap();
        rest.split(',').next().unwrap().parse::<i64>().unwrap()
    };
    assert_eq!(time("expires") - time("created"), 300);
    // The farm's own peers judge it by the specification.
    let bob = persona(&farm, "bob@misskey1.test");
    sent(&farm, "mastodon1.test", json!({"to": bob.id, "note": "hello"})).await;
    let verdict = last_entry(&farm).await["verdict"].take();
    assert_eq!(verdict["result"], "valid", "{verdict}");
}

/// A second knock gets what is left of the time for a delivery, not all of it anew.
#[tokio::test]
async fn one_deadline_covers_both_knocks() {
    let sut = Sut::start(&["u1"]).await;
    let (farm, _dirs) = changed(
        &sut,
        &[(
            "timeout = \"30s\"\nfetch_timeout",
            "timeout = \"2s\"\nfetch_timeout",
        )],
    )
    .await;
    let late = Duration::from_millis(1_300);
    sut.meets("POST", "cavage", Meets::LateRefusal(401, late));
    sut.meets("POST", "rfc9421", Meets::Silence);
    let delivery = sent(
        &farm,
        "mastodon1.test",
        json!({"to": sut.actor("u1"), "note": "hello"}),
    )
    .await;
    assert_eq!(
        (
            &delivery["error"],
            &delivery["status"],
            &delivery["dialect"],
            &delivery["knocks"]
        ),
        (
            &json!("timeout"),
            &Value::Null,
            &json!("rfc9421"),
            &json!([{"dialect": "cavage", "status": 401}])
        )
    );
    // All of it anew would make 3.3 s.
    let took = delivery["time_ms"].as_f64().unwrap();
    assert!((2_000.0..3_300.0).contains(&took), "{took}");
}

#[tokio::test]
async fn a_command_can_force_a_dialect() {
    let sut = Sut::start(&["u1"]).await;
    let farm = farm(&sut).start().await.unwrap();
    sut.meets("POST", "rfc9421", Meets::Refusal(401));
    let mut seen = 0;
    for host in ["mastodon1.test", "misskey1.test", "lemmy1.test"] {
        for (dialect, status) in [("cavage", 202), ("rfc9421", 401)] {
            let body = json!({"to": sut.actor("u1"), "note": "hello", "dialect": dialect});
            let delivery = sent(&farm, host, body).await;
            assert_eq!(
                (&delivery["status"], &delivery["dialect"], &delivery["knocks"]),
                (&json!(status), &json!(dialect), &Value::Null),
                "{delivery}"
            );
            let received = sut.received(seen + 1).await.split_off(seen);
            seen += 1;
            assert_eq!(dialects(&received), [dialect]);
        }
    }
    // What a software without the dialect says in it.
    let received = sut.received(seen).await;
    let input = received[seen - 1].header("signature-input").unwrap();
    assert!(
        input.starts_with(r#"sig1=("@method" "@target-uri" "content-digest");created="#),
        "{input}"
    );
    for deed in ["follow", "unfollow"] {
        let body = json!({"target": sut.actor("u1"), "dialect": "rfc9421"});
        let answer = command(&farm, "misskey1.test", deed, &body).await.json();
        assert_eq!(answer["deliveries"][0]["dialect"], "rfc9421", "{answer}");
    }
    let wrong = json!({"to": sut.actor("u1"), "note": "hello", "dialect": "latin"});
    let answer = command(&farm, "misskey1.test", "send", &wrong).await;
    assert_eq!(answer.status, 422);
    assert!(
        answer.text().contains("`latin`, expected `cavage` or `rfc9421`"),
        "{answer:?}"
    );
}

/// Refuses whatever is signed in that dialect.
fn refuse(sut: &Sut, dialect: &'static str, status: u16) {
    for method in ["GET", "POST"] {
        sut.meets(method, dialect, Meets::Refusal(status));
    }
}

/// What makes a Mastodon read draft-cavage.
fn cavage_table() -> &'static str {
    let profile = include_str!("../../peers/mastodon.toml");
    let start = profile.find("[verifying.cavage]").unwrap();
    let end = profile.find("[verifying.rfc9421]").unwrap();
    &profile[start..end]
}

/// A Create of u1's, unsigned.
fn create(sut: &Sut, url: &str, id: &str) -> Request {
    let create = sut.activity("u1", id, "Create", json!("https://sut.test/n/1"));
    Request::post(url, create.to_string())
}

/// In which dialects requests are signed.
fn dialects(requests: &[Received]) -> Vec<&'static str> {
    let signed = requests
        .iter()
        .filter(|request| !request.path.starts_with("/.well-known/"));
    signed
        .map(|request| request.dialect().unwrap_or("unsigned"))
        .collect()
}

/// Has alice do something.
async fn command(farm: &Running, host: &str, deed: &str, body: &Value) -> raw::Answer {
    let control = Api(farm.addresses().control);
    control
        .post(&format!("/peers/{host}/actors/alice/{deed}"), body)
        .await
}

/// Has alice send something; the delivery as it is reported.
async fn sent(farm: &Running, host: &str, body: Value) -> Value {
    let answer = command(farm, host, "send", &body).await;
    assert_eq!(answer.status, 200, "{answer:?}");
    answer.json()["deliveries"][0].take()
}
