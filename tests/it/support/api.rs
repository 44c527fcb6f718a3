//! The control API of a farm, as a client sees it.

use std::net::SocketAddr;

use http::header::{CONTENT_TYPE, HOST};
use http::{HeaderMap, HeaderValue};
use peerfarm::Running;
use serde_json::Value;
use tokio::net::TcpStream;

use super::events::Events;
use super::raw::{self, Answer};

/// The control API at one address; each call has a connection of its own.
#[derive(Clone, Copy, Debug)]
pub struct Api(pub SocketAddr);

impl Api {
    pub fn of(farm: &Running) -> Api {
        Api(farm.addresses().control)
    }

    pub fn url(&self, target: &str) -> String {
        format!("http://{}{target}", self.0)
    }

    pub async fn call(&self, method: &str, target: &str, body: &[u8]) -> Answer {
        self.call_with(method, target, &[], body).await
    }

    /// The same with headers in it; `Host` is the address where it is not among them.
    pub async fn call_with(
        &self,
        method: &str,
        target: &str,
        headers: &[(&'static str, &str)],
        body: &[u8],
    ) -> Answer {
        let mut all = HeaderMap::new();
        for (name, value) in headers {
            all.append(*name, value.parse().unwrap());
        }
        let host = HeaderValue::try_from(self.0.to_string()).unwrap();
        all.entry(HOST).or_insert(host);
        raw::send(self.0, method, target, &all, body).await
    }

    /// A GET that is answered 200 with JSON.
    #[track_caller]
    pub fn get(&self, target: &str) -> impl Future<Output = Value> {
        let (api, target) = (*self, target.to_owned());
        async move { api.call("GET", &target, b"").await.ok() }
    }

    pub async fn post(&self, target: &str, body: &Value) -> Answer {
        let json = [(CONTENT_TYPE.as_str(), "application/json")];
        self.call_with("POST", target, &json, body.to_string().as_bytes())
            .await
    }

    pub async fn stats(&self) -> Value {
        self.get("/stats").await
    }

    /// The counters of one hook.
    pub async fn hook_stats(&self, path: &str) -> Value {
        let stats = self.stats().await;
        stats["hosts"]["hooks.test"]["paths"][path].clone()
    }

    pub async fn reset(&self) -> Value {
        self.call("POST", "/reset", b"").await.ok()
    }

    /// What `alice@mastodon1.test` is told to do: `send`, `follow`, `unfollow`.
    pub async fn tell(&self, deed: &str, body: Value) -> Answer {
        let target = format!("/peers/mastodon1.test/actors/alice/{deed}");
        self.post(&target, &body).await
    }

    /// A POST to a hook.
    pub async fn hook(&self, path: &str, body: impl AsRef<[u8]>) -> Answer {
        self.call("POST", path, body.as_ref()).await
    }

    /// The live feed.
    pub async fn events(&self) -> Events {
        Events::over(TcpStream::connect(self.0).await.unwrap()).await
    }
}

/// Fails the test unless what arrived is the sum of how it ended, and what was accepted that of unique and duplicates.
#[track_caller]
pub fn assert_sums(place: &str, counts: &Value) {
    let count = |key: &str| counts[key].as_u64().unwrap();
    let ended = count("accepted") + count("refused") + count("faulted") + count("aborted");
    assert_eq!(count("requests"), ended + count("in_flight"), "{place}: {counts}");
    assert_eq!(
        count("accepted"),
        count("unique") + count("duplicates"),
        "{place}: {counts}"
    );
}
