//! How much the farm's counting costs: small distinct JSON deliveries to a hook of the farm against the same to a
//! bare hyper server that reads the body and answers 200. Both run as processes of their own on this machine, the
//! same client loads them in turns, and what is compared is the rate each reaches when it is saturated.
//!
//! `scripts/bench` runs it; `cargo bench --bench hooks -- --pairs 3` takes the flags below.

#![allow(clippy::print_stdout, reason = "a benchmark's results go to stdout")]

use std::convert::Infallible;
use std::fs;
use std::io::{BufRead, BufReader, Read};
use std::net::SocketAddr;
use std::process::{Child, ChildStdout, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail, ensure};
use bytes::Bytes;
use clap::Parser;
use http_body_util::{BodyExt, Full};
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Request, Response};
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinSet;

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
    load(bare.address, words, 1, &ids).await?;
    let (mut sent_to_farm, _) = load(farm.address, words, 1, &ids).await?;

    println!(
        "{:>4} {:>10} {:>10} {:>7} {:>13} {:>13} {:>13}",
        "pair", "bare/s", "farm/s", "ratio", "bare us/req", "farm us/req", "client us/req"
    );
    let (mut ratios, mut costs) = (Vec::new(), Vec::new());
    for pair in 1..=words.pairs {
        let against_bare = bare.measure(words, &ids).await?;
        let against_farm = farm.measure(words, &ids).await?;
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
        median(&mut ratios),
        median(&mut costs)
    );
    println!(
        "farm after {sent_to_farm} deliveries: {} MiB resident",
        farm.resident_kib()? / 1024
    );
    check_counts(farm.address, sent_to_farm).await
}

/// The rates are worth something only when the farm counted each delivery.
async fn check_counts(farm: SocketAddr, sent: u64) -> Result<()> {
    let mut stream = TcpStream::connect(farm).await?;
    let ask = format!("GET /stats/hooks HTTP/1.1\r\nhost: {farm}\r\nconnection: close\r\n\r\n");
    stream.write_all(ask.as_bytes()).await?;
    let mut answer = String::new();
    stream.read_to_string(&mut answer).await?;
    let (_, body) = answer
        .split_once("\r\n\r\n")
        .context("the farm's counters have no body")?;
    let counted: serde_json::Value = serde_json::from_str(body)?;
    let (requests, unique) = (&counted["/hook/x"]["requests"], &counted["/hook/x"]["unique"]);
    ensure!(
        *requests == sent && *unique == sent,
        "sent {sent} distinct deliveries, the farm counted {requests}, {unique} of them unique"
    );
    Ok(())
}

/// The middle value, or the mean of the two in the middle.
fn median(values: &mut [f64]) -> f64 {
    values.sort_by(f64::total_cmp);
    let middle = values.len() / 2;
    if values.len() % 2 == 1 {
        values[middle]
    } else {
        f64::midpoint(values[middle - 1], values[middle])
    }
}

/// A server in a process of its own; ended on drop.
struct Server {
    child: Child,
    address: SocketAddr,
    /// Kept open, since a server may print more than its `ready` line.
    output: BufReader<ChildStdout>,
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

impl Server {
    /// Starts it and reads its address from the word `control=address` of its `ready` line.
    fn start(command: &mut Command) -> Result<Server> {
        let mut child = command.stdin(Stdio::null()).stdout(Stdio::piped()).spawn()?;
        let output = BufReader::new(child.stdout.take().context("stdout is piped")?);
        let mut server = Server {
            child,
            address: SocketAddr::from(([127, 0, 0, 1], 0)),
            output,
        };
        for line in server.output.by_ref().lines() {
            let line = line?;
            let Some(words) = line.strip_prefix("ready") else {
                continue;
            };
            let address = words
                .split_whitespace()
                .find_map(|word| word.strip_prefix("control="));
            let address = address.with_context(|| format!("no `control=` in `{line}`"))?;
            server.address = address.trim_start_matches("http://").parse()?;
            return Ok(server);
        }
        bail!("the server ended before it was ready")
    }

