//! How much the farm's counting costs: small distinct JSON deliveries to a hook of the farm against the same to a
//! bare hyper server that reads the body and answers 200. Both run as processes of their own on this machine, the
//! same client loads them in turns, and what is compared is the rate each reaches when it is saturated.
//!
//! `scripts/bench` runs it; `cargo bench --bench hooks -- --pairs 3` takes the flags below.

#![allow(clippy::print_stdout, reason = "a benchmark's results go to stdout")]

mod rig;

use std::convert::Infallible;
use std::net::SocketAddr;
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use anyhow::{Result, ensure};
use bytes::Bytes;
use clap::Parser;
use http_body_util::{BodyExt, Full};
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Request, Response};
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::io::AsyncWriteExt;
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinSet;

use rig::figures::{Spread, process_time};
use rig::sender::{ANSWER_BYTES, read_answer};
use rig::server::Server;

/// Measures the farm's hooks against a bare server.
#[derive(Debug, Parser)]
struct Words {
    /// What `cargo bench` passes; without it nothing is measured, so that `cargo test --all-targets` stays quick.
    #[arg(long, hide = true)]
    bench: bool,
    /// Be the bare server.
    #[arg(long, hide = true)]
    bare: bool,
    /// How often each of the two is loaded.
    #[arg(long, default_value_t = 5, value_parser = clap::value_parser!(u32).range(1..=50))]
    pairs: u32,
    /// How long each is loaded.
    #[arg(long, default_value_t = 4, value_parser = clap::value_parser!(u64).range(1..=60))]
    seconds: u64,
    /// How many connections ask, each one request at a time.
    #[arg(long, default_value_t = 32, value_parser = clap::value_parser!(u32).range(1..=512))]
    connections: u32,
}

fn main() -> Result<()> {
    let words = Words::parse();
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    match (words.bare, words.bench) {
        (true, _) => runtime.block_on(serve_bare()),
        (false, true) => runtime.block_on(compare(&words)),
        (false, false) => Ok(()),
    }
}

/// Loads the two in turns and prints each pair and the medians.
async fn compare(words: &Words) -> Result<()> {
    ensure!(
        body(0).len() == BODY_BYTES,
        "the bodies have {} bytes",
        body(0).len()
    );
    let state = tempfile::tempdir()?;
    let bare = Server::start(Command::new(std::env::current_exe()?).arg("--bare"))?;
    let farm = Server::start(
        Command::new(env!("CARGO_BIN_EXE_peerfarm"))
            .args([
                "serve",
                "--listen",
                "127.0.0.1:0",
                "--control",
                "127.0.0.1:0",
                "--state",
            ])
            .arg(state.path()),
    )?;
    println!(
        "farm as it starts, 20 peers of 10 actors: {} MiB resident",
        farm.resident_kib()? / 1024
    );

    let ids = Arc::new(AtomicU64::new(0));
    // One unmeasured turn each, so that neither pays for first allocations and cold caches.
    load(bare.address(CONTROL)?, words, 1, &ids).await?;
    let (mut sent_to_farm, _) = load(farm.address(CONTROL)?, words, 1, &ids).await?;

    println!(
        "{:>4} {:>10} {:>10} {:>7} {:>13} {:>13} {:>13}",
        "pair", "bare/s", "farm/s", "ratio", "bare us/req", "farm us/req", "client us/req"
    );
    let (mut ratios, mut costs) = (Vec::new(), Vec::new());
    for pair in 1..=words.pairs {
        let against_bare = measure(&bare, words, &ids).await?;
        let against_farm = measure(&farm, words, &ids).await?;
        sent_to_farm += against_farm.answered;
        let ratio = against_farm.rate / against_bare.rate;
        println!(
            "{pair:>4} {:>10.0} {:>10.0} {ratio:>7.3} {:>13.2} {:>13.2} {:>13.2}",
            against_bare.rate,
            against_farm.rate,
            against_bare.server_us,
            against_farm.server_us,
            f64::midpoint(against_bare.client_us, against_farm.client_us)
        );
        ratios.push(ratio);
        costs.push(against_farm.server_us - against_bare.server_us);
    }
    println!(
        "median: the farm reaches {:.3} of the bare rate and spends {:.2} us more processor time a request",
        Spread::of(ratios).median,
        Spread::of(costs).median
    );
    println!(
        "farm after {sent_to_farm} deliveries: {} MiB resident",
        farm.resident_kib()? / 1024
    );
    check_counts(&farm, sent_to_farm).await
}

