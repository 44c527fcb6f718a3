//! A request's headers as an actor's software writes and signs them.

use std::fmt;
use std::sync::Arc;

use http::header::{
    ACCEPT, CONTENT_LENGTH, CONTENT_TYPE, DATE, HOST, HeaderMap, HeaderName, HeaderValue, USER_AGENT,
};
use url::{Position, Url};

use crate::clock::Timestamp;
use crate::farm::{Peer, Who};
use crate::signature::cavage::{self, SignError, Signing};
use crate::signature::{Hs2019, Request, digest};
use crate::software::Software;
use crate::store::{ActorKeys, StoreError};

/// An actor of a peer as a sender: its key, and the manners of its software.
#[derive(Clone)]
pub struct Signer {
    software: Arc<Software>,
    keys: Arc<ActorKeys>,
    key_id: String,
    user_agent: String,
}

impl Signer {
    /// The actor with its keys.
    pub fn new(peer: &Peer, who: Who, keys: Arc<ActorKeys>) -> Signer {
        let values = peer.values(who);
        Signer {
            software: Arc::clone(&peer.software),
            keys,
            key_id: peer.software.signing.key_id.render(&values),
            user_agent: peer.software.client.user_agent.render(&values),
        }
    }

    /// The software whose manners these are.
    pub fn software(&self) -> &Software {
        &self.software
    }

    /// The `keyId` of its signatures.
    pub fn key_id(&self) -> &str {
        &self.key_id
    }

    /// The headers of a fetch, signed where the software signs those.
    ///
    /// # Errors
    /// When the profile asks for what cannot be a header, or to sign what is not there.
    pub fn get(&self, url: &Url, now: Timestamp) -> Result<HeaderMap, SignerError> {
        let (client, signing) = (&self.software.client, &self.software.signing);
        let mut headers = self.plain(url, now)?;
        for accept in &client.accept {
            headers.append(ACCEPT, value(ACCEPT, accept)?);
        }
        if let Some(components) = &signing.get {
            if signing.get_digest {
                headers.insert(DIGEST, value(DIGEST, &digest::sha256_header(b""))?);
            }
            self.sign("GET", url, components, b"", &mut headers)?;
        }
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

    /// The headers of a delivery, signed.
    ///
    /// # Errors
    /// When the profile asks for what cannot be a header, or to sign what is not there.
    pub fn post(&self, url: &Url, body: &[u8], now: Timestamp) -> Result<HeaderMap, SignerError> {
        let (client, signing) = (&self.software.client, &self.software.signing);
        let mut headers = self.plain(url, now)?;
        headers.insert(DIGEST, value(DIGEST, &digest::sha256_header(body))?);
        headers.insert(CONTENT_TYPE, value(CONTENT_TYPE, &client.content_type)?);
        headers.insert(CONTENT_LENGTH, HeaderValue::from(body.len()));
        // Only who signs it sends it: a delivery has no use for an `Accept`.
        if signing
            .post
            .iter()
            .any(|name| name.eq_ignore_ascii_case("accept"))
        {
            for accept in &client.accept {
                headers.append(ACCEPT, value(ACCEPT, accept)?);
            }
        }
        self.sign("POST", url, &signing.post, body, &mut headers)?;
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
        components: &[String],
        body: &[u8],
        headers: &mut HeaderMap,
    ) -> Result<(), SignerError> {
        let manners = &self.software.signing;
        let kind = self.keys.rsa.kind();
        let computes = cavage::computed(Some(&manners.algorithm), kind, Hs2019::default());
        let signing = Signing {
            headers: components,
            algorithm: &manners.algorithm,
            computes: computes.unwrap_or(kind.algorithm()),
            created: None,
            expires: None,
            key_id: &self.key_id,
            order: manners.parameters,
            query: manners.query,
        };
        let request = Request {
            method,
            target: &url[Position::BeforePath..Position::AfterQuery],
            scheme: url.scheme(),
            headers,
            authority: None,
            body,
        };
        let signature = cavage::sign(&signing, &request, &self.keys.rsa)?;
        headers.insert(SIGNATURE, signature);
        Ok(())
    }
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
    Sign(#[from] SignError),
}

fn value(name: HeaderName, text: &str) -> Result<HeaderValue, SignerError> {
    HeaderValue::from_str(text).map_err(|_| SignerError::Header {
        name,
        value: text.to_owned(),
    })
}

const DIGEST: HeaderName = HeaderName::from_static("digest");
const SIGNATURE: HeaderName = HeaderName::from_static("signature");
