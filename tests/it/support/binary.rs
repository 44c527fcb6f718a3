//! The binary, run in a folder of its own without the tester's environment.

use std::fs;
use std::io::{Read, Write};
use std::process::{Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::thread;

use tempfile::TempDir;

use super::{DEADLINE, Serving};

/// One run of `peerfarm`, to be.
pub struct Peerfarm {
    folder: TempDir,
    command: Command,
    stdin: String,
}

/// What a run said, and how it ended.
#[derive(Debug)]
pub struct Said {
    pub code: Option<i32>,
    pub stdout: String,
    pub stderr: String,
}

impl Peerfarm {
    /// A run with these words, parted by blanks; a word with blanks in it goes to [`Peerfarm::word`].
    pub fn with(words: &str) -> Peerfarm {
        let folder = tempfile::tempdir().unwrap();
        let mut command = Command::new(env!("CARGO_BIN_EXE_peerfarm"));
        command
            .args(words.split_whitespace())
            .current_dir(folder.path())
            .env_clear();
        Peerfarm {
            folder,
            command,
            stdin: String::new(),
        }
    }

    pub fn word(mut self, word: &str) -> Peerfarm {
        self.command.arg(word);
        self
    }

    pub fn env(mut self, name: &str, value: &str) -> Peerfarm {
        self.command.env(name, value);
        self
    }

    pub fn file(self, name: &str, text: &str) -> Peerfarm {
        let path = self.folder.path().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
        self
    }

    pub fn stdin(mut self, text: &str) -> Peerfarm {
        self.stdin = text.to_owned();
        self
    }

    /// Starts a farm, and waits until it is ready.
    #[track_caller]
    pub fn serve(mut self) -> Serving {
        let child = self
            .command
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        Serving::of(child, self.folder)
    }

    /// Runs to the end.
    #[track_caller]
    pub fn run(mut self) -> Said {
        let mut child = self
            .command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let (stdout, stderr) = (whole(child.stdout.take()), whole(child.stderr.take()));
        // Who reads no stdin may be gone already.
        let _ = child.stdin.take().unwrap().write_all(self.stdin.as_bytes());
        // Its pipes close with it.
        let (Ok(stdout), Ok(stderr)) = (stdout.recv_timeout(DEADLINE), stderr.recv_timeout(DEADLINE)) else {
            let _ = child.kill();
            panic!("no end within the deadline: {:?}", self.command);
        };
        Said {
            code: child.wait().unwrap().code(),
            stdout,
            stderr,
        }
    }

    /// Runs to the end while nobody reads its stdout.
    pub fn run_unread(mut self) -> Said {
        let mut child = self
            .command
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        drop(child.stdout.take());
        let output = child.wait_with_output().unwrap();
        Said {
            code: output.status.code(),
            stdout: String::new(),
            stderr: String::from_utf8(output.stderr).unwrap(),
        }
    }
}

impl Said {
    /// Fails the test unless the run ended with this code and said this on stderr.
    #[track_caller]
    pub fn ends(self, code: i32, stderr: &str) -> Said {
        assert_eq!(self.code, Some(code), "{self:?}");
        assert!(self.stderr.contains(stderr), "{stderr}\n--\n{}", self.stderr);
        self
    }

    /// Fails the test unless one line of stdout has these words, however they are spaced.
    #[track_caller]
    pub fn has_line(&self, line: &str) {
        let words: Vec<&str> = line.split_whitespace().collect();
        let found = self
            .stdout
            .lines()
            .any(|line| line.split_whitespace().eq(words.iter().copied()));
        assert!(found, "{line}\n--\n{}", self.stdout);
    }
}

/// All that comes out of a pipe, once it is closed.
fn whole(pipe: Option<impl Read + Send + 'static>) -> Receiver<String> {
    let (done, text) = channel();
    thread::spawn(move || {
        let mut text = String::new();
        pipe.unwrap().read_to_string(&mut text).unwrap();
        // Who waited for it may have given up.
        let _ = done.send(text);
    });
    text
}
