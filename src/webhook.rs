//! What a webhook delivery says of itself: its id, and when it was sent.

use aws_lc_rs::digest::{SHA256, digest};
use http::HeaderMap;
use memchr::memmem;
use serde::Deserialize;
use serde_json::value::RawValue;

use crate::clock::Sent;
use crate::ids::DeliveryId;

/// By what a repeat of this delivery is known: the body's `id`, else the SHA-256 of the body.
pub fn delivery_id(body: &[u8]) -> DeliveryId {
    #[derive(Deserialize)]
    struct WithId<'a> {
        #[serde(borrow)]
        id: Option<&'a RawValue>,
    }
    // serde would read the first element of an array as the first field.
    let is_object = body.trim_ascii_start().starts_with(b"{");
    let read = || serde_json::from_slice::<WithId<'_>>(body).ok()?.id;
    let id = if is_object { read() } else { None };
    match id.map(RawValue::get) {
        Some(id) if id.starts_with('"') && !id.contains('\\') => DeliveryId::new(&id[1..id.len() - 1]),
        Some(id) if id.starts_with('"') => match serde_json::from_str::<String>(id) {
            Ok(text) => DeliveryId::new(text),
            Err(_) => body_digest(body),
        },
        Some(number) if number.starts_with(|c: char| c.is_ascii_digit() || c == '-') => {
            DeliveryId::new(number)
        }
        _ => body_digest(body),
    }
}

/// When a delivery says it was sent: the `X-Sent-At` header in Unix milliseconds, else `load <unix ms> <key>` anywhere
/// in the body.
pub fn sent(headers: &HeaderMap, body: &[u8]) -> Option<Sent> {
    match headers.get("x-sent-at") {
        Some(stamp) => Sent::from_unix_millis(stamp.to_str().ok()?),
        None => load_stamp(body),
    }
}

/// The stamp that load generators write into texts: `load <unix ms> <key>`.
pub fn load_stamp(text: &[u8]) -> Option<Sent> {
    const WORD: &[u8] = b"load ";
    let mut rest = text;
    while let Some(place) = memmem::find(rest, WORD) {
        rest = &rest[place + WORD.len()..];
        let digits = rest.iter().take_while(|byte| byte.is_ascii_digit()).count();
        if (12..=15).contains(&digits) && rest.get(digits) == Some(&b' ') {
            return Sent::from_unix_millis(std::str::from_utf8(&rest[..digits]).ok()?);
        }
    }
    None
}

fn body_digest(body: &[u8]) -> DeliveryId {
    let hex: String = digest(&SHA256, body)
        .as_ref()
        .iter()
        .map(|byte| format!("{byte:02x}"))
        .collect();
    DeliveryId::new(format!("sha256:{hex}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn id(body: &str) -> String {
        delivery_id(body.as_bytes()).as_str().to_owned()
    }

    #[test]
    fn the_bodys_id_is_the_deliverys() {
        assert_eq!(id(r#"{"n": 1, "id": "evt_1"}"#), "evt_1");
        assert_eq!(id(r#"{"id": 42}"#), "42");
        assert_eq!(id(r#"{"id": "caf\u00e9"}"#), "café");
    }

    #[test]
    fn a_body_without_an_id_is_known_by_its_digest() {
        // printf '' | sha256sum
        let nothing = "sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";
        assert_eq!(id(""), nothing);
        assert!(id(r#"{"id": {"a": 1}}"#).starts_with("sha256:"));
        assert!(id(r#"{"id": null}"#).starts_with("sha256:"));
        assert!(id(r#"["evt_1"]"#).starts_with("sha256:"));
        assert_eq!(id(" \n{\"id\": 1}"), "1");
        assert_ne!(id("a"), id("b"));
    }

    #[test]
    fn a_load_stamp_is_found_in_the_text() {
        let at = |text: &str| load_stamp(text.as_bytes()).map(|sent| sent.at.unix_millis());
        assert_eq!(
            at(r#"{"text": "load 1700000000123 k-7"}"#),
            Some(1_700_000_000_123)
        );
        assert_eq!(at("a load of load 1700000000123 k"), Some(1_700_000_000_123));
        assert_eq!(at("load 17 k"), None);
        assert_eq!(at("load 1700000000123"), None);
    }

    proptest::proptest! {
        #[test]
        fn no_body_makes_the_readers_panic(body: Vec<u8>) {
            let _ = (delivery_id(&body), load_stamp(&body));
        }
    }
}
