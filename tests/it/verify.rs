//! `verify`: the verdict on a request that was saved in a file.

use peerfarm::Running;
use peerfarm::clock::Timestamp;
use serde_json::{Value, json};
use tokio::net::TcpStream;
use tokio::task::spawn_blocking;

use crate::support::{
    Api, FREE, Http2, Peerfarm, Request, Sut, call, farm, farm_with, last_entry, persona, plain, raw,
};

const KEY_ID: &str = "https://a.test/users/alice#main-key";
const ALICE: &str = "https://a.test/users/alice";
const BODY: &str = r#"{"type":"Create","actor":"https://a.test/users/alice"}"#;
/// `openssl dgst -sha256 -binary BODY | base64`
const DIGEST: &str = "SHA-256=kpPDXtzm6AZWy62ZyetezI5qYgQ5NEB/zRTnhT3C8PE=";
const DATE: &str = "Tue, 14 Nov 2023 22:13:20 GMT";
/// By OpenSSL, as tests/fixtures/signature/README.md has it, over `(request-target) host date digest` of a POST to
/// `/users/bob/inbox?x=%7E` at `b.test:8443`: 160 bytes, by `sha256sum`
/// `25979c609a2d78b58abd960579d47be461326beb32033d2e982013de5c016e02`.
const BY_RSA: &str = "jRJm26c6V07qCe0yi3KvDqEUhppyFi2SUV2eBHypz1KZgFBnT9FrTuCqA6tyfPlFJlrAKJoR6fETGoGswteqqhDtkbhA45Dw23w3L8iFzk\
    gaGEw0OKkiaD7wkVsIv4yHReAPBMElHkMjdeW4pVZas/A+yQD+HzZmtYlfZ73wy/yNh6vMRNZwcA1xhpkNfnPyf6KyjPwzI0bzCc+cu0FgKWVjkhGibE\
    OU47dj2nILmL4IAwi7zGgGeYJmdhtXjgZYpFkw1jENFhiOmPUt4szoV8ZoGtkQvaEJQ6ihBqCwyUGsCubojHm3RFg6RSxw5a2Iq4LikWPwM60Ij/R2MB3\
    BCw==";
const BY_ED25519: &str =
    "2cvnkgYictNbVXcD69FlCd+/9+xcl+0ccsSFDmUfKWmhJ7mVFXvhmFZOVLsxMRQolYuway7V2ONdLxxTSDZDBg==";

const RSA: &str = include_str!("../fixtures/signature/rsa2048.public.pem");
const RSA_PKCS1: &str = include_str!("../fixtures/signature/rsa2048.public.pkcs1.pem");
const RSA_PRIVATE: &str = include_str!("../fixtures/signature/rsa2048.pem");
const ED25519: &str = include_str!("../fixtures/signature/ed25519.public.pem");
const ED25519_PRIVATE: &str = include_str!("../fixtures/signature/ed25519.pem");
/// The same key, computed with Node's BigInt.
const MULTIKEY: &str = "z6MkvNj7LXbSWxHPQn8cGzhabgzzJqTSni62ANDDkMAtqYML";

fn signature(by: &str) -> String {
    format!(
        r#"keyId="{KEY_ID}",algorithm="hs2019",headers="(request-target) host date digest",signature="{by}""#
    )
}

/// The delivery as it went over the wire.
fn delivery(by: &str) -> String {
    format!(
        "POST /users/bob/inbox?x=%7E HTTP/1.1\r\nHost: b.test:8443\r\nDate: {DATE}\r\nDigest: {DIGEST}\r\n\
         Content-Type: application/activity+json\r\nContent-Length: {}\r\nSignature: {}\r\n\r\n{BODY}",
        BODY.len(),
        signature(by)
    )
}

/// `verify` of a delivery by a key, with more words.
fn verify(request: &str, key: &str, words: &str) -> Peerfarm {
    Peerfarm::with(&format!("verify saved --key key {words}"))
        .file("saved", request)
        .file("key", key)
}

