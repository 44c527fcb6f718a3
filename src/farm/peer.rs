//! One impersonated server and the actors it has.

use std::sync::Arc;

use crate::ids::{Acct, ActorName, Host};
use crate::software::{Software, Values};
use crate::store::KeyOwner;

use crate::farm::notes;

/// The first ten actors of every peer; `user11`, `user12`, ... come after them.
const FIRST_NAMES: [&str; 10] = [
    "alice", "bob", "carol", "dave", "erin", "frank", "grace", "heidi", "ivan", "judy",
];

/// An actor of a peer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Who {
    /// An account, by its place from 0.
    Actor(u32),
    /// The server's own actor.
    Instance,
}

/// One impersonated server.
#[derive(Debug)]
pub struct Peer {
    /// Its name.
    pub host: Host,
    /// The profile it wears.
    pub software: Arc<Software>,
    /// How many actors it has, the instance actor aside.
    pub actors: u32,
    /// `https://mastodon1.test`, with the port where it shows.
    pub origin: String,
    /// The port in URLs and handles, where it is not the scheme's default.
    pub port: Option<u16>,
    /// Whether its documents ask for a signed GET: where its profile says so, or who started the farm.
    pub authorized_fetch: bool,
}

impl Peer {
    /// A peer at `scheme://host[:port]`.
    pub fn new(host: Host, software: Arc<Software>, actors: u32, scheme: &str, port: Option<u16>) -> Peer {
        let origin = match port {
            Some(port) => format!("{scheme}://{host}:{port}"),
            None => format!("{scheme}://{host}"),
        };
        Peer {
            host,
            authorized_fetch: software.verifying.authorized_fetch,
            software,
            actors,
            origin,
            port,
        }
    }

    /// Host and port as URLs and handles carry them.
    pub fn authority(&self) -> &str {
        self.origin
            .split_once("://")
            .map_or(self.origin.as_str(), |(_, authority)| authority)
    }

    /// The scheme in its URLs: `https`.
    pub fn scheme(&self) -> &'static str {
        match self.origin.starts_with("http://") {
            true => "http",
            false => "https",
        }
    }

    /// The actor of that name; capitals do not matter.
    pub fn who(&self, name: &str) -> Option<Who> {
        let name = name.to_ascii_lowercase();
        let number = match FIRST_NAMES.iter().position(|first| *first == name) {
            Some(place) => place as u32,
            None => {
                let digits = name.strip_prefix("user")?;
                let number: u32 = digits.parse().ok()?;
                if digits.starts_with(['0', '+']) || number <= FIRST_NAMES.len() as u32 {
                    return None;
                }
                number - 1
            }
        };
        (number < self.actors).then_some(Who::Actor(number))
    }

    /// The actor with that opaque id.
    pub fn who_by_id(&self, id: &str) -> Option<Who> {
        let number = notes::actor_of_id(&self.software.ids.actor, self.host.as_str(), id)?;
        (number < self.actors).then_some(Who::Actor(number))
    }

    /// The name of an actor.
    pub fn name(&self, who: Who) -> String {
        match who {
            Who::Actor(number) => match FIRST_NAMES.get(number as usize) {
                Some(name) => (*name).to_owned(),
                None => format!("user{}", number + 1),
            },
            Who::Instance => self.software.instance_name.render(&self.server_values()),
        }
    }

    /// The handle of an actor: `alice@mastodon1.test`, with the port where it shows.
    pub fn handle(&self, who: Who) -> String {
        format!("{}@{}", self.name(who), self.authority())
    }

    /// Whether a handle is of this peer: its host, and this port or none.
    pub fn owns(&self, acct: &Acct) -> bool {
        acct.host == self.host && (acct.port.is_none() || acct.port == self.port)
    }

    /// The actor of that name, as a type of its own.
    pub fn who_named(&self, name: &ActorName) -> Option<Who> {
        self.who(name.as_str())
    }

    /// An actor's id, the URL.
    pub fn actor_url(&self, who: Who) -> String {
        let urls = &self.software.urls;
        let template = match who {
            Who::Actor(_) => &urls.actor,
            Who::Instance => &urls.instance,
        };
        template.render(&self.naming_values(who))
    }

    /// Under which name the keyring keeps an actor's keys.
    pub fn key_owner(&self, who: Who) -> KeyOwner {
        match who {
            Who::Actor(_) => KeyOwner::actor(self.host.clone(), self.name(who)),
            Who::Instance => KeyOwner::instance(self.host.clone()),
        }
    }

    /// What a template may say of the server: `origin`, `host`, `authority`, `version`.
    pub fn server_values(&self) -> Values {
        let mut values = Values::default();
        values.set("origin", self.origin.as_str());
        values.set("host", self.host.as_str());
        values.set("authority", self.authority());
        values.set("version", self.software.version.as_str());
        values
    }

    /// What a template may say of an actor: the server's values, `name`, `number`, `id`, `handle`, and every URL of
    /// [`crate::software::Urls`] that depends on nothing else, by its field's name.
    pub fn values(&self, who: Who) -> Values {
        let mut values = self.naming_values(who);
        values.set("actor", self.actor_url(who));
        let urls = &self.software.urls;
        let (inbox, outbox, key) = match who {
            Who::Actor(_) => (&urls.inbox, &urls.outbox, &urls.key),
            Who::Instance => (&urls.instance_inbox, &urls.instance_outbox, &urls.instance_key),
        };
        let always = [
            ("profile", Some(&urls.profile)),
            ("inbox", Some(inbox)),
            ("outbox", Some(outbox)),
            ("key", Some(key)),
            ("ed25519_key", urls.ed25519_key.as_ref()),
            ("shared_inbox", urls.shared_inbox.as_ref()),
            ("followers", urls.followers.as_ref()),
            ("following", urls.following.as_ref()),
            ("featured", urls.featured.as_ref()),
            ("key_document", urls.key_document.as_ref()),
        ];
        for (name, template) in always {
            if let Some(template) = template {
                let url = template.render(&values);
                values.set(name, url);
            }
        }
        values
    }

    fn naming_values(&self, who: Who) -> Values {
        let mut values = self.server_values();
        let name = self.name(who);
        values.set("handle", format!("{name}@{}", self.authority()));
        values.set("name", name);
        if let Who::Actor(number) = who {
            values.set("number", number + 1);
            values.set(
                "id",
                notes::actor_id(&self.software.ids.actor, self.host.as_str(), number),
            );
        }
        values
    }
}
