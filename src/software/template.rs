//! Text with placeholders: `{origin}/users/{name}`. The same template writes a URL and reads it back, so a route and
//! the ids that lead to it cannot drift apart.

use std::fmt;

use serde_json::Value;

use crate::software::Values;

/// Text with placeholders: `{name}` stands for a value, `{{` and `}}` for the braces themselves.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Template {
    parts: Vec<Part>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Part {
    Literal(String),
    Placeholder(String),
}

impl Template {
    /// Reads a template that may name the values in `known` and no others.
    pub fn parse(text: &str, known: &[&str]) -> Result<Template, TemplateError> {
        let mut parts = Vec::new();
        let mut literal = String::new();
        let mut rest = text;
        while let Some(at) = rest.find(['{', '}']) {
            literal.push_str(&rest[..at]);
            let brace = &rest[at..at + 1];
            let after = &rest[at + 1..];
            if let Some(after) = after.strip_prefix(brace) {
                literal.push_str(brace);
                rest = after;
                continue;
            }
            let (name, after) = match after.split_once('}') {
                Some((name, after)) if brace == "{" && !name.contains('{') => (name, after),
                _ => return Err(TemplateError::Unbalanced(rest[at..].to_owned())),
            };
            if !known.contains(&name) {
                let known = known.iter().map(|name| (*name).to_owned()).collect();
                return Err(TemplateError::Unknown {
                    name: name.to_owned(),
                    known,
                });
            }
            if !literal.is_empty() {
                parts.push(Part::Literal(std::mem::take(&mut literal)));
            }
            parts.push(Part::Placeholder(name.to_owned()));
            rest = after;
        }
        literal.push_str(rest);
        if !literal.is_empty() {
            parts.push(Part::Literal(literal));
        }
        Ok(Template { parts })
    }

    /// The text for these values: strings as they are, everything else as JSON. A value that was not set is empty.
    pub fn render(&self, values: &Values) -> String {
        let mut text = String::new();
        for part in &self.parts {
            match part {
                Part::Literal(literal) => text.push_str(literal),
                Part::Placeholder(name) => match values.get(name) {
                    Some(Value::String(value)) => text.push_str(value),
                    Some(value) => text.push_str(&value.to_string()),
                    None => {}
                },
            }
        }
        text
    }

    /// Reads back what [`Template::render`] wrote, byte for byte: each placeholder takes one character or more,
    /// none of `/`, `?`, `#`; a leading `{origin}` takes scheme and authority. Nothing is percent-decoded.
    pub fn captures(&self, text: &str) -> Option<Captures> {
        if !self.is_rooted() {
            return capture(&self.parts, text);
        }
        let authority = text.find("://")? + 3;
        let path = text[authority..]
            .find(['/', '?', '#'])
            .map_or(text.len(), |length| authority + length);
        let mut captures = capture(&self.parts[1..], &text[path..])?;
        captures.0.insert(0, (ORIGIN.to_owned(), text[..path].to_owned()));
        Some(captures)
    }

    /// Reads what follows `{origin}`: the path and query of a request, as they came. `None` also where the template
    /// does not begin with `{origin}`.
    pub fn path_captures(&self, path_and_query: &str) -> Option<Captures> {
        match self.is_rooted() {
            true => capture(&self.parts[1..], path_and_query),
            false => None,
        }
    }

    /// Whether it begins with `{origin}`, so that a path can be matched against it.
    pub fn is_rooted(&self) -> bool {
        matches!(self.parts.first(), Some(Part::Placeholder(name)) if name == ORIGIN)
    }

    /// The placeholder this template consists of, where it is one alone.
    pub(super) fn sole_placeholder(&self) -> Option<&str> {
        match self.parts.as_slice() {
            [Part::Placeholder(name)] => Some(name),
            _ => None,
        }
    }
}

