//! Handshakes that fail, and connections beyond the bound.

use std::collections::BTreeMap;

use peerfarm::Farm;
use peerfarm::command::serve::Settings;
use serde_json::json;
use tokio::io::AsyncWriteExt;
use tokio::net::TcpStream;

use crate::connections::{lone, secure};
use crate::support::{Request, Sut, call, last_entry, plain, raw, settings, tls};

#[tokio::test]
async fn failed_handshakes_are_counted_by_why() {
    let farm = lone().start().await.unwrap();
    let trusting = || tls::trusting(&farm, &["h2", "http/1.1"]);
    let mut nameless = trusting();
    nameless.enable_sni = false;
    for (name, config, said) in [
        ("mastodon1.test", tls::distrusting(), "UnknownIssuer"),
        ("mastodon1.test", nameless, "MissingExtension"),
        ("unknown.test", trusting(), "UnrecognisedName"),
        ("sub.mastodon1.test", trusting(), "UnrecognisedName"),
    ] {
        let error = tls::connect(secure(&farm), name, config).await.unwrap_err();
        assert!(error.to_string().contains(said), "{name}: {error}");
    }
    let mut no_tls = TcpStream::connect(secure(&farm)).await.unwrap();
    no_tls
        .write_all(&Request::get("https://mastodon1.test/").bytes())
        .await
        .unwrap();
    raw::ended(&mut no_tls).await;
    let mut leaving = TcpStream::connect(secure(&farm)).await.unwrap();
    leaving.shutdown().await.unwrap();
    raw::ended(&mut leaving).await;

    let connections = farm.stats().connections;
    let counts = [
        ("unknown_ca", 1),
        ("no_sni", 1),
        ("unrecognized_name", 2),
        ("not_tls", 1),
        ("eof", 1),
    ];
    assert_eq!(connections.tls_failed, BTreeMap::from(counts));
    assert_eq!((connections.accepted, connections.open), (6, 0));
    // Nobody's failure is another's.
    let mut stream = tls::connect(
        secure(&farm),
        "mastodon1.test",
        tls::trusting(&farm, &["http/1.1"]),
    )
    .await
    .unwrap();
    let answer = Request::get("https://mastodon1.test/nodeinfo/2.0")
        .send_over(&mut stream)
        .await;
    assert_eq!(answer.status, 200);
}

#[tokio::test]
async fn connections_beyond_the_bound_are_refused_and_counted() {
    let state = tempfile::tempdir().unwrap();
    let settings = Settings {
        max_connections: 2,
        ..settings(&Sut::start(&[]).await, state.path())
    };
    let farm = Farm::builder().settings(settings).start().await.unwrap();
    let ask = Request::get("https://mastodon1.test/nodeinfo/2.0");
    let mut within_bound = TcpStream::connect(plain(&farm)).await.unwrap();
    assert_eq!(ask.send_over(&mut within_bound).await.status, 200);
    let config = tls::trusting(&farm, &["http/1.1"]);
    let mut sealed = tls::connect(secure(&farm), "mastodon1.test", config)
        .await
        .unwrap();
    assert_eq!(ask.send_over(&mut sealed).await.status, 200);
    for to in [plain(&farm), secure(&farm)] {
        let mut beyond = TcpStream::connect(to).await.unwrap();
        assert!(raw::ended(&mut beyond).await.is_empty());
    }
    // The control API has room of its own.
    let connections = call(&farm, "/stats").await["connections"].take();
    assert_eq!(
        json!([
            connections["accepted"],
            connections["open"],
            connections["refused"]
        ]),
        json!([2, 2, 2])
    );
    within_bound.shutdown().await.unwrap();
    raw::ended(&mut within_bound).await;
    let mut again = TcpStream::connect(plain(&farm)).await.unwrap();
    assert_eq!(ask.send_over(&mut again).await.status, 200);
    assert_eq!(last_entry(&farm).await["kind"], "nodeinfo");
    assert_eq!(farm.stats().connections.open, 2);
}
