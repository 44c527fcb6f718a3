//! The `Signature-Input` and `Signature` fields (RFC 9421 section 4): which signatures a message has.

use http::HeaderMap;
use sfv::{BareItem, Dictionary, FieldType, InnerList, Item, ListEntry, ListSerializer, Parameters, Parser};

use crate::signature::dictionary::members;
use crate::signature::field::combined;
use crate::signature::rfc9421::Component;
use crate::signature::{Dialect, Reason, SIGNATURES_MAX, Verdict, base64};

/// One signature with its parameters, each in a form that can be used. What is wrong with them beyond that is a
/// finding of verification.
#[derive(Clone, Debug)]
pub struct Header {
    label: String,
    key_id: String,
    pub(super) components: Vec<Component>,
    pub(super) algorithm: Option<String>,
    created: Option<i64>,
    pub(super) expires: Option<i64>,
    /// The member of `Signature-Input` as structured fields write it, for the last line of the base.
    pub(super) strict: String,
    /// The same member byte for byte, where it is written otherwise.
    pub(super) sent: Option<String>,
    pub(super) parameters: Parameters,
    pub(super) signature: Vec<u8>,
    pub(super) notes: Vec<&'static str>,
}

impl Header {
    /// The label.
    pub fn label(&self) -> &str {
        &self.label
    }

    /// The key id as the signature gives it.
    pub fn key_id(&self) -> &str {
        &self.key_id
    }

    /// When the signature says it was made (`created`), in Unix seconds.
    pub fn created(&self) -> Option<i64> {
        self.created
    }

    /// The covered components in order.
    pub fn components(&self) -> &[Component] {
        &self.components
    }

    pub(super) fn covers(&self, name: &str) -> bool {
        // A member of a field, or a field of another message, is not the field.
        let whole = |component: &Component| !["key", "req", "tr"].iter().any(|one| component.has(one));
        let mut covered = self
            .components
            .iter()
            .filter(|component| component.name() == name);
        covered.any(whole)
    }

    /// The components as verdicts list them.
    pub(super) fn covered(&self) -> Vec<String> {
        self.components.iter().map(Component::to_string).collect()
    }

    /// Reads a member of `Signature-Input`; its signature is yet to come.
    fn read(label: &str, entry: ListEntry, sent: &str) -> Result<Header, Box<Verdict>> {
        let fail = |reason: Reason, detail: String| {
            Box::new(Verdict {
                label: Some(label.to_owned()),
                ..invalid(reason, detail)
            })
        };
        let strict = written(&entry);
        let ListEntry::InnerList(list) = entry else {
            let detail = format!("`{label}` should be a list of components in brackets; it is `{sent}`");
            return Err(fail(Reason::Malformed, detail));
        };
        let key_id = text(&list.params, "keyid");
        let with_key = |mut verdict: Box<Verdict>| {
            verdict.key_id = key_id.clone().ok().flatten();
            verdict.covered = list.items.iter().take(MAX_COVERED).map(shown).collect();
            verdict
        };
        let fail = |reason, detail| with_key(fail(reason, detail));
        let malformed = |detail| fail(Reason::Malformed, format!("`{label}`: {detail}"));
        let components = components(&list).map_err(malformed)?;
        if list.params.len() > MAX_PARAMETERS {
            let detail = format!(
                "there are {} parameters; at most {MAX_PARAMETERS} are read",
                list.params.len()
            );
            return Err(malformed(detail));
        }
        for parameter in ["nonce", "tag"] {
            text(&list.params, parameter).map_err(malformed)?;
        }
        let header = Header {
            label: label.to_owned(),
            components,
            algorithm: text(&list.params, "alg").map_err(malformed)?,
            created: time(&list.params, "created").map_err(malformed)?,
            expires: time(&list.params, "expires").map_err(malformed)?,
            sent: (sent != strict).then(|| sent.to_owned()),
            strict,
            signature: Vec::new(),
            notes: Vec::new(),
            key_id: match key_id.clone().map_err(malformed)? {
                Some(key_id) if !key_id.is_empty() => key_id,
                _ => {
                    let detail = format!("`{label}` has no `keyid`, so nothing says whose signature it is");
                    return Err(fail(Reason::ParameterMissing, detail));
                }
            },
            parameters: list.params,
        };
        Ok(header)
    }

