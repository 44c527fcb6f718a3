//! An actor's collections (ActivityPub section 5), whole and by pages. Pages of an outbox are made as they are asked
//! for, so it costs the same memory with a hundred thousand notes as with ten.

use serde_json::{Value, json};

use crate::answer::webfinger::query_pairs;
use crate::answer::{Answer, CollectionKind};
use crate::farm::notes::Place;
use crate::farm::{Follow, Note, Peer, Who, World};
use crate::software::Values;

/// How many items a page holds.
pub const PAGE_ITEMS: usize = 20;

/// The collection, or the page that the query names. A page past the last is empty; `None` where the query names a
/// page that is no number.
pub fn answer(
    world: &World,
    peer: &Peer,
    who: Who,
    kind: CollectionKind,
    query: Option<&str>,
) -> Option<Answer> {
    let collection = Collection::of(world, peer, who, kind)?;
    let document = match collection.page_asked(query) {
        PageAsked::None => collection.whole(),
        PageAsked::Number(number) => collection.page(number),
        PageAsked::Unreadable => return None,
    };
    Some(Answer::json(&peer.software.documents.content_type, &document))
}

struct Collection<'a> {
    world: &'a World,
    peer: &'a Peer,
    who: Who,
    kind: CollectionKind,
    values: Values,
    total: usize,
}

enum PageAsked {
    None,
    Number(usize),
    Unreadable,
}

impl<'a> Collection<'a> {
    fn of(world: &'a World, peer: &'a Peer, who: Who, kind: CollectionKind) -> Option<Collection<'a>> {
        let values = peer.values(who);
        let url = values.get(name_of(kind))?.as_str()?.to_owned();
        let (followers, following) = world.relations.counts(&peer.host, who);
        let total = match (kind, who) {
            (CollectionKind::Outbox, Who::Actor(_)) => world.notes as usize,
            (CollectionKind::Outbox, Who::Instance) | (CollectionKind::Featured, _) => 0,
            (CollectionKind::Followers, _) => followers,
            (CollectionKind::Following, _) => following,
        };
        let values = values.with("collection", url.as_str()).with("total", total);
        Some(Collection {
            world,
            peer,
            who,
            kind,
            values,
            total,
        })
    }

    /// Which page a query names, by the template that writes such queries; the order of parameters does not matter.
    fn page_asked(&self, query: Option<&str>) -> PageAsked {
        let shape = self
            .peer
            .software
            .urls
            .page
            .render(&self.values.clone().with("page", PAGE_MARK));
        let shape = shape.split_once('?').map_or("", |(_, query)| query);
        let (Some(shape), Some(asked)) = (query_pairs(shape), query.and_then(query_pairs)) else {
            return PageAsked::None;
        };
        let mut number = None;
        for (name, value) in &shape {
            let found = asked.iter().find(|(own, _)| own == name).map(|(_, value)| value);
            match found {
                Some(found) if value == PAGE_MARK => number = Some(found),
                Some(found) if found == value => {}
                _ => return PageAsked::None,
            }
        }
        match number.map(|digits| digits.parse()) {
            None => PageAsked::None,
            Some(Ok(number)) if number > 0 => PageAsked::Number(number),
            Some(_) => PageAsked::Unreadable,
        }
    }

    fn whole(&self) -> Value {
        let documents = &self.peer.software.documents;
        if self.kind == CollectionKind::Featured {
            let mut document = documents.collection.render(&self.values);
            if let Value::Object(entries) = &mut document {
                entries.entry("orderedItems").or_insert(json!([]));
            }
            return document;
        }
        let values = self.values.clone();
        documents.collection.render(
            &values
                .with("first", self.page_url(1))
                .with("last", self.page_url(self.last())),
        )
    }

    fn page(&self, number: usize) -> Value {
        let mut values = self.values.clone();
        values.set("page_url", self.page_url(number));
        values.set("items", self.items(number));
        if number < self.last() {
            values.set("next", self.page_url(number + 1));
        }
        if number > 1 {
            values.set("prev", self.page_url((number - 1).min(self.last())));
        }
        self.peer.software.documents.page.render(&values)
    }

    /// The newest first.
    fn items(&self, number: usize) -> Vec<Value> {
        let start = (number - 1).saturating_mul(PAGE_ITEMS).min(self.total);
        let end = start.saturating_add(PAGE_ITEMS).min(self.total);
        let (from, most) = (self.total - end, end - start);
        let relations = &self.world.relations;
        let others = |follows: Vec<Follow>| {
            follows
                .into_iter()
                .rev()
                .map(|follow| follow.other.into())
                .collect()
        };
        match (self.kind, self.who) {
            (CollectionKind::Outbox, Who::Actor(actor)) => {
                let newest_first = (from..from + most)
                    .rev()
                    .filter_map(|note| u32::try_from(note).ok());
                newest_first
                    .map(|note| {
                        Note::in_outbox(self.world, self.peer, Place { actor, note }).create(self.peer)
                    })
                    .collect()
            }
            (CollectionKind::Outbox, Who::Instance) | (CollectionKind::Featured, _) => Vec::new(),
            (CollectionKind::Followers, _) => {
                others(relations.followers(&self.peer.host, self.who, from, most))
            }
            (CollectionKind::Following, _) => {
                others(relations.following(&self.peer.host, self.who, from, most))
            }
        }
    }

    fn last(&self) -> usize {
        self.total.div_ceil(PAGE_ITEMS).max(1)
    }

    fn page_url(&self, number: usize) -> String {
        self.peer
            .software
            .urls
            .page
            .render(&self.values.clone().with("page", number))
    }
}

fn name_of(kind: CollectionKind) -> &'static str {
    match kind {
        CollectionKind::Featured => "featured",
        CollectionKind::Followers => "followers",
        CollectionKind::Following => "following",
        CollectionKind::Outbox => "outbox",
    }
}

/// Stands where a page template writes the number.
const PAGE_MARK: &str = "{page}";
