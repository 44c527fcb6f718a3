//! What is pasted, exported and logged reads as what was sent; what cannot is told in one message.

use super::*;

use serde_json::json;

use crate::signature::Hs2019;

const HEAD: &str =
    "POST /inbox?x=%7E HTTP/1.1\r\nHost: b.test:8443\r\nX-Two: a\r\nx-two:  b \r\nContent-Length: 2\r\n\r\n";

fn saved(text: &str) -> Saved {
    read(text.as_bytes(), None).unwrap_or_else(|error| panic!("{error}\n--\n{text}"))
}

fn error(bytes: impl AsRef<[u8]>) -> String {
    read(bytes.as_ref(), None).unwrap_err().to_string()
}

fn values<'a>(saved: &'a Saved, name: &str) -> Vec<&'a str> {
    saved
        .headers
        .get_all(name)
        .iter()
        .map(|value| value.to_str().unwrap())
        .collect()
}

fn names(saved: &Saved) -> Vec<&str> {
    saved.notes.iter().map(|note| note.name).collect()
}

#[test]
fn raw_http_reads_as_people_paste_it() {
    let whole = format!("{HEAD}{{}}");
    for text in [
        whole.clone(),
        whole.replace("\r\n", "\n"),
        format!("\u{feff}\r\n\n{whole}"),
        whole.replace("HTTP/1.1", "HTTP/2"),
        whole.replace("HTTP/1.1", "HTTP/3.0"),
        whole.replace("Host", "HOST"),
    ] {
        let saved = saved(&text);
        assert_eq!(
            (saved.method.as_str(), saved.target.as_str()),
            ("POST", "/inbox?x=%7E")
        );
        assert_eq!(values(&saved, "host"), ["b.test:8443"]);
        assert_eq!(values(&saved, "x-two"), ["a", "b"]);
        assert_eq!(
            (saved.body.as_slice(), names(&saved)),
            (b"{}".as_slice(), vec![]),
            "{text}"
        );
        assert_eq!((saved.scheme, saved.authority), (None, None));
    }
}

#[test]
fn a_head_may_end_with_the_file() {
    for end in ["", "\n", "\r\n", "\r\n\r\n"] {
        let saved = saved(&format!("GET / HTTP/1.1\r\nHost: b.test{end}"));
        assert_eq!((values(&saved, "host"), saved.body.len()), (vec!["b.test"], 0));
    }
    assert!(saved("GET / HTTP/1.1").headers.is_empty());
}

#[test]
fn a_whole_url_as_target_tells_scheme_and_host() {
    for (url, target) in [
        ("HTTPS://b.test:8443/a//b?c=%2f#d", "/a//b?c=%2f"),
        ("https://b.test:8443", "/"),
        ("https://u:p@b.test:8443?q", "/?q"),
    ] {
        let saved = saved(&format!("GET {url} HTTP/1.1\n"));
        assert_eq!(saved.target, target);
        assert_eq!(
            (saved.scheme.as_deref(), saved.authority.as_deref()),
            (Some("https"), Some("b.test:8443"))
        );
    }
}

#[test]
fn pseudo_headers_stand_for_the_first_line() {
    let saved =
        saved(":method: POST\n:authority: b.test\n:scheme: https\n:path: /inbox?x\ndigest: SHA-256=x\n\n{}");
    assert_eq!(
        (saved.method.as_str(), saved.target.as_str()),
        ("POST", "/inbox?x")
    );
    assert_eq!(
        (saved.scheme.as_deref(), saved.authority.as_deref()),
        (Some("https"), Some("b.test"))
    );
    assert_eq!(
        (values(&saved, "digest"), saved.body.as_slice()),
        (vec!["SHA-256=x"], b"{}".as_slice())
    );
    assert!(error(":method: GET\nhost: b.test").contains("no `:path`"));
    assert!(error(":path: /\n").contains("no `:method`"));
    assert!(error(":status: 200\n").contains("`:status: 200` is no pseudo-header"));
}

