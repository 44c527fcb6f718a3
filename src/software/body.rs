//! The body of a reply: text, or JSON that stays JSON whatever is put into its strings.

use crate::software::{Document, Template, Values};

/// What a reply says.
#[derive(Clone, Debug, PartialEq)]
pub enum Body {
    /// Nothing.
    Empty,
    /// A JSON document.
    Json(Document),
    /// Plain text.
    Text(Template),
}

impl Body {
    /// The text for these values.
    pub fn render(&self, values: &Values) -> String {
        match self {
            Body::Empty => String::new(),
            Body::Json(document) => document.render(values).to_string(),
            Body::Text(template) => template.render(values),
        }
    }

    /// Whether it has none.
    pub fn is_empty(&self) -> bool {
        *self == Body::Empty
    }
}
