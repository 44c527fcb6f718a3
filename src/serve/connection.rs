//! One connection of the federation listeners: TLS by SNI, then HTTP/1.1 or 2, within bounds of time and size.

use std::convert::Infallible;
use std::future::Future;
use std::sync::Arc;

use bytes::Bytes;
use http::{Request, Response};
use hyper::body::Incoming;
use hyper::server::conn::{http1, http2};
use hyper::service::service_fn;
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use hyper_util::server::graceful::GracefulConnection;
use rustls::server::Acceptor;
use tokio::io::{AsyncRead, AsyncWrite, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::sync::OwnedSemaphorePermit;
use tokio_rustls::LazyConfigAcceptor;
use tokio_rustls::server::TlsStream;
use tokio_util::sync::CancellationToken;

use crate::clock::Timestamp;
use crate::ids::Host;
use crate::net::line::{self, Line};
use crate::net::listen::{self, Listener};
use crate::net::tls::{ServerTls, tls_failure_label};
use crate::serve::exchange::{HEAD_MAX, exchange};
use crate::serve::via::{Departed, Via};
use crate::serve::{Patience, Site};

/// How many exchanges one HTTP/2 connection may have under way.
const STREAMS_MAX: u32 = 1_024;

/// What HTTP/2 lets through before it refuses by itself, which nobody could count: far more than [`HEAD_MAX`], which
/// the exchange holds, since beyond it the whole connection goes.
const HEAD_HARD_MAX: u32 = 1024 * 1024;

/// A listener of the federation, over TLS or plain.
#[derive(Debug)]
pub struct Federation {
    /// The socket.
    pub listener: Listener,
    /// The certificates; none for plain HTTP.
    pub tls: Option<Arc<ServerTls>>,
}

/// Accepts until the site is told to stop. Each connection goes on by itself, in the site's tasks.
pub async fn run(site: Arc<Site>, federation: Federation) {
    let Federation { listener, tls } = federation;
    loop {
        let incoming = tokio::select! {
            biased;
            () = site.stop.cancelled() => return,
            incoming = listener.next() => incoming,
        };
        match incoming {
            listen::Incoming::Refused => site.world.stats.connections(|connections| connections.refuse()),
            listen::Incoming::Connection(stream, place) => {
                let (site, tls) = (Arc::clone(&site), tls.clone());
                let open = Open::new(&site, place);
                // Tokens of its own, since every poll of a connection asks them, and would contend for shared ones.
                let (stop, kill) = (site.stop.child_token(), site.kill.child_token());
                let tasks = site.tasks.clone();
                tasks.spawn(kill.run_until_cancelled_owned(async move {
                    match tls {
                        Some(tls) => serve_tls(&site, &stop, &tls, stream).await,
                        None => serve(&site, &stop, stream, None).await,
                    }
                    drop(open);
                }));
            }
        }
    }
}

/// Speaks HTTP/1.1 or 2 over a stream until it ends; `answer` carries each exchange. Once `stop` is cancelled the
/// exchanges under way still end, and no further one begins. A head may take, and a connection rest, as long as
/// `patience` says.
///
/// # Errors
/// What ended it early: a head that was no request, one that took too long, a broken connection.
pub async fn speak<S, A, F, B>(
    stream: S,
    patience: Patience,
    stop: &CancellationToken,
    answer: A,
) -> Result<(), Broken>
where
    S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
    A: Fn(Request<Incoming>, Line) -> F + Send + Clone + 'static,
    F: Future<Output = Result<Response<B>, Departed>> + Send + 'static,
    B: http_body::Body<Data = Bytes, Error = Infallible> + Send + 'static,
{
    let (mut stream, line) = line::watched(stream);
    let mut behind = stream.twin();
    let began = tokio::time::timeout(patience.head, stream.begins_with(PREFACE)).await;
    let is_http2 = matches!(began, Ok(true));
    let watch = if is_http2 { Line::unwatched() } else { line.clone() };
    let service = service_fn(move |request: Request<Incoming>| {
        watch.is_asked();
        let answered = answer(request, watch.clone());
        let watch = watch.clone();
        async move {
            let answered = answered.await;
            // What came meanwhile was the body.
            watch.is_asked();
            answered
        }
    });
    let stream = TokioIo::new(stream);
    let ended = match began {
        Err(_) => Err(Broken::Late {
            begun: line.is_asking(),
        }),
        Ok(true) => {
            let ended = drive(http2(patience).serve_connection(stream, service), stop).await;
            ended.map_err(|error| Broken::of(&error, false))
        }
        Ok(false) => {
            let ended = drive(http1(patience).serve_connection(stream, service), stop).await;
            ended.map_err(|error| Broken::of(&error, line.is_asking()))
        }
    };
    if let Err(Broken::Late { begun: true }) = ended {
        // hyper only hangs up. Whoever does not read gets no more time for that than for a head.
        let told = async {
            behind.write_all(TOO_LATE).await?;
            behind.shutdown().await
        };
        let _ = tokio::time::timeout(patience.head, told).await;
    }
    ended
}

/// Why a connection ended before its time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Broken {
    /// The head was no request, and got that status.
    BadHead(u16),
    /// Nothing that is of interest: it broke, or an exchange ended without an answer.
    Cut,
    /// No head came in time.
    Late {
        /// Whether a head had begun; else the connection only rested.
        begun: bool,
    },
}

