//! The JSON-LD contexts that signed documents name. They are part of the program: what a context means must not hang
//! on the network, and a document must not make the farm fetch anything.

/// The context at that address, which servers write with `http` too.
pub(super) fn named(url: &str) -> Option<&'static str> {
    let address = url
        .strip_prefix("https://")
        .or_else(|| url.strip_prefix("http://"))?;
    let (_, text) = CONTEXTS.iter().find(|(known, _)| *known == address)?;
    Some(text)
}

/// Addresses without their scheme, and documents; `contexts/README.md` says where these come from.
const CONTEXTS: [(&str, &str); 15] = [
    ("gotosocial.org/ns", include_str!("contexts/gotosocial.json")),
    (
        "join-lemmy.org/context.json",
        include_str!("contexts/join-lemmy.json"),
    ),
    ("joinmastodon.org/ns", include_str!("contexts/joinmastodon.json")),
    (
        "purl.archive.org/miscellany",
        include_str!("contexts/miscellany.json"),
    ),
    (
        "purl.archive.org/socialweb/webfinger",
        include_str!("contexts/webfinger.json"),
    ),
    ("w3id.org/fep/5711", include_str!("contexts/fep-5711.json")),
    ("w3id.org/fep/ef61", include_str!("contexts/fep-ef61.json")),
    ("w3id.org/identity/v1", include_str!("contexts/identity-v1.json")),
    (
        "w3id.org/security/data-integrity/v1",
        include_str!("contexts/security-data-integrity-v1.json"),
    ),
    (
        "w3id.org/security/data-integrity/v2",
        include_str!("contexts/security-data-integrity-v2.json"),
    ),
    (
        "w3id.org/security/multikey/v1",
        include_str!("contexts/security-multikey-v1.json"),
    ),
    ("w3id.org/security/v1", include_str!("contexts/security-v1.json")),
    (
        "www.w3.org/ns/activitystreams",
        include_str!("contexts/activitystreams.json"),
    ),
    ("www.w3.org/ns/cid/v1", include_str!("contexts/cid-v1.json")),
    ("www.w3.org/ns/did/v1", include_str!("contexts/did-v1.json")),
];

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::proof::nquads;

    /// Each stands in for what its address serves: it is one, and clashes with no ActivityStreams before it.
    #[test]
    fn every_context_can_be_processed_behind_activity_streams() {
        for (address, _) in CONTEXTS {
            for scheme in ["https", "http"] {
                let contexts = json!([
                    "https://www.w3.org/ns/activitystreams",
                    format!("{scheme}://{address}")
                ]);
                let note =
                    json!({"@context": contexts, "id": "https://a.test/1", "type": "Note", "content": "x"});
                let lines = nquads::canonical(note.as_object().unwrap())
                    .unwrap_or_else(|error| panic!("{address}: {error}"));
                assert_eq!(lines.lines().count(), 2, "{address}: {lines}");
            }
        }
    }
}
