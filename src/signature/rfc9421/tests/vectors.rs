//! RFC 9421: the worked examples of sections 2.4 and 4.3 and appendix B. They ask less than the fediverse does, so a
//! verdict may have findings; what counts is that none is a signature mismatch.

use http::{HeaderMap, HeaderName};

use crate::clock::Timestamp;
use crate::signature::fixture::*;
use crate::signature::key::VerifyingKey;
use crate::signature::rfc9421::tests::{components, lines, standard_key};
use crate::signature::rfc9421::{Message, Response, Signing, parse, sign};
use crate::signature::{Outcome, Parsed, Reason, Verdict};

/// When most of the examples were signed.
const THEN: Timestamp = Timestamp::from_unix(1_618_884_473);

/// The test-request of appendix B.2.
fn request() -> Sent {
    let sent = Sent {
        body: br#"{"hello": "world"}"#.to_vec(),
        ..bare("POST", "/foo?param=Value&Pet=dog")
    };
    sent.with("host", "example.com")
        .with("date", "Tue, 20 Apr 2021 02:07:55 GMT")
        .with("content-type", "application/json")
        .with("content-digest", REQUEST_DIGEST)
        .with("content-length", "18")
}

const REQUEST_DIGEST: &str =
    "sha-512=:WZDPaVn/7XgHaAy8pmojAkGWoRx2UFChF41A2svX+TaPm+AbwAgBWnrIiYllu7BNNyealdVLvRwEmTHWXvJwew==:";

fn bare(method: &str, target: &str) -> Sent {
    Sent {
        method: method.to_owned(),
        headers: HeaderMap::new(),
        ..Sent::get(target)
    }
}

fn headers(pairs: &[(&str, &str)]) -> HeaderMap {
    let pairs = pairs.iter();
    pairs
        .map(|(name, value)| (name.parse::<HeaderName>().unwrap(), value.parse().unwrap()))
        .collect()
}

/// The verdict on the one signature of a message.
fn verdict(message: &Message, key: &VerifyingKey, now: Timestamp) -> Verdict {
    let found = parse(message.headers()).unwrap();
    found[0].verify(message, Ok(key), terms(HOUR, now))
}

/// What the fediverse misses in a signature that the standard finds right.
fn wanting(sent: &Sent, label: &str, input: &str, signature: &str, key_id: &str) -> Vec<Reason> {
    let sent = Sent {
        headers: sent.headers.clone(),
        method: sent.method.clone(),
        target: sent.target.clone(),
        authority: None,
        body: sent.body.clone(),
    }
    .with("signature-input", &format!("{label}={input}"))
    .with("signature", &format!("{label}=:{signature}:"));
    let request = sent.request();
    let key = standard_key(key_id);
    let verdict = verdict(&Message::Request(&request), key.public_key(), THEN);
    assert_eq!(
        (verdict.label.as_deref(), verdict.key_id.as_deref()),
        (Some(label), Some(key_id))
    );
    verdict.findings.iter().map(|finding| finding.reason).collect()
}

#[test]
fn b21_minimal_signature_over_nothing_but_its_parameters_verifies() {
    let input = r#"();created=1618884473;keyid="test-key-rsa-pss";nonce="b3k2pp5k7z-50gnwp.yemd""#;
    let signature = "d2pmTvmbncD3xQm8E9ZV2828BjQWGgiwAaw5bAkgibUopemLJcWDy/lkbbHAve4cRAtx31Iq786U7it++wgGxbtRxf8Udx7zFZsckzXaJMkA7ChG52eSkFxykJeNqsrWH5S+oxNFlD4dzVuwe8DhTSja8xxbR/Z2cOGdCbzR72rgFWhzx2VjBqJzsPLMIQKhO4DGezXehhWwE56YCE+O6c0mKZsfxVrogUvA4HELjVKWmAvtl6UnCh8jYzuVG5WSb/QEVPnP5TmcAnLH1g+s++v6d4s8m0gCw1fV5/SITLq9mhho8K3+7EPYTU8IU1bLhdxO5Nyt8C8ssinQ98Xw9Q==";
    assert_eq!(
        wanting(&request(), "sig-b21", input, signature, "test-key-rsa-pss"),
        [Reason::HeaderNotSigned, Reason::DigestNotSigned]
    );
}

