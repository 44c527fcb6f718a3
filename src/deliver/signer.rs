//! A request's headers as an actor's software writes and signs them.

use std::borrow::Cow;
use std::fmt;
use std::sync::Arc;

use http::header::{
    ACCEPT, CONTENT_LENGTH, CONTENT_TYPE, DATE, HOST, HeaderMap, HeaderName, HeaderValue, USER_AGENT,
};
use url::{Position, Url};

use crate::clock::Timestamp;
use crate::deliver::fresh::Fresh;
use crate::farm::{Peer, Who};
use crate::ids::Host;
use crate::signature::key::{KeyError, SigningKey};
use crate::signature::rfc9421::{self, Message};
use crate::signature::{Dialect, Request, cavage, content_digest, digest};
use crate::software::{Signing, Software};
use crate::store::{ActorKeys, StoreError};

/// An actor of a peer as a sender: its key, and the manners of its software.
#[derive(Clone)]
pub struct Signer {
    host: Host,
    software: Arc<Software>,
    keys: Arc<ActorKeys>,
    fresh: Arc<Fresh>,
    key_id: String,
    ed25519_key_id: Option<String>,
    user_agent: String,
}

/// What a request is signed with, as opposed to what it is. [`Signer::means`] gives the honest ones; whoever wants a
/// request to be wrong changes them, and the headers follow.
#[derive(Clone, Debug)]
pub struct Means<'a> {
    /// The dialect.
    pub dialect: Dialect,
    /// The key.
    pub key: &'a SigningKey,
    /// The key id.
    pub key_id: &'a str,
    /// When it says it was made: `Date` and `created`.
    pub now: Timestamp,
    /// Until when the signature holds, where it says so.
    pub expires: Option<Timestamp>,
    /// The body of whose digest it tells; none where it has no digest.
    pub digested: Option<&'a [u8]>,
    /// Whether that digest is covered where the software covers it.
    pub covers_digest: bool,
}

impl Signer {
    pub(super) fn new(peer: &Peer, who: Who, keys: Arc<ActorKeys>, fresh: Arc<Fresh>) -> Signer {
        let values = peer.values(who);
        Signer {
            host: peer.host.clone(),
            software: Arc::clone(&peer.software),
            keys,
            fresh,
            key_id: peer.software.signing.key_id.render(&values),
            ed25519_key_id: peer
                .software
                .urls
                .ed25519_key
                .as_ref()
                .map(|id| id.render(&values)),
            user_agent: peer.software.client.user_agent.render(&values),
        }
    }

    /// The host of its peer.
    pub fn host(&self) -> &Host {
        &self.host
    }

    /// The software whose manners these are.
    pub fn software(&self) -> &Software {
        &self.software
    }

    /// The `keyId` of its signatures.
    pub fn key_id(&self) -> &str {
        &self.key_id
    }

    /// The id of its Ed25519 key, where it is published.
    pub(super) fn ed25519_key_id(&self) -> Option<&str> {
        self.ed25519_key_id.as_deref()
    }

    /// Its keys.
    pub(super) fn keys(&self) -> &ActorKeys {
        &self.keys
    }

    /// What the software signs a request with in that dialect. A GET has no `body`; where the software sends a digest
    /// all the same, it is that of nothing.
    pub fn means<'a>(&'a self, dialect: Dialect, body: Option<&'a [u8]>, now: Timestamp) -> Means<'a> {
        let signing = &self.software.signing;
        let (digests_nothing, lifetime) = match dialect {
            Dialect::Cavage => (signing.cavage.get_digest, signing.cavage.expires),
            Dialect::Rfc9421 => {
                let mut covered = signing.rfc9421.get.iter().flatten();
                let digests = covered.any(|component| is_digest(component.name()));
                (digests, signing.rfc9421.expires)
            }
        };
        Means {
            dialect,
            key: &self.keys.rsa,
            key_id: &self.key_id,
            now,
            expires: lifetime.map(|lifetime| now.plus(lifetime)),
            digested: body.or(digests_nothing.then_some(b"")),
            covers_digest: true,
        }
    }

    /// The headers of a fetch, signed where the software signs those.
    ///
    /// # Errors
    /// When the profile asks for what cannot be a header, or to sign what is not there.
    pub fn get(&self, url: &Url, means: &Means<'_>) -> Result<HeaderMap, SignerError> {
        let mut headers = self.plain(url, Some(means.dialect), means.now)?;
        for accept in &self.software.client.accept {
            headers.append(ACCEPT, value(ACCEPT, accept)?);
        }
        let Some(covered) = Covered::of_get(&self.software.signing, means) else {
            return Ok(headers);
        };
        digests(means, &covered, &mut headers)?;
        self.sign("GET", url, means, &covered, b"", &mut headers)?;
        Ok(headers)
    }

