//! The keys that `verify` was given: a file with a public key in any form it is published in, a file with a secret.

use std::path::Path;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde_json::Value;

use crate::activitypub::{Key, KeyDocument, Keys as Owned, Listed};
use crate::runner::{Failure, file};
use crate::signature::Reason;
use crate::signature::key::{KeyError, VerifyingKey};

/// The keys at hand.
pub(super) struct Keys {
    public: Option<Public>,
    secret: Option<VerifyingKey>,
}

/// A public key's file.
enum Public {
    /// A key that could be anybody's.
    Alone(VerifyingKey),
    /// A document that names keys.
    Document(Value),
}

/// A key, and whose it is where its file tells.
pub(super) struct Found {
    pub(super) key: VerifyingKey,
    pub(super) owner: Option<String>,
}

/// Why a file does not have the key that a signature names, as a verdict says it.
pub(super) struct NotFound {
    pub(super) reason: Reason,
    pub(super) detail: String,
    /// The file's only key and its id, where that is another.
    pub(super) other: Option<(String, VerifyingKey)>,
}

impl NotFound {
    fn new(reason: Reason, detail: impl Into<String>) -> NotFound {
        NotFound {
            reason,
            detail: detail.into(),
            other: None,
        }
    }

    /// The file has other keys than the one named.
    fn among<'a>(keys: impl IntoIterator<Item = &'a Key<'a>>, ids: &[&str], key_id: &str) -> NotFound {
        let listed = match ids {
            [] => "no key".to_owned(),
            [id] => format!("key `{id}`"),
            several => format!("keys `{}`", several.join("`, `")),
        };
        let detail = format!("the file has {listed}, the signature names `{key_id}`");
        let only = keys.into_iter().next().filter(|_| ids.len() == 1);
        NotFound {
            other: only.and_then(|key| Some((key.id.to_owned(), key.text.read().ok()?))),
            ..NotFound::new(Reason::KeyOwnerMismatch, detail)
        }
    }
}

impl Keys {
    /// Reads the files.
    ///
    /// # Errors
    /// Where one cannot be read, or holds no key.
    pub(super) fn read(key: Option<&Path>, secret: Option<&Path>) -> Result<Keys, Failure> {
        let read = |path: &Path| file::read(path, KEY_FILE_MAX);
        let wrong = |path: &Path| {
            let file = path.to_owned();
            move |problem| Failure::Key { file, problem }
        };
        let public = match key {
            Some(path) => Some(Public::parse(&read(path)?).map_err(wrong(path))?),
            None => None,
        };
        let secret = match secret {
            Some(path) => Some(shared(&read(path)?).map_err(wrong(path))?),
            None => None,
        };
        Ok(Keys { public, secret })
    }

    /// The keys that a key id may mean; a document that does not have it says why, as a verdict does.
    pub(super) fn find(&self, key_id: &str) -> Vec<Result<Found, NotFound>> {
        let anybodys = |key: &VerifyingKey| Found {
            key: key.clone(),
            owner: None,
        };
        let public = self.public.as_ref().map(|public| match public {
            Public::Alone(key) => Ok(anybodys(key)),
            Public::Document(document) => find(document, key_id),
        });
        let secret = self.secret.as_ref().map(|key| Ok(anybodys(key)));
        public.into_iter().chain(secret).collect()
    }
}

impl Public {
    fn parse(bytes: &[u8]) -> Result<Public, KeyFileError> {
        if bytes.len() > KEY_FILE_MAX {
            return Err(KeyFileError::TooLong);
        }
        let text = std::str::from_utf8(bytes)
            .map_err(|_| KeyFileError::NoText)?
            .trim();
        // Never read any further, so that nothing of it can get into a message.
        if text.contains("PRIVATE KEY") {
            return Err(KeyFileError::Private);
        }
        if text.starts_with('{') {
            let document: Value =
                serde_json::from_str(text).map_err(|error| KeyFileError::Json(error.to_string()))?;
            return match KeyDocument::read(&document) {
                Some(_) => Ok(Public::Document(document)),
                None => Err(KeyFileError::Keyless),
            };
        }
        let is_multibase = text.starts_with('z') && text.bytes().all(|byte| byte.is_ascii_alphanumeric());
        let key = match is_multibase {
            true => VerifyingKey::from_multibase(text),
            false => VerifyingKey::from_pem(text),
        };
        Ok(Public::Alone(key?))
    }
}

