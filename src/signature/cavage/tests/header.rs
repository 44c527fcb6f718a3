//! The parameters of the header, well written and badly.

use crate::signature::cavage::Header;
use crate::signature::{Outcome, Reason, Verdict};

fn parse(text: &str) -> Result<Header, Box<Verdict>> {
    Header::parse(text.as_bytes(), None)
}

fn detail(text: &str) -> String {
    let verdict = parse(text).unwrap_err();
    assert_eq!(
        (verdict.result, verdict.reason),
        (Outcome::Invalid, Some(Reason::Malformed)),
        "{text}"
    );
    assert_eq!(verdict.dialect, Some(crate::signature::Dialect::Cavage));
    verdict.detail.unwrap()
}

#[test]
fn spaces_around_commas_and_equals_signs_are_let_pass() {
    let header =
        parse("\tkeyId = \"a\" , algorithm=\"hs2019\",,  headers =\"date  host \",signature=\t\"c2ln\" ,")
            .unwrap();
    assert_eq!(header.key_id(), "a");
    assert_eq!(header.covered(), ["date", "host"]);
    assert_eq!(header.signature, "c2ln");
}

#[test]
fn commas_equals_signs_and_escapes_inside_quotes_are_kept() {
    let key_id = |text: &str| parse(text).unwrap().key_id().to_owned();
    assert_eq!(
        key_id(r#"keyId="https://a.test/u?x=1,2#k",signature="""#),
        "https://a.test/u?x=1,2#k"
    );
    assert_eq!(key_id(r#"keyId="a\"b\\c",signature="""#), r#"a"b\c"#);
    assert_eq!(
        key_id("keyId=\"https://a.test/ü\",signature=\"\""),
        "https://a.test/ü"
    );
}

#[test]
fn names_in_the_list_are_folded_to_lower_case() {
    let header = parse(r#"keyId="a",headers="(request-target) Host Date Digest",signature="""#).unwrap();
    assert_eq!(header.covered(), ["(request-target)", "host", "date", "digest"]);
}

#[test]
fn the_default_list_hangs_on_the_algorithm() {
    let covered = |algorithm: &str| {
        let text = format!(r#"keyId="a",{algorithm}signature="""#);
        parse(&text).unwrap().covered().to_vec()
    };
    assert_eq!(covered(""), ["(created)"]);
    assert_eq!(covered(r#"algorithm="hs2019","#), ["(created)"]);
    assert_eq!(covered(r#"algorithm="rsa-sha256","#), ["date"]);
}

#[test]
fn times_are_read_bare_and_quoted() {
    let header = parse(r#"keyId="a",created=1402170695,expires="1402170699.5",signature="""#).unwrap();
    assert_eq!(
        (header.created(), header.expires()),
        (Some(1_402_170_695), Some(1_402_170_699))
    );
    assert!(detail(r#"keyId="a",created=1402170695.5,signature="""#).contains("`1402170695.5`"));
    assert!(detail(r#"keyId="a",expires=soon,signature="""#).contains("`soon`"));
    assert!(detail(r#"keyId="a",expires=1.,signature="""#).contains("`1.`"));
    assert!(detail(r#"keyId="a",created=,signature="""#).contains("`created`"));
}

#[test]
fn unknown_parameters_are_passed_over() {
    let header = parse(r#"version="1",opaque="b",keyId="a",signature="","#).unwrap();
    assert_eq!(header.key_id(), "a");
}

#[test]
fn what_does_not_parse_says_where() {
    assert_eq!(detail(r#"keyId="a"#), "the value of `keyId` has no closing quote");
    assert_eq!(
        detail(r#"keyId="a\"#),
        "the value of `keyId` has no closing quote"
    );
    assert_eq!(
        detail(r#"keyId="a",signature="b",KEYID="c""#),
        "`KEYID` is there twice"
    );
    assert_eq!(
        detail(r#"keyId="a" algorithm="b""#),
        "`keyId` is followed by `algorithm=\"b\"` where a comma was expected"
    );
    assert_eq!(detail("keyId"), "`keyId` has no `=` and value");
    assert_eq!(
        detail(r#""keyId"="a""#),
        "`\"keyId\"=\"a\"` is no parameter: `name=\"value\"` was expected"
    );
    assert_eq!(
        detail("sig1=:AAAA:"),
        "`sig1` is followed by `:AAAA:` where a comma was expected"
    );
    assert!(detail("").contains("must both be there"));
    assert!(detail(r#"keyId="a""#).contains("must both be there"));
    assert!(detail(r#"keyId="",signature="b""#).contains("empty"));
    assert!(detail(r#"keyId="a",headers=" ",signature="b""#).contains("covers nothing"));
}

#[test]
fn what_could_be_read_is_told_all_the_same() {
    let verdict = parse(r#"keyId="a",headers="(request-target) host",signature="b"#).unwrap_err();
    assert_eq!(verdict.key_id.as_deref(), Some("a"));
    assert_eq!(verdict.covered, ["(request-target)", "host"]);
    assert!(parse(r#"keyId="a",signature="b"#).unwrap_err().covered.is_empty());
}

#[test]
fn lists_are_bounded() {
    let many = "date ".repeat(65);
    assert!(detail(&format!(r#"keyId="a",headers="{many}",signature="b""#)).contains("at most 64"));
    let many: String = (0..33).map(|n| format!("p{n}=1,")).collect();
    assert!(detail(&many).contains("more than 32"));
}

#[test]
fn bytes_that_are_no_utf_8_do_not_parse() {
    let verdict = Header::parse(b"keyId=\"\xff\"", None).unwrap_err();
    assert_eq!(verdict.reason, Some(Reason::Malformed));
}