#[test]
fn what_curl_prints_has_the_head_and_no_body() {
    // curl 7.88.1, `curl -v -d '{}' -H 'Digest: SHA-256=x' http://127.0.0.1:7400/hook/a`
    let log = "*   Trying 127.0.0.1:7400...\n* Connected to 127.0.0.1 (127.0.0.1) port 7400 (#0)\n\
               > POST /hook/a HTTP/1.1\r\n> Host: 127.0.0.1:7400\r\n> Digest: SHA-256=x\r\n> Content-Length: 2\r\n> \r\n\
               } [2 bytes data]\n< HTTP/1.1 200 OK\r\n< content-type: application/json\r\n< \r\n{\"ok\":true}";
    let saved = saved(log);
    assert_eq!(
        (saved.target.as_str(), values(&saved, "digest")),
        ("/hook/a", vec!["SHA-256=x"])
    );
    assert_eq!(names(&saved), ["body_truncated"]);
    let whole = saved.with_body(b"{}\n".to_vec());
    assert_eq!(
        (whole.body.as_slice(), names(&whole)),
        (b"{}".as_slice(), vec!["body_trailing_newline"])
    );
}

#[test]
fn content_length_says_how_long_the_body_is() {
    for (body, kept, note) in [
        ("{}", "{}", None),
        ("{}\n", "{}", Some("body_trailing_newline")),
        ("{}\r\n", "{}", Some("body_trailing_newline")),
        ("{}\n\n", "{}", Some("body_longer")),
        ("{}POST / HTTP/1.1", "{}", Some("body_longer")),
        ("{", "{", Some("body_truncated")),
        ("", "", Some("body_truncated")),
    ] {
        let saved = saved(&format!("{HEAD}{body}"));
        assert_eq!(
            (saved.body.as_slice(), names(&saved)),
            (kept.as_bytes(), Vec::from_iter(note)),
            "{body:?}"
        );
    }
    let unknown = HEAD.replace("Content-Length: 2\r\n", "");
    let saved = saved(&format!("{unknown}{{}}\n"));
    assert_eq!(
        (saved.body.as_slice(), names(&saved)),
        (b"{}\n".as_slice(), vec!["body_length_unknown"])
    );
}

#[test]
fn chunks_are_put_together() {
    let head = HEAD.replace("Content-Length: 2", "Transfer-Encoding: chunked");
    let chunked = saved(&format!("{head}1\r\n{{\r\n1;a=b\r\n}}\r\n0\r\n\r\n"));
    assert_eq!(
        (chunked.body.as_slice(), names(&chunked)),
        (b"{}".as_slice(), vec!["body_chunked"])
    );
    // A log that had put them together already, and sizes that lie.
    for body in ["{}", "ffffffffffffffff\r\n{}", "4\r\n{}\r\n0\r\n\r\n"] {
        assert_eq!(saved(&format!("{head}{body}")).body, body.as_bytes());
    }
}

#[test]
fn what_is_no_request_is_told_in_one_message() {
    for (text, expected) in [
        ("", "empty"),
        (" \r\n\t\n", "empty"),
        ("hello\nyou", "begins with `hello`"),
        ("POST /inbox\nHost: b.test", "begins with `POST /inbox`"),
        ("HTTP/1.1 200 OK\r\n\r\n", "begins with `HTTP/1.1 200 OK`"),
        ("\u{1b}[2J\u{7}", "begins with `\\u{1b}[2J\\u{7}`"),
        ("GET / HTTP/1.1\nA: b\n c\n", "line 3 begins with a blank"),
        ("GET / HTTP/1.1\nHost b.test\n", "`Host b.test` is no header"),
        ("GET / HTTP/1.1\nA B: c\n", "`A B: c` is no header"),
        ("GET / HTTP/1.1\nA: b\u{0}c\n", "is no header"),
        ("{", "begins like JSON and is none"),
        ("{}", "neither a HAR"),
        ("{\"entries\": []}", "list of the journal"),
        ("-----BEGIN PRIVATE KEY-----MIIE", "it is a PEM"),
        ("MC4CAQAwBQYDK2VwBCIEIMIIE", "begins with `MC4CAQAwBQYDK2Vw`"),
    ] {
        let error = error(text);
        assert!(error.contains(expected), "{text:?}: {error}");
        assert!(!error.contains("MIIE"));
    }
    assert!(error(b"\xff\xfeP\0O\0").contains("UTF-16"));
    assert!(error(b"\x7fELF\x02\x01\xff").contains("begins with `\\u{7f}ELF"));
    assert!(error(vec![b' '; FILE_MAX + 1]).contains("67108865 bytes"));
    let many = "A: b\n".repeat(FIELDS_MAX + 1);
    assert_eq!(
        error(format!("GET / HTTP/1.1\n{many}")),
        SavedError::Fields.to_string()
    );
    assert!(error(format!("GET / HTTP/1.1\n{}", many.repeat(1_000))).contains("256"));
    assert!(SavedError::TooLong(1).to_string().contains(&FILE_MAX.to_string()));
    assert!(SavedError::Fields.to_string().contains(&FIELDS_MAX.to_string()));
}

