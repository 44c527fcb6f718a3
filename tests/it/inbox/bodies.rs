//! Bodies: large, cut, odd, no activities at all.

use std::collections::BTreeSet;

use peerfarm::Running;
use proptest::strategy::{Strategy, ValueTree};
use proptest::test_runner::TestRunner;
use serde_json::{Value, json};
use tokio::io::AsyncWriteExt;
use tokio::net::TcpStream;

use crate::support::raw::{self, Answer};
use crate::support::{
    Events, Request, Sut, adds_up, counted, farm, last_entry, persona, plain, softwares, with,
};

#[tokio::test]
async fn what_is_not_understood_is_taken() {
    let sut = Sut::start(&["u1"]).await;
    let farm = farm(&sut).start().await.unwrap();
    let activities = [
        sut.activity("u1", "1", "EmojiReact", json!("https://sut.test/n/1")),
        sut.activity(
            "u1",
            "2",
            "https://x.test/ns#Foo",
            json!({"odd": [1, {"x": null}]}),
        ),
        without_id(sut.activity(
            "u1",
            "",
            "Add",
            json!({"type": "Note", "replies": {"first": {"items": [[]]}}}),
        )),
        with(
            sut.activity("u1", "4", "Create", json!(null)),
            "x:unheard",
            json!({"of": [{}]}),
        ),
        with(
            sut.activity("u1", "5", "Flag", json!(null)),
            "object",
            json!(["https://a.test/1", "https://a.test/2"]),
        ),
    ];
    for alice in softwares(&farm, "alice") {
        for activity in &activities {
            let answer = sut.deliver(plain(&farm), "u1", &alice.inbox, activity).await;
            assert_eq!(answer.status, alice.taken, "{activity}");
            let entry = last_entry(&farm).await;
            assert_eq!(
                (&entry["outcome"], &entry["activity"]),
                (&json!("accepted"), &activity["type"])
            );
        }
        let counts = counted(&farm, &alice.inbox);
        assert_eq!((counts.requests, counts.accepted), (5, 5));
    }
}

#[tokio::test]
async fn the_limit_of_a_body_is_the_softwares_to_the_byte() {
    let sut = Sut::start(&["u1"]).await;
    let farm = farm(&sut).start().await.unwrap();
    let limits = [1_048_576, 65_536, 262_144];
    for (alice, limit) in softwares(&farm, "alice").into_iter().zip(limits) {
        let sizes = [
            3_163,
            3_164,
            65_536,
            65_537,
            limit,
            limit + 1,
            1_048_576,
            1_048_577,
        ];
        for size in BTreeSet::from(sizes) {
            let create = sized(&sut, size);
            let request = Request::post(&alice.inbox, create).signed(&sut, "u1");
            let answer = in_small_segments(&farm, &request).await;
            let fits = size <= limit;
            let status = if fits { alice.taken } else { 413 };
            assert_eq!(answer.status, status, "{size} bytes to {}", alice.handle);
            let entry = last_entry(&farm).await;
            let (outcome, bytes) = if fits { ("accepted", size) } else { ("refused", 0) };
            assert_eq!(
                (&entry["outcome"], &entry["bytes"]),
                (&json!(outcome), &json!(bytes))
            );
            assert_eq!(entry["verdict"]["result"] == "valid", fits);
        }
        counted(&farm, &alice.inbox);
    }
}

#[tokio::test]
async fn no_body_makes_an_inbox_stumble_and_each_is_counted() {
    let sut = Sut::start(&["u1"]).await;
    let farm = farm(&sut).start().await.unwrap();
    let bodies = odd_bodies(&sut, &farm);
    for alice in softwares(&farm, "alice") {
        let mut stream = TcpStream::connect(plain(&farm)).await.unwrap();
        for body in &bodies {
            let request = Request::post(&alice.inbox, body.as_slice()).signed(&sut, "u1");
            let answer = request.send_over(&mut stream).await;
            let known = [alice.taken, 400].contains(&answer.status);
            assert!(known, "{} to {}", String::from_utf8_lossy(body), alice.handle);
        }
        let counts = counted(&farm, &alice.inbox);
        assert_eq!((counts.requests, counts.in_flight), (bodies.len() as u64, 0));
        assert_eq!((counts.aborted, counts.faulted), (0, 0));
        assert!(counts.accepted > 10 && counts.refused > 10, "{counts:?}");
    }
    adds_up(&farm.stats().totals);
}

#[tokio::test]
async fn a_body_that_breaks_off_is_an_abort() {
    let sut = Sut::start(&["u1"]).await;
    let farm = farm(&sut).start().await.unwrap();
    let mut events = Events::of(&farm).await;
    let alice = persona(&farm, "alice@mastodon1.test");
    let request = Request::post(&alice.inbox, sized(&sut, 5_000)).signed(&sut, "u1");
    let whole = request.bytes();
    for cut in [whole.len() - 1, whole.len() - 4_999] {
        let mut stream = TcpStream::connect(plain(&farm)).await.unwrap();
        stream.write_all(&whole[..cut]).await.unwrap();
        drop(stream);
        assert_eq!(events.next().await["outcome"], "aborted");
    }
    let counts = counted(&farm, &alice.inbox);
    assert_eq!((counts.requests, counts.aborted, counts.unique), (2, 2, 0));
}

