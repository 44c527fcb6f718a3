//! host-meta (RFC 6415): where WebFinger is.

use http::HeaderMap;
use serde_json::json;

use crate::activitypub::{escape, prefers_json};
use crate::answer::Answer;
use crate::farm::Peer;

/// `/.well-known/host-meta`: XRD, or its JSON twin where the software has it and `Accept` names it.
pub fn answer(peer: &Peer, headers: &HeaderMap) -> Answer {
    let has_json = peer.software.host_meta.as_ref().is_some_and(|own| own.json);
    match has_json && prefers_json(headers) {
        true => json(peer),
        false => xrd(peer),
    }
}

/// `/.well-known/host-meta.json` (RFC 6415 section 3).
pub fn json(peer: &Peer) -> Answer {
    Answer::json(
        "application/json",
        &json!({"links": [{"rel": "lrdd", "template": template(peer)}]}),
    )
}

fn xrd(peer: &Peer) -> Answer {
    let text = format!(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n\
         <XRD xmlns=\"http://docs.oasis-open.org/ns/xri/xrd-1.0\">\n  \
         <Link rel=\"lrdd\" template=\"{}\"/>\n\
         </XRD>\n",
        escape(&template(peer))
    );
    Answer::ok("application/xrd+xml; charset=utf-8", text)
}

fn template(peer: &Peer) -> String {
    format!("{}/.well-known/webfinger?resource={{uri}}", peer.origin)
}
