//! Two implementations that are not ours, `http-sig` of draft-cavage and `httpsig` of RFC 9421: they verify what every
//! software sends, and the farm verifies what they sign.

use std::sync::Arc;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use http_sig::mock_request::MockRequest;
use http_sig::{HttpSignatureSign, SigningConfig, SigningExt};
use httpsig::prelude::message_component::{HttpMessageComponent, HttpMessageComponentId};
use httpsig::prelude::{AlgorithmName, HttpSignatureBase, HttpSignatureParams, SecretKey};
use peerfarm::Running;
use peerfarm::clock::Timestamp;
use peerfarm::signature::content_digest;
use peerfarm::signature::key::{Algorithm, SigningKey};
use serde_json::{Value, json};

use crate::support::{
    Api, Http2, Meets, Received, Request, Sut, changed, farm, last_entry, oracle, persona, plain, raw,
    softwares,
};

const RSA: &str = include_str!("../fixtures/signature/rsa2048.pem");
const ED25519: &str = include_str!("../fixtures/signature/ed25519.pem");
const P256: &str = include_str!("../fixtures/signature/ecdsa-p256.pem");
const P384: &str = include_str!("../fixtures/signature/ecdsa-p384.pem");

#[tokio::test]
async fn others_verify_what_every_software_sends_in_either_dialect() {
    let sut = Sut::start(&["u1", "u2"]).await;
    let farm = farm(&sut).start().await.unwrap();
    let mut seen = 0;
    for alice in softwares(&farm, "alice") {
        let host = alice
            .handle
            .rsplit('@')
            .next()
            .unwrap()
            .split(':')
            .next()
            .unwrap();
        for dialect in ["cavage", "rfc9421"] {
            // Who knocks in both is made to knock in this one.
            let knocks_again = dialect == "rfc9421" && host.starts_with("mastodon");
            sut.takes_all();
            for method in ["GET", "POST"].into_iter().filter(|_| knocks_again) {
                sut.meets(method, "cavage", Meets::Refusal(401));
            }
            let command = async |deed: &str, body: Value| {
                let path = format!("/peers/{host}/actors/alice/{deed}");
                Api(farm.addresses().control).post(&path, &body).await
            };
            let user = if dialect == "cavage" { "u1" } else { "u2" };
            let target = sut.actor(user);
            command("follow", json!({"target": target, "dialect": dialect})).await;
            command("send", json!({"to": target, "note": "hello", "dialect": dialect})).await;
            let follow = sut.activity(user, &format!("{host}/{dialect}"), "Follow", json!(alice.id));
            let request = Request::post(&alice.inbox, follow.to_string()).signed(&sut, user);
            assert_eq!(request.send(plain(&farm)).await.status, alice.taken);
            let accepts = usize::from(dialect == "cavage" || knocks_again);
            let knocks = if knocks_again { 2 } else { 1 };
            let received = sut.received(seen + 2 + knocks).await.split_off(seen);
            seen += received.len();

            let sent: Vec<_> = received
                .iter()
                .filter(|it| it.dialect() == Some(dialect))
                .collect();
            let kinds: Vec<Value> = sent.iter().map(|it| it.json()["type"].take()).collect();
            let expected = [json!("Follow"), json!("Create"), json!("Accept")];
            assert_eq!(kinds, expected[..2 + accepts], "{host} in {dialect}");
            for request in sent {
                assert_eq!(
                    verified(&farm, request).await["owner"],
                    alice.id,
                    "{host}: {request:?}"
                );
            }
        }
    }
    let fetched = sut.fetched();
    let mut signed = Vec::new();
    for fetch in fetched.iter().filter(|fetch| fetch.dialect().is_some()) {
        verified(&farm, fetch).await;
        let agent = fetch.header("user-agent").unwrap();
        let software = agent.split('/').next().unwrap();
        signed.push(format!("{software} {}", fetch.dialect().unwrap()));
    }
    signed.sort();
    signed.dedup();
    // Lemmy's go unsigned.
    assert_eq!(signed, ["Mastodon cavage", "Mastodon rfc9421", "Misskey cavage"]);
}

