//! From what a user types to an actor: a handle by WebFinger (RFC 7033), an actor's URL straight.

use http::header::CONTENT_TYPE;
use serde_json::Value;
use url::Url;

use crate::activitypub::{MediaType, is_activity};
use crate::command::Target;
use crate::deliver::fetch::{Wanted, header, object};
use crate::deliver::{FetchError, Outbound, Remote, Signer};

impl Outbound {
    /// Finds an actor: its id and its inboxes, from its own document.
    ///
    /// # Errors
    /// See [`FindError`].
    pub async fn find(&self, signer: &Signer, target: &Target) -> Result<Remote, FindError> {
        let url = match target {
            Target::Handle { name, authority } => self.finger(signer, name, authority).await?,
            Target::Url(url) => url.clone(),
        };
        self.actor(signer, &url).await
    }

    /// The actor whose document, or whose page, is at `url`.
    ///
    /// # Errors
    /// See [`FindError`].
    pub async fn actor(&self, signer: &Signer, url: &Url) -> Result<Remote, FindError> {
        let document = self.fetch(signer, url).await?;
        let not_an_actor = |url: &Url| FindError::NoActor(url.clone());
        let remote = Remote::read(&document.value).ok_or_else(|| not_an_actor(&document.url))?;
        let id = Url::parse(&remote.id).map_err(|_| not_an_actor(&document.url))?;
        if id == document.url || id == *url {
            return Ok(remote);
        }
        // A page's URL leads to the document of an id elsewhere; only that one may speak for the actor.
        let document = self.fetch(signer, &id).await?;
        match Remote::read(&document.value) {
            Some(found) if found.id == remote.id => Ok(found),
            _ => Err(not_an_actor(&id)),
        }
    }

    /// The actor's URL by WebFinger. An account's host has no port (RFC 7565), but servers on a high port differ on
    /// that: what was typed is asked for first, and where nobody has that name, the name without the port.
    async fn finger(&self, signer: &Signer, name: &str, authority: &str) -> Result<Url, FindError> {
        let host = authority.split_once(':').map(|(host, _)| host);
        match (
            self.finger_as(signer, authority, &format!("acct:{name}@{authority}"))
                .await,
            host,
        ) {
            (
                Err(FindError::Fetch(FetchError::Status {
                    status: 400..=499, ..
                })),
                Some(host),
            ) => {
                self.finger_as(signer, authority, &format!("acct:{name}@{host}"))
                    .await
            }
            (found, _) => found,
        }
    }

    /// HTTPS, as RFC 7033 section 4 has it; HTTP only where the farm may, and where nobody speaks TLS there.
    async fn finger_as(&self, signer: &Signer, authority: &str, resource: &str) -> Result<Url, FindError> {
        match self.finger_at(signer, "https", authority, resource).await {
            Err(FindError::Fetch(FetchError::Exchange(failure)))
                if self.client.gate().allows_http() && failure.meets_no_tls() =>
            {
                self.finger_at(signer, "http", authority, resource).await
            }
            found => found,
        }
    }

    async fn finger_at(
        &self,
        signer: &Signer,
        scheme: &str,
        authority: &str,
        resource: &str,
    ) -> Result<Url, FindError> {
        let url = format!("{scheme}://{authority}/.well-known/webfinger");
        let url = Url::parse_with_params(&url, [("resource", resource)])
            .map_err(|_| FindError::NoHost(authority.to_owned()))?;
        let (url, reply) = self.get(signer, &url, Wanted::Discovery(ACCEPT_JRD)).await?;
        let content_type = header(&reply.headers, CONTENT_TYPE);
        let media = MediaType::parse(&content_type);
        let is_json =
            |media: &MediaType| media.is("application", "jrd+json") || media.is("application", "json");
        if !media.as_ref().is_some_and(is_json) {
            return Err(FindError::Type { url, content_type });
        }
        let document = object(&url, &reply.body)?;
        actor_link(&document).ok_or_else(|| FindError::NoLink {
            url,
            resource: resource.to_owned(),
        })
    }
}

/// Why an actor was not found.
#[derive(Debug, thiserror::Error)]
pub enum FindError {
    /// Something could not be fetched.
    #[error(transparent)]
    Fetch(#[from] FetchError),
    /// The document is no actor's.
    #[error("`{0}` is no actor's document: its `id` must be where it is found")]
    NoActor(Url),
    /// The authority of a handle is none.
    #[error("`{0}` is no host")]
    NoHost(String),
    /// WebFinger knows the account, but no ActivityPub actor of it.
    #[error(
        "`{url}` has no actor for `{resource}`: a link with `rel` `self` and the type `application/activity+json` is \
         wanted"
    )]
    NoLink {
        /// Where it was asked for.
        url: Url,
        /// What was asked for.
        resource: String,
    },
    /// WebFinger answered with another media type than its own.
    #[error("`{url}` is `{content_type}`; WebFinger answers with `application/jrd+json`")]
    Type {
        /// Where it was asked for.
        url: Url,
        /// The media type; empty where there was none.
        content_type: String,
    },
}

/// The actor among the links (RFC 7033 section 4.4.4).
fn actor_link(document: &Value) -> Option<Url> {
    let is_actor = |link: &&Value| link["rel"] == "self" && link["type"].as_str().is_some_and(is_activity);
    let link = document["links"].as_array()?.iter().find(is_actor)?;
    Url::parse(link["href"].as_str()?).ok()
}

/// RFC 7033 section 10.2; many servers say plain JSON.
const ACCEPT_JRD: &str = "application/jrd+json, application/json";
