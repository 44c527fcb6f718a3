//! The examples of RFC 9421 section 2, and what has no value.

use crate::signature::Request;
use crate::signature::fixture::*;
use crate::signature::rfc9421::tests::{components, delivery, lines};
use crate::signature::rfc9421::{Component, Message, Response};

/// A request to `www.example.com`, as most examples have it.
fn example(method: &str, target: &str) -> Sent {
    Sent {
        method: method.to_owned(),
        body: Vec::new(),
        ..Sent::get(target)
    }
    .without("host")
    .with("host", "www.example.com")
}

fn line(sent: &Sent, component: &str) -> Result<String, String> {
    lines(&[component], &Message::Request(&sent.request()))
}

fn value(sent: &Sent, component: &str) -> String {
    let line = line(sent, component).unwrap();
    line.rsplit_once("\": ").unwrap().1.to_owned()
}

#[test]
fn section_2_1_fields_are_joined_and_trimmed() {
    let sent = example("GET", "/")
        .without("date")
        .with("date", "Tue, 20 Apr 2021 02:07:56 GMT")
        .with("x-ows-header", "  Leading and trailing whitespace.   ")
        .with("cache-control", "max-age=60")
        .with("cache-control", "   must-revalidate")
        .with("example-dict", " a=1,    b=2;x=1;y=2,   c=(a   b   c)")
        .with("x-empty-header", "");
    let names = [
        "host",
        "date",
        "x-ows-header",
        "cache-control",
        "example-dict",
        "x-empty-header",
    ];
    let expected = "\"host\": www.example.com\n\
        \"date\": Tue, 20 Apr 2021 02:07:56 GMT\n\
        \"x-ows-header\": Leading and trailing whitespace.\n\
        \"cache-control\": max-age=60, must-revalidate\n\
        \"example-dict\": a=1,    b=2;x=1;y=2,   c=(a   b   c)\n\
        \"x-empty-header\": ";
    assert_eq!(
        lines(&names, &Message::Request(&sent.request())).unwrap(),
        expected
    );
}

#[test]
fn sections_2_1_1_and_2_1_2_structured_fields_are_written_anew() {
    let sent = example("GET", "/")
        .with("example-dict", "  a=1, b=2;x=1;y=2, c=(a   b    c), d")
        .with("priority", "u=1,   i")
        .with("cache-control", "max-age=60");
    let names = [
        "example-dict;sf",
        "example-dict;key=\"a\"",
        "example-dict;key=\"d\"",
        "example-dict;key=\"b\"",
        "example-dict;key=\"c\"",
        "example-dict;sf;key=\"a\"",
        "cache-control;key=\"max-age\"",
        "priority;sf",
    ];
    let expected = "\"example-dict\";sf: a=1, b=2;x=1;y=2, c=(a b c), d\n\
        \"example-dict\";key=\"a\": 1\n\
        \"example-dict\";key=\"d\": ?1\n\
        \"example-dict\";key=\"b\": 2;x=1;y=2\n\
        \"example-dict\";key=\"c\": (a b c)\n\
        \"example-dict\";sf;key=\"a\": 1\n\
        \"cache-control\";key=\"max-age\": 60\n\
        \"priority\";sf: u=1, i";
    assert_eq!(
        lines(&names, &Message::Request(&sent.request())).unwrap(),
        expected
    );
}

#[test]
fn structure_that_is_not_there_has_no_value() {
    let sent = example("GET", "/")
        .with("x-dict", "a=1, b=2")
        .with("x-list", "a, a")
        .with("x-none", "(((");
    let fault = |component: &str| line(&sent, component).unwrap_err();
    assert_eq!(
        fault("x-dict;key=\"c\""),
        "`x-dict;key=\"c\"`: it has no member `c`"
    );
    assert!(fault("x-none;key=\"a\"").contains("no dictionary"));
    assert!(fault("x-none;sf").contains("no structured field"));
    // As a dictionary it would be `a`, as a list `a, a`.
    assert!(fault("x-list;sf").contains("type is not known"));
    assert!(fault("x-gone;sf").contains("not there"));
    assert!(fault("x-dict;tr").contains("trailers"));
    assert!(fault("x-dict;req").contains("signatures of responses"));
}