    /// A verdict on a message that names this signature and cannot be judged.
    fn failed(&self, reason: Reason, detail: impl Into<String>) -> Box<Verdict> {
        Box::new(Verdict {
            label: Some(self.label.clone()),
            key_id: Some(self.key_id.clone()),
            covered: self.covered(),
            ..invalid(reason, detail)
        })
    }
}

/// The signatures of a message that has `Signature-Input`, in the order of that field; at least one.
///
/// # Errors
/// A verdict where one of the two fields does not parse, a label is not in both, a member is unusable, or there are
/// too many.
pub(in crate::signature) fn parse(headers: &HeaderMap) -> Result<Vec<Header>, Box<Verdict>> {
    let field = combined("signature-input", headers).unwrap_or_default();
    let (text, inputs) = dictionary("Signature-Input", &field).map_err(malformed)?;
    let sent = members(text);
    if sent.len() != inputs.len() {
        return Err(malformed(
            "`Signature-Input` has a label twice; each stands for one signature",
        ));
    }
    if inputs.is_empty() {
        return Err(malformed("`Signature-Input` is empty"));
    }
    if inputs.len() > SIGNATURES_MAX {
        let detail = format!(
            "`Signature-Input` has {} signatures; at most {SIGNATURES_MAX} are read",
            inputs.len()
        );
        return Err(malformed(detail));
    }
    let mut found = Vec::new();
    for ((label, entry), sent) in inputs.into_iter().zip(sent) {
        found.push(Header::read(label.as_str(), entry, sent.value)?);
    }
    let notes = if found.len() > 1 {
        vec!["several_signatures"]
    } else {
        Vec::new()
    };
    attach(&mut found, headers)?;
    for header in &mut found {
        header.notes.clone_from(&notes);
    }
    Ok(found)
}

/// Finds the signature of each label.
fn attach(found: &mut [Header], headers: &HeaderMap) -> Result<(), Box<Verdict>> {
    let Some(first) = found.first() else {
        return Ok(());
    };
    let Some(field) = combined("signature", headers) else {
        return Err(first.failed(
            Reason::Malformed,
            "there is `Signature-Input`, but no `Signature`",
        ));
    };
    let (text, mut signatures) =
        dictionary("Signature", &field).map_err(|fault| match bad_base64(&field) {
            // Whoever lets bad base64 pass must not let pass what could not be read at all.
            Some(detail) => Box::new(
                first
                    .failed(Reason::BadBase64, detail)
                    .failed(Reason::Malformed, fault),
            ),
            None if is_cavage(&field) => {
                let fault =
                    format!("{fault}; this looks like draft-cavage, which goes without `Signature-Input`");
                first.failed(Reason::Malformed, fault)
            }
            None => first.failed(Reason::Malformed, fault),
        })?;
    if members(text).len() != signatures.len() {
        return Err(malformed(
            "`Signature` has a label twice; each stands for one signature",
        ));
    }
    for header in &mut *found {
        let label = header.label.as_str();
        header.signature = match signatures.swap_remove(label) {
            Some(ListEntry::Item(Item {
                bare_item: BareItem::ByteSequence(bytes),
                ..
            })) => bytes,
            Some(_) => {
                let detail = format!(
                    "`Signature` has `{label}`, which should be base64 between colons: `{label}=:...:`"
                );
                return Err(header.failed(Reason::Malformed, detail));
            }
            None => {
                let detail = format!("`{label}` is in `Signature-Input`, but not in `Signature`");
                return Err(header.failed(Reason::Malformed, detail));
            }
        };
    }
    match signatures.keys().next() {
        Some(label) => {
            let detail = format!("`{label}` is in `Signature`, but not in `Signature-Input`");
            Err(malformed(detail))
        }
        None => Ok(()),
    }
}

