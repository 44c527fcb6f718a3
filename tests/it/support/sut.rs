//! A small server under test, `http://sut.test:PORT`: its users have keys, it keeps what arrives, and it delivers
//! signed activities.

use std::collections::HashMap;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use bytes::Bytes;
use http::{HeaderMap, HeaderValue, Request, Response, StatusCode};
use http_body_util::{BodyExt, Full};
use hyper::body::Incoming;
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use peerfarm::signature::key::SigningKey;
use serde_json::{Value, json};
use tokio::net::TcpListener;
use tokio::sync::watch;

use super::raw::{self, Answer};
use super::request::Request as Delivery;

/// How long anything may take to arrive before a test fails.
pub const DEADLINE: Duration = Duration::from_secs(20);

/// The server under test; it ends with the test's runtime.
#[derive(Clone)]
pub struct Sut {
    shared: Arc<Shared>,
}

struct Shared {
    address: SocketAddr,
    keys: HashMap<String, SigningKey>,
    documents: Mutex<HashMap<String, (u16, Value)>>,
    meets: Mutex<HashMap<(&'static str, &'static str), Meets>>,
    fetched: Mutex<Vec<Received>>,
    received: Mutex<Vec<Received>>,
    changed: watch::Sender<usize>,
}

/// A request that arrived.
#[derive(Clone, Debug)]
pub struct Received {
    pub method: String,
    pub path: String,
    pub headers: HeaderMap,
    pub body: Bytes,
}

/// What becomes of requests that are signed in a dialect.
#[derive(Clone, Copy, Debug)]
pub enum Meets {
    /// Refused with that status.
    Refusal(u16),
    /// The same, after so long.
    LateRefusal(u16, Duration),
    /// No answer.
    Silence,
}

impl Received {
    /// The dialect it is signed in, by name.
    pub fn dialect(&self) -> Option<&'static str> {
        let has = |name| self.headers.contains_key(name);
        match (has("signature-input"), has("signature")) {
            (true, _) => Some("rfc9421"),
            (false, true) => Some("cavage"),
            (false, false) => None,
        }
    }

    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name).map(|value| value.to_str().unwrap())
    }

    pub fn json(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap()
    }
}