fn har(requests: &[Value]) -> String {
    let entries: Vec<Value> = requests
        .iter()
        .map(|request| json!({"request": request}))
        .collect();
    json!({"log": {"version": "1.2", "creator": {"name": "test", "version": "1"}, "entries": entries}})
        .to_string()
}

fn har_request(url: &str, headers: &[(&str, &str)], data: Value) -> Value {
    let headers: Vec<Value> = headers
        .iter()
        .map(|(name, value)| json!({"name": name, "value": value}))
        .collect();
    json!({"method": "POST", "url": url, "httpVersion": "HTTP/2", "headers": headers, "postData": data})
}

#[test]
fn a_har_gives_the_request_of_its_entry() {
    let text = json!({"mimeType": "application/activity+json", "text": "{\"a\":\"é\"}"});
    let one = saved(&har(&[har_request(
        "https://b.test/inbox?x=%7E#f",
        &[("Digest", "SHA-256=x")],
        text,
    )]));
    assert_eq!(
        (one.target.as_str(), one.authority.as_deref()),
        ("/inbox?x=%7E", Some("b.test"))
    );
    assert_eq!(
        (one.scheme.as_deref(), names(&one)),
        (Some("https"), vec!["body_from_text"])
    );
    assert_eq!(
        (values(&one, "digest"), one.body.as_slice()),
        (vec!["SHA-256=x"], "{\"a\":\"é\"}".as_bytes())
    );

    let headers = [
        (":authority", "c.test"),
        (":path", "/own"),
        (":method", "POST"),
        ("x-two", "a\nb"),
    ];
    let pseudo = saved(&har(&[har_request("http://b.test/inbox", &headers, Value::Null)]));
    assert_eq!(
        (pseudo.target.as_str(), pseudo.authority.as_deref()),
        ("/own", Some("c.test"))
    );
    assert_eq!(
        (values(&pseudo, "x-two"), pseudo.headers.len()),
        (vec!["a", "b"], 2)
    );
    // The `Host` that was sent counts, not the URL it is shown with.
    let host = saved(&har(&[har_request(
        "http://b.test/inbox",
        &[("Host", "c.test")],
        Value::Null,
    )]));
    assert_eq!(
        (host.authority.as_deref(), values(&host, "host")),
        (None, vec!["c.test"])
    );

    for marked in [
        json!({"text": "AP8=", "encoding": "base64"}),
        json!({"text": "AP8=", "_base64": true}),
    ] {
        let saved = saved(&har(&[har_request("https://b.test/", &[], marked)]));
        assert_eq!((saved.body.as_slice(), names(&saved)), (&[0, 255][..], vec![]));
    }
    let broken = json!({"text": "%", "encoding": "base64"});
    assert!(error(har(&[har_request("https://b.test/", &[], broken)])).contains("base64"));
    let params = json!({"params": [{"name": "a", "value": "b"}]});
    assert_eq!(
        names(&saved(&har(&[har_request("https://b.test/", &[], params)]))),
        ["body_missing"]
    );
}

#[test]
fn of_several_entries_the_signed_one_is_meant_or_the_numbered() {
    let request = |path: &str, headers: &[(&str, &str)]| {
        har_request(&format!("https://b.test{path}"), headers, Value::Null)
    };
    let plain = || request("/1", &[("authorization", "Bearer x")]);
    let signed = [
        request("/2", &[("Signature", "x")]),
        request("/3", &[("signature-input", "x")]),
        request("/4", &[("Authorization", "Signature x")]),
    ];
    for (index, one) in signed.iter().enumerate() {
        let text = har(&[plain(), one.clone(), plain()]);
        assert_eq!(saved(&text).target, format!("/{}", index + 2));
    }
    let all = har(&[&[plain()][..], &signed].concat());
    let said = error(&all);
    assert!(
        said.contains("3 signed requests: 2 `POST https://b.test/2`, 3 `POST https://b.test/3`"),
        "{said}"
    );
    assert_eq!(read(all.as_bytes(), Some(3)).unwrap().target, "/3");
    for asked in [0, 5] {
        assert!(matches!(
            read(all.as_bytes(), Some(asked)),
            Err(SavedError::Entry { count: 4, .. })
        ));
    }
    assert!(error(har(&[plain(), plain()])).contains("none is signed: 1 `POST"));
    assert_eq!(saved(&har(&[plain()])).target, "/1");
    assert_eq!(error(har(&[])), SavedError::NoEntries.to_string());
    assert!(error(har(&vec![signed[0].clone(); 100])).contains("..."));
}

