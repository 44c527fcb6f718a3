//! What is delivered, and reading the answers: as little work as a client can have.

use anyhow::{Context, Result, ensure};
use tokio::io::{AsyncRead, AsyncReadExt};

/// An activity of [`BODY_BYTES`] by Alice at `origin`, with an id of its own; for origins of up to 30 bytes.
pub fn body(origin: &str, number: u64) -> String {
    let start = format!(
        r#"{{"@context":"https://www.w3.org/ns/activitystreams","id":"{origin}/activities/{number:012}","type":"Create","actor":"{origin}/users/alice","to":["https://www.w3.org/ns/activitystreams#Public"],"object":{{"type":"Note","id":"{origin}/notes/{number:012}","content":""#
    );
    let filling = BODY_BYTES.saturating_sub(start.len() + END.len());
    format!("{start}{:x<filling$}{END}", "")
}

/// Reads one answer to its last byte; any other status ends the measurement.
pub async fn read_answer(
    stream: &mut (impl AsyncRead + Unpin),
    buffer: &mut [u8],
    status: &str,
) -> Result<()> {
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
        let answered = buffer.strip_prefix(b"HTTP/1.1 ".as_slice());
        ensure!(
            answered.is_some_and(|answered| answered.starts_with(status.as_bytes())),
            "answered {}",
            String::from_utf8_lossy(&buffer[..filled])
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

/// The size of each activity.
pub const BODY_BYTES: usize = 400;
/// The most that an answer may be long, head and body.
pub const ANSWER_BYTES: usize = 4096;
const END: &str = r#""}}"#;
