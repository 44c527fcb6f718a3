//! How fast an inbox verifies: deliveries that were signed beforehand, each its own, to one actor of a Mastodon of the
//! farm against the same to a bare hyper server that checks digest and signature with the cryptographic library and
//! nothing else. Both run as processes of their own on this machine, the same sender loads them in turns, and what is
//! compared is the rate each reaches when it is saturated. Then the farm alone over TLS.
//!
//! `scripts/bench inboxes` runs it; `cargo bench --bench inboxes -- --pairs 3` takes the flags below.

#![allow(clippy::print_stdout, reason = "a benchmark's results go to stdout")]

mod rig;

use std::convert::Infallible;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use aws_lc_rs::digest as raw_digest;
use aws_lc_rs::signature::{ParsedPublicKey, RSA_PKCS1_2048_8192_SHA256};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use bytes::Bytes;
use clap::Parser;
use http::{HeaderMap, HeaderValue, StatusCode};
use http_body_util::{BodyExt, Full};
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Request, Response};
use hyper_util::rt::{TokioIo, TokioTimer};
use peerfarm::clock::Timestamp;
use peerfarm::signature::cavage::{self, ParameterOrder, Signing};
use peerfarm::signature::key::{Algorithm, SigningKey};
use peerfarm::signature::{self, digest};
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, ServerName};
use tokio::io::{AsyncRead, AsyncWrite, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinSet;
use tokio_rustls::TlsConnector;

use rig::figures::{Spread, process_time};
use rig::sender::{ANSWER_BYTES, BODY_BYTES, body, read_answer};
use rig::server::Server;

/// Measures an inbox of the farm against a bare server that verifies.
#[derive(Debug, Parser)]
struct Words {
    /// What `cargo bench` passes; without it nothing is measured, so that `cargo test --all-targets` stays quick.
    #[arg(long, hide = true)]
    bench: bool,
    /// Be the bare server, and verify by the public key in this file.
    #[arg(long, hide = true)]
    bare: Option<PathBuf>,
    /// How often each is loaded.
    #[arg(long, default_value_t = 5, value_parser = clap::value_parser!(u32).range(1..=50))]
    pairs: u32,
    /// How many deliveries a turn. All are signed before the first turn, about 1,500 a second and core.
    #[arg(long, default_value_t = 12_000, value_parser = clap::value_parser!(u32).range(1_000..=100_000))]
    deliveries: u32,
    /// How many connections ask, each one request at a time.
    #[arg(long, default_value_t = 32, value_parser = clap::value_parser!(u32).range(1..=512))]
    connections: u32,
}

fn main() -> Result<()> {
    let words = Words::parse();
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    match (&words.bare, words.bench) {
        (Some(key), _) => runtime.block_on(serve_bare(key)),
        (None, true) => runtime.block_on(compare(&words)),
        (None, false) => Ok(()),
    }
}

/// Loads the two in turns, then the farm over TLS, and prints each turn and the medians.
async fn compare(words: &Words) -> Result<()> {
    let folder = tempfile::tempdir()?;
    let key = SigningKey::generate_rsa(2_048)?;
    let key_file = folder.path().join("key.pem");
    std::fs::write(&key_file, key.public_pem()?)?;
    let origin = serve_actor(&key.public_pem()?).await?;
    let requests = prepare(words, &origin, &key)?;
    let (warming, measured) = requests.split_at(WARMING);

    let bare = Server::start(
        Command::new(std::env::current_exe()?)
            .arg("--bare")
            .arg(&key_file),
    )?;
    let farm = start_farm(folder.path())?;
    let (to_bare, to_farm) = (Way::Plain(bare.address(PLAIN)?), Way::Plain(farm.address(PLAIN)?));
    // Unmeasured, so that neither pays for first allocations, and the farm has the key.
    load(&to_bare, words, warming).await?;
    load(&to_farm, words, warming).await?;

    println!(
        "{:>4} {:>10} {:>10} {:>7} {:>13} {:>13} {:>13}",
        "pair", "bare/s", "farm/s", "ratio", "bare us/req", "farm us/req", "client us/req"
    );
    let (mut bares, mut farms, mut ratios) = (Vec::new(), Vec::new(), Vec::new());
    for (pair, turn) in measured.chunks(words.deliveries as usize).enumerate() {
        let against_bare = measure(&bare, &to_bare, words, turn).await?;
        let against_farm = measure(&farm, &to_farm, words, turn).await?;
        let ratio = against_farm.rate / against_bare.rate;
        println!(
            "{:>4} {:>10.0} {:>10.0} {ratio:>7.3} {:>13.2} {:>13.2} {:>13.2}",
            pair + 1,
            against_bare.rate,
            against_farm.rate,
            against_bare.server_us,
            against_farm.server_us,
            f64::midpoint(against_bare.client_us, against_farm.client_us)
        );
        bares.push(against_bare);
        farms.push(against_farm);
        ratios.push(ratio);
    }
    let ratio = Spread::of(ratios);
    println!("bare: {}", summary(&bares));
    println!("farm: {}", summary(&farms));
    println!(
        "the farm reaches {:.3} of the bare rate ({:.3} to {:.3} pair by pair)",
        ratio.median, ratio.least, ratio.most
    );
    check_counts(&farm, requests.len()).await?;
    drop((bare, farm));

    let farm = start_farm(folder.path())?;
    let over_tls = Way::tls(&farm, folder.path())?;
    load(&over_tls, words, warming).await?;
    let mut turns = Vec::new();
    for turn in measured.chunks(words.deliveries as usize) {
        turns.push(measure(&farm, &over_tls, words, turn).await?);
    }
    println!("farm over TLS: {}", summary(&turns));
    check_counts(&farm, requests.len()).await
}

/// One Mastodon of the farm, with and without TLS.
fn start_farm(folder: &Path) -> Result<Server> {
    let mut command = Command::new(env!("CARGO_BIN_EXE_peerfarm"));
    command.args([
        "serve",
        "--roster",
        "mastodon=1",
        "--allow-http",
        "--listen",
        FREE,
    ]);
    command.args(["--listen-http", FREE, "--control", FREE, "--state"]);
    Server::start(command.arg(folder.join("state")))
}

/// The rates are worth something only when the farm counted each delivery as valid, and fetched the key once.
async fn check_counts(farm: &Server, sent: usize) -> Result<()> {
    let stats = farm.ask("/stats").await?;
    let counts = &stats["totals"];
    for count in [
        &counts["requests"],
        &counts["accepted"],
        &counts["unique"],
        &counts["verdicts"]["valid"],
    ] {
        ensure!(
            *count == sent,
            "sent {sent} distinct deliveries, counted are {counts}"
        );
    }
    let fetches = &stats["key_fetches"]["outcomes"];
    ensure!(
        fetches["found"] == 1,
        "one key was to be fetched once, and is {fetches}"
    );
    Ok(())
}

/// What one turn showed.
struct Turn {
    /// Answers a second.
    rate: f64,
    /// Processor time of the server for one request.
    server_us: f64,
    /// The same of the client.
    client_us: f64,
}

fn summary(turns: &[Turn]) -> String {
    let of = |figure: fn(&Turn) -> f64| Spread::of(turns.iter().map(figure).collect());
    let rate = of(|turn| turn.rate);
    format!(
        "{:.0} verified deliveries a second ({:.0} to {:.0}), {:.1} us of processor time each, {:.1} us the sender's",
        rate.median,
        rate.least,
        rate.most,
        of(|turn| turn.server_us).median,
        of(|turn| turn.client_us).median
    )
}

async fn measure(server: &Server, way: &Way, words: &Words, requests: &[Bytes]) -> Result<Turn> {
    let (server, client) = (server.process(), std::process::id());
    let connections = way.connect(words.connections).await?;
    let before = (process_time(server)?, process_time(client)?, Instant::now());
    send(connections, requests).await?;
    let (took, sent) = (before.2.elapsed(), requests.len() as f64);
    let spent = |process, before: Duration| -> Result<f64> {
        Ok((process_time(process)? - before).as_secs_f64() * 1e6 / sent)
    };
    Ok(Turn {
        rate: sent / took.as_secs_f64(),
        server_us: spent(server, before.0)?,
        client_us: spent(client, before.1)?,
    })
}

async fn load(way: &Way, words: &Words, requests: &[Bytes]) -> Result<()> {
    send(way.connect(words.connections).await?, requests).await
}

/// Sends all of them over these connections, one in flight on each.
async fn send(connections: Vec<Connection>, requests: &[Bytes]) -> Result<()> {
    let (requests, next): (Arc<[Bytes]>, _) = (requests.into(), Arc::new(AtomicUsize::new(0)));
    let mut asking = JoinSet::new();
    for mut connection in connections {
        let (requests, next) = (Arc::clone(&requests), Arc::clone(&next));
        asking.spawn(async move {
            let mut answer = vec![0; ANSWER_BYTES];
            while let Some(request) = requests.get(next.fetch_add(1, Ordering::Relaxed)) {
                connection.write_all(request).await?;
                connection.flush().await?;
                read_answer(&mut connection, &mut answer, "202 ").await?;
            }
            anyhow::Ok(())
        });
    }
    while let Some(ended) = asking.join_next().await {
        ended??;
    }
    Ok(())
}

/// How a server is reached.
enum Way {
    Plain(std::net::SocketAddr),
    Tls(std::net::SocketAddr, TlsConnector),
}

trait Duplex: AsyncRead + AsyncWrite + Send + Unpin {}
impl<S: AsyncRead + AsyncWrite + Send + Unpin> Duplex for S {}
type Connection = Box<dyn Duplex>;

impl Way {
    /// Over TLS, by the farm's own CA.
    fn tls(farm: &Server, folder: &Path) -> Result<Way> {
        let mut roots = rustls::RootCertStore::empty();
        for certificate in CertificateDer::pem_file_iter(folder.join("state/ca.pem"))? {
            roots.add(certificate?)?;
        }
        let config = rustls::ClientConfig::builder()
            .with_root_certificates(roots)
            .with_no_client_auth();
        Ok(Way::Tls(
            farm.address("federation=https://")?,
            Arc::new(config).into(),
        ))
    }

    async fn connect(&self, count: u32) -> Result<Vec<Connection>> {
        let mut connections: Vec<Connection> = Vec::new();
        for _ in 0..count {
            let (Way::Plain(address) | Way::Tls(address, _)) = self;
            let stream = TcpStream::connect(address).await?;
            stream.set_nodelay(true)?;
            connections.push(match self {
                Way::Plain(_) => Box::new(stream),
                Way::Tls(_, tls) => Box::new(tls.connect(ServerName::try_from(HOST)?, stream).await?),
            });
        }
        Ok(connections)
    }
}

/// The deliveries of all turns, signed, as they go over the wire; half of them by each of two threads.
fn prepare(words: &Words, origin: &str, key: &SigningKey) -> Result<Vec<Bytes>> {
    let total = WARMING + (words.pairs * words.deliveries) as usize;
    println!("signing {total} deliveries of {BODY_BYTES} bytes");
    let sign = |numbers: std::ops::Range<usize>| -> Result<Vec<Bytes>> {
        numbers
            .map(|number| delivery(origin, number as u64, key))
            .collect()
    };
    std::thread::scope(|scope| {
        let other = scope.spawn(|| sign(total / 2..total));
        let mut all = sign(0..total / 2)?;
        let other = other.join().ok().context("signing panicked")??;
        all.extend(other);
        Ok(all)
    })
}

/// One delivery, as Mastodon signs it.
fn delivery(origin: &str, number: u64, key: &SigningKey) -> Result<Bytes> {
    let body = body(origin, number);
    ensure!(body.len() == BODY_BYTES, "the bodies have {} bytes", body.len());
    let mut headers = HeaderMap::new();
    headers.insert("host", HeaderValue::from_static(HOST));
    headers.insert("date", HeaderValue::try_from(Timestamp::now().http_date())?);
    headers.insert(
        "content-type",
        HeaderValue::from_static("application/activity+json"),
    );
    headers.insert(
        "digest",
        HeaderValue::try_from(digest::sha256_header(body.as_bytes()))?,
    );
    let signing = Signing {
        headers: &COVERED,
        algorithm: "rsa-sha256",
        computes: Algorithm::RsaV15Sha256,
        created: None,
        expires: None,
        key_id: &format!("{origin}/users/alice#main-key"),
        order: ParameterOrder::default(),
        query: true,
    };
    let request = signature::Request {
        method: "POST",
        target: INBOX,
        scheme: "https",
        headers: &headers,
        authority: None,
        body: body.as_bytes(),
    };
    let signature = cavage::sign(&signing, &request, key)?;
    headers.insert("signature", signature);
    let mut bytes = format!("POST {INBOX} HTTP/1.1\r\ncontent-length: {BODY_BYTES}\r\n").into_bytes();
    for (name, value) in &headers {
        bytes.extend_from_slice(name.as_str().as_bytes());
        bytes.extend_from_slice(b": ");
        bytes.extend_from_slice(value.as_bytes());
        bytes.extend_from_slice(b"\r\n");
    }
    bytes.extend_from_slice(b"\r\n");
    bytes.extend_from_slice(body.as_bytes());
    Ok(bytes.into())
}

/// Serves the sender's document, from which the farm gets the key; its origin.
async fn serve_actor(public_pem: &str) -> Result<String> {
    let listener = TcpListener::bind(FREE).await?;
    let origin = format!("http://{}", listener.local_addr()?);
    let id = format!("{origin}/users/alice");
    let document = serde_json::json!({
        "@context": ["https://www.w3.org/ns/activitystreams", "https://w3id.org/security/v1"],
        "id": id, "type": "Person", "preferredUsername": "alice",
        "inbox": format!("{id}/inbox"), "outbox": format!("{id}/outbox"),
        "publicKey": {"id": format!("{id}#main-key"), "owner": id, "publicKeyPem": public_pem},
    });
    let document = Bytes::from(document.to_string());
    tokio::spawn(serve(listener, move |_| {
        let mut response = Response::new(Full::new(document.clone()));
        let json = HeaderValue::from_static("application/activity+json");
        response.headers_mut().insert("content-type", json);
        std::future::ready(response)
    }));
    Ok(origin)
}

/// The bare server: checks digest and signature of what [`delivery`] makes, answers 202, counts nothing.
async fn serve_bare(key_file: &Path) -> Result<()> {
    let (_, der) = pem_rfc7468::decode_vec(&std::fs::read(key_file)?)?;
    let key = ParsedPublicKey::new(&RSA_PKCS1_2048_8192_SHA256, &der)
        .ok()
        .context("no key")?;
    let key = Arc::new(key);
    let listener = TcpListener::bind(FREE).await?;
    println!("ready {PLAIN}{}", listener.local_addr()?);
    serve(listener, move |request: Request<Incoming>| {
        let key = Arc::clone(&key);
        async move {
            let (head, body) = request.into_parts();
            let body = body.collect().await.map(|body| body.to_bytes());
            let verified = body
                .ok()
                .and_then(|body| verify(&key, head.uri.path(), &head.headers, &body));
            let mut response = Response::new(Full::default());
            *response.status_mut() = match verified {
                Some(()) => StatusCode::ACCEPTED,
                None => StatusCode::UNAUTHORIZED,
            };
            response
        }
    })
    .await
}

/// As few steps as the check can have for a sender that is known.
fn verify(key: &ParsedPublicKey, path: &str, headers: &HeaderMap, body: &[u8]) -> Option<()> {
    let digest = headers.get("digest")?.to_str().ok()?.strip_prefix("SHA-256=")?;
    let computed = raw_digest::digest(&raw_digest::SHA256, body);
    if STANDARD.decode(digest).ok()? != computed.as_ref() {
        return None;
    }
    let (_, signature) = headers
        .get("signature")?
        .to_str()
        .ok()?
        .split_once(",signature=\"")?;
    let signature = STANDARD.decode(signature.strip_suffix('"')?).ok()?;
    let mut base = Vec::with_capacity(512);
    for name in COVERED {
        if name == "(request-target)" {
            base.extend_from_slice(b"(request-target): post ");
            base.extend_from_slice(path.as_bytes());
        } else {
            base.push(b'\n');
            base.extend_from_slice(name.as_bytes());
            base.extend_from_slice(b": ");
            base.extend_from_slice(headers.get(name)?.as_bytes());
        }
    }
    key.verify_sig(&base, &signature).ok()
}

/// Serves HTTP/1.1 until the process ends.
async fn serve<A, F>(listener: TcpListener, answer: A) -> Result<()>
where
    A: Fn(Request<Incoming>) -> F + Clone + Send + 'static,
    F: Future<Output = Response<Full<Bytes>>> + Send,
{
    loop {
        let (stream, _) = listener.accept().await?;
        stream.set_nodelay(true)?;
        let answer = answer.clone();
        let service = service_fn(move |request| {
            let answered = answer(request);
            async move { Ok::<_, Infallible>(answered.await) }
        });
        let connection = http1::Builder::new()
            .timer(TokioTimer::new())
            .serve_connection(TokioIo::new(stream), service);
        tokio::spawn(connection);
    }
}

/// How many deliveries each gets before it is measured.
const WARMING: usize = 2_000;
const FREE: &str = "127.0.0.1:0";
/// What stands before the address of either in its `ready` line.
const PLAIN: &str = "federation=http://";
const HOST: &str = "mastodon1.test";
const INBOX: &str = "/users/alice/inbox";
const COVERED: [&str; 5] = ["(request-target)", "host", "date", "digest", "content-type"];