/// The key of that id in a document, as far as the document alone can vouch for it.
fn find(document: &Value, key_id: &str) -> Result<Found, NotFound> {
    match KeyDocument::read(document) {
        Some(KeyDocument::Actor(keys)) => listed(&keys, key_id),
        Some(KeyDocument::Bare(key)) if key.id == key_id => readable(&key, key.owner),
        Some(KeyDocument::Bare(key)) => Err(NotFound::among([&key], &[key.id], key_id)),
        Some(KeyDocument::Tombstone) => Err(NotFound::new(Reason::KeyGone, "the file holds a Tombstone")),
        None => Err(NotFound::new(Reason::KeyUnreadable, "the file holds no key")),
    }
}

fn listed(keys: &Owned, key_id: &str) -> Result<Found, NotFound> {
    let actor = keys.actor;
    match keys.choose(key_id) {
        Some(Listed::Embedded(key)) if key.owner.is_none_or(|owner| owner == actor) => {
            readable(key, Some(actor))
        }
        Some(Listed::Embedded(_)) => {
            let detail = format!("key `{key_id}`: its owner `{actor}` lists the key as another's");
            Err(NotFound::new(Reason::KeyOwnerMismatch, detail))
        }
        Some(Listed::Named(name)) => {
            let detail =
                format!("`{actor}` lists key `{name}` by its URL alone; hint: give that document as `--key`");
            Err(NotFound::new(Reason::KeyFetchFailed, detail))
        }
        None => {
            let all = || keys.public_keys.iter().chain(&keys.methods);
            let ids: Vec<&str> = all().map(Listed::id).collect();
            let embedded = all().filter_map(|listed| match listed {
                Listed::Embedded(key) => Some(key),
                Listed::Named(_) => None,
            });
            Err(NotFound::among(embedded, &ids, key_id))
        }
    }
}

fn readable(key: &Key, owner: Option<&str>) -> Result<Found, NotFound> {
    let read = key.text.read();
    let key =
        read.map_err(|error| NotFound::new(Reason::KeyUnreadable, format!("key `{}`: {error}", key.id)))?;
    Ok(Found {
        key,
        owner: owner.map(str::to_owned),
    })
}

fn shared(bytes: &[u8]) -> Result<VerifyingKey, KeyFileError> {
    if bytes.len() > KEY_FILE_MAX {
        return Err(KeyFileError::TooLong);
    }
    let bytes = bytes.strip_suffix(b"\n").unwrap_or(bytes);
    let bytes = bytes.strip_suffix(b"\r").unwrap_or(bytes);
    let decoded = match bytes.strip_prefix(b"base64:") {
        Some(text) => STANDARD
            .decode(text.trim_ascii())
            .map_err(|_| KeyFileError::SecretBase64)?,
        None => bytes.to_vec(),
    };
    match decoded.is_empty() {
        true => Err(KeyFileError::SecretEmpty),
        false => Ok(VerifyingKey::from_secret(&decoded)),
    }
}

/// A file that holds no key that can be used. What it says has nothing of a secret in it.
#[derive(Debug, thiserror::Error)]
pub enum KeyFileError {
    /// It begins like JSON.
    #[error("it begins like JSON and is none: {0}")]
    Json(String),
    /// JSON without a key.
    #[error(
        "it is JSON without a key: write an actor with `publicKey` or `assertionMethod`, or a key with its `id`"
    )]
    Keyless,
    /// No text.
    #[error("it is no text; write PEM, a Multikey's text, or an actor's JSON")]
    NoText,
    /// A private key.
    #[error(
        "it holds a private key, and a signature is verified by the public one; hint: `openssl pkey -in FILE -pubout`"
    )]
    Private,
    /// The key itself.
    #[error(transparent)]
    Public(#[from] KeyError),
    /// Base64 that is none.
    #[error("what follows `base64:` is no base64")]
    SecretBase64,
    /// A secret of no bytes.
    #[error("it is empty, and so no secret")]
    SecretEmpty,
    /// Too long.
    #[error("it is longer than the 1048576 bytes that are read of a key's file")]
    TooLong,
}

/// How long a key's file may be, in bytes; actor documents can be long.
const KEY_FILE_MAX: usize = 1 << 20;
