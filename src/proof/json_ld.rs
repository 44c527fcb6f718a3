//! From JSON-LD to RDF (JSON-LD 1.1 API section 8), within bounds.

use std::io::{self, Write};

use oxjsonld::{JsonLdParser, JsonLdRemoteDocument};
use oxrdf::Dataset;
use serde::Serialize;
use serde_json::ser::{Formatter, Serializer};
use serde_json::{Map, Value};

use crate::proof::{CONTEXT, ProofError, contexts};

/// What `document` says in RDF. A blank node with the same name twice is one node; members that no context defines say
/// nothing.
///
/// # Errors
/// On a context that is not bundled, on what is no JSON-LD, and where a bound is passed.
pub(super) fn dataset(document: &Map<String, Value>) -> Result<Dataset, ProofError> {
    let mut census = Census::default();
    census.object(document)?;
    let text = text(document).map_err(|error| ProofError::Canonical(error.to_string()))?;
    let quads = JsonLdParser::new()
        .for_slice(&text)
        .with_load_document_callback(|url, _| match contexts::named(url) {
            Some(context) => Ok(JsonLdRemoteDocument {
                document: context.into(),
                document_url: url.to_owned(),
            }),
            None => Err(format!("there is no context `{url}`").into()),
        });
    quads
        .collect::<Result<Dataset, _>>()
        .map_err(|error| ProofError::Canonical(error.to_string()))
}

/// What of a document costs time to process, counted before it does.
#[derive(Default)]
struct Census {
    values: usize,
    contexts: usize,
    terms: usize,
}

impl Census {
    fn object(&mut self, object: &Map<String, Value>) -> Result<(), ProofError> {
        for (name, value) in object {
            match name.as_str() {
                CONTEXT => self.context(value)?,
                _ => self.value(value)?,
            }
        }
        Ok(())
    }

    fn value(&mut self, value: &Value) -> Result<(), ProofError> {
        self.values += 1;
        if self.values > MAX_VALUES {
            return Err(beyond("values", MAX_VALUES));
        }
        match value {
            Value::Object(object) => self.object(object),
            Value::Array(values) => values.iter().try_for_each(|value| self.value(value)),
            _ => Ok(()),
        }
    }

    /// A context, of which each part is worked off wherever it stands. One inside a term's definition would be again
    /// for each use of the term; only bundled contexts have such.
    fn context(&mut self, context: &Value) -> Result<(), ProofError> {
        self.contexts += 1;
        if self.contexts > MAX_CONTEXTS {
            return Err(beyond("contexts", MAX_CONTEXTS));
        }
        self.terms += context.as_object().map_or(0, Map::len);
        if self.terms > MAX_TERMS {
            return Err(beyond("terms in its contexts", MAX_TERMS));
        }
        match context {
            Value::Array(parts) => parts.iter().try_for_each(|part| self.context(part)),
            Value::String(url) => match contexts::named(url) {
                Some(_) => Ok(()),
                None => Err(ProofError::Context(url.clone())),
            },
            Value::Object(terms) => terms.iter().try_for_each(|(term, definition)| match definition {
                Value::String(url) if term == "@import" && contexts::named(url).is_none() => {
                    Err(ProofError::Context(url.clone()))
                }
                Value::Object(definition) if definition.contains_key(CONTEXT) => Err(ProofError::Canonical(
                    format!("`{term}` is defined with a context of its own"),
                )),
                definition => self.value(definition),
            }),
            _ => Ok(()),
        }
    }
}

fn beyond(what: &str, bound: usize) -> ProofError {
    ProofError::Canonical(format!("it has more than {bound} {what}"))
}

/// JSON with numbers as RDF has them, since the parser takes their digits as they stand.
fn text(document: &Map<String, Value>) -> Result<Vec<u8>, serde_json::Error> {
    let mut serializer = Serializer::with_formatter(Vec::new(), Numbers);
    document.serialize(&mut serializer)?;
    Ok(serializer.into_inner())
}

/// JSON-LD 1.1 API section 8.6, "Data Round Tripping": whole numbers below 10^21 have all their digits, others sixteen,
/// as `%1.15E` prints them.
struct Numbers;

impl Formatter for Numbers {
    fn write_f64<W: ?Sized + Write>(&mut self, writer: &mut W, value: f64) -> io::Result<()> {
        match value.fract() == 0.0 && value.abs() < 1e21 {
            true => write!(writer, "{value:.0}"),
            false => write!(writer, "{value:.15E}"),
        }
    }
}

/// How many values a document may have, those of its contexts included; a long post has a few hundred.
const MAX_VALUES: usize = 10_000;
/// How many contexts, each part of an array counted; a post has two or three.
const MAX_CONTEXTS: usize = 32;
/// How many terms its own contexts may define; those of a post about fifty. The parser calls itself for a term that is
/// defined by another, so this bounds the stack, too.
const MAX_TERMS: usize = 256;