#[test]
fn b22_selective_components_verify() {
    let input = r#"("@authority" "content-digest" "@query-param";name="Pet");created=1618884473;keyid="test-key-rsa-pss";tag="header-example""#;
    let signature = "LjbtqUbfmvjj5C5kr1Ugj4PmLYvx9wVjZvD9GsTT4F7GrcQEdJzgI9qHxICagShLRiLMlAJjtq6N4CDfKtjvuJyE5qH7KT8UCMkSowOB4+ECxCmT8rtAmj/0PIXxi0A0nxKyB09RNrCQibbUjsLS/2YyFYXEu4TRJQzRw1rLEuEfY17SARYhpTlaqwZVtR8NV7+4UKkjqpcAoFqWFQh62s7Cl+H2fjBSpqfZUJcsIk4N6wiKYd4je2U/lankenQ99PZfB4jY3I5rSV2DSBVkSFsURIjYErOs0tFTQosMTAoxk//0RoKUqiYY8Bh0aaUEb0rQl3/XaVe4bXTugEjHSw==";
    assert_eq!(
        wanting(&request(), "sig-b22", input, signature, "test-key-rsa-pss"),
        [Reason::HeaderNotSigned]
    );
    assert_eq!(
        lines(
            &["@authority", "content-digest", "@query-param;name=\"Pet\""],
            &Message::Request(&request().request())
        )
        .unwrap(),
        format!(
            "\"@authority\": example.com\n\"content-digest\": {REQUEST_DIGEST}\n\"@query-param\";name=\"Pet\": dog"
        )
    );
}

const B23: [&str; 8] = [
    "date",
    "@method",
    "@path",
    "@query",
    "@authority",
    "content-type",
    "content-digest",
    "content-length",
];

#[test]
fn b23_full_coverage_is_valid() {
    let input = r#"("date" "@method" "@path" "@query" "@authority" "content-type" "content-digest" "content-length");created=1618884473;keyid="test-key-rsa-pss""#;
    let signature = "bbN8oArOxYoyylQQUU6QYwrTuaxLwjAC9fbY2F6SVWvh0yBiMIRGOnMYwZ/5MR6fb0Kh1rIRASVxFkeGt683+qRpRRU5p2voTp768ZrCUb38K0fUxN0O0iC59DzYx8DFll5GmydPxSmme9v6ULbMFkl+V5B1TP/yPViV7KsLNmvKiLJH1pFkh/aYA2HXXZzNBXmIkoQoLd7YfW91kE9o/CCoC1xMy7JA1ipwvKvfrs65ldmlu9bpG6A9BmzhuzF8Eim5f8ui9eH8LZH896+QIF61ka39VBrohr9iyMUJpvRX2Zbhl5ZJzSRxpJyoEZAFL2FUo5fTIztsDZKEgM4cUA==";
    assert_eq!(
        wanting(&request(), "sig-b23", input, signature, "test-key-rsa-pss"),
        []
    );
    assert_eq!(
        lines(&B23, &Message::Request(&request().request())).unwrap(),
        format!(
            "\"date\": Tue, 20 Apr 2021 02:07:55 GMT\n\"@method\": POST\n\"@path\": /foo\n\
             \"@query\": ?param=Value&Pet=dog\n\"@authority\": example.com\n\
             \"content-type\": application/json\n\"content-digest\": {REQUEST_DIGEST}\n\"content-length\": 18"
        )
    );
}

#[test]
fn b24_a_response_verifies() {
    let digest =
        "sha-512=:mEWXIS7MaLRuGgxOBdODa3xqM1XdEvxoYhvlCFJ41QJgJc4GTsPp29l5oGX69wWdXymyU0rjJuahq4l5aGgfLQ==:";
    let headers = headers(&[
        ("date", "Tue, 20 Apr 2021 02:07:56 GMT"),
        ("content-type", "application/json"),
        ("content-digest", digest),
        ("content-length", "23"),
        (
            "signature-input",
            r#"sig-b24=("@status" "content-type" "content-digest" "content-length");created=1618884473;keyid="test-key-ecc-p256""#,
        ),
        (
            "signature",
            "sig-b24=:wNmSUAhwb5LxtOtOpNa6W5xj067m5hFrj0XQ4fvpaCLx0NKocgPquLgyahnzDnDAUy5eCdlYUEkLIj+32oiasw==:",
        ),
    ]);
    let response = Response {
        status: 200,
        headers: &headers,
        body: br#"{"message": "good dog"}"#,
        request: None,
    };
    let key = standard_key("test-key-ecc-p256");
    let found = verdict(&Message::Response(response), key.public_key(), THEN);
    assert_eq!((found.result, found.detail), (Outcome::Valid, None));
    assert_eq!(
        lines(
            &["@status", "content-type", "content-digest", "content-length"],
            &Message::Response(response)
        )
        .unwrap(),
        format!(
            "\"@status\": 200\n\"content-type\": application/json\n\"content-digest\": {digest}\n\"content-length\": 23"
        )
    );
    let other = Response {
        status: 201,
        ..response
    };
    let found = verdict(&Message::Response(other), key.public_key(), THEN);
    assert_eq!(found.reason, Some(Reason::SignatureMismatch));
}

