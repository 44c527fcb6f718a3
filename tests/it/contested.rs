//! What some software lets pass and other refuses, since no specification settles it, or many break it. Each has a
//! switch in the profile; the verdict is the same either way.

use aws_lc_rs::digest;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use peerfarm::Running;
use peerfarm::signature::key::SigningKey;
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::support::raw::Answer;
use crate::support::{By, Request, Sut, changed, last_entry, persona, plain, with};

/// Mastodons that let everything pass, and some that let nothing pass. All verify with every kind of key.
async fn lenient_and_strict(sut: &Sut) -> [(Running, [TempDir; 2]); 2] {
    let of = |tolerates: &str, refuses: &str| format!("tolerates = [{tolerates}]\nrefuses = [{refuses}]");
    let lenient = of(r#""query_omitted", "bad_base64""#, "");
    let strict = of(
        "",
        r#""scheme_prefix", "authorization_header", "ecdsa_der", "several_signatures", "digest_without_sha256""#,
    );
    let own = of(
        r#""query_omitted""#,
        r#""several_signatures", "authorization_header", "digest_without_sha256""#,
    );
    let farm = async |switches: &str| {
        let algorithms = "algorithms = [\"rsa-v1_5-sha256\"]\n";
        changed(sut, &[(&own, switches), (algorithms, "")]).await
    };
    [farm(&lenient).await, farm(&strict).await]
}

/// Sends the same to both: taken by the former, refused by the latter for that reason, under one verdict.
async fn parts(sut: &Sut, reason: &str, verdict: Value, request: impl Fn(&str) -> Request) {
    let [(lenient, _dirs), (strict, _other_dirs)] = lenient_and_strict(sut).await;
    for (farm, status) in [(&lenient, 202), (&strict, 401)] {
        let request = request(&persona(farm, "alice@mastodon1.test").inbox);
        let answer = request.send(plain(farm)).await;
        assert_eq!(answer.status, status, "{reason}: {answer:?}");
        let entry = last_entry(farm).await;
        let found = &entry["verdict"];
        assert_eq!(
            json!([found["result"], found["reason"], found["notes"]]),
            verdict,
            "{found}"
        );
        if status == 401 {
            assert_eq!(answer.header("x-peerfarm-reason"), [reason]);
            assert_eq!(entry["notes"][0], format!("refused: {reason}"));
        }
    }
}

fn create(sut: &Sut, url: &str) -> Request {
    let create = sut.activity("u1", "1", "Create", json!("https://sut.test/n/1"));
    Request::post(url, create.to_string())
}

/// The `signature` parameter of a draft-cavage signature.
fn parameter(request: &Request) -> (String, String) {
    let field = request.headers["signature"].to_str().unwrap().to_owned();
    let (_, rest) = field.split_once(",signature=\"").unwrap();
    let value = rest.trim_end_matches('"').to_owned();
    (field, value)
}

#[tokio::test]
async fn a_target_signed_without_its_query_is_let_pass_or_not() {
    let sut = Sut::start(&["u1"]).await;
    let key_id = sut.key_id("u1");
    let verdict = json!(["invalid", "query_omitted", ["query_omitted"]]);
    parts(&sut, "query_omitted", verdict, |inbox| {
        create(&sut, &format!("{inbox}?x=1")).signed_by(By {
            query: false,
            ..By::of(&key_id, sut.key("u1"))
        })
    })
    .await;
}

#[tokio::test]
async fn the_scheme_word_before_a_signature_is_let_pass_or_not() {
    let sut = Sut::start(&["u1"]).await;
    let verdict = json!(["valid", null, ["scheme_prefix"]]);
    parts(&sut, "scheme_prefix", verdict, |inbox| {
        let signed = create(&sut, inbox).signed(&sut, "u1");
        let (field, _) = parameter(&signed);
        signed.with("signature", &format!("Signature {field}"))
    })
    .await;
}

#[tokio::test]
async fn a_signature_in_authorization_is_let_pass_or_not() {
    let sut = Sut::start(&["u1"]).await;
    let verdict = json!(["valid", null, ["authorization_header"]]);
    parts(&sut, "authorization_header", verdict, |inbox| {
        let signed = create(&sut, inbox).signed(&sut, "u1");
        let (field, _) = parameter(&signed);
        signed
            .without("signature")
            .with("authorization", &format!("Signature {field}"))
    })
    .await;
}

#[tokio::test]
async fn a_digest_by_sha_512_alone_is_let_pass_or_not() {
    let sut = Sut::start(&["u1"]).await;
    let verdict = json!(["valid", null, ["digest_without_sha256"]]);
    parts(&sut, "digest_without_sha256", verdict, |inbox| {
        let whole = create(&sut, inbox);
        let sha512 = STANDARD.encode(digest::digest(&digest::SHA512, &whole.body));
        whole
            .with("digest", &format!("SHA-512={sha512}"))
            .signed(&sut, "u1")
    })
    .await;
}

#[tokio::test]
async fn an_unpadded_signature_is_let_pass_or_not() {
    let sut = Sut::start(&["u1"]).await;
    let unpadded = |request: Request| {
        let (field, value) = parameter(&request);
        assert!(value.ends_with("=="), "{value}");
        request.with("signature", &field.replace(&value, value.trim_end_matches('=')))
    };
    let verdict = json!(["invalid", "bad_base64", []]);
    parts(&sut, "bad_base64", verdict, |inbox| {
        unpadded(create(&sut, inbox).signed(&sut, "u1"))
    })
    .await;
    // Whoever lets that pass does not let pass what is no signature of the key, in either dialect.
    let [(lenient, _dirs), _] = lenient_and_strict(&sut).await;
    let whole = || create(&sut, &persona(&lenient, "alice@mastodon1.test").inbox);
    let key_id = sut.key_id("u1");
    let foreign = SigningKey::generate_rsa(2048).unwrap();
    let forged = whole().signed_by(By::of(&key_id, &foreign));
    let torn = whole().signed_rfc9421(&sut, "u1", "sig1", &["@method", "@target-uri", "content-digest"]);
    for (request, reason) in [
        (unpadded(forged), "signature_mismatch"),
        (torn.with("signature", "sig1=:A*A=:"), "malformed"),
    ] {
        let answer = request.send(plain(&lenient)).await;
        assert_eq!(
            (answer.status, answer.header("x-peerfarm-reason")),
            (401, vec![reason.to_owned()]),
            "{answer:?}"
        );
    }
}

#[tokio::test]
async fn several_signatures_are_let_pass_or_not() {
    let sut = Sut::start(&["u1"]).await;
    let covered = ["@method", "@target-uri", "content-digest"];
    let verdict = json!(["valid", null, ["several_signatures"]]);
    parts(&sut, "several_signatures", verdict, |inbox| {
        create(&sut, inbox)
            .signed_rfc9421(&sut, "u1", "sig1", &covered)
            .signed_rfc9421(&sut, "u1", "sig2", &covered)
    })
    .await;
}

#[tokio::test]
async fn an_ecdsa_signature_in_der_is_let_pass_or_not() {
    let sut = Sut::start(&["u1"]).await;
    let key = SigningKey::generate_p256().unwrap();
    let mut document = sut.actor_document("u1");
    document["publicKey"]["publicKeyPem"] = key.public_pem().unwrap().into();
    sut.serve_at("/users/u1", 200, document);
    let key_id = sut.key_id("u1");
    let signed = |inbox: &str| {
        create(&sut, inbox).signed_by(By {
            algorithm: "hs2019",
            ..By::of(&key_id, &key)
        })
    };
    let verdict = json!(["valid", null, ["ecdsa_der"]]);
    parts(&sut, "ecdsa_der", verdict, signed).await;
    // The form that the algorithm gives is taken by both.
    for (farm, _dirs) in lenient_and_strict(&sut).await {
        let signed = signed(&persona(&farm, "alice@mastodon1.test").inbox);
        let (field, value) = parameter(&signed);
        let fixed = STANDARD.encode(fixed(&STANDARD.decode(&value).unwrap()));
        let answer = signed
            .with("signature", &field.replace(&value, &fixed))
            .send(plain(&farm))
            .await;
        assert_eq!(answer.status, 202, "{answer:?}");
        assert_eq!(last_entry(&farm).await["verdict"]["notes"], json!([]));
    }
}

/// r and s side by side, each of 32 bytes, of their DER: a sequence of two integers (RFC 3279 section 2.2.3).
fn fixed(der: &[u8]) -> Vec<u8> {
    let mut fixed = Vec::new();
    let mut rest = &der[2..];
    while let [0x02, length, content @ ..] = rest {
        let (integer, after) = content.split_at(usize::from(*length));
        let bytes = &integer[integer.len().saturating_sub(32)..];
        fixed.extend(std::iter::repeat_n(0, 32 - bytes.len()));
        fixed.extend(bytes);
        rest = after;
    }
    fixed
}

/// Quiet, or as servers do whose senders then come again and again.
#[tokio::test]
async fn a_delete_of_who_is_gone_is_taken_quietly_or_refused() {
    let sut = Sut::start(&["u1"]).await;
    sut.serve_at("/users/u1", 410, json!({}));
    let (loud, _dirs) = changed(
        &sut,
        &[(
            "delete_of_unknown = { status = 202 }",
            "delete_of_unknown = { status = 401 }",
        )],
    )
    .await;
    let (quiet, _other_dirs) = changed(&sut, &[]).await;
    for (farm, status) in [(&quiet, 202), (&loud, 401)] {
        let alice = persona(farm, "alice@mastodon1.test");
        let delete = sut.activity("u1", "gone", "Delete", json!(sut.actor("u1")));
        for dialect in ["cavage", "rfc9421"] {
            let answer = deliver(&sut, farm, &alice.shared_inbox, &delete, dialect).await;
            assert_eq!(
                (answer.status, answer.header("x-peerfarm-reason")),
                (status, vec!["key_gone".to_owned()]),
                "{dialect}"
            );
            // Of anybody else, and of anything else, it is a signature that nobody can verify.
            let others = with(delete.clone(), "object", json!("https://sut.test/n/1"));
            let answer = deliver(&sut, farm, &alice.shared_inbox, &others, dialect).await;
            assert_eq!(
                (answer.status, answer.header("x-peerfarm-reason")),
                (401, vec!["key_gone".to_owned()]),
                "{dialect}"
            );
        }
        assert_eq!(sut.fetches_of("/users/u1"), if status == 202 { 1 } else { 2 });
    }
}

async fn deliver(sut: &Sut, farm: &Running, url: &str, activity: &Value, dialect: &str) -> Answer {
    let request = Request::post(url, activity.to_string());
    let signed = match dialect {
        "cavage" => request.signed(sut, "u1"),
        _ => request.signed_rfc9421(sut, "u1", "sig1", &["@method", "@target-uri", "content-digest"]),
    };
    signed.send(plain(farm)).await
}