#[test]
fn section_2_1_3_bytes_are_wrapped_line_by_line() {
    let two = example("GET", "/")
        .with("example-header", "value, with, lots")
        .with("example-header", "of, commas");
    assert_eq!(
        line(&two, "example-header;bs").unwrap(),
        "\"example-header\";bs: :dmFsdWUsIHdpdGgsIGxvdHM=:, :b2YsIGNvbW1hcw==:"
    );
    let one = example("GET", "/").with("example-header", "value, with, lots, of, commas");
    assert_eq!(
        line(&one, "example-header;bs").unwrap(),
        "\"example-header\";bs: :dmFsdWUsIHdpdGgsIGxvdHMsIG9mLCBjb21tYXM=:"
    );
    for sent in [two, one] {
        assert_eq!(
            line(&sent, "example-header").unwrap(),
            "\"example-header\": value, with, lots, of, commas"
        );
    }
}

#[test]
fn bytes_beyond_ascii_are_for_bs_alone() {
    let sent = example("GET", "/").with("x-name", "café");
    assert_eq!(
        line(&sent, "x-name").unwrap_err(),
        "`x-name`: its value has the byte 0xc3, which no signature base holds; `;bs` would carry it in a field"
    );
    assert_eq!(line(&sent, "x-name;bs").unwrap(), "\"x-name\";bs: :Y2Fmw6k=:");
    let forged = example("GET\n\"@path\": /", "/");
    assert!(line(&forged, "@method").unwrap_err().contains("0x0a"));
}

#[test]
fn section_2_2_derived_components_are_what_the_standard_says() {
    let post = example("POST", "/path?param=value");
    for (component, expected) in [
        ("@method", "POST"),
        ("@target-uri", "https://www.example.com/path?param=value"),
        ("@authority", "www.example.com"),
        ("@scheme", "https"),
        ("@request-target", "/path?param=value"),
        ("@path", "/path"),
        ("@query", "?param=value"),
    ] {
        assert_eq!(value(&post, component), expected, "{component}");
    }
    assert_eq!(value(&example("get", "/"), "@method"), "get");
    let query = |target| value(&example("POST", target), "@query");
    assert_eq!(
        query("/path?param=value&foo=bar&baz=bat%2Dman"),
        "?param=value&foo=bar&baz=bat%2Dman"
    );
    assert_eq!(query("/path?queryString"), "?queryString");
    assert_eq!(
        (query("/path"), query("/path?")),
        ("?".to_owned(), "?".to_owned())
    );
    // Percent-encoding is nobody's business.
    assert_eq!(
        value(&example("GET", "/caf%c3%A9/../x"), "@path"),
        "/caf%c3%A9/../x"
    );
}

#[test]
fn section_2_2_5_request_targets_come_in_four_forms() {
    for (method, target, uri, path) in [
        ("GET", "/path?a=b", "https://www.example.com/path?a=b", "/path"),
        (
            "GET",
            "https://www.example.com/path?a=b",
            "https://www.example.com/path?a=b",
            "/path",
        ),
        ("GET", "http://other.test?a=b", "http://other.test?a=b", "/"),
        (
            "CONNECT",
            "www.example.com:80",
            "www.example.com:80",
            "www.example.com:80",
        ),
        ("OPTIONS", "*", "https://www.example.com", "*"),
    ] {
        let sent = example(method, target);
        assert_eq!(value(&sent, "@request-target"), target);
        assert_eq!(value(&sent, "@target-uri"), uri);
        assert_eq!(value(&sent, "@path"), path);
    }
}

#[test]
fn section_2_2_8_query_parameters_are_encoded_anew() {
    let sent = example("GET", "/path?param=value&foo=bar&baz=batman&qux=");
    let names = ["baz", "qux", "param"].map(|name| format!("@query-param;name=\"{name}\""));
    let names = names.each_ref().map(String::as_str);
    assert_eq!(
        lines(&names, &Message::Request(&sent.request())).unwrap(),
        "\"@query-param\";name=\"baz\": batman\n\
         \"@query-param\";name=\"qux\": \n\
         \"@query-param\";name=\"param\": value"
    );
    let sent = example(
        "GET",
        "/parameters?var=this%20is%20a%20big%0Amultiline%20value&bar=with+plus+whitespace\
         &fa%C3%A7ade%22%3A%20=something",
    );
    for (name, expected) in [
        ("var", "this%20is%20a%20big%0Amultiline%20value"),
        ("bar", "with%20plus%20whitespace"),
        ("fa%C3%A7ade%22%3A%20", "something"),
    ] {
        assert_eq!(value(&sent, &format!("@query-param;name=\"{name}\"")), expected);
    }
    let twice = example("GET", "/?a=1&b=2&a=3");
    let fault = |name: &str| line(&twice, &format!("@query-param;name=\"{name}\"")).unwrap_err();
    assert!(fault("a").contains("more than once"), "{}", fault("a"));
    assert!(fault("c").contains("does not have it"), "{}", fault("c"));
}