impl fmt::Display for Template {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for part in &self.parts {
            match part {
                Part::Literal(text) => f.write_str(&text.replace('{', "{{").replace('}', "}}"))?,
                Part::Placeholder(name) => write!(f, "{{{name}}}")?,
            }
        }
        Ok(())
    }
}

/// What the placeholders of a template matched, as it stood in the text.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Captures(Vec<(String, String)>);

impl Captures {
    /// What that placeholder matched.
    pub fn get(&self, name: &str) -> Option<&str> {
        self.0
            .iter()
            .find(|(known, _)| known == name)
            .map(|(_, text)| text.as_str())
    }
}

/// Why a template or a document does not parse.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TemplateError {
    /// The document is no JSON; the line counts from 1 within it.
    #[error("no JSON: {message}")]
    Json {
        /// The line within the document.
        line: usize,
        /// What the reader says.
        message: String,
    },
    /// A brace without its other half.
    #[error("unbalanced brace at `{0}`; write `{{{{` or `}}}}` for a brace itself")]
    Unbalanced(String),
    /// A placeholder for a value that does not exist here.
    #[error("unknown placeholder `{{{name}}}`; known here: {}", .known.join(", "))]
    Unknown {
        /// The name as written.
        name: String,
        /// The names that may stand here.
        known: Vec<String>,
    },
}

/// Matches parts against the whole text, each placeholder as short as it can be. Taking the nearest place for the next
/// literal never loses a match: what it leaves over is free of `/`, `?`, `#` and falls to the next placeholder.
fn capture(parts: &[Part], text: &str) -> Option<Captures> {
    let mut captures = Captures::default();
    let mut rest = text;
    let mut parts = parts.iter().peekable();
    while let Some(part) = parts.next() {
        let name = match part {
            Part::Literal(literal) => {
                rest = rest.strip_prefix(literal.as_str())?;
                continue;
            }
            Part::Placeholder(name) => name,
        };
        let free = rest.find(['/', '?', '#']).unwrap_or(rest.len());
        let length = match parts.peek() {
            None => rest.len(),
            Some(Part::Placeholder(_)) => first_character(rest)?,
            Some(Part::Literal(literal)) => {
                let after_first = first_character(rest)?;
                // The last literal has to reach the end, so its last place is the one that counts.
                match parts.clone().count() {
                    1 => rest.strip_suffix(literal.as_str())?.len(),
                    _ => after_first + rest[after_first..].find(literal.as_str())?,
                }
            }
        };
        if length == 0 || length > free {
            return None;
        }
        let (found, after) = rest.split_at(length);
        match captures.get(name) {
            Some(before) if before != found => return None,
            Some(_) => {}
            None => captures.0.push((name.clone(), found.to_owned())),
        }
        rest = after;
    }
    rest.is_empty().then_some(captures)
}

fn first_character(text: &str) -> Option<usize> {
    text.chars().next().map(char::len_utf8)
}

/// The value that stands for scheme, host and port.
const ORIGIN: &str = "origin";

#[cfg(test)]
mod tests {
    use super::*;

    const KNOWN: &[&str] = &["origin", "name", "note", "next", "total", "object"];

    fn template(text: &str) -> Template {
        Template::parse(text, KNOWN).unwrap()
    }

    #[test]
    fn a_template_writes_values_and_braces() {
        let values = Values::default()
            .with("origin", "https://a.test")
            .with("total", 3);
        assert_eq!(
            template("{origin}/x?{{uri}}={total}{name}").render(&values),
            "https://a.test/x?{uri}=3"
        );
    }

    #[test]
    fn a_wrong_placeholder_is_named_with_those_that_exist() {
        let error = Template::parse("{origin}/{nam}", &["origin", "name"]).unwrap_err();
        assert_eq!(
            error.to_string(),
            "unknown placeholder `{nam}`; known here: origin, name"
        );
        for text in ["{origin", "origin}", "{or{name}", "}{", "{name}}", "{"] {
            let error = Template::parse(text, KNOWN).unwrap_err();
            assert!(matches!(error, TemplateError::Unbalanced(_)), "{text}: {error}");
        }
    }