#[test]
fn an_entry_of_the_journal_is_the_request_that_arrived() {
    let entry = json!({
        "id": "7", "at": "2026-01-01T00:00:00.250Z", "host": "b.test", "path": "/inbox", "method": "POST",
        "target": "/inbox?x", "version": "HTTP/2.0", "authority": "b.test:8443",
        "headers": [["x-two", "a"], ["x-two", "b"], ["content-length", "3"], ["x-odd", "\u{fffd}"]], "body": "{}\n",
    });
    let saved = saved(&entry.to_string());
    assert_eq!(
        (saved.target.as_str(), saved.authority.as_deref()),
        ("/inbox?x", Some("b.test:8443"))
    );
    let arrived = saved.at.map(|told| told.at);
    assert_eq!(arrived, Timestamp::parse_rfc3339("2026-01-01T00:00:00.25Z"));
    assert_eq!(
        (values(&saved, "x-two"), saved.body.as_slice()),
        (vec!["a", "b"], b"{}\n".as_slice())
    );
    assert_eq!((names(&saved), saved.window), (vec!["header_replaced"], None));
    let mut judged = entry.clone();
    judged["verdict"] = json!({"result": "valid", "algorithm": "rsa-v1_5-sha512",
                               "window": {"past": "65m", "future": "1.5h"}});
    let kept = self::saved(&judged.to_string());
    let window = kept.window.unwrap();
    assert_eq!(kept.hs2019, Some(Hs2019::Sha512));
    assert_eq!((window.past.as_secs(), window.future.as_secs()), (3_900, 5_400));
    // Of what was too large nothing is kept.
    judged["headers"] = json!([["content-length", "4"]]);
    assert!(self::saved(&judged.to_string()).lacks_body());
    let mut binary = entry;
    binary["body_base64"] = json!("AP8=");
    assert_eq!(self::saved(&binary.to_string()).body, [0, 255]);
    binary["headers"] = json!([["host"]]);
    assert!(error(binary.to_string()).contains("no `headers"));
}

proptest::proptest! {
    #[test]
    fn no_bytes_make_the_reader_panic(bytes in proptest::collection::vec(proptest::prelude::any::<u8>(), 0..300)) {
        let _ = read(&bytes, Some(1));
    }

    #[test]
    fn no_text_like_a_request_makes_the_reader_panic(
        text in "(> )?(POST|:method: GET|GET) ?(/[!-~]{0,9}|https?://[!-~]{0,9})? ?(HTTP/[0-9.]{1,3})?(\r?\n(> )?([!-~]{1,9}: ?[ -~]{0,20}|[ -~]{0,9}|content-length: [0-9]{1,21}|transfer-encoding: chunked)){0,5}(\r?\n){0,3}[0-9a-f\r\n;{}]{0,30}",
    ) {
        if let Ok(saved) = read(text.as_bytes(), None) {
            let _ = saved.is_signed();
            let _ = saved.with_body(Vec::new());
        }
    }

    #[test]
    fn no_json_makes_the_reader_panic(
        url in "[a-z]{0,5}(://)?[!-~é]{0,12}", name in ":?[!-~é]{0,12}", value in "\\PC{0,12}", body in "\\PC{0,12}",
    ) {
        let data = json!({"text": body, "encoding": "base64"});
        let _ = read(har(&[har_request(&url, &[(&name, &value)], data)]).as_bytes(), None);
        let entry = json!({"method": url, "target": url, "headers": [[name, value], [name], value], "body_base64": body});
        let _ = read(entry.to_string().as_bytes(), None);
    }
}
