//! A farm that runs as a process of its own, and ends with the test.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::path::PathBuf;
use std::process::{Child, Command};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::thread;

use tempfile::TempDir;

use super::sut::DEADLINE;
use super::{Api, Peerfarm};

/// A farm that has said `ready`.
pub struct Serving {
    folder: TempDir,
    child: Child,
    greeting: Vec<String>,
    ready: String,
    stdout: Receiver<String>,
    stderr: Receiver<String>,
}

impl Serving {
    /// Starts a farm on free ports with these flags besides, and reads what it says until it is ready.
    #[track_caller]
    pub fn start(flags: &str) -> Serving {
        Peerfarm::with(&format!(
            "serve --listen 127.0.0.1:0 --control 127.0.0.1:0 {flags}"
        ))
        .serve()
    }

    /// A process that was started in this folder, once it is ready.
    #[track_caller]
    pub(super) fn of(mut child: Child, folder: TempDir) -> Serving {
        let mut serving = Serving {
            folder,
            stdout: lines(child.stdout.take().unwrap()),
            stderr: lines(child.stderr.take().unwrap()),
            child,
            greeting: Vec::new(),
            ready: String::new(),
        };
        while serving.ready.is_empty() {
            let Ok(line) = serving.stdout.recv_timeout(DEADLINE) else {
                let _ = serving.child.kill();
                panic!("no `ready` line: {:?}", serving.stderr.iter().collect::<Vec<_>>());
            };
            match line.strip_prefix("ready ") {
                Some(ready) => serving.ready = ready.to_owned(),
                None => serving.greeting.push(line),
            }
        }
        serving
    }

    /// The bound addresses as the `ready` line names them: name and URL.
    pub fn ready(&self) -> impl Iterator<Item = (&str, &str)> {
        self.ready.split(' ').map(|word| word.split_once('=').unwrap())
    }

    /// The first URL of that name in the `ready` line.
    pub fn url(&self, name: &str) -> &str {
        let (_, url) = self.ready().find(|(found, _)| *found == name).unwrap();
        url
    }

    /// The addresses of that scheme in the `ready` line.
    pub fn federation(&self, scheme: &str) -> Vec<SocketAddr> {
        let own = self.ready().filter(|(name, _)| *name == "federation");
        own.filter_map(|(_, url)| url.strip_prefix(scheme)?.strip_prefix("://")?.parse().ok())
            .collect()
    }

    /// The control API.
    pub fn api(&self) -> Api {
        Api(address(self.url("control")))
    }

    /// What answers where others reach hooks.
    pub fn hooks(&self) -> Api {
        Api(address(self.url("hooks")))
    }

    #[track_caller]
    pub fn greeting_has(&self, text: &str) {
        assert!(
            self.greeting.iter().any(|line| line.contains(text)),
            "{:#?}",
            self.greeting
        );
    }

    /// The state directory.
    pub fn state(&self) -> PathBuf {
        self.folder.path().join(".peerfarm")
    }

    /// A run of `peerfarm` that finds this farm and its state.
    pub fn beside(&self, words: &str) -> Peerfarm {
        Peerfarm::with(words)
            .env("PEERFARM_FARM", self.url("control"))
            .env("PEERFARM_STATE", self.state().to_str().unwrap())
    }

    /// Sends a request to a hook on the control listener. The answer is the stream's; dropping it leaves.
    pub fn post_hook(&self, name: &str, body: &str) -> TcpStream {
        let control = address(self.url("control"));
        let mut stream = TcpStream::connect(control).unwrap();
        let head = format!(
            "POST /hook/{name} HTTP/1.1\r\nhost: {control}\r\ncontent-length: {}\r\n\r\n",
            body.len()
        );
        stream.write_all(format!("{head}{body}").as_bytes()).unwrap();
        stream
    }

    /// Sends the signal of that name.
    pub fn signal(&self, name: &str) {
        let pid = self.child.id().to_string();
        let sent = Command::new("kill").args(["-s", name, &pid]).status().unwrap();
        assert!(sent.success());
    }

    /// The next line on stderr.
    #[track_caller]
    pub fn hears(&mut self) -> String {
        let line = self.stderr.recv_timeout(DEADLINE);
        line.expect("another line on stderr within the deadline")
    }

    /// The exit code, once it has ended; none where a signal killed it.
    #[track_caller]
    pub fn ended(&mut self) -> Option<i32> {
        // Its pipes close with it.
        let end = loop {
            if let Err(end) = self.stderr.recv_timeout(DEADLINE) {
                break end;
            }
        };
        assert_eq!(end, RecvTimeoutError::Disconnected, "no end within the deadline");
        self.child.wait().unwrap().code()
    }
}

impl Drop for Serving {
    fn drop(&mut self) {
        // A test that failed leaves it running.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// The lines of a pipe; they end with the process.
fn lines(pipe: impl Read + Send + 'static) -> Receiver<String> {
    let (lines, heard) = channel();
    thread::spawn(move || {
        for line in BufReader::new(pipe).lines().map_while(Result::ok) {
            if lines.send(line).is_err() {
                return;
            }
        }
    });
    heard
}

fn address(url: &str) -> SocketAddr {
    url.split_once("://").unwrap().1.parse().unwrap()
}