fn answer(request: &str, key: &str, words: &str) -> Value {
    let said = verify(request, key, &format!("{words} --json")).run();
    serde_json::from_str(&said.stdout).unwrap_or_else(|error| panic!("{error}: {said:?}"))
}

/// `valid`, or the reason.
fn verdict(request: &str, key: &str, words: &str) -> String {
    let answer = answer(request, key, words);
    let verdict = &answer["verdict"];
    let text = verdict["reason"].as_str().or(verdict["result"].as_str());
    text.unwrap().to_owned()
}

fn notes(answer: &Value) -> Vec<&str> {
    let notes = answer["notes"].as_array().unwrap();
    notes.iter().map(|note| note["name"].as_str().unwrap()).collect()
}

#[test]
fn a_request_is_valid_in_every_form_it_is_saved_in() {
    let wire = delivery(BY_RSA);
    let head = wire.split("\r\n\r\n").next().unwrap();
    let pseudo = head.replace(
        "POST /users/bob/inbox?x=%7E HTTP/1.1\r\nHost: b.test:8443",
        ":method: POST\n:path: /users/bob/inbox?x=%7E\n:scheme: https\n:authority: b.test:8443",
    );
    for (text, words) in [
        (wire.clone(), ""),
        (wire.replace("\r\n", "\n"), ""),
        (format!("{wire}\n"), ""),
        (wire.replace("HTTP/1.1", "HTTP/2"), ""),
        (format!("{pseudo}\r\n\r\n{BODY}"), ""),
        (
            format!(
                "> {}\r\n> \r\n* sent\r\n< HTTP/1.1 401\r\n",
                head.replace("\r\n", "\r\n> ")
            ),
            "--body body",
        ),
    ] {
        let said = verify(&text, RSA, words).file("body", BODY).run().ends(0, "");
        said.has_line("verdict valid");
        said.has_line("algorithm rsa-v1_5-sha256");
    }
    verify("", RSA, "")
        .run()
        .ends(2, "error: `saved` cannot be judged: it is empty");
    Peerfarm::with("verify - --key key")
        .stdin(&wire)
        .file("key", RSA)
        .run()
        .ends(0, "")
        .has_line("request POST /users/bob/inbox?x=%7E at b.test:8443 (https), body of 54 bytes");
}

#[test]
fn a_key_is_read_in_every_form_it_is_published_in() {
    let key = json!({"id": KEY_ID, "owner": ALICE, "publicKeyPem": RSA});
    let other = json!({"id": format!("{ALICE}#old"), "owner": ALICE, "publicKeyPem": ED25519});
    let multikey =
        json!({"id": KEY_ID, "type": "Multikey", "controller": ALICE, "publicKeyMultibase": MULTIKEY});
    for (by, key) in [
        (BY_RSA, RSA.to_owned()),
        (BY_RSA, RSA_PKCS1.to_owned()),
        (BY_RSA, RSA.replace('\n', "\r\n")),
        (BY_RSA, RSA.trim_end().replace('\n', "\\n")),
        (BY_RSA, key.to_string()),
        (BY_RSA, json!({"id": ALICE, "publicKey": key}).to_string()),
        (
            BY_RSA,
            json!({"id": ALICE, "publicKey": [other, key], "assertionMethod": [multikey]}).to_string(),
        ),
        (BY_ED25519, ED25519.to_owned()),
        (BY_ED25519, MULTIKEY.to_owned()),
        (BY_ED25519, multikey.to_string()),
        (
            BY_ED25519,
            json!({"id": ALICE, "publicKey": other, "assertionMethod": multikey}).to_string(),
        ),
    ] {
        assert_eq!(verdict(&delivery(by), &key, ""), "valid", "{key}");
    }
    // Who reads another's key gets another verdict.
    assert_eq!(verdict(&delivery(BY_ED25519), RSA, ""), "signature_mismatch");
}

