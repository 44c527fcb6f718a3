//! A connection that can be watched while an answer is held.
//!
//! hyper notices a sender that went away only where it may also mistake a half-closed one for gone: with
//! `half_close(true)` it does not read while an answer is under way. So the line reads ahead in its place, into a
//! bounded buffer that hyper gets first, and remembers how the reading ended.

use std::io;
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll};

use bytes::{Buf, BytesMut};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

/// How much is read ahead of hyper. A sender that pipelines more is not watched further, and so not found gone.
const AHEAD_MAX: usize = 64 * 1024;

/// The byte stream hyper gets.
#[derive(Debug)]
pub struct LineStream<S> {
    shared: Arc<Mutex<Shared<S>>>,
}

/// The watching side, one for all exchanges of a connection.
#[derive(Clone)]
pub struct Line {
    shared: Option<Arc<dyn Watch + Send + Sync>>,
}

/// How the sender went.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Departure {
    /// It shut down its sending side; it may still be reading.
    Finished,
    /// It reset the connection.
    Reset,
}

#[derive(Debug)]
struct Shared<S> {
    stream: S,
    ahead: BytesMut,
    ended: Option<Departure>,
    /// Bytes have come that no exchange has answered to yet.
    asking: bool,
}

trait Watch {
    fn poll_departure(&self, cx: &mut Context<'_>) -> Poll<Departure>;
    fn asking(&self, set: Option<bool>) -> bool;
}

/// Wraps a stream: what hyper reads, and what watches it.
pub fn watched<S>(stream: S) -> (LineStream<S>, Line)
where
    S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
{
    let shared = Arc::new(Mutex::new(Shared {
        stream,
        ahead: BytesMut::new(),
        ended: None,
        asking: false,
    }));
    let line = Line {
        shared: Some(shared.clone()),
    };
    (LineStream { shared }, line)
}

impl Line {
    /// A line that is not watched: HTTP/2 tells of a departed sender by itself, dropping the exchange.
    pub fn unwatched() -> Line {
        Line { shared: None }
    }

    /// Waits until the sender goes away, in whichever manner.
    pub async fn departed(&self) -> Departure {
        std::future::poll_fn(|cx| match &self.shared {
            Some(shared) => shared.poll_departure(cx),
            None => Poll::Pending,
        })
        .await
    }

    /// Waits until the sender resets the connection; a half-close goes unheeded.
    pub async fn reset(&self) {
        if self.departed().await == Departure::Finished {
            std::future::pending::<()>().await;
        }
    }

    /// An exchange begins: what has come so far was for it.
    pub fn is_asked(&self) {
        if let Some(shared) = &self.shared {
            shared.asking(Some(false));
        }
    }

    /// Whether bytes have come since the last exchange began: a head that is not whole.
    pub fn is_asking(&self) -> bool {
        self.shared.as_ref().is_some_and(|shared| shared.asking(None))
    }
}

impl<S> LineStream<S> {
    /// The same stream once more, for who has a word to say when hyper has let go of it.
    pub fn twin(&self) -> LineStream<S> {
        LineStream {
            shared: Arc::clone(&self.shared),
        }
    }
}

impl<S: AsyncRead + Unpin> LineStream<S> {
    /// Whether what comes begins with `wanted`. It waits for as many bytes as it takes to tell, and they stay to be read.
    pub async fn begins_with(&mut self, wanted: &[u8]) -> bool {
        std::future::poll_fn(|cx| {
            let mut shared = self.shared.lock().unwrap_or_else(PoisonError::into_inner);
            loop {
                let known = shared.ahead.len().min(wanted.len());
                if shared.ahead[..known] != wanted[..known] {
                    return Poll::Ready(false);
                }
                if known == wanted.len() {
                    return Poll::Ready(true);
                }
                if shared.ended.is_some() {
                    return Poll::Ready(false);
                }
                std::task::ready!(shared.poll_ahead(cx));
            }
        })
        .await
    }
}

impl<S: AsyncRead + Unpin> Shared<S> {
    /// Reads once into the buffer, or notes how the reading ended.
    fn poll_ahead(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        let mut chunk = [0; 1024];
        let mut buffer = ReadBuf::new(&mut chunk);
        match std::task::ready!(Pin::new(&mut self.stream).poll_read(cx, &mut buffer)) {
            Err(_) => self.ended = Some(Departure::Reset),
            Ok(()) if buffer.filled().is_empty() => self.ended = Some(Departure::Finished),
            Ok(()) => {
                self.asking = true;
                self.ahead.extend_from_slice(buffer.filled());
            }
        }
        Poll::Ready(())
    }
}

impl std::fmt::Debug for Line {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Line")
            .field("watched", &self.shared.is_some())
            .finish()
    }
}