/// Signs the test-request and lays the two fields beside those of the standard.
fn signs_to(label: &str, names: &[&str], key_id: &str, input: &str, signature: &str) {
    let key = standard_key(key_id);
    let signing = Signing {
        label,
        components: &components(names),
        key_id,
        algorithm: key.kind().algorithm(),
        names_algorithm: false,
        created: Some(1_618_884_473),
        expires: None,
        nonce: None,
        tag: None,
    };
    let sent = request();
    let signed = sign(&signing, &Message::Request(&sent.request()), &key).unwrap();
    assert_eq!(signed.input, format!("{label}={input}"));
    assert_eq!(signed.signature, format!("{label}=:{signature}:"));
}

#[test]
fn b25_hmac_verifies_and_is_signed_byte_for_byte() {
    let input = r#"("date" "@authority" "content-type");created=1618884473;keyid="test-shared-secret""#;
    let signature = "pxcQw6G3AjtMBQjwo8XzkZf/bws5LelbaMk5rGIGtE8=";
    assert_eq!(
        wanting(&request(), "sig-b25", input, signature, "test-shared-secret"),
        [Reason::HeaderNotSigned, Reason::DigestNotSigned]
    );
    let names = ["date", "@authority", "content-type"];
    signs_to("sig-b25", &names, "test-shared-secret", input, signature);
}

#[test]
fn b26_ed25519_verifies_and_is_signed_byte_for_byte() {
    let input = r#"("date" "@method" "@path" "@authority" "content-type" "content-length");created=1618884473;keyid="test-key-ed25519""#;
    let signature =
        "wqcAqbmYJ2ji2glfAMaRy4gruYYnx2nEFN2HN6jrnDnQCK1u02Gb04v9EDgwUPiu4A0w6vuQv5lIp5WPpBKRCw==";
    assert_eq!(
        wanting(&request(), "sig-b26", input, signature, "test-key-ed25519"),
        // The query is not covered.
        [Reason::HeaderNotSigned, Reason::DigestNotSigned]
    );
    let names = [
        "date",
        "@method",
        "@path",
        "@authority",
        "content-type",
        "content-length",
    ];
    signs_to("sig-b26", &names, "test-key-ed25519", input, signature);
}

#[test]
fn b3_what_a_terminating_proxy_signs_verifies() {
    let certificate = ":MIIBqDCCAU6gAwIBAgIBBzAKBggqhkjOPQQDAjA6MRswGQYDVQQKDBJMZXQncyBBdXRoZW50aWNhdGUxGzAZBgNVBAMMEkxBIEludGVybWVkaWF0ZSBDQTAeFw0yMDAxMTQyMjU1MzNaFw0yMTAxMjMyMjU1MzNaMA0xCzAJBgNVBAMMAkJDMFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAE8YnXXfaUgmnMtOXU/IncWalRhebrXmckC8vdgJ1p5Be5F/3YC8OthxM4+k1M6aEAEFcGzkJiNy6J84y7uzo9M6NyMHAwCQYDVR0TBAIwADAfBgNVHSMEGDAWgBRm3WjLa38lbEYCuiCPct0ZaSED2DAOBgNVHQ8BAf8EBAMCBsAwEwYDVR0lBAwwCgYIKwYBBQUHAwIwHQYDVR0RAQH/BBMwEYEPYmRjQGV4YW1wbGUuY29tMAoGCCqGSM49BAMCA0gAMEUCIBHda/r1vaL6G3VliL4/Di6YK0Q6bMjeSkC3dFCOOB8TAiEAx/kHSB4urmiZ0NX5r5XarmPk0wmuydBVoU4hBVZ1yhk=:";
    let sent = request()
        .without("host")
        .with("host", "service.internal.example")
        .with("client-cert", certificate);
    let input = r#"("@path" "@query" "@method" "@authority" "client-cert");created=1618884473;keyid="test-key-ecc-p256""#;
    let signature =
        "xVMHVpawaAC/0SbHrKRs9i8I3eOs5RtTMGCWXm/9nvZzoHsIg6Mce9315T6xoklyy0yzhD9ah4JHRwMLOgmizw==";
    assert_eq!(
        wanting(&sent, "ttrp", input, signature, "test-key-ecc-p256"),
        [Reason::DigestNotSigned]
    );
}

