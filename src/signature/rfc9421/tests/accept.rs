//! `Accept-Signature`.

use crate::signature::rfc9421::AcceptSignature;

#[test]
fn section_5_1_the_example_is_kept() {
    let text = r#"sig1=("@method" "@target-uri" "@authority" "content-digest" "cache-control");keyid="test-key-rsa-pss";created;tag="app-123""#;
    let accept: AcceptSignature = text.parse().unwrap();
    assert_eq!(accept.to_string(), text);
}

#[test]
fn it_is_written_as_structured_fields_are() {
    for (text, written) in [
        (
            "sig1=( \"@method\"  \"x\";sf );created=?1 ,\tsig2=();alg=\"ed25519\";x-other=1",
            "sig1=(\"@method\" \"x\";sf);created, sig2=();alg=\"ed25519\";x-other=1",
        ),
        (
            "a=(\"@status\" \"@method\";req);expires",
            "a=(\"@status\" \"@method\";req);expires",
        ),
    ] {
        assert_eq!(text.parse::<AcceptSignature>().unwrap().to_string(), written);
    }
}

#[test]
fn what_asks_for_no_signature_is_refused_and_says_why() {
    let fault = |text: &str| text.parse::<AcceptSignature>().unwrap_err().to_string();
    for (text, expected) in [
        ("", "it asks for nothing"),
        ("sig1", "`sig1` should be a list of components"),
        ("sig1=\"@method\"", "`sig1` should be a list of components"),
        ("sig1=(\"@method\"", "no dictionary"),
        ("sig1=(\"@bogus\")", "`sig1`: `@bogus` is no derived component"),
        ("sig1=(date)", "`sig1`: `date` is no component identifier"),
        ("sig1=(\"a\" \"a\")", "`sig1` lists `a` twice"),
        (
            "sig1=();created=1700000000",
            "`created`, which should be there without a value",
        ),
        (
            "sig1=();expires=1",
            "`expires`, which should be there without a value",
        ),
        ("sig1=();keyid", "`keyid`, which should be a string"),
        ("sig1=();alg=ed25519", "`alg`, which should be a string"),
    ] {
        let fault = fault(text);
        assert!(fault.contains(expected), "{text}: {fault}");
    }
}