impl<S: AsyncRead + Unpin> Watch for Mutex<Shared<S>> {
    fn poll_departure(&self, cx: &mut Context<'_>) -> Poll<Departure> {
        let mut shared = self.lock().unwrap_or_else(PoisonError::into_inner);
        loop {
            if let Some(departure) = shared.ended {
                return Poll::Ready(departure);
            }
            if shared.ahead.len() >= AHEAD_MAX {
                return Poll::Pending;
            }
            std::task::ready!(shared.poll_ahead(cx));
        }
    }

    fn asking(&self, set: Option<bool>) -> bool {
        let mut shared = self.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(asking) = set {
            shared.asking = asking;
        }
        shared.asking
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for LineStream<S> {
    fn poll_read(self: Pin<&mut Self>, cx: &mut Context<'_>, into: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        let mut shared = self.shared.lock().unwrap_or_else(PoisonError::into_inner);
        if shared.ahead.has_remaining() {
            let take = shared.ahead.len().min(into.remaining());
            into.put_slice(&shared.ahead.split_to(take));
            return Poll::Ready(Ok(()));
        }
        match shared.ended {
            Some(Departure::Finished) => Poll::Ready(Ok(())),
            Some(Departure::Reset) => Poll::Ready(Err(io::ErrorKind::ConnectionReset.into())),
            None => {
                let before = into.filled().len();
                let read = Pin::new(&mut shared.stream).poll_read(cx, into);
                shared.asking |= into.filled().len() > before;
                read
            }
        }
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for LineStream<S> {
    fn poll_write(self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        let mut shared = self.shared.lock().unwrap_or_else(PoisonError::into_inner);
        Pin::new(&mut shared.stream).poll_write(cx, bytes)
    }

    fn poll_flush(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let mut shared = self.shared.lock().unwrap_or_else(PoisonError::into_inner);
        Pin::new(&mut shared.stream).poll_flush(cx)
    }

    fn poll_shutdown(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let mut shared = self.shared.lock().unwrap_or_else(PoisonError::into_inner);
        Pin::new(&mut shared.stream).poll_shutdown(cx)
    }

    fn poll_write_vectored(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        slices: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let mut shared = self.shared.lock().unwrap_or_else(PoisonError::into_inner);
        Pin::new(&mut shared.stream).poll_write_vectored(cx, slices)
    }

    fn is_write_vectored(&self) -> bool {
        let shared = self.shared.lock().unwrap_or_else(PoisonError::into_inner);
        shared.stream.is_write_vectored()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tokio::io::{AsyncReadExt, AsyncWriteExt};

    #[tokio::test]
    async fn what_was_read_ahead_is_not_lost() {
        let (mut far, near) = tokio::io::duplex(256);
        let (mut stream, line) = watched(near);
        far.write_all(b"GET / ").await.unwrap();
        assert!(!stream.begins_with(b"PRI").await);
        assert!(line.is_asking());
        far.write_all(b"HTTP/1.1").await.unwrap();
        far.shutdown().await.unwrap();
        assert_eq!(line.departed().await, Departure::Finished);
        let mut text = String::new();
        stream.read_to_string(&mut text).await.unwrap();
        assert_eq!(text, "GET / HTTP/1.1");
    }
}
