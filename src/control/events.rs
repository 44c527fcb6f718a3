//! `GET /events`: what arrives, as it is answered, as server-sent events (WHATWG HTML, section 9.2).

use std::convert::Infallible;
use std::pin::Pin;
use std::sync::Weak;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use bytes::Bytes;
use http::Response;
use http_body::Frame;
use tokio::sync::broadcast::Receiver;
use tokio::sync::broadcast::error::{RecvError, TryRecvError};
use tokio_util::sync::{CancellationToken, ReusableBoxFuture};

use crate::control::body::typed;
use crate::control::query::Parameters;
use crate::control::{Body, Problem};
use crate::journal::{Entry, Journal};
use crate::net::line::Line;

/// Every delivery and fetch from now on.
pub(super) fn events(
    journal: &Journal,
    stop: &CancellationToken,
    line: &Line,
    query: Option<&str>,
) -> Result<Response<Body>, Problem> {
    Parameters::read(query, &[])?;
    let feed = Feed {
        entries: journal.feed(),
        stop: stop.clone(),
        line: line.clone(),
    };
    Ok(typed("text/event-stream", Body::Events(Events::new(feed))))
}

/// A body of events. It ends with the farm, or with its reader.
#[derive(Debug)]
pub struct Events {
    next: ReusableBoxFuture<'static, Option<(Feed, Bytes)>>,
}

/// Where the events come from.
#[derive(Debug)]
struct Feed {
    entries: Receiver<Weak<Entry>>,
    stop: CancellationToken,
    line: Line,
}

impl Events {
    fn new(feed: Feed) -> Events {
        // The comment makes the answer's head leave at once: whoever reads it knows that nothing is missed from here on.
        let first = async { Some((feed, Bytes::from_static(b": from here on\n\n"))) };
        Events {
            next: ReusableBoxFuture::new(first),
        }
    }
}

impl http_body::Body for Events {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        let Some((feed, bytes)) = ready!(self.next.poll(cx)) else {
            self.next.set(async { None });
            return Poll::Ready(None);
        };
        self.next.set(feed.next());
        Poll::Ready(Some(Ok(Frame::data(bytes))))
    }
}

impl Feed {
    /// The next events, or a comment after a while without any, so that nobody on the way takes the connection for dead.
    async fn next(mut self) -> Option<(Feed, Bytes)> {
        let mut text = Vec::new();
        tokio::select! {
            biased;
            () = self.stop.cancelled() => return None,
            _ = self.line.departed() => return None,
            received = self.entries.recv() => match received {
                Ok(entry) => write(&mut text, &entry),
                Err(RecvError::Lagged(count)) => lagged(&mut text, count),
                Err(RecvError::Closed) => return None,
            },
            () = tokio::time::sleep(KEEP_ALIVE) => text.extend_from_slice(b": still here\n\n"),
        }
        while text.len() < FRAME {
            match self.entries.try_recv() {
                Ok(entry) => write(&mut text, &entry),
                Err(TryRecvError::Lagged(count)) => lagged(&mut text, count),
                Err(TryRecvError::Empty | TryRecvError::Closed) => break,
            }
        }
        Some((self, text.into()))
    }
}

/// One entry. What the journal forgot before the reader came to it is lost to the reader.
fn write(text: &mut Vec<u8>, entry: &Weak<Entry>) {
    let Some(entry) = entry.upgrade() else {
        return lagged(text, 1);
    };
    let name = match entry.outcome {
        Some(_) => "delivery",
        None => "fetch",
    };
    // JSON holds no line end outside its strings, nor a raw one inside: it is one line.
    let data = serde_json::to_string(&*entry).unwrap_or_default();
    let event = format!("event: {name}\nid: {}\ndata: {data}\n\n", entry.id);
    text.extend_from_slice(event.as_bytes());
}

fn lagged(text: &mut Vec<u8>, count: u64) {
    text.extend_from_slice(format!("event: lagged\ndata: {{\"missed\":{count}}}\n\n").as_bytes());
}

/// After how long without an event a comment goes out.
const KEEP_ALIVE: Duration = Duration::from_secs(15);

/// How many bytes of events one frame gathers before it leaves.
const FRAME: usize = 32 * 1024;

#[cfg(test)]
mod tests {
    use http_body_util::BodyExt;

    use super::*;
    use crate::clock::Timestamp;
    use crate::journal::Raw;
    use crate::stats::Ending;

    fn entry(id: u64, outcome: Option<Ending>) -> Entry {
        Entry {
            id,
            at: Timestamp::from_unix(1_700_000_000),
            host: "a.test".parse().unwrap(),
            scheme: Some("https"),
            kind: "inbox",
            status: Some(202),
            outcome,
            delivery_id: None,
            activity: None,
            origin: None,
            service_ms: 0.5,
            faults: Vec::new(),
            verdict: None,
            proofs: Vec::new(),
            notes: Vec::new(),
            raw: Raw::default(),
        }
    }

    fn body(journal: &Journal, stop: &CancellationToken) -> Events {
        Events::new(Feed {
            entries: journal.feed(),
            stop: stop.clone(),
            line: Line::unwatched(),
        })
    }

    async fn frame(events: &mut Events) -> Option<String> {
        let frame = events.frame().await?.unwrap().into_data().unwrap();
        Some(String::from_utf8(frame.to_vec()).unwrap())
    }

    #[tokio::test]
    async fn a_reader_that_lags_is_told_and_goes_on() {
        let (journal, stop) = (Journal::new(usize::MAX), CancellationToken::new());
        let mut events = body(&journal, &stop);
        assert_eq!(frame(&mut events).await.unwrap(), ": from here on\n\n");
        for id in 1..=3_000 {
            journal.add(entry(id, Some(Ending::Accepted)));
        }
        let told = frame(&mut events).await.unwrap();
        let mut told = told.split("\n\n");
        let missed = told
            .next()
            .unwrap()
            .strip_prefix("event: lagged\ndata: {\"missed\":")
            .unwrap();
        let missed: u64 = missed.strip_suffix('}').unwrap().parse().unwrap();
        assert!((1..3_000).contains(&missed));
        let next = told.next().unwrap();
        assert!(
            next.starts_with(&format!("event: delivery\nid: {}\ndata: {{", missed + 1)),
            "{next}"
        );
    }

    #[tokio::test]
    async fn what_the_journal_forgot_is_told_as_missed() {
        let (journal, stop) = (Journal::new(0), CancellationToken::new());
        let mut events = body(&journal, &stop);
        frame(&mut events).await.unwrap();
        journal.add(entry(1, None));
        assert_eq!(
            frame(&mut events).await.unwrap(),
            "event: lagged\ndata: {\"missed\":1}\n\n"
        );
    }

    #[tokio::test]
    async fn events_end_with_the_farm() {
        let (journal, stop) = (Journal::new(0), CancellationToken::new());
        let mut events = body(&journal, &stop);
        frame(&mut events).await.unwrap();
        stop.cancel();
        assert_eq!(frame(&mut events).await, None);
        assert_eq!(frame(&mut events).await, None);
    }
}