#[test]
fn a_document_says_whose_key_it_is() {
    let key = |id: &str, owner: &str| json!({"id": id, "owner": owner, "publicKeyPem": RSA});
    let (mallory, thief) = ("https://c.test/users/mallory", "https://a.test/users/thief");
    for (document, expected) in [
        (
            json!({"id": ALICE, "publicKey": key(KEY_ID, mallory)}),
            "key_owner_mismatch",
        ),
        (
            json!({"id": ALICE, "publicKey": key("https://a.test/other", ALICE)}),
            "key_owner_mismatch",
        ),
        (key("https://a.test/other", ALICE), "key_owner_mismatch"),
        (
            json!({"id": thief, "publicKey": key(KEY_ID, thief)}),
            "signer_mismatch",
        ),
        (json!({"id": ALICE, "publicKey": KEY_ID}), "key_fetch_failed"),
        (json!({"id": ALICE, "type": "Tombstone"}), "key_gone"),
        (
            json!({"id": ALICE, "publicKey": {"id": KEY_ID, "publicKeyPem": "-----BEGIN"}}),
            "key_unreadable",
        ),
    ] {
        assert_eq!(
            verdict(&delivery(BY_RSA), &document.to_string(), ""),
            expected,
            "{document}"
        );
    }
    let owned = answer(
        &delivery(BY_RSA),
        &json!({"id": ALICE, "publicKey": key(KEY_ID, ALICE)}).to_string(),
        "",
    );
    assert_eq!(notes(&owned), ["judged_at"]);
    assert_eq!(
        notes(&answer(&delivery(BY_RSA), RSA, "")),
        ["judged_at", "owner_unchecked"]
    );
}

#[test]
fn a_failure_is_explained_with_the_base_to_compare() {
    let said = verify(&delivery(BY_RSA).replace("Create", "Delete"), RSA, "")
        .run()
        .ends(1, "");
    for line in [
        "verdict invalid: digest_mismatch",
        "meaning the body was changed after its digest was made: digest the bytes that are sent",
        "covered (request-target) host date digest",
        &format!("key id {KEY_ID}"),
        "signature base, as the farm built it: 160 bytes, SHA-256 \
         25979c609a2d78b58abd960579d47be461326beb32033d2e982013de5c016e02; ␊ is an LF",
        "(request-target): post /users/bob/inbox?x=%7E␊",
        &format!("digest: {DIGEST}"),
    ] {
        said.has_line(line);
    }
    // Every check ran.
    let several = delivery(BY_ED25519).replace("Create", "Delete");
    let answer = answer(&several, RSA, "--at 2023-11-15T22:13:20Z");
    let findings = answer["verdict"]["findings"].as_array().unwrap();
    let reasons: Vec<&str> = findings
        .iter()
        .map(|finding| finding["reason"].as_str().unwrap())
        .collect();
    assert_eq!(reasons, ["digest_mismatch", "date_too_old", "signature_mismatch"]);
    let said = verify(&several, RSA, "--at 2023-11-15T22:13:20Z")
        .run()
        .ends(1, "");
    assert!(
        said.stdout.contains("\nalso          date_too_old: `Date`"),
        "{}",
        said.stdout
    );
}