    #[test]
    fn a_path_is_read_by_the_template_that_wrote_it() {
        let note = template("{origin}/users/{name}/statuses/{note}");
        let captures = note.path_captures("/users/alice/statuses/17").unwrap();
        assert_eq!(
            (captures.get("name"), captures.get("note")),
            (Some("alice"), Some("17"))
        );
        let captures = note
            .captures("https://a.test:7443/users/alice/statuses/17")
            .unwrap();
        assert_eq!(captures.get("origin"), Some("https://a.test:7443"));
        for path in [
            "/users/alice/statuses/",
            "/users/alice/statuses/1/activity",
            "/users/alice/statuses/1?x=1",
            "/users//statuses/1",
            "/users/a/b/statuses/1",
            "users/alice/statuses/1",
            "",
        ] {
            assert_eq!(note.path_captures(path), None, "{path}");
        }
        assert_eq!(
            template("{origin}/").path_captures("/"),
            Some(Captures::default())
        );
        assert_eq!(template("{name}/x").path_captures("alice/x"), None);
    }

    #[test]
    fn literals_between_and_after_placeholders_are_found() {
        let captures = template("{origin}/n/{name}.{note}.json")
            .path_captures("/n/a.b.json.json")
            .unwrap();
        assert_eq!(
            (captures.get("name"), captures.get("note")),
            (Some("a"), Some("b.json"))
        );
        assert_eq!(
            template("{origin}/{name}.json")
                .path_captures("/a.json.json")
                .unwrap()
                .get("name"),
            Some("a.json")
        );
        assert_eq!(template("{origin}/{name}/{name}").path_captures("/a/b"), None);
        assert!(template("{origin}/{name}/{name}").path_captures("/a/a").is_some());
        let query = template("{origin}/?author={note}");
        assert_eq!(query.path_captures("/?author=3").unwrap().get("note"), Some("3"));
    }

    proptest::proptest! {
        #[test]
        fn no_text_makes_the_parsers_panic(text in ".{0,40}", other in ".{0,40}") {
            if let Ok(template) = Template::parse(&text, KNOWN) {
                let _ = (template.captures(&other), template.path_captures(&other));
                proptest::prop_assert_eq!(Template::parse(&template.to_string(), KNOWN).unwrap(), template);
            }
        }

        #[test]
        fn what_was_written_is_read_back(
            shape in "(/[a-z]{0,3}|\\{name\\}|\\{note\\}|[-.@]){0,6}",
            name in "[a-z0-9é.]{1,6}",
            note in "[0-9]{1,6}",
        ) {
            let template = template(&format!("{{origin}}/{shape}"));
            let values = Values::default().with("origin", "https://a.test:1").with("name", name).with("note", note);
            let text = template.render(&values);
            if let Some(captures) = template.captures(&text) {
                let again = template.parts.iter().map(|part| match part {
                    Part::Literal(literal) => literal.as_str(),
                    Part::Placeholder(name) => captures.get(name).unwrap(),
                }).collect::<String>();
                proptest::prop_assert_eq!(&again, &text);
            } else {
                // Only a value that stands twice can be split in a way that contradicts itself.
                let twice = |name: &str| shape.matches(name).count() > 1;
                proptest::prop_assert!(twice("{name}") || twice("{note}"), "{} in {}", template, text);
            }
        }

        #[test]
        fn ids_between_slashes_come_back_whole(name in "[a-z0-9_.+-]{1,12}", note in "[a-z0-9-]{1,36}") {
            let template = template("{origin}/users/{name}/statuses/{note}/activity");
            let values = Values::default().with("origin", "http://a.test").with("name", &*name).with("note", &*note);
            let captures = template.captures(&template.render(&values)).unwrap();
            proptest::prop_assert_eq!(captures.get("name"), Some(&*name));
            proptest::prop_assert_eq!(captures.get("note"), Some(&*note));
        }
    }
}