/// The rates are worth something only when the farm counted each delivery.
async fn check_counts(farm: &Server, sent: u64) -> Result<()> {
    let counted = farm.ask("/stats/hooks").await?;
    let (requests, unique) = (&counted["/hook/x"]["requests"], &counted["/hook/x"]["unique"]);
    ensure!(
        *requests == sent && *unique == sent,
        "sent {sent} distinct deliveries, the farm counted {requests}, {unique} of them unique"
    );
    Ok(())
}

/// What one turn showed.
struct Turn {
    answered: u64,
    /// Answers a second.
    rate: f64,
    /// Processor time of the server for one request.
    server_us: f64,
    /// The same of the client.
    client_us: f64,
}

/// Loads a server for a turn.
async fn measure(server: &Server, words: &Words, ids: &Arc<AtomicU64>) -> Result<Turn> {
    let address = server.address(CONTROL)?;
    let (server, client) = (server.process(), std::process::id());
    let before = (process_time(server)?, process_time(client)?);
    let (answered, took) = load(address, words, words.seconds, ids).await?;
    let spent = |process, before: Duration| -> Result<f64> {
        Ok((process_time(process)? - before).as_secs_f64() * 1e6 / answered as f64)
    };
    Ok(Turn {
        answered,
        rate: answered as f64 / took.as_secs_f64(),
        server_us: spent(server, before.0)?,
        client_us: spent(client, before.1)?,
    })
}

/// Loads `/hook/x` over kept connections, one request in flight on each, until the time is up: how many were
/// answered, and the time it took.
async fn load(
    address: SocketAddr,
    words: &Words,
    seconds: u64,
    ids: &Arc<AtomicU64>,
) -> Result<(u64, Duration)> {
    let began = Instant::now();
    let until = began + Duration::from_secs(seconds);
    let mut asking = JoinSet::new();
    for _ in 0..words.connections {
        asking.spawn(ask_until(address, until, Arc::clone(ids)));
    }
    let mut answered = 0;
    while let Some(count) = asking.join_next().await {
        answered += count??;
    }
    Ok((answered, began.elapsed()))
}

/// One connection: writes prepared requests and reads whole answers, as little work as a client can have.
async fn ask_until(address: SocketAddr, until: Instant, ids: Arc<AtomicU64>) -> Result<u64> {
    let mut stream = TcpStream::connect(address).await?;
    stream.set_nodelay(true)?;
    let head = format!(
        "POST /hook/x HTTP/1.1\r\nhost: {address}\r\ncontent-type: application/json\r\ncontent-length: {BODY_BYTES}\r\n\r\n"
    );
    let mut request = Vec::with_capacity(head.len() + BODY_BYTES);
    let mut answer = vec![0; ANSWER_BYTES];
    let mut answered = 0;
    while Instant::now() < until && answered < MOST_REQUESTS {
        let id = ids.fetch_add(1, Ordering::Relaxed);
        request.clear();
        request.extend_from_slice(head.as_bytes());
        request.extend_from_slice(body(id).as_bytes());
        stream.write_all(&request).await?;
        read_answer(&mut stream, &mut answer, "200 ").await?;
        answered += 1;
    }
    Ok(answered)
}

/// A JSON body of [`BODY_BYTES`] with an id of its own.
fn body(id: u64) -> String {
    format!(r#"{{"id":"delivery-{id:020}","event":"note.created","text":"padded up to a hundred bytes."}}"#)
}

/// The bare server: reads each body, answers 200, counts nothing.
async fn serve_bare() -> Result<()> {
    let listener = TcpListener::bind("127.0.0.1:0").await?;
    println!("ready control=http://{}", listener.local_addr()?);
    loop {
        let (stream, _) = listener.accept().await?;
        stream.set_nodelay(true)?;
        let connection = http1::Builder::new()
            .timer(TokioTimer::new())
            .serve_connection(TokioIo::new(stream), service_fn(answer));
        tokio::spawn(connection);
    }
}

async fn answer(request: Request<Incoming>) -> Result<Response<Full<Bytes>>, Infallible> {
    // A client that leaves in the middle of a body gets an answer it does not read.
    let _ = request.into_body().collect().await;
    let mut response = Response::new(Full::new(Bytes::from_static(br#"{"ok":true}"#)));
    let json = http::HeaderValue::from_static("application/json");
    response.headers_mut().insert(http::header::CONTENT_TYPE, json);
    Ok(response)
}

/// The size of each body.
const BODY_BYTES: usize = 100;
/// The most that one connection asks in one turn.
const MOST_REQUESTS: u64 = 1_000_000;
/// What stands before the address of either in its `ready` line.
const CONTROL: &str = "control=http://";