#[test]
fn of_a_body_that_is_not_in_the_file_nothing_is_said() {
    let wire = delivery(BY_RSA);
    let (head, _) = wire.split_once("\r\n\r\n").unwrap();
    let curl = format!("> {}\r\n> \r\n< HTTP/1.1 401\r\n", head.replace("\r\n", "\r\n> "));
    let lengthless = format!("{}\r\n\r\n", head.replace("Content-Length: 54\r\n", ""));
    let entry = |body: &str| {
        json!({"at": "2023-11-14T22:13:20.000Z", "method": "POST", "target": "/users/bob/inbox?x=%7E", "bytes": 0,
               "verdict": null, "headers": [["host", "b.test:8443"], ["date", DATE], ["digest", DIGEST],
               ["content-length", "54"], ["signature", signature(BY_RSA)]], "body": body})
        .to_string()
    };
    for file in [
        curl.clone(),
        lengthless,
        format!("{head}\r\n\r\n{{"),
        entry(""),
        entry("{"),
    ] {
        let found = answer(&file, RSA, "");
        let about = &found["verdict"];
        assert_eq!(
            (about["reason"].as_str(), about.get("findings")),
            (Some("body_missing"), None),
            "{file}: {found}"
        );
        let said = verify(&file, RSA, "--body body").file("body", BODY).run();
        said.ends(0, "").has_line("verdict valid");
        // All else is checked.
        assert_eq!(
            answer(&file, ED25519, "")["verdict"]["findings"][1]["reason"],
            "signature_mismatch"
        );
    }
    assert_eq!(verdict(&entry(BODY), RSA, ""), "valid");
    assert_eq!(
        verdict(&entry(&BODY.replace("Create", "Delete")), RSA, ""),
        "digest_mismatch"
    );
    let said = verify(&curl, RSA, "").run().ends(1, "");
    assert!(!said.stdout.contains("changed"), "{said:?}");
    said.has_line("meaning give the body by `--body FILE`, so that its digest can be compared");
    // curl prints when it was answered.
    let late = curl + "< Date: Tue, 14 Nov 2023 23:13:21 GMT\r\n< \r\n";
    let said = answer(&late, RSA, "");
    assert_eq!(said["judged_at"], "2023-11-14T23:13:21.000Z");
    assert_eq!(said["verdict"]["findings"][1]["reason"], "date_too_old");
}

#[test]
fn a_wrong_key_id_and_a_wrong_key_are_told_apart() {
    let other = "https://a.test/users/alice#old";
    let document =
        |pem: &str| json!({"id": ALICE, "publicKey": {"id": other, "owner": ALICE, "publicKeyPem": pem}});
    for (key, says) in [
        (RSA, "verifies the signature"),
        (ED25519, "does not verify it: the Ed25519 key"),
    ] {
        let found = answer(&delivery(BY_RSA), &document(key).to_string(), "");
        assert_eq!(
            (&found["verdict"]["reason"], &found["verdict"]["detail"]),
            (
                &json!("key_owner_mismatch"),
                &json!(format!(
                    "the file has key `{other}`, the signature names `{KEY_ID}`"
                ))
            )
        );
        assert_eq!(notes(&found), ["judged_at", "key_id_differs"]);
        let detail = found["notes"][1]["detail"].as_str().unwrap();
        assert!(
            detail.contains(&format!("the file's key `{other}` {says}")),
            "{detail}"
        );
    }
    let mut several = document(RSA);
    several["assertionMethod"] =
        json!({"id": "https://a.test/m", "controller": ALICE, "publicKeyMultibase": MULTIKEY});
    let found = answer(&delivery(BY_RSA), &several.to_string(), "");
    let detail = format!("the file has keys `{other}`, `https://a.test/m`, the signature names `{KEY_ID}`");
    assert_eq!(found["verdict"]["detail"], detail);
    assert_eq!(notes(&found), ["judged_at"]);
}

#[test]
fn the_moment_is_the_request_s_own_unless_another_is_named() {
    let wire = delivery(BY_RSA);
    let own = answer(&wire, RSA, "");
    assert_eq!(own["judged_at"], "2023-11-14T22:13:20.000Z");
    for (words, expected) in [
        ("--at 1700000000", "valid"),
        ("--at 1700003600", "valid"),
        ("--at 1700003601", "date_too_old"),
        ("--at 1700003601 --past 61m", "valid"),
        ("--at 1699996399", "date_in_future"),
        ("--at 1699996399 --future 2h", "valid"),
        ("--at now", "date_too_old"),
    ] {
        assert_eq!(verdict(&wire, RSA, words), expected, "{words}");
    }
    verify(&wire, RSA, "--at soon")
        .run()
        .ends(2, "`soon` is no moment: write `now`");
}