#[tokio::test]
async fn a_body_of_no_chunks_is_refused() {
    let farm = farm(&Sut::start(&[]).await).start().await.unwrap();
    let alice = persona(&farm, "alice@mastodon1.test");
    let request = Request::post(&alice.inbox, "").with("transfer-encoding", "chunked");
    for chunks in [
        "zz\r\n{}\r\n0\r\n\r\n",
        "1\r\n{}\r\n0\r\n\r\n",
        "fffffffffffffffff\r\n",
    ] {
        let mut stream = TcpStream::connect(plain(&farm)).await.unwrap();
        stream.write_all(&request.head()).await.unwrap();
        stream.write_all(chunks.as_bytes()).await.unwrap();
        let answer = raw::answer(&mut stream).await;
        assert_eq!(
            (answer.status, answer.header("connection")),
            (400, vec!["close".to_owned()])
        );
        assert!(raw::ended(&mut stream).await.is_empty());
    }
    let counts = counted(&farm, &alice.inbox);
    assert_eq!((counts.requests, counts.refused), (3, 3));
}

fn without_id(mut activity: Value) -> Value {
    activity.as_object_mut().unwrap().remove("id");
    activity
}

/// A Create of exactly so many bytes, with an id that no other size has.
fn sized(sut: &Sut, size: usize) -> Vec<u8> {
    let create = |content: String| {
        let object = json!({"type": "Note", "content": content});
        sut.activity("u1", &format!("sized/{size:08}"), "Create", object)
            .to_string()
    };
    let bare = create(String::new()).len();
    create("x".repeat(size - bare)).into_bytes()
}

/// Writes the body a little at a time.
async fn in_small_segments(farm: &Running, request: &Request) -> Answer {
    let mut stream = TcpStream::connect(plain(farm)).await.unwrap();
    stream.set_nodelay(true).unwrap();
    stream.write_all(&request.head()).await.unwrap();
    for segment in request.body.chunks(1_009) {
        stream.write_all(segment).await.unwrap();
        tokio::task::yield_now().await;
    }
    raw::answer(&mut stream).await
}

/// Bodies that are no JSON, no activity, or an activity with something odd in every place that is looked at.
fn odd_bodies(sut: &Sut, farm: &Running) -> Vec<Vec<u8>> {
    let (u1, alice) = (sut.actor("u1"), persona(farm, "alice@mastodon1.test").id);
    let mut bodies: Vec<Vec<u8>> = [
        "",
        " ",
        "null",
        "true",
        "7",
        "1e999",
        "\"x\"",
        "[]",
        "[[[[",
        "{",
        "{}",
        "{\"type\"}",
        "{\"a\":1,}",
        "\u{feff}{}",
        "{\"type\":\"Follow\",\"actor\":\"\\ud800\"}",
        "{\"type\":\"Follow\",\"actor\":\"\u{0}\"}",
        "a=b&c=d",
        "<xml/>",
    ]
    .map(|text| text.as_bytes().to_owned())
    .into();
    bodies.push(b"{\"type\":\"Follow\",\"actor\":\"\xff\xfe\"}".to_vec());
    bodies.push([b"[".repeat(50_000), b"]".repeat(50_000)].concat()[..60_000].to_vec());
    bodies.push(
        format!(
            "{{\"type\":\"Create\",\"actor\":\"{u1}\",\"object\":{}",
            "{\"a\":".repeat(10_000)
        )
        .into_bytes(),
    );
    bodies.push(
        format!(r#"{{"type":"Like","type":"Follow","actor":"https://x.test/u","actor":"{u1}","object":7}}"#)
            .into_bytes(),
    );
    let odd = [
        json!(null),
        json!(false),
        json!(-7.5e300),
        json!(""),
        json!("no url"),
        json!("https://"),
        json!("http://[::1"),
        json!([]),
        json!([[]]),
        json!([null, null]),
        json!({}),
        json!({"id": 7}),
        json!({"id": "x".repeat(9_000)}),
        json!({"type": ["Follow"], "actor": [], "object": [{}]}),
        json!({"id": null, "type": "Follow", "object": alice}),
        json!({"type": "Tombstone", "id": alice}),
        json!("\u{202e}\u{0}\u{1f}"),
    ];
    for kind in ["Accept", "Create", "Delete", "Follow", "Reject", "Undo"] {
        for (number, value) in odd.iter().enumerate() {
            let activity = sut.activity("u1", &format!("{kind}/{number}"), kind, value.clone());
            bodies.push(activity.to_string().into_bytes());
        }
    }
    let whole = sut.activity("u1", "whole", "Follow", json!(alice));
    for name in ["type", "id", "actor", "@context", "published", "object"] {
        bodies.extend(
            odd.iter()
                .map(|value| with(whole.clone(), name, value.clone()).to_string().into_bytes()),
        );
    }
    let mut runner = TestRunner::deterministic();
    let bytes = proptest::collection::vec(proptest::num::u8::ANY, 0..200);
    for _ in 0..64 {
        bodies.push(bytes.new_tree(&mut runner).unwrap().current());
    }
    // A cut and a changed byte of what would be right.
    let text = whole.to_string().into_bytes();
    let places = (0..text.len(), proptest::num::u8::ANY);
    for _ in 0..64 {
        let (place, byte) = places.new_tree(&mut runner).unwrap().current();
        bodies.push(text[..place].to_vec());
        let mut changed = text.clone();
        changed[place] = byte;
        bodies.push(changed);
    }
    bodies
}
