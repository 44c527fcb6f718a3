//! What the farm sends and fetches, through real sockets, against a small server that says what it is told to say.

mod fetch;
mod keys;
mod send;
mod verbs;

use std::collections::HashMap;
use std::sync::{Arc, Mutex};

use bytes::Bytes;
use http::header::{CONTENT_TYPE, LOCATION};
use http::{HeaderMap, Request, Response};
use http_body_util::{BodyExt, Full};
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use rustls::{ClientConfig, RootCertStore};
use serde_json::Value;
use tempfile::TempDir;
use tokio::net::TcpListener;
use tokio::sync::watch;
use url::Url;

use crate::activitypub::ACTIVITY_JSON;
use crate::deliver::{Outbound, Signer};
use crate::farm::{Peer, Who, World};
use crate::journal::Journal;
use crate::net::client::Client;
use crate::net::gate::{Gate, Settings};
use crate::seed::Seed;
use crate::software::load;
use crate::store::{KeyScope, Keyring, Store};

/// A farm of one peer, without its listeners.
struct Farm {
    outbound: Outbound,
    peer: Arc<Peer>,
    _state: TempDir,
}

impl Farm {
    fn wearing(software: &str) -> Farm {
        let state = TempDir::new().unwrap();
        let store = Arc::new(Store::open(state.path()).unwrap());
        let software = Arc::clone(load(None).unwrap().get(software).unwrap());
        let peer = Peer::new("peer1.test".parse().unwrap(), software, 10, "https", None);
        let keyring = Keyring::new(store, KeyScope::Peer);
        let world = Arc::new(World::new(Seed(7), 20, vec![peer], Journal::new(1_000), keyring));
        let peer = Arc::clone(&world.peers()[0]);
        let settings = Settings {
            allow_http: true,
            ..Settings::default()
        };
        let tls = ClientConfig::builder()
            .with_root_certificates(RootCertStore::empty())
            .with_no_client_auth();
        let client = Client::new(Arc::new(Gate::new(settings)), Arc::new(tls));
        Farm {
            outbound: Outbound::new(world, client),
            peer,
            _state: state,
        }
    }

    fn new() -> Farm {
        Farm::wearing("mastodon")
    }

    async fn alice(&self) -> Signer {
        self.outbound.signer(&self.peer, Who::Actor(0)).await.unwrap()
    }
}

/// A server under test: answers by path, and remembers what it was asked.
#[derive(Clone)]
struct Sut {
    origin: String,
    answers: Arc<Mutex<HashMap<String, Answer>>>,
    asked: Arc<Mutex<Vec<Asked>>>,
    open: watch::Sender<bool>,
}

#[derive(Clone, Debug)]
struct Answer {
    status: u16,
    content_type: &'static str,
    location: Option<String>,
    body: Bytes,
}

#[derive(Clone, Debug)]
struct Asked {
    method: String,
    target: String,
    headers: HeaderMap,
    body: Bytes,
}

impl Sut {
    async fn start() -> Sut {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let sut = Sut {
            origin: format!("http://{}", listener.local_addr().unwrap()),
            answers: Arc::default(),
            asked: Arc::default(),
            open: watch::Sender::new(true),
        };
        let server = sut.clone();
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                let sut = server.clone();
                let service = service_fn(move |request| sut.clone().answer(request));
                tokio::spawn(http1::Builder::new().serve_connection(TokioIo::new(stream), service));
            }
        });
        sut
    }

    fn url(&self, path: &str) -> Url {
        Url::parse(&self.id(path)).unwrap()
    }

    fn id(&self, path: &str) -> String {
        format!("{}{path}", self.origin)
    }

    /// Answers requests for this path so from now on.
    fn says(&self, path: &str, status: u16, content_type: &'static str, body: impl Into<Bytes>) {
        let answer = Answer {
            status,
            content_type,
            location: None,
            body: body.into(),
        };
        self.answers.lock().unwrap().insert(path.to_owned(), answer);
    }

    fn serves(&self, path: &str, document: &Value) {
        self.says(path, 200, ACTIVITY_JSON, document.to_string());
    }

    fn redirects(&self, path: &str, status: u16, location: &str) {
        self.says(path, status, "text/plain", "");
        let mut answers = self.answers.lock().unwrap();
        answers.get_mut(path).unwrap().location = Some(location.to_owned());
    }

    /// Holds every answer until told otherwise.
    fn hold(&self, is_held: bool) {
        self.open.send_replace(!is_held);
    }

    fn asked(&self) -> Vec<Asked> {
        self.asked.lock().unwrap().clone()
    }

    /// How often this path was asked for.
    fn count(&self, path: &str) -> usize {
        self.asked().iter().filter(|asked| asked.path() == path).count()
    }

    async fn answer(self, request: Request<Incoming>) -> Result<Response<Full<Bytes>>, hyper::Error> {
        let (head, body) = request.into_parts();
        let asked = Asked {
            method: head.method.to_string(),
            target: head.uri.to_string(),
            headers: head.headers,
            body: body.collect().await?.to_bytes(),
        };
        let answer = self.answers.lock().unwrap().get(asked.path()).cloned();
        self.asked.lock().unwrap().push(asked);
        let _ = self.open.subscribe().wait_for(|open| *open).await;
        let mut response = Response::builder();
        let answer = match answer {
            Some(answer) => answer,
            None => return Ok(response.status(404).body(Full::default()).unwrap()),
        };
        if let Some(location) = answer.location {
            response = response.header(LOCATION, location);
        }
        let response = response
            .status(answer.status)
            .header(CONTENT_TYPE, answer.content_type);
        Ok(response.body(Full::new(answer.body)).unwrap())
    }
}

impl Asked {
    fn path(&self) -> &str {
        self.target.split('?').next().unwrap()
    }

    fn header(&self, name: &str) -> &str {
        self.headers.get(name).map_or("", |value| value.to_str().unwrap())
    }
}