#[test]
fn what_a_proxy_changed_can_be_said() {
    let proxied = delivery(BY_RSA).replace("Host: b.test:8443", "Host: backend:3000");
    assert_eq!(verdict(&proxied, RSA, ""), "signature_mismatch");
    assert_eq!(verdict(&proxied, RSA, "--authority b.test:8443"), "valid");
    let scheme = |text: &str, words: &str| answer(text, RSA, words)["scheme"].as_str().unwrap().to_owned();
    assert_eq!(scheme(&proxied, ""), "https");
    assert_eq!(scheme(&proxied, "--scheme http"), "http");
    let whole = delivery(BY_RSA).replace("POST /", "POST http://b.test:8443/");
    assert_eq!(
        (scheme(&whole, ""), verdict(&whole, RSA, "")),
        ("http".to_owned(), "valid".to_owned())
    );
}

#[test]
fn without_a_key_the_rest_is_checked() {
    let run = |text: &str| Peerfarm::with("verify saved").file("saved", text).run();
    run(&delivery(BY_RSA))
        .ends(1, "")
        .has_line("verdict invalid: key_missing");
    run(&delivery(BY_RSA).replace("Create", "Delete"))
        .ends(1, "")
        .has_line("verdict invalid: digest_mismatch");
    let unsigned = delivery(BY_RSA).replace("Signature: ", "X-Signature: ");
    run(&unsigned).ends(1, "").has_line("verdict unsigned");
    let malformed = delivery(BY_RSA).replace("keyId=", "keyId");
    run(&malformed).ends(1, "").has_line("verdict invalid: malformed");
}

#[test]
fn of_several_signatures_the_first_valid_one_counts() {
    // By OpenSSL: `dgst -sha256 -sign`, `pkeyutl -sign -rawin`, `dgst -sha256 -mac HMAC -macopt key:sesame`.
    let by = |label: &str| match label {
        "rsa" => {
            "lnCfwCWIZJwZ0G3thzLXopdqgkm9+nyPPqlsPFG3U6HPiz6lFcdOLFKF1XBKrB6e8OUdISOmvZfLbY9qwCRF4sWsiUh5a6iNZQVt0dD49laOYM\
         GJw2lxg1ZJV+poT2Y3t5Ec08ogxe1m66TOIZuGfQwrapRWXfKYegdp90iV4XnRPcd4EZqVL5Kea2IaT2IE1xbT0oF+wVxoHuD6VkTFF69pXTzx\
         NH08388g57yCUumjLvPxVzJyfa5kXXfDxjq+x5ugDgHtRzi4gStgnUcd4jirtW96U+Ev5EolpHxyh25PLAJgAGajm0RwLIYyqF11j+FuHkzF2T\
         9W9HFNxN9Q7w=="
        }
        "ed" => "JFkOerOduHOCWp71LxRqXWLxTTuQjSvWlNeHKV1y2v8fToBS043gYAybuTycWMoHpt1J2xER6qMY4ptz95oqBg==",
        _ => "+IfCujyhuOTvs0DWiiTrXciHN/oAXC1H969iM6zTQNA=",
    };
    let fetch = |labels: &[&str]| {
        let input = |label: &&str| {
            format!(
                r#"{label}=("@method" "@target-uri");created=1700000000;keyid="https://a.test/users/alice#{label}""#
            )
        };
        let signature = |label: &&str| format!("{label}=:{}:", by(label));
        let inputs: Vec<String> = labels.iter().map(input).collect();
        let signatures: Vec<String> = labels.iter().map(signature).collect();
        format!(
            "GET /users/bob HTTP/1.1\nHost: b.test\nSignature-Input: {}\nSignature: {}\n\n",
            inputs.join(", "),
            signatures.join(", ")
        )
    };
    let all = fetch(&["rsa", "ed", "mac"]);
    for (key, label, results) in [
        (RSA, "rsa", ["valid", "invalid", "invalid"]),
        (ED25519, "ed", ["invalid", "valid", "invalid"]),
    ] {
        let found = answer(&all, key, "");
        assert_eq!(
            (&found["verdict"]["result"], &found["verdict"]["label"]),
            (&json!("valid"), &json!(label))
        );
        let each = found["verdicts"].as_array().unwrap();
        let each: Vec<&str> = each
            .iter()
            .map(|verdict| verdict["result"].as_str().unwrap())
            .collect();
        assert_eq!(each, results);
        assert_eq!(found["judged_at"], "2023-11-14T22:13:20.000Z");
        let said = verify(&all, key, "").run().ends(0, "");
        said.has_line("result valid; the first valid signature counts, else the first");
        said.has_line(&format!("label {label}"));
    }
    // A key and a secret beside each other, and a secret alone.
    for words in ["--key key --secret secret", "--secret secret"] {
        let said = Peerfarm::with(&format!("verify saved {words}"))
            .file("saved", &fetch(&["mac"]))
            .file("key", RSA)
            .file("secret", "sesame\n")
            .run();
        said.ends(0, "").has_line("algorithm hmac-sha256");
    }
    assert_eq!(answer(&fetch(&["mac"]), ED25519, "").get("verdicts"), None);
    let http = answer(&all, RSA, "--scheme http");
    assert_eq!(
        http["verdict"]["reason"], "signature_mismatch",
        "the scheme is covered"
    );
}

