//! The signature base (RFC 9421 section 2.5): the lines that are signed.

use crate::signature::Reason;
use crate::signature::rfc9421::{Component, Message, derived, field};

/// The covered components with their values, in order; the line of the parameters comes when its bytes are asked for.
#[derive(Clone, Debug)]
pub(super) struct Base {
    lines: Vec<Line>,
    /// The covered components that have no value. They have no line, and no signature over such a base is right.
    pub(super) faults: Vec<Fault>,
}

#[derive(Clone, Debug)]
struct Line {
    /// As the line begins: `"@query-param";name="x"`.
    identifier: String,
    value: Vec<u8>,
}

/// Why a component has no value.
#[derive(Clone, Debug)]
pub(super) struct Fault {
    /// The component, without quotes.
    pub(super) component: String,
    /// What kind of fault.
    pub(super) reason: Reason,
    /// In words that follow "it is covered, but".
    pub(super) why: String,
}

impl Base {
    /// Gathers the values of `components`.
    pub(super) fn build(components: &[Component], message: &Message) -> Base {
        let mut base = Base {
            lines: Vec::new(),
            faults: Vec::new(),
        };
        let mut parsed = 0;
        for component in components {
            parsed += parsed_bytes(component, message);
            let value = match parsed {
                0..=PARSED_MAX => value(component, message),
                _ => Err((Reason::Malformed, TOO_MUCH.to_owned())),
            };
            match value {
                Ok(value) => base.lines.push(Line {
                    identifier: component.identifier(),
                    value,
                }),
                Err((reason, why)) => base.faults.push(Fault {
                    component: component.to_string(),
                    reason,
                    why,
                }),
            }
        }
        base
    }

    /// The value of a component without parameters.
    pub(super) fn value(&self, name: &str) -> Option<&[u8]> {
        let identifier = format!("\"{name}\"");
        let line = self.lines.iter().find(|line| line.identifier == identifier);
        line.map(|line| line.value.as_slice())
    }

    /// The same base with other values for components without parameters.
    pub(super) fn with(&self, values: &[(&str, Vec<u8>)]) -> Base {
        let mut base = self.clone();
        for (name, value) in values {
            let identifier = format!("\"{name}\"");
            for line in base.lines.iter_mut().filter(|line| line.identifier == identifier) {
                line.value.clone_from(value);
            }
        }
        base
    }

    /// The same base without the quotes around the components' names, as draft-cavage has its lines.
    pub(super) fn without_quotes(&self) -> Base {
        let mut base = self.clone();
        for line in &mut base.lines {
            line.identifier = line.identifier.replace('"', "");
        }
        base
    }

    /// The bytes to sign: a line a component, then `parameters`, an LF between lines and none at the end.
    pub(super) fn bytes(&self, parameters: &str) -> Vec<u8> {
        let mut bytes = Vec::new();
        for line in &self.lines {
            bytes.extend_from_slice(line.identifier.as_bytes());
            bytes.extend_from_slice(b": ");
            bytes.extend_from_slice(&line.value);
            bytes.push(b'\n');
        }
        bytes.extend_from_slice(b"\"@signature-params\": ");
        bytes.extend_from_slice(parameters.as_bytes());
        bytes
    }
}

/// How much has to be parsed for the value of a component, in bytes: a query, or a field as a structure.
fn parsed_bytes(component: &Component, message: &Message) -> usize {
    match message {
        Message::Request(request) if component.name() == "@query-param" => request.target.len(),
        _ if component.has("key") || component.has("sf") => {
            let lines = crate::signature::field::lines(component.name(), message.headers());
            lines.map(<[u8]>::len).sum()
        }
        _ => 0,
    }
}

/// How many bytes are parsed for the components of one signature; a short list could ask for a long field over and over.
const PARSED_MAX: usize = 65_536;

const TOO_MUCH: &str = "the values of this and those before it are parsed out of more than 65536 bytes";

/// The value of a component, or why there is none: reason and words.
type Value = Result<Vec<u8>, (Reason, String)>;

fn value(component: &Component, message: &Message) -> Value {
    let value = if component.has("req") {
        let request = match message {
            Message::Request(_) => return Err((Reason::Malformed, REQ_IN_REQUEST.to_owned())),
            Message::Response(response) => response.request,
        };
        let request =
            request.ok_or_else(|| (Reason::HeaderMissing, "the request is not known".to_owned()))?;
        of(component, &Message::Request(request))
    } else {
        of(component, message)
    }?;
    // Values of fields may hold tabs; nothing may hold what would look like another line, or bytes beyond ASCII.
    match value.iter().find(|byte| !matches!(byte, b'\t' | b' '..=b'~')) {
        Some(byte) => {
            let why = format!(
                "its value has the byte {byte:#04x}, which no signature base holds; `;bs` would carry it in a field"
            );
            Err((Reason::Malformed, why))
        }
        None => Ok(value),
    }
}

fn of(component: &Component, message: &Message) -> Value {
    if component.name().starts_with('@') {
        return derived::value(component, message).map(String::into_bytes);
    }
    let request = match message {
        Message::Request(request) => Some(*request),
        Message::Response(_) => None,
    };
    // HTTP/2 has no `Host` line (RFC 9113 section 8.3.1).
    let authority = request.and_then(|request| request.authority);
    match authority {
        Some(authority) if component.name() == "host" => field::value(component, &[authority.as_bytes()]),
        _ => {
            let lines = crate::signature::field::lines(component.name(), message.headers());
            field::value(component, &lines.collect::<Vec<_>>())
        }
    }
}

const REQ_IN_REQUEST: &str = "`req` is for signatures of responses (section 2.4)";