    async fn measure(&self, words: &Words, ids: &Arc<AtomicU64>) -> Result<Turn> {
        let (server, client) = (self.child.id(), std::process::id());
        let before = (cpu_ticks(server)?, cpu_ticks(client)?);
        let (answered, took) = load(self.address, words, words.seconds, ids).await?;
        let spent = |process, before| -> Result<f64> {
            Ok((cpu_ticks(process)? - before) as f64 * 1e6 / TICKS_PER_SECOND / answered as f64)
        };
        Ok(Turn {
            answered,
            rate: answered as f64 / took.as_secs_f64(),
            server_us: spent(server, before.0)?,
            client_us: spent(client, before.1)?,
        })
    }

    /// Resident memory, `VmRSS` of proc(5).
    fn resident_kib(&self) -> Result<u64> {
        let status = fs::read_to_string(format!("/proc/{}/status", self.child.id()))?;
        let line = status
            .lines()
            .find_map(|line| line.strip_prefix("VmRSS:"))
            .context("no VmRSS")?;
        Ok(line.trim().trim_end_matches(" kB").parse()?)
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // Both may fail only where the process has ended already.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// User and system time of a process so far: fields 14 and 15 of `stat` in proc(5), counted after the name in brackets.
fn cpu_ticks(process: u32) -> Result<u64> {
    let stat = fs::read_to_string(format!("/proc/{process}/stat"))?;
    let (_, fields) = stat.rsplit_once(") ").context("no name in stat")?;
    let ticks: Vec<u64> = fields
        .split(' ')
        .skip(11)
        .take(2)
        .map(str::parse)
        .collect::<Result<_, _>>()?;
    Ok(ticks.iter().sum())
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
        read_answer(&mut stream, &mut answer).await?;
        answered += 1;
    }
    Ok(answered)
}

/// A JSON body of [`BODY_BYTES`] with an id of its own.
fn body(id: u64) -> String {
    format!(r#"{{"id":"delivery-{id:020}","event":"note.created","text":"padded up to a hundred bytes."}}"#)
}

/// Reads one answer to its last byte; anything but a 200 ends the measurement.
async fn read_answer(stream: &mut TcpStream, buffer: &mut [u8]) -> Result<()> {
    let mut filled = 0;
    loop {
        let count = stream.read(&mut buffer[filled..]).await?;
        ensure!(
            count > 0,
            "the server closed the connection, or its answer is over {ANSWER_BYTES} bytes"
        );
        filled += count;
        let Some(head) = buffer[..filled]
            .windows(4)
            .position(|window| window == b"\r\n\r\n")
        else {
            continue;
        };
        ensure!(
            buffer.starts_with(b"HTTP/1.1 200 "),
            "answered {}",
            String::from_utf8_lossy(&buffer[..head])
        );
        let length = content_length(&buffer[..head]).context("an answer without content-length")?;
        if filled >= head + 4 + length {
            return Ok(());
        }
    }
}

fn content_length(head: &[u8]) -> Option<usize> {
    let head = std::str::from_utf8(head).ok()?;
    head.split("\r\n").find_map(|line| {
        let (name, value) = line.split_once(':')?;
        name.eq_ignore_ascii_case("content-length")
            .then(|| value.trim().parse().ok())?
    })
}

/// The bare server: reads each body, answers 200, counts nothing.
async fn serve_bare() -> Result<()> {
    let listener = TcpListener::bind("127.0.0.1:0").await?;
    println!("ready control={}", listener.local_addr()?);
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
/// The most that an answer may be long, head and body.
const ANSWER_BYTES: usize = 4096;
/// The most that one connection asks in one turn.
const MOST_REQUESTS: u64 = 1_000_000;
/// `USER_HZ`, which is 100 on every Linux that Rust runs on.
const TICKS_PER_SECOND: f64 = 100.0;