#[test]
fn a_har_is_judged_by_its_signed_request() {
    // As Firefox exports it, less what does not matter here.
    let header = |name: &str, value: &str| json!({"name": name, "value": value});
    let entry = |url: &str, signed: bool| {
        let mut headers = vec![
            header("Host", "b.test:8443"),
            header("Date", DATE),
            header("Digest", DIGEST),
            header("Content-Length", "54"),
        ];
        if signed {
            headers.push(header("Signature", &signature(BY_RSA)));
        }
        json!({
            "startedDateTime": "2023-11-14T23:13:20.000+01:00", "time": 12, "cache": {}, "timings": {},
            "request": {"method": "POST", "url": url, "httpVersion": "HTTP/1.1", "cookies": [], "queryString": [],
                        "headers": headers, "headersSize": 700, "bodySize": 54,
                        "postData": {"mimeType": "application/activity+json", "params": [], "text": BODY}},
            "response": {"status": 202},
        })
    };
    let har = |entries: &[Value]| {
        json!({"log": {"version": "1.2", "creator": {"name": "Firefox", "version": "128"}, "entries": entries}})
            .to_string()
    };
    let url = "https://b.test:8443/users/bob/inbox?x=%7E";
    let one = har(&[entry("https://b.test:8443/", false), entry(url, true)]);
    let found = answer(&one, RSA, "");
    assert_eq!(found["verdict"]["result"], "valid", "{found}");
    assert_eq!(notes(&found), ["body_from_text", "judged_at", "owner_unchecked"]);
    assert_eq!(verdict(&one, RSA, "--entry 1"), "unsigned");
    // When it was sent is told, so a date that was old then shows.
    let late = one.replace("2023-11-14T23:13:20.000+01:00", "2023-11-15T00:13:21.000+01:00");
    let found = answer(&late, RSA, "");
    assert_eq!(found["verdict"]["reason"], "date_too_old");
    assert_eq!(found["judged_at"], "2023-11-14T23:13:21.000Z");
    assert!(
        found["notes"].to_string().contains("the HAR's `startedDateTime`"),
        "{found}"
    );
    let two = har(&[entry(url, true), entry("https://b.test:8443/inbox", true)]);
    let listed = "2 signed requests: 1 `POST https://b.test:8443/users/bob/inbox?x=%7E`, 2 `POST https://b.test:8443/inbox`";
    verify(&two, RSA, "").run().ends(2, listed);
    assert_eq!(verdict(&two, RSA, "--entry 2"), "signature_mismatch");
    verify(&two, RSA, "--entry 3")
        .run()
        .ends(2, "no entry 3: its 2 are counted from 1");
}

