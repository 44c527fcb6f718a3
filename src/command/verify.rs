//! `peerfarm verify`.

use std::path::PathBuf;
use std::str::FromStr;

use clap::Args;

use crate::clock::Timestamp;
use crate::signature::Hs2019;
use crate::units::Span;

/// The words of `verify`.
#[derive(Args, Clone, Debug)]
#[command(after_help = "\
Examples:
  peerfarm verify delivery.http --key alice.pem
  peerfarm verify delivery.http --key actor.json         any of the actor's keys
  peerfarm verify session.har --entry 3 --key alice.pem --at now
  peerfarm verify head.txt --body body.json --key alice.pem
  peerfarm journal show 17 --json | peerfarm verify - --key alice.pem
  curl -v ... 2>&1 | peerfarm verify - --key alice.pem --body body.json

FILE holds raw HTTP/1.1 (CRLF or LF; what `curl -v` prints; pseudo-headers of
HTTP/2 in place of the first line), a HAR, an entry of the journal in JSON, or
what `send --misbehave --json` prints.

Exit codes: 0 valid; 1 invalid, or unsigned; 2 a file cannot be read.")]
pub struct Verify {
    /// The request, `-` for stdin
    pub file: PathBuf,
    /// The public key: PEM, Multikey text, or the JSON of an actor or a key; without it the rest is checked
    #[arg(long, value_name = "FILE")]
    pub key: Option<PathBuf>,
    /// A shared secret, for HMAC: the file's bytes without a final line's end, or `base64:` and its base64
    #[arg(long = "secret", value_name = "FILE")]
    pub shared_secret: Option<PathBuf>,
    /// The body, where FILE does not have it as it was sent
    #[arg(long, value_name = "FILE")]
    pub body: Option<PathBuf>,
    /// Which request of a HAR, counted from 1; by default the only one that is signed
    #[arg(long, value_name = "N")]
    pub entry: Option<usize>,
    /// The moment to judge at: `now`, RFC 3339, an HTTP date or a Unix time; by default the file's, else the request's own date
    #[arg(long, value_name = "TIME")]
    pub at: Option<Moment>,
    /// How old the signature may be at that moment; by default as in the journal's entry, else 1h
    #[arg(long, value_name = "SPAN")]
    pub past: Option<Span>,
    /// How far ahead its date may lie; by default as in the journal's entry, else 1h
    #[arg(long, value_name = "SPAN")]
    pub future: Option<Span>,
    /// The scheme its sender used; by default the file's, else `https`
    #[arg(long, value_name = "SCHEME", value_parser = ["http", "https"])]
    pub scheme: Option<String>,
    /// The host its sender asked for, with a port that is not the scheme's own, where a proxy changed `Host`
    #[arg(long, value_name = "HOST")]
    pub authority: Option<String>,
    /// What `hs2019` stands for with an RSA key, `sha256` or `sha512`; by default as in the journal's entry, else sha256
    #[arg(long, value_name = "HASH", value_parser = hs2019)]
    pub hs2019: Option<Hs2019>,
    /// Prints the result as JSON
    #[arg(long)]
    pub json: bool,
}

/// A moment as typed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Moment {
    /// This one.
    At(Timestamp),
    /// When the command is carried out.
    Now,
}

impl FromStr for Moment {
    type Err = MomentError;

    fn from_str(text: &str) -> Result<Moment, MomentError> {
        if text == "now" {
            return Ok(Moment::Now);
        }
        let unix = text.parse().ok().map(Timestamp::from_unix);
        unix.or_else(|| Timestamp::parse_rfc3339(text))
            .or_else(|| Timestamp::parse_http_date(text))
            .map(Moment::At)
            .ok_or_else(|| MomentError(text.to_owned()))
    }
}

/// What was typed is no moment.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "`{0}` is no moment: write `now`, `2026-01-01T00:00:00Z`, `Thu, 01 Jan 2026 00:00:00 GMT`, or Unix time in seconds"
)]
pub struct MomentError(String);

fn hs2019(text: &str) -> Result<Hs2019, &'static str> {
    match text {
        "sha256" => Ok(Hs2019::Sha256),
        "sha512" => Ok(Hs2019::Sha512),
        _ => Err("write `sha256` or `sha512`"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_moment_is_typed_in_any_usual_way() {
        let at = Moment::At(Timestamp::from_unix(1_767_225_600));
        for text in [
            "1767225600",
            "2026-01-01T00:00:00Z",
            "2026-01-01T01:00:00+01:00",
            "Thu, 01 Jan 2026 00:00:00 GMT",
        ] {
            assert_eq!(text.parse(), Ok(at), "{text}");
        }
        assert_eq!("now".parse(), Ok(Moment::Now));
        for text in ["", "soon", "1767225600.5", "2026-01-01"] {
            assert!(text.parse::<Moment>().is_err(), "{text}");
        }
    }

    proptest::proptest! {
        #[test]
        fn no_text_makes_the_parser_panic(text in ".{0,40}") {
            let _ = text.parse::<Moment>();
        }
    }
}