/// A field as a dictionary, with its text.
fn dictionary<'a>(name: &str, field: &'a [u8]) -> Result<(&'a str, Dictionary), String> {
    let fail = |fault: &str| format!("`{name}` is no dictionary of structured fields: {fault}");
    let text = std::str::from_utf8(field).map_err(|_| fail("it is no ASCII"))?;
    let dictionary = Parser::new(text)
        .parse()
        .map_err(|fault: sfv::Error| fail(&fault.to_string()))?;
    Ok((text, dictionary))
}

/// Whether a `Signature` is one of the other dialect.
fn is_cavage(field: &[u8]) -> bool {
    String::from_utf8_lossy(field).contains("keyId=")
}

/// The first member of a `Signature` whose bytes are not in base64, in words.
fn bad_base64(field: &[u8]) -> Option<String> {
    let text = String::from_utf8_lossy(field);
    members(&text).iter().find_map(|member| {
        let (value, _) = member.value.strip_prefix(':')?.split_once(':')?;
        let fault = base64::decode(value).fault?;
        Some(format!(
            "`Signature` has `{}` with `{value}`, which is no base64: {fault}",
            member.key
        ))
    })
}

/// The components of a member, each once.
fn components(list: &InnerList) -> Result<Vec<Component>, String> {
    if list.items.len() > MAX_COVERED {
        return Err(format!(
            "{} components are covered; at most {MAX_COVERED} are read",
            list.items.len()
        ));
    }
    let mut components: Vec<Component> = Vec::new();
    for item in &list.items {
        let component = Component::new(item.clone()).map_err(|fault| fault.to_string())?;
        if components.contains(&component) {
            return Err(format!("`{component}` is covered twice"));
        }
        components.push(component);
    }
    Ok(components)
}

/// A member as structured fields write it in a list of its own.
fn written(entry: &ListEntry) -> String {
    let mut list = ListSerializer::new();
    list.members([entry]);
    list.finish().unwrap_or_default()
}

/// An item of a list as verdicts show components.
fn shown(item: &Item) -> String {
    match Component::new(item.clone()) {
        Ok(component) => component.to_string(),
        Err(_) => item.serialize(),
    }
}

/// A parameter that is a string, where it is there.
fn text(parameters: &Parameters, name: &str) -> Result<Option<String>, String> {
    match parameters.get(name) {
        None => Ok(None),
        Some(BareItem::String(text)) => Ok(Some(text.as_str().to_owned())),
        Some(other) => Err(format!(
            "`{name}` is `{}`; it should be a string in quotes",
            Item::new(other.clone()).serialize()
        )),
    }
}

/// A parameter that is a Unix time, where it is there.
fn time(parameters: &Parameters, name: &str) -> Result<Option<i64>, String> {
    match parameters.get(name) {
        None => Ok(None),
        Some(BareItem::Integer(time)) => Ok(Some((*time).into())),
        Some(other) => Err(format!(
            "`{name}` is `{}`; it should be a Unix time in whole seconds",
            Item::new(other.clone()).serialize()
        )),
    }
}

fn malformed(detail: impl Into<String>) -> Box<Verdict> {
    Box::new(invalid(Reason::Malformed, detail))
}

fn invalid(reason: Reason, detail: impl Into<String>) -> Verdict {
    Verdict {
        dialect: Some(Dialect::Rfc9421),
        ..Verdict::invalid(reason, detail)
    }
}

/// How many parameters a signature may have; the standard knows six.
const MAX_PARAMETERS: usize = 32;

/// How many components a signature may cover. A short list may name a long field over and over.
const MAX_COVERED: usize = 64;