#[test]
fn a_file_that_cannot_be_read_is_told_in_one_line() {
    let wire = delivery(BY_RSA);
    let bad = |request: &str, key: &str, expected: &str| {
        let said = verify(request, key, "").run().ends(2, expected);
        assert_eq!(
            (said.stderr.lines().count(), said.stdout.as_str()),
            (1, ""),
            "{said:?}"
        );
        said.stderr
    };
    bad("\u{7f}ELF\u{2}\u{1}\u{0}", RSA, "begins with `\\u{7f}ELF");
    bad("{\"log\": {\"entries\": [", RSA, "begins like JSON and is none");
    bad(&"A: b\r\n".repeat(100_000), RSA, "begins with `A: b`");
    bad(
        &format!("GET / HTTP/1.1\r\n{}", "A: b\r\n".repeat(100_000)),
        RSA,
        "256",
    );
    bad(&"x".repeat((64 << 20) + 1), RSA, "67108864 are read");
    for (key, expected) in [
        ("", "the key is no PEM"),
        ("{}", "JSON without a key"),
        ("{", "begins like JSON and is none"),
        ("zzz", "error: `key` cannot be used as a key: "),
        (
            "-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----\n",
            "CERTIFICATE",
        ),
    ] {
        bad(&wire, key, expected);
    }
    bad(&wire, &"x".repeat((1 << 20) + 1), "1048576");
    for private in [
        RSA_PRIVATE,
        ED25519_PRIVATE,
        &json!({"privateKeyPem": ED25519_PRIVATE}).to_string(),
    ] {
        let said = bad(&wire, private, "it holds a private key");
        let line = ED25519_PRIVATE.lines().nth(1).unwrap();
        assert!(!said.contains("MII") && !said.contains(&line[..8]), "{said}");
        bad(private, RSA, "cannot be judged");
    }
    Peerfarm::with("verify nowhere")
        .run()
        .ends(2, "cannot read `nowhere`: no such file or directory");
    Peerfarm::with("verify .")
        .run()
        .ends(2, "cannot read `.`: is a directory");
    verify(&wire, RSA, "--secret key")
        .file("key", "\n")
        .run()
        .ends(2, "`key` cannot be used as a key");
    Peerfarm::with("verify saved --secret secret")
        .file("saved", &wire)
        .file("secret", "base64:%")
        .run()
        .ends(2, "what follows `base64:` is no base64");
}