/// The string that names an inbox is not what goes on the wire, and only what does is signed.
#[tokio::test]
async fn however_an_inbox_is_written_others_verify_what_comes_to_it() {
    let sut = Sut::start(&["u0", "u1", "u2", "u3"]).await;
    let farm = farm(&sut).start().await.unwrap();
    let loud = sut.origin().replace("sut.test", "SUT.test");
    let mut seen = 0;
    for (count, (written, target)) in [
        (format!("{loud}/a/../b/%7Eu/in box?q"), "/b/%7Eu/in%20box?q"),
        (format!("{loud}/inbox?"), "/inbox?"),
        (format!("{loud}//users//u1/inbox#there"), "//users//u1/inbox"),
        (format!("{loud}/caf%c3%a9"), "/caf%c3%a9"),
    ]
    .into_iter()
    .enumerate()
    {
        let user = format!("u{count}");
        let mut document = sut.actor_document(&user);
        document["inbox"] = written.into();
        document.as_object_mut().unwrap().remove("endpoints");
        sut.serve_at(&format!("/users/{user}"), 200, document);
        for dialect in ["cavage", "rfc9421"] {
            let body = json!({"to": sut.actor(&user), "note": "hello", "dialect": dialect});
            let path = "/peers/mastodon1.test/actors/alice/send";
            Api(farm.addresses().control).post(path, &body).await.ok();
            let received = sut.received(seen + 1).await.remove(seen);
            seen += 1;
            assert_eq!(
                (received.path.as_str(), received.dialect()),
                (target, Some(dialect))
            );
            verified(&farm, &received).await;
        }
    }
}

/// The key that made a signature, once the oracle of its dialect has found it valid, and invalid with another path.
async fn verified(farm: &Running, request: &Received) -> Value {
    let signer = match request.dialect() {
        Some("cavage") => oracle::signer,
        _ => oracle::signer_rfc9421,
    };
    let fields = ["signature-input", "signature"].map(|name| request.header(name).unwrap_or_default());
    let named = fields
        .iter()
        .find_map(|field| field.split_once("keyid=\"").or(field.split_once("keyId=\"")))
        .unwrap();
    let key_id = named.1.split('"').next().unwrap();
    let document = raw::get(plain(farm), key_id, Some("application/activity+json"))
        .await
        .ok();
    let key = document["publicKey"].clone();
    assert_eq!(signer(request, &key).as_deref(), Some(key_id), "{request:?}");
    let elsewhere = Received {
        path: format!("{}x", request.path),
        ..request.clone()
    };
    assert_eq!(signer(&elsewhere, &key), None);
    key
}

#[tokio::test]
async fn what_httpsig_signs_by_rfc_9421_is_verified() {
    let sut = Sut::start(&["u1"]).await;
    let (farm, _dirs) = changed(&sut, &[("algorithms = [\"rsa-v1_5-sha256\", \"ed25519\"]\n", "")]).await;
    let alice = persona(&farm, "alice@mastodon1.test");
    for (count, (pem, name, algorithm)) in [
        (RSA, AlgorithmName::RsaV1_5Sha256, "rsa-v1_5-sha256"),
        (RSA, AlgorithmName::RsaPssSha512, "rsa-pss-sha512"),
        (ED25519, AlgorithmName::Ed25519, "ed25519"),
        (P256, AlgorithmName::EcdsaP256Sha256, "ecdsa-p256-sha256"),
        (P384, AlgorithmName::EcdsaP384Sha384, "ecdsa-p384-sha384"),
    ]
    .into_iter()
    .enumerate()
    {
        let key_id = published(&sut, &format!("/keys/{count}"), pem);
        let theirs = SecretKey::from_pem(&name, pem).unwrap();
        let create = sut.activity("u1", algorithm, "Create", json!("https://sut.test/n/1"));
        for request in [
            Request::post(&format!("{}?x=%7E", alice.inbox), create.to_string()),
            Request::get(&format!("{}?x=%7E", alice.id)),
        ] {
            let request = request.without("digest").without("date");
            let signed = signed_by_httpsig(request, &theirs, &name, &key_id);
            let answer = signed.send(plain(&farm)).await;
            assert!([200, 202].contains(&answer.status), "{algorithm}: {answer:?}");
            let verdict = last_entry(&farm).await["verdict"].take();
            assert_eq!(
                json!([
                    verdict["result"],
                    verdict["dialect"],
                    verdict["algorithm"],
                    verdict["key_id"]
                ]),
                json!(["valid", "rfc9421", algorithm, key_id]),
                "{verdict}"
            );

            let elsewhere = Request {
                target: signed.target.replace("%7E", "~"),
                ..signed
            };
            elsewhere.send(plain(&farm)).await;
            let verdict = last_entry(&farm).await["verdict"].take();
            assert_eq!(verdict["reason"], "signature_mismatch", "{verdict}");
        }
    }
}

