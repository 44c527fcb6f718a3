//! JSON with placeholders.

use serde_json::Value;

use crate::software::{Template, TemplateError, Values};

/// A JSON document whose strings are templates. A string that is one placeholder alone becomes the value itself, be
/// it number, object or array; where that value is not set, the key or array member is left out.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Document(Node);

#[derive(Clone, Debug, PartialEq)]
enum Node {
    Array(Vec<Node>),
    Object(Vec<(String, Node)>),
    Plain(Value),
    Text(Template),
}

impl Default for Node {
    fn default() -> Node {
        Node::Plain(Value::Null)
    }
}

impl Document {
    /// Reads a document that may name the values in `known` and no others. Keys are plain text.
    pub fn parse(json: &str, known: &[&str]) -> Result<Document, TemplateError> {
        let value: Value = serde_json::from_str(json).map_err(|error| {
            let message = error.to_string();
            let message = message
                .rsplit_once(" at line ")
                .map_or(message.as_str(), |(message, _)| message);
            TemplateError::Json {
                line: error.line(),
                message: message.to_owned(),
            }
        })?;
        Node::of(value, known).map(Document)
    }

    /// The document for these values, keys in the order written. What is put in place of a placeholder loses its own
    /// `@context`: in JSON-LD that of the outer document covers it.
    pub fn render(&self, values: &Values) -> Value {
        self.0.render(values).unwrap_or(Value::Null)
    }
}

impl Node {
    fn of(value: Value, known: &[&str]) -> Result<Node, TemplateError> {
        Ok(match value {
            Value::Array(members) => {
                let members: Result<_, _> = members
                    .into_iter()
                    .map(|member| Node::of(member, known))
                    .collect();
                Node::Array(members?)
            }
            Value::Object(entries) => {
                let entries: Result<_, _> = entries
                    .into_iter()
                    .map(|(key, value)| Ok((key, Node::of(value, known)?)))
                    .collect();
                Node::Object(entries?)
            }
            Value::String(text) => Node::Text(Template::parse(&text, known)?),
            plain => Node::Plain(plain),
        })
    }

    fn render(&self, values: &Values) -> Option<Value> {
        Some(match self {
            Node::Array(members) => members
                .iter()
                .filter_map(|member| member.render(values))
                .collect(),
            Node::Object(entries) => {
                let entries = entries
                    .iter()
                    .filter_map(|(key, node)| Some((key.clone(), node.render(values)?)));
                Value::Object(entries.collect())
            }
            Node::Plain(value) => value.clone(),
            Node::Text(template) => match template.sole_placeholder() {
                Some(name) => embedded(values.get(name)?.clone()),
                None => template.render(values).into(),
            },
        })
    }
}

fn embedded(mut value: Value) -> Value {
    let drop_context = |value: &mut Value| {
        if let Value::Object(entries) = value {
            entries.shift_remove("@context");
        }
    };
    drop_context(&mut value);
    if let Value::Array(members) = &mut value {
        members.iter_mut().for_each(drop_context);
    }
    value
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    const KNOWN: &[&str] = &["name", "next", "total", "object"];

    #[test]
    fn a_document_keeps_types_and_order_and_leaves_out_what_is_missing() {
        let text = r#"{"z": "{total}", "next": "{next}", "a": ["{name}", "{next}", "x{next}"], "o": "{object}", "n": null}"#;
        let document = Document::parse(text, KNOWN).unwrap();
        let values = Values::default()
            .with("total", 12)
            .with("name", "alice")
            .with("object", json!({"@context": "x", "id": "y"}));
        let rendered = document.render(&values);
        assert_eq!(
            rendered.to_string(),
            r#"{"z":12,"a":["alice","x"],"o":{"id":"y"},"n":null}"#
        );
    }

    #[test]
    fn a_document_that_is_no_json_names_the_line() {
        let error = Document::parse("{\n  \"a\": 1,\n}", KNOWN).unwrap_err();
        assert!(matches!(error, TemplateError::Json { line: 3, .. }), "{error}");
        assert!(Document::parse(r#"{"a": ["{nam}"]}"#, KNOWN).is_err());
    }

    proptest::proptest! {
        #[test]
        fn no_text_makes_the_parser_panic(text in "[\\[\\]{}\":,a-z0-9]{0,30}") {
            if let Ok(document) = Document::parse(&text, KNOWN) {
                document.render(&Values::default());
            }
        }
    }
}