#[tokio::test]
async fn what_the_farm_judged_is_judged_the_same_from_its_journal() {
    let sut = Sut::start(&["u1"]).await;
    let farm = farm(&sut).start().await.unwrap();
    let alice = persona(&farm, "alice@mastodon1.test");
    let create = |id: &str| {
        let create = sut.activity("u1", id, "Create", json!("https://sut.test/n/1"));
        Request::post(&alice.inbox, create.to_string()).signed(&sut, "u1")
    };
    let mut other = sut.activity("u1", "4", "Create", json!("https://sut.test/n/1"));
    other["actor"] = json!(sut.actor("u2"));
    let foreign = Request::post(&alice.inbox, other.to_string()).signed(&sut, "u1");
    let actor = sut.actor_document("u1").to_string();
    for (request, expected) in [
        (create("1"), "valid"),
        (create("2").tampered(b"{}"), "digest_mismatch"),
        (
            create("3").with("date", "Tue, 14 Nov 2023 22:13:20 GMT"),
            "date_too_old",
        ),
        (foreign, "signer_mismatch"),
        (create("5").tampered(b"\xff\n"), "digest_mismatch"),
        (create("6").without("signature"), "unsigned"),
    ] {
        request.send(plain(&farm)).await;
        same(&farm, &actor, expected).await;
    }
    // The window is the software's, and stays so in the file.
    for (handle, age, expected, window) in [
        ("alice@mastodon1.test", 62 * 60, "valid", ["65m", "1h"]),
        ("alice@misskey1.test", 631, "date_too_old", ["5m", "5m"]),
    ] {
        let alice = persona(&farm, handle);
        let create = sut.activity("u1", handle, "Create", json!("https://sut.test/n/1"));
        let date = Timestamp::from_unix(Timestamp::now().unix() - age).http_date();
        let request = Request::post(&alice.inbox, create.to_string()).with("date", &date);
        request.signed(&sut, "u1").send(plain(&farm)).await;
        let shown = same(&farm, &actor, expected).await;
        let entry: Value = serde_json::from_str(&shown).unwrap();
        let [past, future] = window;
        assert_eq!(
            entry["verdict"]["window"],
            json!({"past": past, "future": future})
        );
        for (words, expected) in [
            ("--past 1h", age > 3_600),
            ("--past 70m", false),
            ("--at now --past 1m", true),
        ] {
            let (shown, actor) = (shown.clone(), actor.clone());
            let found = spawn_blocking(move || verdict(&shown, &actor, words))
                .await
                .unwrap();
            assert_eq!(found == "date_too_old", expected, "{handle} {words}: {found}");
        }
    }
    // Over HTTP/2 there is no `Host` to go by.
    let mut http2 = Http2::over(TcpStream::connect(plain(&farm)).await.unwrap()).await;
    http2.send(&create("7")).await;
    same(&farm, &actor, "valid").await;
}

#[tokio::test]
async fn the_scheme_of_a_farm_without_tls_stays_with_its_journal() {
    let (farm, _state) = farm_with(|settings| {
        settings.listen.clear();
        settings.listen_http = Some(FREE);
    })
    .await;
    let actor = raw::get(plain(&farm), &persona(&farm, "alice@mastodon1.test").id, None).await;
    let to = persona(&farm, "bob@mastodon2.test").id;
    let body = json!({"to": to, "note": "hello", "dialect": "rfc9421"});
    let sent = Api::of(&farm).tell("send", body).await.ok();
    assert_eq!(sent["deliveries"][0]["status"], 202, "{sent}");
    let shown = same(&farm, &actor.ok().to_string(), "valid").await;
    assert!(
        shown.contains("\"@target-uri\"") && shown.contains("\"http\""),
        "{shown}"
    );
}

/// Shows the newest entry with the binary, and lets it judge what it showed, which is returned.
async fn same(farm: &Running, actor: &str, expected: &str) -> String {
    let id = last_entry(farm).await["id"].as_str().unwrap().to_owned();
    let entry = call(farm, &format!("/journal/{id}")).await;
    let show = Peerfarm::with(&format!("journal show {id} --json --farm {}", farm.url()));
    let shown = spawn_blocking(move || show.run())
        .await
        .unwrap()
        .ends(0, "")
        .stdout;
    let (saved, actor) = (shown.clone(), actor.to_owned());
    let judged = spawn_blocking(move || answer(&saved, &actor, "")).await.unwrap();
    let reason = entry["verdict"]["reason"].as_str();
    assert_eq!(
        reason.or(entry["verdict"]["result"].as_str()),
        Some(expected),
        "{entry}"
    );
    let mut verdicts = [judged["verdict"].clone(), entry["verdict"].clone()];
    if expected == "date_too_old" {
        // It tells the age, and a second may pass between arrival and judgement.
        for verdict in &mut verdicts {
            verdict["detail"].take();
        }
    }
    assert_eq!(verdicts[0], verdicts[1]);
    shown
}
