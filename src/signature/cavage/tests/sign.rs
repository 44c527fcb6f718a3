//! Signing, against what OpenSSL signed.

use crate::signature::cavage::{ParameterOrder, SignError, Signing, sign};
use crate::signature::fixture::*;
use crate::signature::key::{Algorithm, KeyError, SigningKey};
use crate::signature::{Hs2019, Outcome, Reason, Terms};

const ALL: [&str; 4] = ["(request-target)", "host", "date", "digest"];

fn signing<'a>(headers: &'a [&'a str]) -> Signing<'a, &'a str> {
    Signing {
        headers,
        algorithm: "rsa-sha256",
        computes: Algorithm::RsaV15Sha256,
        created: None,
        expires: None,
        key_id: KEY_ID,
        order: ParameterOrder::default(),
        query: true,
    }
}

#[test]
fn a_signature_is_the_one_openssl_makes() {
    let sent = Sent::post("/users/bob/inbox?x=%7E");
    let value = sign(&signing(&ALL), &sent.request(), &rsa()).unwrap();
    let expected = format!(
        "keyId=\"{KEY_ID}\",algorithm=\"rsa-sha256\",headers=\"(request-target) host date digest\",signature=\"{BASE_BY_RSA}\""
    );
    assert_eq!(value, expected);
}

#[test]
fn the_order_of_the_parameters_is_the_profiles() {
    let sent = Sent::post("/users/bob/inbox?x=%7E");
    let signing = Signing {
        order: ParameterOrder::HeadersFirst,
        algorithm: "hs2019",
        computes: Algorithm::Ed25519,
        ..signing(&ALL)
    };
    let value = sign(&signing, &sent.request(), &ed25519()).unwrap();
    let expected = format!(
        "keyId=\"{KEY_ID}\",headers=\"(request-target) host date digest\",algorithm=\"hs2019\",signature=\"{BASE_BY_ED25519}\""
    );
    assert_eq!(value, expected);

    #[derive(serde::Deserialize)]
    struct Profile {
        first: ParameterOrder,
        second: ParameterOrder,
    }
    let profile: Profile = toml::from_str("first = 'algorithm_first'\nsecond = 'headers_first'").unwrap();
    assert_eq!(
        (profile.first, profile.second),
        (ParameterOrder::AlgorithmFirst, ParameterOrder::HeadersFirst)
    );
}

#[test]
fn names_stand_in_the_list_as_the_software_spells_them() {
    let sent = Sent::post("/users/bob/inbox?x=%7E");
    let headers = [
        "(request-target)".to_owned(),
        "Host".to_owned(),
        "Date".to_owned(),
        "Digest".to_owned(),
    ];
    let signing = Signing {
        headers: headers.as_slice(),
        algorithm: "rsa-sha256",
        computes: Algorithm::RsaV15Sha256,
        created: None,
        expires: None,
        key_id: KEY_ID,
        order: ParameterOrder::default(),
        query: true,
    };
    let value = sign(&signing, &sent.request(), &rsa()).unwrap();
    let value = value.to_str().unwrap();
    assert!(
        value.contains("headers=\"(request-target) Host Date Digest\""),
        "{value}"
    );
    assert!(value.ends_with(&format!("signature=\"{BASE_BY_RSA}\"")));
}

#[test]
fn the_query_can_be_left_out() {
    let sent = Sent::post("/users/bob/inbox?x=%7E");
    let value = sign(
        &Signing {
            query: false,
            ..signing(&ALL)
        },
        &sent.request(),
        &rsa(),
    )
    .unwrap();
    let verdict = sent.with("signature", value.to_str().unwrap()).verdict();
    assert_eq!(verdict.reason, Some(Reason::QueryOmitted));

    let sent = Sent::post("/users/bob/inbox");
    let value = sign(
        &Signing {
            query: false,
            ..signing(&ALL)
        },
        &sent.request(),
        &rsa(),
    )
    .unwrap();
    assert_eq!(
        sent.with("signature", value.to_str().unwrap()).verdict().result,
        Outcome::Valid
    );
}

#[test]
fn only_what_goes_on_the_wire_is_signed() {
    let sent = Sent::post("/inbox");
    let error = sign(
        &signing(&["(request-target)", "Content-Type"]),
        &sent.request(),
        &rsa(),
    )
    .unwrap_err();
    assert_eq!(error, SignError::HeaderMissing("content-type".to_owned()));
}