#[test]
fn b4_what_leaves_the_covered_components_alone_leaves_the_signature_valid() {
    let wanting = |sent: Sent| {
        let input =
            r#"("@method" "@path" "@authority" "accept");created=1618884473;keyid="test-key-ed25519""#;
        let signature =
            "ZT1kooQsEHpZ0I1IjCqtQppOmIqlJPeo7DHR3SoMn0s5JZ1eRGS0A+vyYP9t/LXlh5QMFFQ6cpLt2m0pmj3NDA==";
        wanting(&sent, "transform", input, signature, "test-key-ed25519")
    };
    let original = "/demo?name1=Value1&Name2=value2";
    let get = |target: &str| bare("GET", target).with("host", "example.org");
    let two = |sent: Sent| sent.with("accept", "application/json").with("accept", "*/*");
    // The query is not covered, in any of them.
    let holds = [Reason::HeaderNotSigned];
    assert_eq!(wanting(two(get(original))), holds);
    let added = two(get(&format!("{original}&param=added"))).with("accept-language", "en-US,en;q=0.5");
    assert_eq!(wanting(added), holds);
    let joined = get(original)
        .with("referer", "https://developer.example.org/demo")
        .with("accept", "application/json, */*");
    assert_eq!(wanting(joined), holds);
    let reordered = two(bare("GET", original))
        .with("date", "Fri, 15 Jul 2022 14:24:55 GMT")
        .with("host", "example.org");
    assert_eq!(wanting(reordered), holds);

    let elsewhere = two(bare("POST", original).with("host", "example.com"));
    assert!(wanting(elsewhere).contains(&Reason::SignatureMismatch));
    let swapped = get(original)
        .with("accept", "*/*")
        .with("accept", "application/json");
    assert!(wanting(swapped).contains(&Reason::SignatureMismatch));
}

#[test]
fn section_2_4_a_response_is_bound_to_its_request() {
    let digest =
        "sha-512=:0Y6iCBzGg5rZtoXS95Ijz03mslf6KAMCloESHObfwnHJDbkkWWQz6PhhU9kxsTbARtY2PTBOzq24uJFpHsMuAg==:";
    let headers = headers(&[
        ("date", "Tue, 20 Apr 2021 02:07:56 GMT"),
        ("content-type", "application/json"),
        ("content-length", "62"),
        ("content-digest", digest),
        (
            "signature-input",
            r#"reqres=("@status" "content-digest" "content-type" "@authority";req "@method";req "@path";req "content-digest";req);created=1618884479;keyid="test-key-ecc-p256""#,
        ),
        (
            "signature",
            "reqres=:dMT/A/76ehrdBTD/2Xx8QuKV6FoyzEP/I9hdzKN8LQJLNgzU4W767HK05rx1i8meNQQgQPgQp8wq2ive3tV5Ag==:",
        ),
    ]);
    let sent = request();
    let asked = sent.request();
    let response = Response {
        status: 503,
        headers: &headers,
        body: br#"{"busy": true, "message": "Your call is very important to us"}"#,
        request: Some(&asked),
    };
    let key = standard_key("test-key-ecc-p256");
    let found = verdict(&Message::Response(response), key.public_key(), THEN);
    assert_eq!((found.result, found.detail), (Outcome::Valid, None));
    assert_eq!(found.covered[3], "@authority;req");

    let other = Sent::get("/foo").without("host").with("host", "example.com");
    let other = other.request();
    for request in [None, Some(&other)] {
        let response = Response { request, ..response };
        let found = verdict(&Message::Response(response), key.public_key(), THEN);
        assert_eq!(found.result, Outcome::Invalid);
        assert_eq!(found.findings.last().unwrap().reason, Reason::SignatureMismatch);
    }
}

