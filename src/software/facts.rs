//! The names under which a profile tells what no code acts on. The list is closed, so that one fact has one name in
//! all profiles.

/// Every name with what it tells, in the order in which they are printed.
pub const FACTS: &[(&str, &str)] = &[
    (
        "revision",
        "the release, or the revision of the source, at which the facts were read",
    ),
    // where things are
    (
        "ids",
        "ids of activities and objects that have no template of their own",
    ),
    (
        "collections",
        "collections besides those in `urls`, and what it hides of them",
    ),
    (
        "split_domain",
        "whether handles and actors may live on different hosts",
    ),
    (
        "webfinger",
        "what WebFinger does besides: other media types, caching, odd links",
    ),
    ("host_meta", "what host-meta does besides, or why there is none"),
    (
        "nodeinfo",
        "what NodeInfo does besides: quirks of names, paths, metadata",
    ),
    // documents
    ("actor_types", "the types its actors may have"),
    (
        "actor_document",
        "properties it has, lacks or had in other releases",
    ),
    ("timestamps", "how it writes moments"),
    // signatures
    ("signed_fetch", "when it signs what it fetches"),
    ("key_ids", "key ids of other releases and further keys"),
    ("rfc9421", "what it does with RFC 9421, sending and verifying"),
    ("algorithms", "the algorithms it verifies"),
    (
        "verification",
        "rules of its verifier that are not the specification's",
    ),
    ("authorized_fetch", "the switch for it, and what it then answers"),
    ("proofs", "what it does with proofs inside activities, and when"),
    // inbox
    ("blocked", "what a blocked domain or actor is told"),
    (
        "processing",
        "when it processes what it took, and what it drops silently",
    ),
    ("deletes", "what a Delete of an actor it never knew is told"),
    ("duplicates", "what it does with an id that it has seen"),
    ("dead_actor", "what a GET of a deleted or suspended actor gets"),
    ("dead_webfinger", "what WebFinger says of a deleted actor"),
    ("dead_remote", "what it does when somebody else's actor is gone"),
    // activities
    (
        "accept",
        "how it accepts a Follow, and what it makes of an Accept",
    ),
    ("follow", "how its Follow looks"),
    ("undo", "how its Undo looks"),
    ("delete", "how it deletes an actor, and to whom it says so"),
    ("announce", "how it announces, and how its groups do"),
    ("relay", "how it subscribes to a relay"),
    ("activities", "what is odd about its activities besides"),
    // sending and fetching
    ("timeouts", "how long it waits, step by step"),
    ("retries", "when it tries a delivery again"),
    ("permanent", "which answers end a delivery for good"),
    ("breaker", "when it stops trying a host, and when it begins again"),
    ("fetching", "what it asks for, takes and follows when it fetches"),
    (
        "private_addresses",
        "its guard against private addresses, and the switch",
    ),
    ("ports", "which schemes and ports it takes"),
    ("ca", "how it is told to trust another CA"),
    ("quirks", "whatever else others stumbled over"),
    ("departures", "where this profile is not as the software is"),
];