#[test]
fn authority_and_target_uri_are_normalised() {
    let asked = |scheme: &'static str, host: &str, authority: Option<&str>| {
        let sent = example("GET", "/x").without("host").with("host", host);
        let request = Request {
            scheme,
            authority,
            ..sent.request()
        };
        lines(&["@authority", "@target-uri"], &Message::Request(&request)).unwrap()
    };
    let both = |authority: &str, uri: &str| format!("\"@authority\": {authority}\n\"@target-uri\": {uri}");
    assert_eq!(
        asked("https", "A.TEST:443", None),
        both("a.test", "https://a.test/x")
    );
    assert_eq!(
        asked("https", "a.test:8443", None),
        both("a.test:8443", "https://a.test:8443/x")
    );
    assert_eq!(
        asked("https", "a.test:80", None),
        both("a.test:80", "https://a.test:80/x")
    );
    // The scheme is the one its sender used, which is the caller's to say.
    assert_eq!(
        asked("http", "a.test:80", None),
        both("a.test", "http://a.test/x")
    );
    assert_eq!(
        asked("https", "[2001:DB8::1]:443", None),
        both("[2001:db8::1]", "https://[2001:db8::1]/x")
    );
    // HTTP/2 has no `Host`.
    assert_eq!(
        asked("https", "other.test", Some("a.test:443")),
        both("a.test", "https://a.test/x")
    );
}

#[test]
fn components_of_the_other_kind_of_message_have_no_value() {
    let sent = delivery();
    let request = sent.request();
    assert!(
        lines(&["@status"], &Message::Request(&request))
            .unwrap_err()
            .contains("only a response")
    );
    let response = Response {
        status: 200,
        headers: &sent.headers,
        body: b"",
        request: None,
    };
    let fault = |name: &str| lines(&[name], &Message::Response(response)).unwrap_err();
    assert!(fault("@method").contains("only a request"));
    assert!(fault("@method;req").contains("not known"));
}

#[test]
fn component_identifiers_are_read_with_and_without_quotes() {
    for (text, shown) in [
        ("@method", "@method"),
        ("\"content-digest\"", "content-digest"),
        ("x-note;sf", "x-note;sf"),
        ("\"@query-param\";name=\"x;y\"", "@query-param;name=\"x;y\""),
        ("@query-param;name=\"x\";req", "@query-param;name=\"x\";req"),
        ("x-note;key=\"a\\\"b\"", "x-note;key=\"a\\\"b\""),
    ] {
        let component: Component = text.parse().unwrap();
        assert_eq!(component.to_string(), shown, "{text}");
        assert_eq!(shown.parse::<Component>().unwrap(), component);
    }
    // Their order in the identifier says nothing (section 2).
    let pair = components(&["x;key=\"a\";req", "x;req;key=\"a\""]);
    assert_eq!(pair[0], pair[1]);
}

#[test]
fn what_identifies_no_component_is_refused_and_says_why() {
    let fault = |text: &str| text.parse::<Component>().unwrap_err().to_string();
    assert!(fault("@signature-params").contains("no derived component"));
    assert!(fault("@bogus").contains("`@target-uri`"));
    assert!(fault("Content-Type").contains("lower case"));
    assert!(fault("").contains("no name of a field"));
    assert!(fault("a b").contains("no name of a field"));
    assert!(fault("x;bs;sf").contains("`bs` beside `sf` or `key`"));
    assert!(fault("x;bs;key=\"a\"").contains("`bs` beside `sf` or `key`"));
    assert!(fault("x;wrong").contains("no parameter `wrong`"));
    assert!(fault("@method;sf").contains("no parameter `sf`"));
    assert!(fault("x;name=\"y\"").contains("no parameter `name`"));
    assert!(fault("x;sf=1").contains("there without a value"));
    assert!(fault("x;req=?0").contains("there without a value"));
    assert!(fault("x;key").contains("a string in quotes"));
    assert!(fault("@query-param").contains("names no parameter"));
    assert!(fault("x;;").contains("no component identifier"));
}