/// RFC 9421 sections 2.2.2 and 2.2.3: in lower case, with a port once and only where it is not the default one of the
/// scheme that its sender knows, whatever the listener speaks.
#[tokio::test]
async fn the_authority_is_covered_as_the_sender_knows_it() {
    let sut = Sut::start(&["u1"]).await;
    let farm = farm(&sut).start().await.unwrap();
    let key_id = published(&sut, "/keys/1", RSA);
    let name = AlgorithmName::RsaV1_5Sha256;
    let key = SecretKey::from_pem(&name, RSA).unwrap();
    let mut http2 = Http2::connect(plain(&farm)).await;
    for (host, authority) in [
        ("MASTODON1.TEST:443", "mastodon1.test"),
        ("mastodon1.test", "mastodon1.test"),
        ("mastodon1.test:8443", "mastodon1.test:8443"),
    ] {
        for is_http2 in [false, true] {
            let create = sut.activity("u1", &format!("{host} {is_http2}"), "Create", json!("x"));
            let url = format!("https://{authority}/users/alice/inbox?x=1");
            let mut signed = signed_by_httpsig(Request::post(&url, create.to_string()), &key, &name, &key_id);
            signed.authority = host.to_owned();
            let signed = signed.with("host", host);
            let answer = match is_http2 {
                false => signed.send(plain(&farm)).await,
                true => http2.send(&signed).await,
            };
            let verdict = last_entry(&farm).await["verdict"].take();
            assert_eq!(
                (answer.status, &verdict["result"]),
                (202, &json!("valid")),
                "{host}: {verdict}"
            );
        }
    }
}

/// Signs as a client of a server behind TLS.
fn signed_by_httpsig(request: Request, key: &SecretKey, name: &AlgorithmName, key_id: &str) -> Request {
    let mut covered = vec![
        ("\"@method\"", request.method.to_owned()),
        (
            "\"@target-uri\"",
            format!("https://{}{}", request.authority, request.target),
        ),
        ("\"@authority\"", request.authority.clone()),
    ];
    let mut signed = request;
    if signed.method == "POST" {
        let digest = content_digest::sha256_header(&signed.body);
        signed = signed.with("content-digest", &digest);
        covered.push(("\"content-digest\"", digest));
    }
    let ids = covered
        .iter()
        .map(|(id, _)| HttpMessageComponentId::try_from(*id).unwrap());
    let ids: Vec<_> = ids.collect();
    let values = covered.into_iter().map(|(_, value)| value);
    let lines: Vec<_> = ids
        .iter()
        .zip(values)
        .map(|(id, value)| HttpMessageComponent::try_from((id, [value].as_slice())).unwrap())
        .collect();
    let mut params = HttpSignatureParams::try_new(&ids).unwrap();
    let now = u64::try_from(Timestamp::now().unix()).unwrap();
    params.set_created(now).set_alg(name).set_keyid(key_id);
    let base = HttpSignatureBase::try_new(&lines, &params).unwrap();
    let made = base.build_signature_headers(key, Some("theirs")).unwrap();
    signed
        .with("signature-input", &made.signature_input_header_value())
        .with("signature", &made.signature_header_value())
}