#[test]
fn a_key_id_is_escaped_or_refused() {
    let sent = Sent::post("/inbox");
    let with = |key_id| {
        sign(
            &Signing {
                key_id,
                ..signing(&ALL)
            },
            &sent.request(),
            &rsa(),
        )
    };
    let value = with(r#"a"b\c"#).unwrap();
    let sent = Sent::post("/inbox").with("signature", value.to_str().unwrap());
    assert_eq!(sent.header().key_id(), r#"a"b\c"#);
    assert_eq!(sent.verdict().result, Outcome::Valid);
    assert!(with("https://a.test/ü").is_ok());
    assert_eq!(
        with("a\r\nx: y").unwrap_err(),
        SignError::Unprintable("a\r\nx: y".to_owned())
    );
}

#[test]
fn created_and_expires_are_written_bare_and_can_be_covered() {
    let headers = ["(request-target)", "host", "(created)", "(expires)", "digest"];
    let times = |order| Signing {
        algorithm: "hs2019",
        created: Some(1_700_000_000),
        expires: Some(1_700_000_300),
        order,
        ..signing(&headers)
    };
    let sent = Sent::post("/users/bob/inbox?x=%7E").without("date");
    let first = sign(&times(ParameterOrder::AlgorithmFirst), &sent.request(), &rsa()).unwrap();
    // openssl dgst -sha256 -sign rsa2048.pem over the five lines
    let expected = format!(
        "keyId=\"{KEY_ID}\",algorithm=\"hs2019\",created=1700000000,expires=1700000300,\
         headers=\"(request-target) host (created) (expires) digest\",signature=\"{CREATED_AND_EXPIRES}\""
    );
    assert_eq!(first, expected);
    let second = sign(&times(ParameterOrder::HeadersFirst), &sent.request(), &rsa()).unwrap();
    assert!(
        second
            .to_str()
            .unwrap()
            .contains("digest\",algorithm=\"hs2019\",created=1700000000,expires=1700000300,signature=")
    );
    for value in [first, second] {
        let sent = Sent::post("/users/bob/inbox?x=%7E").without("date");
        let verdict = sent.with("signature", value.to_str().unwrap()).verdict();
        assert_eq!((verdict.result, verdict.detail), (Outcome::Valid, None));
    }
}

#[test]
fn created_and_expires_may_stand_there_uncovered() {
    let signing = Signing {
        created: Some(-1),
        expires: Some(1_700_000_300),
        ..signing(&ALL)
    };
    let sent = Sent::post("/users/bob/inbox?x=%7E");
    let value = sign(&signing, &sent.request(), &rsa()).unwrap();
    let value = value.to_str().unwrap();
    assert!(
        value.contains(",created=-1,expires=1700000300,headers="),
        "{value}"
    );
    assert!(value.ends_with(&format!("signature=\"{BASE_BY_RSA}\"")));
    assert_eq!(sent.with("signature", value).verdict().result, Outcome::Valid);
}

#[test]
fn times_that_break_the_draft_are_not_signed() {
    let sent = Sent::post("/inbox");
    let headers = ["(request-target)", "(created)"];
    let forbidden = Signing {
        created: Some(1_700_000_000),
        ..signing(&headers)
    };
    assert_eq!(
        sign(&forbidden, &sent.request(), &rsa()).unwrap_err().to_string(),
        "`(created)` is to be signed, which algorithm `rsa-sha256` forbids; `hs2019` allows it"
    );
    let missing = Signing {
        algorithm: "hs2019",
        ..signing(&headers)
    };
    assert_eq!(
        sign(&missing, &sent.request(), &rsa()).unwrap_err(),
        SignError::HeaderMissing("(created)".to_owned())
    );
}

#[test]
fn the_key_computes_what_it_is_told_to() {
    let sent = || Sent::post("/users/bob/inbox?x=%7E");
    let made = |algorithm, computes, key: &SigningKey| {
        let signing = Signing {
            algorithm,
            computes,
            ..signing(&ALL)
        };
        sign(&signing, &sent().request(), key).map(|value| value.to_str().unwrap().to_owned())
    };
    for (label, computes, key, signature) in [
        ("hs2019", Algorithm::RsaV15Sha512, rsa(), BASE_BY_RSA_SHA512),
        ("rsa-sha512", Algorithm::RsaV15Sha512, rsa(), BASE_BY_RSA_SHA512),
        ("ed25519", Algorithm::Ed25519, ed25519(), BASE_BY_ED25519),
        ("hmac-sha256", Algorithm::HmacSha256, secret(), BASE_BY_SECRET),
    ] {
        let value = made(label, computes, &key).unwrap();
        assert!(value.contains(&format!("algorithm=\"{label}\"")), "{value}");
        assert!(value.ends_with(&format!("signature=\"{signature}\"")), "{value}");
    }
    // ECDSA differs each time; it is DER.
    for key in [p256(), p384()] {
        let value = made("hs2019", key.kind().algorithm(), &key).unwrap();
        let sent = sent().with("signature", &value);
        let terms = Terms {
            hs2019: Hs2019::Sha512,
            ..terms(HOUR, NOW)
        };
        let verdict = sent.header().verify(&sent.request(), key.public_key(), terms);
        assert_eq!(
            (verdict.result, verdict.notes),
            (Outcome::Valid, vec!["ecdsa_der"])
        );
    }
    let unfit = made("rsa-sha256", Algorithm::RsaV15Sha256, &ed25519()).unwrap_err();
    let error = KeyError::Unfit {
        kind: ed25519().kind(),
        algorithm: Algorithm::RsaV15Sha256,
    };
    assert_eq!(unfit, SignError::Key(error));
}

const CREATED_AND_EXPIRES: &str = "pmkMYoUyVj8qX0iaHQxk3NE628tl+/uBYuz+YpYJKGW9QkCWkFydSM/eQPeL2BREhNZNOnsw/DiOE36k5/h98/AjUdZIKsrPFgINMkThrwcl\
    0GlB0UQqCvx5/R///PLEpzeKzMoNyhEQhqQDy3WSSDMrjgs/ZTASiE0Gnl2/GEMKVlqNzDtH3BbCYnNERGx6nSriSYG3ux5z0A378DvWztpS\
    I3Q4b4TCiXMpeH4Tt94HPl9N3s1OWLwVRwYSnrxD5jgo8xhkee1SzhpTPlSH9JKWavQcP6oGmG3PlaydubSLZeYioIer/FXxqwAwOiQHmtxn\
    XPgBqrey7zn+DE3VHA==";