    /// The headers of a fetch of something that is no ActivityPub, never signed.
    ///
    /// # Errors
    /// When the profile asks for what cannot be a header.
    pub fn get_plain(
        &self,
        url: &Url,
        accept: &'static str,
        now: Timestamp,
    ) -> Result<HeaderMap, SignerError> {
        let mut headers = self.plain(url, None, now)?;
        headers.insert(ACCEPT, HeaderValue::from_static(accept));
        Ok(headers)
    }

    /// The headers of a delivery of `body`.
    ///
    /// # Errors
    /// When the profile asks for what cannot be a header, or to sign what is not there.
    pub fn post(&self, url: &Url, body: &[u8], means: &Means<'_>) -> Result<HeaderMap, SignerError> {
        let client = &self.software.client;
        let mut headers = self.plain(url, Some(means.dialect), means.now)?;
        let covered = Covered::of_post(&self.software.signing, means);
        digests(means, &covered, &mut headers)?;
        headers.insert(CONTENT_TYPE, value(CONTENT_TYPE, &client.content_type)?);
        headers.insert(CONTENT_LENGTH, HeaderValue::from(body.len()));
        // Only who signs it sends it: a delivery has no use for an `Accept`.
        if covered.has("accept") {
            for accept in &client.accept {
                headers.append(ACCEPT, value(ACCEPT, accept)?);
            }
        }
        self.sign("POST", url, means, &covered, body, &mut headers)?;
        Ok(headers)
    }

    /// The headers of any request. RFC 9421 signs the target's port (section 2.2.2), so where that dialect is spoken
    /// `Host` has it too; otherwise some servers would find another target than the one that was signed.
    fn plain(&self, url: &Url, dialect: Option<Dialect>, now: Timestamp) -> Result<HeaderMap, SignerError> {
        let host = match self.software.client.host_with_port || dialect == Some(Dialect::Rfc9421) {
            true => &url[Position::BeforeHost..Position::AfterPort],
            false => &url[Position::BeforeHost..Position::AfterHost],
        };
        let mut headers = HeaderMap::new();
        headers.insert(HOST, value(HOST, host)?);
        headers.insert(DATE, value(DATE, &now.http_date())?);
        headers.insert(USER_AGENT, value(USER_AGENT, &self.user_agent)?);
        Ok(headers)
    }

    fn sign(
        &self,
        method: &str,
        url: &Url,
        means: &Means<'_>,
        covered: &Covered<'_>,
        body: &[u8],
        headers: &mut HeaderMap,
    ) -> Result<(), SignerError> {
        let request = Request {
            method,
            target: &url[Position::BeforePath..Position::AfterQuery],
            scheme: url.scheme(),
            headers,
            authority: None,
            body,
        };
        match covered {
            Covered::Cavage(names) => {
                let signature = self.sign_cavage(&request, means, names)?;
                headers.insert(SIGNATURE, signature);
            }
            Covered::Rfc9421(components) => {
                let signed = self.sign_rfc9421(&request, means, components)?;
                headers.insert(SIGNATURE_INPUT, signed.input);
                headers.insert(SIGNATURE, signed.signature);
            }
        }
        Ok(())
    }

    fn sign_cavage(
        &self,
        request: &Request<'_>,
        means: &Means<'_>,
        names: &[String],
    ) -> Result<HeaderValue, SignerError> {
        let manners = &self.software.signing.cavage;
        let kind = means.key.kind();
        // The older names were defined before signatures could expire (draft-cavage-12 section 2.3 item 3).
        let algorithm = match expires_unasked(&self.software.signing, means) {
            true => "hs2019",
            false => &manners.algorithm,
        };
        let computes = cavage::computed(Some(algorithm), kind, self.software.verifying.hs2019);
        let signing = cavage::Signing {
            headers: names,
            algorithm,
            computes: computes.unwrap_or(kind.algorithm()),
            created: manners.created.then(|| means.now.unix()),
            expires: means.expires.map(Timestamp::unix),
            key_id: means.key_id,
            order: manners.parameters,
            query: manners.query,
        };
        Ok(cavage::sign(&signing, request, means.key)?)
    }

    fn sign_rfc9421(
        &self,
        request: &Request<'_>,
        means: &Means<'_>,
        components: &[rfc9421::Component],
    ) -> Result<rfc9421::Signed, SignerError> {
        let manners = &self.software.signing.rfc9421;
        let nonce = manners.nonce.then(|| self.fresh.nonce(means.now));
        let signing = rfc9421::Signing {
            label: &manners.label,
            components,
            key_id: means.key_id,
            algorithm: means.key.kind().algorithm(),
            names_algorithm: manners.names_algorithm,
            created: Some(means.now.unix()),
            expires: means.expires.map(Timestamp::unix),
            nonce: nonce.as_deref(),
            tag: manners.tag.as_deref(),
        };
        Ok(rfc9421::sign(&signing, &Message::Request(request), means.key)?)
    }
}

