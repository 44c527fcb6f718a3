//! Why a file holds no request that can be judged.

/// A file that cannot be read as a request.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SavedError {
    /// Base64 that does not decode.
    #[error("its body is marked as base64 and is none: {0}")]
    Base64(String),
    /// Several requests, and no way to tell which is meant.
    #[error("it has {count} {what}: {listed}; hint: choose one with `--entry N`")]
    Choose {
        /// How many there are.
        count: usize,
        /// What they are: `signed requests`.
        what: &'static str,
        /// Their numbers and first lines.
        listed: String,
    },
    /// Nothing.
    #[error("it is empty; a request begins with a line such as `POST /inbox HTTP/1.1`")]
    Empty,
    /// No entry of that number.
    #[error("it has no entry {asked}: its {count} are counted from 1")]
    Entry {
        /// The number asked for.
        asked: usize,
        /// How many there are.
        count: usize,
    },
    /// Too many header lines.
    #[error("its request has more header lines than the 256 that are read")]
    Fields,
    /// A header line that goes on in the next.
    #[error(
        "line {0} begins with a blank, which would continue the header above it (obs-fold, RFC 9112 section 5.2); \
         hint: write each header in one line"
    )]
    Folded(usize),
    /// A line that is no header.
    #[error("its head does not parse: {0}")]
    Head(String),
    /// A name or value that no header can have.
    #[error("header `{0}` has a name or a value that no header can have")]
    Header(String),
    /// No JSON, though it begins as if.
    #[error("it begins like JSON and is none: {0}")]
    Json(String),
    /// A list of the journal, whose entries have no headers.
    #[error(
        "it is a list of the journal, without headers; hint: `peerfarm journal show ID --json` has a request whole"
    )]
    List,
    /// Something that has to be there is not.
    #[error("its request has no `{0}`")]
    Missing(&'static str),
    /// A HAR without requests.
    #[error("it is a HAR without entries")]
    NoEntries,
    /// Not the first line of a request.
    #[error(
        "it begins with `{0}`, which is no request; write raw HTTP such as `POST /inbox HTTP/1.1`, a HAR, or what \
         `peerfarm journal show ID --json` prints"
    )]
    NoRequest(String),
    /// Some other JSON.
    #[error(
        "it is JSON, but neither a HAR (`log.entries`) nor an entry of the journal (`target`, `headers`)"
    )]
    OtherJson,
    /// A key where the request should be.
    #[error("it is a PEM; hint: the request comes first, and the key behind `--key`")]
    Pem,
    /// Longer than what is read.
    #[error("it has {0} bytes; at most 67108864 are read")]
    TooLong(usize),
    /// A text in UTF-16, as some shells redirect into.
    #[error("it is UTF-16; hint: save it as UTF-8, or byte for byte")]
    Utf16,
}
