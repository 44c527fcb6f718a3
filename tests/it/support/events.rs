//! What `/events` tells, so that a test waits for what happened instead of sleeping.

use http_body_util::{BodyExt, Empty};
use hyper::body::{Bytes, Incoming};
use hyper::client::conn::http1;
use hyper_util::rt::TokioIo;
use peerfarm::Running;
use serde_json::Value;
use tokio::net::TcpStream;

use super::sut::DEADLINE;

/// A reader of the live feed.
pub struct Events {
    body: Incoming,
    text: String,
}

/// One event.
#[derive(Clone, Debug, PartialEq)]
pub struct Event {
    pub name: String,
    pub id: String,
    pub data: Value,
}

impl Events {
    /// Everything that ends from now on.
    pub async fn of(farm: &Running) -> Events {
        Events::over(TcpStream::connect(farm.addresses().control).await.unwrap()).await
    }

    /// The same, over a connection to a farm's control API.
    pub async fn over(stream: TcpStream) -> Events {
        let control = stream.peer_addr().unwrap();
        let (mut sender, connection) = http1::handshake(TokioIo::new(stream)).await.unwrap();
        tokio::spawn(connection);
        let request = http::Request::get("/events").header("host", control.to_string());
        let request = request.body(Empty::<Bytes>::new()).unwrap();
        let response = sender.send_request(request).await.unwrap();
        assert_eq!(response.status(), 200);
        Events {
            body: response.into_body(),
            text: String::new(),
        }
    }

    /// The next event; `None` where the feed ends.
    pub async fn event(&mut self) -> Option<Event> {
        // Comments that keep the feed alive put nothing off.
        let event = tokio::time::timeout(DEADLINE, self.read()).await;
        event.expect("an event within the deadline")
    }

    async fn read(&mut self) -> Option<Event> {
        loop {
            if let Some(end) = self.text.find("\n\n") {
                let event: String = self.text.drain(..end + 2).collect();
                let field = |name: &str| {
                    let mut fields = event.lines().filter_map(|line| line.split_once(": "));
                    let found = fields.find(|(own, _)| *own == name);
                    found.map(|(_, value)| value.to_owned())
                };
                // Without data it is a comment.
                let Some(data) = field("data") else { continue };
                return Some(Event {
                    name: field("event").unwrap_or_default(),
                    id: field("id").unwrap_or_default(),
                    data: serde_json::from_str(&data).unwrap(),
                });
            }
            let frame = self.body.frame().await?;
            let data = frame.unwrap().into_data().unwrap();
            self.text.push_str(std::str::from_utf8(&data).unwrap());
        }
    }

    /// The journal entry of the next exchange that ends.
    pub async fn next(&mut self) -> Value {
        self.event().await.expect("a farm that runs").data
    }

    /// The entries of the next so many exchanges.
    pub async fn take(&mut self, count: usize) -> Vec<Value> {
        let mut entries = Vec::new();
        while entries.len() < count {
            entries.push(self.next().await);
        }
        entries
    }
}