const SECTION_4_3: [&str; 2] = [
    r#"sig1=("@method" "@authority" "@path" "content-digest" "content-type" "content-length");created=1618884475;keyid="test-key-ecc-p256""#,
    r#"proxy_sig=("@method" "@authority" "@path" "content-digest" "content-type" "content-length" "forwarded");created=1618884480;keyid="test-key-rsa";alg="rsa-v1_5-sha256";expires=1618884540"#,
];
const SIGNATURES_4_3: [&str; 2] = [
    "sig1=:X5spyd6CFnAG5QnDyHfqoSNICd+BUP4LYMz2Q0JXlb//4Ijpzp+kve2w4NIyqeAuM7jTDX+sNalzA8ESSaHD3A==:",
    "proxy_sig=:S6ZzPXSdAMOPjN/6KXfXWNO/f7V6cHm7BXYUh3YD/fRad4BCaRZxP+JH+8XY1I6+8Cy+CM5g92iHgxtRPz+MjniOaYmdkDcnL9cCpXJleXsOckpURl49GwiyUpZ10KHgOEe11sx3G2gxI8S0jnxQB+Pu68U9vVcasqOWAEObtNKKZd8tSFu7LB5YAv0RAGhB8tmpv7sFnIm9y+7X5kXQfi8NMaZaA8i2ZHwpBdg7a6CMfwnnrtflzvZdXAsD3LH2TwevU+/PBPv0B6NMNk93wUs/vfJvye+YuI87HU38lZHowtznbLVdp770I6VHR6WfgS9ddzirrswsE1w5o0LV/g==:",
];

/// The request behind the proxy of section 4.3, which signed it again for its new host.
fn proxied() -> Sent {
    request()
        .without("host")
        .with("host", "origin.host.internal.example")
        .with("forwarded", "for=192.0.2.123;host=example.com;proto=https")
}

#[test]
fn section_4_3_each_of_two_signatures_has_its_verdict() {
    let one_line = proxied()
        .with("signature-input", &SECTION_4_3.join(", "))
        .with("signature", &SIGNATURES_4_3.join(", "));
    let two_lines = proxied()
        .with("signature-input", SECTION_4_3[0])
        .with("signature-input", SECTION_4_3[1])
        .with("signature", SIGNATURES_4_3[0])
        .with("signature", SIGNATURES_4_3[1]);
    for sent in [one_line, two_lines] {
        let request = sent.request();
        let Parsed::Signed(found) = crate::signature::parse(&request) else {
            panic!("not signed");
        };
        let judge = |index: usize, key_id: &str| {
            let key = standard_key(key_id);
            assert_eq!(found[index].key_id(), key_id);
            found[index].verify(&request, key.public_key(), terms(HOUR, THEN))
        };
        // The query is covered by neither.
        let proxy = judge(1, "test-key-rsa");
        assert_eq!(proxy.label.as_deref(), Some("proxy_sig"));
        assert_eq!(proxy.notes, ["several_signatures", "digest_without_sha256"]);
        assert_eq!(proxy.untolerated(&[Reason::HeaderNotSigned]), None);
        // The proxy changed the host, which the client's signature covers.
        let client = judge(0, "test-key-ecc-p256");
        assert_eq!(client.label.as_deref(), Some("sig1"));
        assert_eq!(
            client.untolerated(&[Reason::HeaderNotSigned]).unwrap().reason,
            Reason::SignatureMismatch
        );
    }
    let before = request()
        .with("signature-input", SECTION_4_3[0])
        .with("signature", SIGNATURES_4_3[0]);
    let key = standard_key("test-key-ecc-p256");
    let found = before.verdict_by(key.public_key(), HOUR, THEN);
    assert_eq!(found.untolerated(&[Reason::HeaderNotSigned]), None);
}

#[test]
fn section_4_3_the_proxys_fields_are_signed_byte_for_byte() {
    let names = [
        "@method",
        "@authority",
        "@path",
        "content-digest",
        "content-type",
        "content-length",
        "forwarded",
    ];
    let key = standard_key("test-key-rsa");
    let signing = Signing {
        label: "proxy_sig",
        components: &components(&names),
        key_id: "test-key-rsa",
        algorithm: key.kind().algorithm(),
        names_algorithm: true,
        created: Some(1_618_884_480),
        expires: Some(1_618_884_540),
        nonce: None,
        tag: None,
    };
    let sent = proxied();
    let signed = sign(&signing, &Message::Request(&sent.request()), &key).unwrap();
    assert_eq!(signed.input, SECTION_4_3[1]);
    assert_eq!(signed.signature, SIGNATURES_4_3[1]);
}
