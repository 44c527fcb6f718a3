//! Signing, against what OpenSSL signed.

use crate::signature::cavage::{ParameterOrder, SignError, Signing, sign};
use crate::signature::fixture::*;
use crate::signature::{Outcome, Reason};

const ALL: [&str; 4] = ["(request-target)", "host", "date", "digest"];

fn signing<'a>(headers: &'a [&'a str]) -> Signing<'a, &'a str> {
    Signing {
        headers,
        algorithm: "rsa-sha256",
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
