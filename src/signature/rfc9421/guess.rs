//! What a sender may have signed instead: the slips known from the field, tried when nothing else explains a mismatch.
//! For the words of a verdict alone, never for its result.

use sfv::{BareItem, Key};

use crate::signature::Request;
use crate::signature::key::{Algorithm, VerifyingKey};
use crate::signature::rfc9421::base::Base;
use crate::signature::rfc9421::derived::{Target, authority_sent, target_uri};
use crate::signature::rfc9421::{Header, Message};

/// The slip that explains the signature, in words. Verifies thirty bases at most.
pub(super) fn slip(
    header: &Header,
    message: &Message,
    base: &Base,
    algorithm: Algorithm,
    key: &VerifyingKey,
) -> Option<String> {
    let right = base.bytes(&header.strict);
    let verifies = |algorithm, bytes: &[u8]| key.verifies(algorithm, bytes, &header.signature);
    if key.verifies_asn1(algorithm, &right, &header.signature) {
        return Some("it does as DER, where the two integers side by side are wanted".to_owned());
    }
    if let Message::Request(request) = message {
        for values in candidates(base, request) {
            if verifies(algorithm, &base.with(&values).bytes(&header.strict)) {
                let lines: Vec<String> = values.iter().map(line).collect();
                return Some(format!("it does with {} in its place", lines.join(" and ")));
            }
        }
    }
    for parameters in parameters(header) {
        if verifies(algorithm, &base.bytes(&parameters)) {
            return Some(format!(
                "it does with `\"@signature-params\": {parameters}` as its last line"
            ));
        }
    }
    if verifies(algorithm, &[&right, b"\n".as_slice()].concat()) {
        return Some("it does with an LF at the end of the base, where none belongs".to_owned());
    }
    if verifies(algorithm, &unquoted(base, &header.strict)) {
        return Some("it does with no quotes around the names at the start of the lines".to_owned());
    }
    OTHERS
        .into_iter()
        .find(|other| *other != algorithm && verifies(*other, &right))
        .map(|other| format!("it does under `{other}`, which `alg` would have to say"))
}

fn line((name, value): &(&str, Vec<u8>)) -> String {
    format!("`\"{name}\": {}`", String::from_utf8_lossy(value))
}

/// Components with other values than the base has.
type Values = Vec<(&'static str, Vec<u8>)>;

/// Other values that components may have been given, those the base has already left out.
fn candidates(base: &Base, request: &Request) -> Vec<Values> {
    let target = Target::of(request);
    let uri = |scheme: &str, authority: &str, target: &str| {
        let request = Request {
            scheme,
            target,
            ..*request
        };
        target_uri(&request, authority)
    };
    let (scheme, whole) = (request.scheme, request.target);
    let sent = authority_sent(request).unwrap_or_default();
    let authority = base
        .value("@authority")
        .map(|value| String::from_utf8_lossy(value).into_owned())
        .unwrap_or_else(|| sent.to_ascii_lowercase());
    let bare = without_port(&authority);
    let (other, port) = match scheme {
        "https" => ("http", "443"),
        _ => ("https", "80"),
    };
    let mut candidates: Vec<Vec<(&'static str, String)>> = vec![
        vec![
            ("@scheme", other.to_owned()),
            ("@target-uri", uri(other, &authority, whole)),
        ],
        vec![
            ("@target-uri", uri(scheme, &authority, target.path)),
            ("@request-target", target.path.to_owned()),
            ("@query", "?".to_owned()),
        ],
        vec![("@path", whole.to_owned())],
        vec![("@query", target.query.unwrap_or_default().to_owned())],
        vec![("@method", request.method.to_ascii_lowercase())],
        vec![(
            "@request-target",
            format!("{} {whole}", request.method.to_ascii_lowercase()),
        )],
    ];
    for authority in [bare.to_owned(), sent, format!("{bare}:{port}")] {
        candidates.push(vec![
            ("@target-uri", uri(scheme, &authority, whole)),
            ("@authority", authority),
        ]);
    }
    let fresh = |(name, value): &(&'static str, String)| {
        base.value(name).is_some_and(|known| known != value.as_bytes())
    };
    candidates
        .into_iter()
        .map(|values| {
            let values = values.into_iter().filter(fresh);
            values.map(|(name, value)| (name, value.into_bytes())).collect()
        })
        .filter(|values: &Values| !values.is_empty())
        .collect()
}

/// A host without the port behind it; the colons inside of an IPv6 address stay.
fn without_port(authority: &str) -> &str {
    match authority.rsplit_once(':') {
        Some((host, port)) if port.bytes().all(|byte| byte.is_ascii_digit()) => host,
        _ => authority,
    }
}

/// Other last lines that may have been signed: parameters in an order of the sender's own, unknown ones left out,
/// `alg` left out, the label in front.
fn parameters(header: &Header) -> Vec<String> {
    let components: Vec<String> = header
        .components()
        .iter()
        .map(|component| component.identifier())
        .collect();
    let components = format!("({})", components.join(" "));
    let written = |parameters: &[(&Key, &BareItem)]| {
        let written = sfv::ItemSerializer::new().bare_item(true);
        let written = written.parameters(parameters.iter().copied()).finish();
        format!("{components}{}", written.trim_start_matches("?1"))
    };
    let received: Vec<(&Key, &BareItem)> = header.parameters.iter().collect();
    let mut orders = vec![received.clone()];
    for order in ORDERS {
        let place = |key: &Key| order.iter().position(|name| *name == key.as_str());
        let mut sorted = received.clone();
        sorted.sort_by_key(|(key, _)| place(key).unwrap_or(order.len()));
        orders.push(sorted);
    }
    let mut found = vec![format!("{}={}", header.label(), header.strict)];
    for order in orders {
        let known = |(key, _): &&(&Key, &BareItem)| ORDERS[0].contains(&key.as_str());
        let named = |(key, _): &&(&Key, &BareItem)| key.as_str() != "alg";
        let without_unknown: Vec<_> = order.iter().filter(known).copied().collect();
        let without_alg: Vec<_> = order.iter().filter(named).copied().collect();
        found.extend([&order, &without_unknown, &without_alg].map(|order| written(order)));
    }
    let mut fresh = Vec::new();
    for line in found {
        if line != header.strict && !fresh.contains(&line) {
            fresh.push(line);
        }
    }
    fresh
}

/// The base without quotes around the names, as draft-cavage has its lines.
fn unquoted(base: &Base, parameters: &str) -> Vec<u8> {
    let lines = base.without_quotes().bytes(parameters);
    let text = String::from_utf8_lossy(&lines).into_owned();
    text.replace("\"@signature-params\": ", "@signature-params: ")
        .into_bytes()
}

/// Orders that senders give the parameters.
const ORDERS: [[&str; 6]; 4] = [
    ["created", "keyid", "alg", "expires", "nonce", "tag"],
    ["created", "expires", "nonce", "alg", "keyid", "tag"],
    ["alg", "keyid", "created", "expires", "nonce", "tag"],
    ["alg", "created", "expires", "keyid", "nonce", "tag"],
];

/// What an RSA key may have computed instead.
const OTHERS: [Algorithm; 3] = [
    Algorithm::RsaPssSha512,
    Algorithm::RsaV15Sha256,
    Algorithm::RsaV15Sha512,
];
