//! A request's headers as an actor's software writes and signs them.

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
use crate::signature::key::SigningKey;
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
    user_agent: String,
}

/// What a request is signed with, as opposed to what it is. [`Signer::means`] gives the honest ones; whoever wants a
/// request to be wrong changes them, and the headers follow.
#[derive(Clone, Debug)]
pub struct Means<'a> {
    /// The dialect; without one it goes unsigned.
    pub dialect: Option<Dialect>,
    /// The key.
    pub key: &'a SigningKey,
    /// The key id.
    pub key_id: &'a str,
    /// When it says it was made: `Date` and `created`.
    pub now: Timestamp,
    /// The body of whose digest it tells; none where it has no digest.
    pub digested: Option<&'a [u8]>,
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

    /// What the software signs a request with in that dialect. A GET has no `body`; where the software sends a digest
    /// all the same, it is that of nothing.
    pub fn means<'a>(&'a self, dialect: Dialect, body: Option<&'a [u8]>, now: Timestamp) -> Means<'a> {
        let signing = &self.software.signing;
        let digests_nothing = match dialect {
            Dialect::Cavage => signing.cavage.get_digest,
            Dialect::Rfc9421 => {
                Covered::of_get(signing, dialect).is_some_and(|covered| covered.has("content-digest"))
            }
        };
        Means {
            dialect: Some(dialect),
            key: &self.keys.rsa,
            key_id: &self.key_id,
            now,
            digested: body.or(digests_nothing.then_some(b"")),
        }
    }

    /// The headers of a fetch, signed where the software signs those.
    ///
    /// # Errors
    /// When the profile asks for what cannot be a header, or to sign what is not there.
    pub fn get(&self, url: &Url, means: &Means<'_>) -> Result<HeaderMap, SignerError> {
        let mut headers = self.plain(url, means.now)?;
        for accept in &self.software.client.accept {
            headers.append(ACCEPT, value(ACCEPT, accept)?);
        }
        let Some(covered) = means
            .dialect
            .and_then(|dialect| Covered::of_get(&self.software.signing, dialect))
        else {
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
        let mut headers = self.plain(url, now)?;
        headers.insert(ACCEPT, HeaderValue::from_static(accept));
        Ok(headers)
    }

    /// The headers of a delivery of `body`.
    ///
    /// # Errors
    /// When the profile asks for what cannot be a header, or to sign what is not there.
    pub fn post(&self, url: &Url, body: &[u8], means: &Means<'_>) -> Result<HeaderMap, SignerError> {
        let client = &self.software.client;
        let mut headers = self.plain(url, means.now)?;
        let covered = match means.dialect {
            Some(dialect) => Covered::of_post(&self.software.signing, dialect),
            None => Covered::Cavage(&[]),
        };
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

    fn plain(&self, url: &Url, now: Timestamp) -> Result<HeaderMap, SignerError> {
        let host = match self.software.client.host_with_port {
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
        if means.dialect.is_none() {
            return Ok(());
        }
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
        let computes = cavage::computed(Some(&manners.algorithm), kind, self.software.verifying.hs2019);
        let signing = cavage::Signing {
            headers: names,
            algorithm: &manners.algorithm,
            computes: computes.unwrap_or(kind.algorithm()),
            created: manners.created.then(|| means.now.unix()),
            expires: manners.expires.map(|after| means.now.plus(after).unix()),
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
            expires: manners.expires.map(|after| means.now.plus(after).unix()),
            nonce: nonce.as_deref(),
            tag: manners.tag.as_deref(),
        };
        Ok(rfc9421::sign(&signing, &Message::Request(request), means.key)?)
    }
}

/// What a signature covers, in its dialect's own terms.
#[derive(Clone, Copy)]
enum Covered<'a> {
    Cavage(&'a [String]),
    Rfc9421(&'a [rfc9421::Component]),
}

impl<'a> Covered<'a> {
    fn of_post(signing: &'a Signing, dialect: Dialect) -> Covered<'a> {
        match dialect {
            Dialect::Cavage => Covered::Cavage(&signing.cavage.post),
            Dialect::Rfc9421 => Covered::Rfc9421(&signing.rfc9421.post),
        }
    }

    /// `None` where GETs go unsigned.
    fn of_get(signing: &'a Signing, dialect: Dialect) -> Option<Covered<'a>> {
        match dialect {
            Dialect::Cavage => signing.cavage.get.as_deref().map(Covered::Cavage),
            Dialect::Rfc9421 => signing.rfc9421.get.as_deref().map(Covered::Rfc9421),
        }
    }

    fn has(&self, name: &str) -> bool {
        match self {
            Covered::Cavage(names) => names.iter().any(|covered| covered.eq_ignore_ascii_case(name)),
            Covered::Rfc9421(components) => components.iter().any(|component| component.name() == name),
        }
    }
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
const SIGNATURE: HeaderName = HeaderName::from_static("signature");
const SIGNATURE_INPUT: HeaderName = HeaderName::from_static("signature-input");