/// The key of a document of its own, which u1 lists.
fn published(sut: &Sut, path: &str, pem: &str) -> String {
    let key_id = format!("{}{path}", sut.origin());
    let key = SigningKey::from_pem(pem).unwrap();
    let document = json!({"id": key_id, "owner": sut.actor("u1"), "publicKeyPem": key.public_pem().unwrap()});
    let mut actor = sut.actor_document("u1");
    actor["publicKey"] = document.clone();
    sut.serve_at("/users/u1", 200, actor);
    sut.serve_at(path, 200, document);
    key_id
}

#[tokio::test]
async fn what_http_sig_signs_by_draft_cavage_is_verified() {
    let sut = Sut::start(&["u1"]).await;
    let farm = farm(&sut).start().await.unwrap();
    // Misskey verifies with every kind of key.
    let alice = persona(&farm, "alice@misskey1.test");
    for (count, (pem, computes, algorithm)) in [
        (RSA, Algorithm::RsaV15Sha256, "rsa-v1_5-sha256"),
        (ED25519, Algorithm::Ed25519, "ed25519"),
        (P256, Algorithm::EcdsaP256Sha256, "ecdsa-p256-sha256"),
    ]
    .into_iter()
    .enumerate()
    {
        let key_id = published(&sut, &format!("/keys/{count}"), pem);
        let create = sut.activity("u1", algorithm, "Create", json!("https://sut.test/n/1"));
        for (request, covered) in [
            (
                Request::post(&format!("{}?x=%7E", alice.inbox), create.to_string()),
                ["(request-target)", "host", "date", "digest"].as_slice(),
            ),
            (
                Request::get(&format!("{}?x=%7E", alice.id)),
                &["(request-target)", "host", "date"],
            ),
        ] {
            let key = Theirs(Arc::new(SigningKey::from_pem(pem).unwrap()), computes);
            let signed = signed_by_http_sig(&request, key, &key_id, covered);
            // The same parameters stand behind the scheme word, which no peer reads in `Authorization`.
            let credentials = signed.headers["authorization"].to_str().unwrap().to_owned();
            let signed = signed
                .without("authorization")
                .with("signature", credentials.strip_prefix("Signature ").unwrap());
            let answer = signed.send(plain(&farm)).await;
            assert!([200, 202].contains(&answer.status), "{algorithm}: {answer:?}");
            let verdict = last_entry(&farm).await["verdict"].take();
            assert_eq!(
                json!([
                    verdict["result"],
                    verdict["dialect"],
                    verdict["algorithm"],
                    verdict["covered"]
                ]),
                json!(["valid", "cavage", algorithm, covered]),
                "{verdict}"
            );
        }
    }
}

/// A key in the hands of `http-sig`, which writes `hs2019` over each.
#[derive(Debug)]
struct Theirs(Arc<SigningKey>, Algorithm);

impl HttpSignatureSign for Theirs {
    fn http_sign(&self, bytes: &[u8]) -> String {
        STANDARD.encode(self.0.sign(self.1, bytes).unwrap())
    }
}

fn signed_by_http_sig(request: &Request, key: Theirs, key_id: &str, covered: &[&str]) -> Request {
    let covered: Vec<http_sig::Header> = covered.iter().map(|name| name.parse().unwrap()).collect();
    let config = SigningConfig::new(key_id, key)
        .with_headers(&covered)
        .with_compute_digest(false);
    let theirs = MockRequest::from_reader(&mut request.bytes().as_slice()).unwrap();
    let signed = theirs.signed(&config).unwrap();
    let headers = signed.headers().into_iter();
    let authorization = headers
        .filter(|(name, _)| name.as_str() == "authorization")
        .map(|(_, value)| value.to_str().unwrap().to_owned())
        .next();
    request.clone().with("authorization", &authorization.unwrap())
}