impl Broken {
    /// `begun` tells whether a head had begun. Over HTTP/2 none does: a connection that is late there is dead.
    fn of(error: &hyper::Error, begun: bool) -> Broken {
        match error {
            _ if error.is_timeout() => Broken::Late { begun },
            // hyper has a status of its own for this one, but tells it only in words.
            _ if error.is_parse() && error.to_string().contains("URI too long") => Broken::BadHead(414),
            _ if error.is_parse_too_large() => Broken::BadHead(431),
            _ if error.is_parse() => Broken::BadHead(400),
            _ => Broken::Cut,
        }
    }

    /// The status under which `bad_requests` counts it.
    pub fn bad_request(self) -> Option<u16> {
        match self {
            Broken::BadHead(status) => Some(status),
            Broken::Late { begun: true } => Some(408),
            Broken::Cut | Broken::Late { begun: false } => None,
        }
    }
}

async fn serve_tls(site: &Arc<Site>, stop: &CancellationToken, tls: &ServerTls, stream: TcpStream) {
    let shaken = tokio::time::timeout(site.patience.handshake, shake_hands(tls, stream)).await;
    match shaken.unwrap_or(Err("handshake_timeout")) {
        Ok((host, stream)) => serve(site, stop, stream, Some(host)).await,
        Err(why) => site
            .world
            .stats
            .connections(|connections| connections.fail_tls(why)),
    }
}

async fn serve<S>(site: &Arc<Site>, stop: &CancellationToken, stream: S, sni: Option<Host>)
where
    S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
{
    let here = Arc::clone(site);
    let spoken = speak(stream, site.patience, stop, move |request, line| {
        exchange(
            Arc::clone(&here),
            Via {
                sni: sni.clone(),
                line,
            },
            request,
        )
    });
    if let Err(broken) = spoken.await
        && let Some(status) = broken.bad_request()
    {
        site.world
            .stats
            .connections(|connections| connections.bad_request(status));
    }
}

async fn shake_hands(
    tls: &ServerTls,
    stream: TcpStream,
) -> Result<(Host, TlsStream<TcpStream>), &'static str> {
    let acceptor = LazyConfigAcceptor::new(Acceptor::default(), stream);
    let start = acceptor.await.map_err(|error| tls_failure_label(&error))?;
    match tls.choose(&start.client_hello(), Timestamp::now()) {
        Ok((host, config)) => {
            let stream = start.into_stream(config).await;
            stream
                .map(|stream| (host, stream))
                .map_err(|error| tls_failure_label(&error))
        }
        Err(refusal) => {
            let mut stream = start.io;
            // Whether or not the client gets to read it, the handshake has failed.
            let _ = stream.write_all(&refusal.alert()).await;
            let _ = stream.shutdown().await;
            Err(refusal.label())
        }
    }
}

/// Runs a connection to its end; `stop` makes it the end of the exchanges under way.
async fn drive<C>(connection: C, stop: &CancellationToken) -> Result<(), hyper::Error>
where
    C: GracefulConnection<Error = hyper::Error>,
{
    tokio::pin!(connection);
    tokio::select! {
        biased;
        ended = connection.as_mut() => ended,
        () = stop.cancelled() => {
            connection.as_mut().graceful_shutdown();
            connection.await
        }
    }
}

fn http1(patience: Patience) -> http1::Builder {
    let mut builder = http1::Builder::new();
    builder
        .half_close(true)
        .timer(TokioTimer::new())
        .header_read_timeout(patience.head)
        .max_buf_size(HEAD_MAX);
    builder
}

fn http2(patience: Patience) -> http2::Builder<TokioExecutor> {
    let mut builder = http2::Builder::new(TokioExecutor::new());
    builder
        .timer(TokioTimer::new())
        .max_header_list_size(HEAD_HARD_MAX)
        .max_concurrent_streams(STREAMS_MAX)
        .keep_alive_interval(patience.head);
    builder
}

/// An open connection: counted while it lives, and with a place among those the bound allows.
struct Open {
    site: Arc<Site>,
    _place: OwnedSemaphorePermit,
}

impl Open {
    fn new(site: &Arc<Site>, place: OwnedSemaphorePermit) -> Open {
        site.world.stats.connections(|connections| connections.accept());
        Open {
            site: Arc::clone(site),
            _place: place,
        }
    }
}

impl Drop for Open {
    fn drop(&mut self) {
        self.site
            .world
            .stats
            .connections(|connections| connections.close());
    }
}

/// The answer to a head that does not come (RFC 9110 section 15.5.9).
const TOO_LATE: &[u8] = b"HTTP/1.1 408 Request Timeout\r\nconnection: close\r\ncontent-length: 0\r\n\r\n";

/// How an HTTP/2 connection begins (RFC 9113 section 3.4).
const PREFACE: &[u8] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";
