//! A server in a process of its own, and what it costs.

use std::fs;
use std::io::{BufRead, BufReader, Read};
use std::net::SocketAddr;
use std::process::{Child, ChildStdout, Command, Stdio};

use anyhow::{Context, Result, bail};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

/// A server in a process of its own; ended on drop.
pub struct Server {
    child: Child,
    /// Its `ready` line.
    ready: String,
    /// Kept open, since a server may print more than that.
    output: BufReader<ChildStdout>,
}

impl Server {
    /// Starts it and waits for its `ready` line.
    pub fn start(command: &mut Command) -> Result<Server> {
        let mut child = command.stdin(Stdio::null()).stdout(Stdio::piped()).spawn()?;
        let output = BufReader::new(child.stdout.take().context("stdout is piped")?);
        let mut server = Server {
            child,
            ready: String::new(),
            output,
        };
        for line in server.output.by_ref().lines() {
            let line = line?;
            if line.starts_with("ready") {
                server.ready = line;
                return Ok(server);
            }
        }
        bail!("the server ended before it was ready")
    }

    /// The address that its `ready` line gives after these words: `control=http://`.
    pub fn address(&self, words: &str) -> Result<SocketAddr> {
        let mut addresses = self.ready.split(' ');
        let address = addresses.find_map(|address| address.strip_prefix(words));
        let address = address.with_context(|| format!("no `{words}` in `{}`", self.ready))?;
        Ok(address.parse()?)
    }

    /// Its number, for its processor time.
    pub fn process(&self) -> u32 {
        self.child.id()
    }

    /// Resident memory, `VmRSS` of proc(5).
    pub fn resident_kib(&self) -> Result<u64> {
        let status = fs::read_to_string(format!("/proc/{}/status", self.child.id()))?;
        let line = status
            .lines()
            .find_map(|line| line.strip_prefix("VmRSS:"))
            .context("no VmRSS")?;
        Ok(line.trim().trim_end_matches(" kB").parse()?)
    }

    /// What a farm's control API answers to a GET.
    pub async fn ask(&self, path: &str) -> Result<serde_json::Value> {
        let control = self.address("control=http://")?;
        let mut stream = TcpStream::connect(control).await?;
        let ask = format!("GET {path} HTTP/1.1\r\nhost: {control}\r\nconnection: close\r\n\r\n");
        stream.write_all(ask.as_bytes()).await?;
        let mut answer = String::new();
        stream.read_to_string(&mut answer).await?;
        let (_, body) = answer
            .split_once("\r\n\r\n")
            .context("an answer without a body")?;
        Ok(serde_json::from_str(body)?)
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // Both may fail only where the process has ended already.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