/// What a signature covers, in its dialect's own terms.
enum Covered<'a> {
    Cavage(Cow<'a, [String]>),
    Rfc9421(Cow<'a, [rfc9421::Component]>),
}

impl<'a> Covered<'a> {
    fn of_post(signing: &'a Signing, means: &Means<'_>) -> Covered<'a> {
        let covered = match means.dialect {
            Dialect::Cavage => Covered::Cavage(signing.cavage.post.as_slice().into()),
            Dialect::Rfc9421 => Covered::Rfc9421(signing.rfc9421.post.as_slice().into()),
        };
        covered.by(signing, means)
    }

    /// `None` where GETs go unsigned.
    fn of_get(signing: &'a Signing, means: &Means<'_>) -> Option<Covered<'a>> {
        let covered = match means.dialect {
            Dialect::Cavage => Covered::Cavage(signing.cavage.get.as_deref()?.into()),
            Dialect::Rfc9421 => Covered::Rfc9421(signing.rfc9421.get.as_deref()?.into()),
        };
        Some(covered.by(signing, means))
    }

    /// The same without the digest, or with the end of its time, as the means say.
    fn by(mut self, signing: &Signing, means: &Means<'_>) -> Covered<'a> {
        if !means.covers_digest {
            match &mut self {
                Covered::Cavage(names) => names.to_mut().retain(|name| !is_digest(name)),
                Covered::Rfc9421(components) => components
                    .to_mut()
                    .retain(|component| !is_digest(component.name())),
            }
        }
        if let Covered::Cavage(names) = &mut self
            && expires_unasked(signing, means)
        {
            names.to_mut().push("(expires)".to_owned());
        }
        self
    }

    fn has(&self, name: &str) -> bool {
        match self {
            Covered::Cavage(names) => names.iter().any(|covered| covered.eq_ignore_ascii_case(name)),
            Covered::Rfc9421(components) => components.iter().any(|component| component.name() == name),
        }
    }
}

/// Whether a draft-cavage signature is to expire though the software's never say that they do.
fn expires_unasked(signing: &Signing, means: &Means<'_>) -> bool {
    means.expires.is_some() && signing.cavage.expires.is_none()
}

fn is_digest(name: &str) -> bool {
    let fields = ["digest", "content-digest"];
    fields.iter().any(|field| name.eq_ignore_ascii_case(field))
}

/// Tells the digest in the field of the dialect; in the other's only where that is covered.
fn digests(means: &Means<'_>, covered: &Covered<'_>, headers: &mut HeaderMap) -> Result<(), SignerError> {
    let Some(body) = means.digested else {
        return Ok(());
    };
    let (is_cavage, is_rfc9421) = match covered {
        Covered::Cavage(_) => (true, covered.has("content-digest")),
        Covered::Rfc9421(_) => (covered.has("digest"), true),
    };
    if is_cavage {
        headers.insert(DIGEST, value(DIGEST, &digest::sha256_header(body))?);
    }
    if is_rfc9421 {
        headers.insert(
            CONTENT_DIGEST,
            value(CONTENT_DIGEST, &content_digest::sha256_header(body))?,
        );
    }
    Ok(())
}

impl fmt::Debug for Signer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Signer")
            .field("key_id", &self.key_id)
            .finish_non_exhaustive()
    }
}

/// Why an actor cannot sign what it was to send.
#[derive(Debug, thiserror::Error)]
pub enum SignerError {
    /// A value of the profile cannot stand in a header.
    #[error("`{name}: {value}` is no header the profile can send: control characters")]
    Header {
        /// The header.
        name: HeaderName,
        /// The value.
        value: String,
    },
    /// The farm ends, and nobody makes keys any more.
    #[error("the farm ended before the actor had a key")]
    Interrupted,
    /// The actor has no key.
    #[error("the actor has no keys")]
    Key(#[from] StoreError),
    /// A key that is nobody's cannot be made.
    #[error("cannot make a key")]
    Make(#[from] KeyError),
    /// The request lacks what is to be signed.
    #[error("cannot sign the request")]
    Cavage(#[from] cavage::SignError),
    /// The same, by RFC 9421.
    #[error("cannot sign the request")]
    Rfc9421(#[from] rfc9421::SignError),
}

fn value(name: HeaderName, text: &str) -> Result<HeaderValue, SignerError> {
    HeaderValue::from_str(text).map_err(|_| SignerError::Header {
        name,
        value: text.to_owned(),
    })
}

const CONTENT_DIGEST: HeaderName = HeaderName::from_static("content-digest");
const DIGEST: HeaderName = HeaderName::from_static("digest");
pub(super) const SIGNATURE: HeaderName = HeaderName::from_static("signature");
pub(super) const SIGNATURE_INPUT: HeaderName = HeaderName::from_static("signature-input");
