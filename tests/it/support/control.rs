//! A control API that answers from a script: each request's line has its answer.

use std::convert::Infallible;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex};
use std::thread;

use http_body_util::{BodyExt, Full};
use hyper::body::{Bytes, Incoming};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Request, Response};
use hyper_util::rt::TokioIo;
use serde_json::Value;
use tokio::net::TcpListener;
use tokio::sync::oneshot;

use super::Peerfarm;

/// A running script. It ends when it is dropped.
pub struct Control {
    address: SocketAddr,
    heard: Arc<Mutex<Vec<(String, Value)>>>,
    _stop: oneshot::Sender<()>,
}

impl Control {
    /// Listens on a free port and answers each request line (`GET /peers?limit=1`) with its status and body. What
    /// has no line of its own gets a 404 with no problem in it.
    pub fn answering<const N: usize>(script: [(&str, u16, Value); N]) -> Control {
        let script: Arc<Vec<(String, u16, String)>> = Arc::new(
            script
                .into_iter()
                .map(|(line, status, body)| (line.to_owned(), status, body.to_string()))
                .collect(),
        );
        let heard = Arc::new(Mutex::new(Vec::new()));
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        listener.set_nonblocking(true).unwrap();
        let address = listener.local_addr().unwrap();
        let (stop, stopped) = oneshot::channel();
        let hearing = Arc::clone(&heard);
        thread::spawn(move || {
            let runtime = tokio::runtime::Builder::new_current_thread()
                .enable_all()
                .build()
                .unwrap();
            runtime.block_on(async {
                tokio::select! {
                    () = serve(listener, script, hearing) => {}
                    _ = stopped => {}
                }
            });
        });
        Control {
            address,
            heard,
            _stop: stop,
        }
    }

    /// A run of `peerfarm` with these words, pointed here.
    pub fn peerfarm(&self, words: &str) -> Peerfarm {
        Peerfarm::with(words).env("PEERFARM_FARM", &format!("http://{}", self.address))
    }

    /// The request lines that came, with their bodies.
    pub fn heard(&self) -> Vec<(String, Value)> {
        self.heard.lock().unwrap().clone()
    }
}

async fn serve(
    listener: std::net::TcpListener,
    script: Arc<Vec<(String, u16, String)>>,
    heard: Arc<Mutex<Vec<(String, Value)>>>,
) {
    let listener = TcpListener::from_std(listener).unwrap();
    loop {
        let (stream, _) = listener.accept().await.unwrap();
        let (script, heard) = (Arc::clone(&script), Arc::clone(&heard));
        let service = service_fn(move |request| answer(request, Arc::clone(&script), Arc::clone(&heard)));
        tokio::spawn(http1::Builder::new().serve_connection(TokioIo::new(stream), service));
    }
}

async fn answer(
    request: Request<Incoming>,
    script: Arc<Vec<(String, u16, String)>>,
    heard: Arc<Mutex<Vec<(String, Value)>>>,
) -> Result<Response<Full<Bytes>>, Infallible> {
    let line = format!("{} {}", request.method(), request.uri());
    let body = request.into_body().collect().await.unwrap().to_bytes();
    let body = serde_json::from_slice(&body).unwrap_or(Value::Null);
    heard.lock().unwrap().push((line.clone(), body));
    let (status, text) = match script.iter().find(|(expected, ..)| *expected == line) {
        Some((_, status, text)) => (*status, text.clone()),
        None => (404, format!("nothing at {line}")),
    };
    Ok(Response::builder()
        .status(status)
        .body(Full::new(Bytes::from(text)))
        .unwrap())
}