impl Sut {
    /// Starts with these users.
    pub async fn start(users: &[&str]) -> Sut {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let key = |user: &&str| ((*user).to_owned(), SigningKey::generate_rsa(2048).unwrap());
        let shared = Arc::new(Shared {
            address: listener.local_addr().unwrap(),
            keys: users.iter().map(key).collect(),
            documents: Mutex::default(),
            meets: Mutex::default(),
            fetched: Mutex::default(),
            received: Mutex::default(),
            changed: watch::Sender::new(0),
        });
        let sut = Sut { shared };
        for user in users {
            let document = sut.actor_document(user);
            sut.serve_at(&format!("/users/{user}"), 200, document);
        }
        let serving = sut.clone();
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                let sut = serving.clone();
                tokio::spawn(async move {
                    let service = service_fn(move |request| {
                        let sut = sut.clone();
                        async move { sut.answer(request).await }
                    });
                    let builder = hyper::server::conn::http1::Builder::new();
                    let _ = builder.serve_connection(TokioIo::new(stream), service).await;
                });
            }
        });
        sut
    }

    /// What the farm needs to know to find it: `--resolve` and this.
    pub fn resolve(&self) -> String {
        format!("sut.test={}", self.shared.address.ip())
    }

    pub fn origin(&self) -> String {
        format!("http://sut.test:{}", self.shared.address.port())
    }

    pub fn actor(&self, user: &str) -> String {
        format!("{}/users/{user}", self.origin())
    }

    pub fn handle(&self, user: &str) -> String {
        format!("{user}@sut.test:{}", self.shared.address.port())
    }

    pub fn key_id(&self, user: &str) -> String {
        format!("{}#main-key", self.actor(user))
    }

    /// Serves another document at a path from now on.
    pub fn serve_at(&self, path: &str, status: u16, document: Value) {
        self.shared
            .documents
            .lock()
            .unwrap()
            .insert(path.to_owned(), (status, document));
    }

    /// Meets requests with that method and signed in that dialect so from now on.
    pub fn meets(&self, method: &'static str, dialect: &'static str, with: Meets) {
        self.shared.meets.lock().unwrap().insert((method, dialect), with);
    }

    /// Meets every request as usual again.
    pub fn takes_all(&self) {
        self.shared.meets.lock().unwrap().clear();
    }

    pub fn actor_document(&self, user: &str) -> Value {
        let (id, origin) = (self.actor(user), self.origin());
        json!({
            "@context": ["https://www.w3.org/ns/activitystreams", "https://w3id.org/security/v1"],
            "id": id, "type": "Person", "preferredUsername": user,
            "inbox": format!("{id}/inbox"), "outbox": format!("{id}/outbox"),
            "endpoints": {"sharedInbox": format!("{origin}/inbox")},
            "publicKey": {
                "id": self.key_id(user), "owner": id,
                "publicKeyPem": self.shared.keys[user].public_pem().unwrap(),
            },
        })
    }

    pub fn key(&self, user: &str) -> &SigningKey {
        &self.shared.keys[user]
    }

    /// An activity of a user, with an id of its own.
    pub fn activity(&self, user: &str, id: &str, kind: &str, object: Value) -> Value {
        json!({
            "@context": "https://www.w3.org/ns/activitystreams",
            "id": format!("{}/activities/{id}", self.origin()),
            "type": kind, "actor": self.actor(user), "object": object,
        })
    }

    /// The headers of a POST signed by a user: `(request-target) host date digest`.
    pub fn signed(&self, user: &str, authority: &str, target: &str, body: &[u8]) -> HeaderMap {
        let url = format!("http://{authority}{target}");
        Delivery::post(&url, body).signed(self, user).headers
    }

    /// Delivers an activity of a user over a connection of its own, signed.
    pub async fn deliver(&self, to: SocketAddr, user: &str, url: &str, activity: &Value) -> Answer {
        let body = activity.to_string();
        let (authority, target) = raw::parts(url);
        let headers = self.signed(user, authority, target, body.as_bytes());
        raw::send(to, "POST", target, &headers, body.as_bytes()).await
    }

    /// Everything fetched so far.
    pub fn fetched(&self) -> Vec<Received> {
        self.shared.fetched.lock().unwrap().clone()
    }

    /// How often a path was fetched so far.
    pub fn fetches_of(&self, path: &str) -> usize {
        self.fetched().iter().filter(|fetch| fetch.path == path).count()
    }

    /// Everything delivered so far, once there are `count` or more.
    pub async fn received(&self, count: usize) -> Vec<Received> {
        let mut changed = self.shared.changed.subscribe();
        let enough = changed.wait_for(|received| *received >= count);
        let waited = tokio::time::timeout(DEADLINE, enough).await;
        let received = self.shared.received.lock().unwrap().clone();
        assert!(waited.is_ok(), "{count} deliveries wanted, got {received:#?}");
        received
    }

    async fn answer(
        &self,
        request: Request<Incoming>,
    ) -> Result<Response<Full<Bytes>>, std::convert::Infallible> {
        let (head, body) = request.into_parts();
        let body = body
            .collect()
            .await
            .map(|body| body.to_bytes())
            .unwrap_or_default();
        let path = head.uri.path_and_query().unwrap().to_string();
        let received = Received {
            method: head.method.to_string(),
            path,
            headers: head.headers,
            body,
        };
        let content_type = match received.path.starts_with("/.well-known/webfinger") {
            true => "application/jrd+json",
            false => "application/activity+json",
        };
        let met = received.dialect().and_then(|dialect| {
            let meets = self.shared.meets.lock().unwrap();
            meets.get(&(received.method.as_str(), dialect)).copied()
        });
        let (status, body) = match received.method.as_str() {
            "POST" => {
                let mut all = self.shared.received.lock().unwrap();
                all.push(received);
                self.shared.changed.send_replace(all.len());
                (202, Bytes::new())
            }
            _ => {
                let found = self.document(&received.path);
                self.shared.fetched.lock().unwrap().push(received);
                found
            }
        };
        let (status, body) = match met {
            None => (status, body),
            Some(Meets::Refusal(status)) => (status, Bytes::new()),
            Some(Meets::LateRefusal(status, late)) => {
                tokio::time::sleep(late).await;
                (status, Bytes::new())
            }
            Some(Meets::Silence) => std::future::pending().await,
        };
        let mut response = Response::new(Full::new(body));
        *response.status_mut() = StatusCode::from_u16(status).unwrap();
        response
            .headers_mut()
            .insert("content-type", HeaderValue::from_static(content_type));
        Ok(response)
    }

    fn document(&self, path: &str) -> (u16, Bytes) {
        let resource = path.strip_prefix("/.well-known/webfinger?resource=");
        if let Some(resource) = resource {
            let resource = percent_encoding::percent_decode_str(resource).decode_utf8_lossy();
            let name = resource
                .trim_start_matches("acct:")
                .split('@')
                .next()
                .unwrap_or_default();
            if !self.shared.keys.contains_key(name) {
                return (404, Bytes::new());
            }
            let link = json!({"rel": "self", "type": "application/activity+json", "href": self.actor(name)});
            return (
                200,
                json!({"subject": resource, "links": [link]}).to_string().into(),
            );
        }
        match self.shared.documents.lock().unwrap().get(path) {
            Some((status, document)) => (*status, document.to_string().into()),
            None => (404, Bytes::new()),
        }
    }
}
