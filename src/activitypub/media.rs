//! Media types (RFC 9110 section 8.3.1) with their parameters, and the two that ActivityPub documents carry.

/// The namespace of ActivityStreams, its JSON-LD context and profile.
pub const ACTIVITY_STREAMS: &str = "https://www.w3.org/ns/activitystreams";

/// The collection that addresses everybody (ActivityPub section 5.6).
pub const PUBLIC: &str = "https://www.w3.org/ns/activitystreams#Public";

/// The media type of ActivityStreams (ActivityStreams 2.0 section 1.4).
pub const ACTIVITY_JSON: &str = "application/activity+json";

/// Its other name (ActivityPub section 3.2).
pub const LD_JSON: &str = r#"application/ld+json; profile="https://www.w3.org/ns/activitystreams""#;

/// Whether a `Content-Type` is one of an ActivityStreams document: `application/activity+json`, or
/// `application/ld+json` whose `profile` names ActivityStreams. Parameters besides do not matter.
pub fn is_activity(content_type: &str) -> bool {
    MediaType::parse(content_type).is_some_and(|media| {
        media.is("application", "activity+json")
            || (media.is("application", "ld+json") && media.has_profile(ACTIVITY_STREAMS))
    })
}

/// A media type or a media range, in lower case but for the values of its parameters.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MediaType {
    /// `application`, or `*`.
    pub kind: String,
    /// `ld+json`, or `*`.
    pub subtype: String,
    /// The parameters in their order, unquoted.
    pub parameters: Vec<(String, String)>,
}

impl MediaType {
    /// Reads `type/subtype; name=value; name="value"`. `None` where type or subtype is missing or no token; a
    /// parameter that does not parse is left out.
    pub fn parse(text: &str) -> Option<MediaType> {
        let mut parts = split_outside_quotes(text, b';').into_iter();
        let (kind, subtype) = match parts.next()?.trim() {
            // Java's URLConnection has sent a bare `*` for decades.
            "*" => ("*", "*"),
            essence => essence.split_once('/')?,
        };
        if !is_token(kind) || !is_token(subtype) {
            return None;
        }
        Some(MediaType {
            kind: kind.to_ascii_lowercase(),
            subtype: subtype.to_ascii_lowercase(),
            parameters: parts.filter_map(parameter).collect(),
        })
    }

    /// Whether it is this type and subtype, both given in lower case.
    pub fn is(&self, kind: &str, subtype: &str) -> bool {
        self.kind == kind && self.subtype == subtype
    }

    /// The value of a parameter, whose name is given in lower case.
    pub fn parameter(&self, name: &str) -> Option<&str> {
        let found = self.parameters.iter().find(|(own, _)| own == name)?;
        Some(&found.1)
    }

    /// Whether `profile`, a list of URIs with spaces between (RFC 6906 section 3.1), names this one.
    pub fn has_profile(&self, uri: &str) -> bool {
        self.parameter("profile")
            .is_some_and(|list| list.split_ascii_whitespace().any(|own| own == uri))
    }
}

/// Splits at a separator that stands outside quoted strings (RFC 9110 section 5.6.4).
pub(super) fn split_outside_quotes(text: &str, separator: u8) -> Vec<&str> {
    let (mut parts, mut start) = (Vec::new(), 0);
    let (mut quoted, mut escaped) = (false, false);
    for (place, byte) in text.bytes().enumerate() {
        match byte {
            _ if escaped => escaped = false,
            b'\\' if quoted => escaped = true,
            b'"' => quoted = !quoted,
            _ if byte == separator && !quoted => {
                parts.push(&text[start..place]);
                start = place + 1;
            }
            _ => {}
        }
    }
    parts.push(&text[start..]);
    parts
}

fn parameter(text: &str) -> Option<(String, String)> {
    let (name, value) = text.split_once('=')?;
    let (name, value) = (name.trim(), value.trim());
    if !is_token(name) {
        return None;
    }
    let value = match value.strip_prefix('"').and_then(|rest| rest.strip_suffix('"')) {
        Some(quoted) => unescape(quoted),
        None => value.to_owned(),
    };
    Some((name.to_ascii_lowercase(), value))
}

fn unescape(quoted: &str) -> String {
    let mut text = String::with_capacity(quoted.len());
    let mut chars = quoted.chars();
    while let Some(next) = chars.next() {
        match next {
            '\\' => text.extend(chars.next()),
            plain => text.push(plain),
        }
    }
    text
}

/// RFC 9110 section 5.6.2.
fn is_token(text: &str) -> bool {
    let token = |byte: u8| byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte);
    !text.is_empty() && text.bytes().all(token)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn activity_types_are_known_with_any_spelling() {
        for text in [
            "application/activity+json",
            "Application/Activity+JSON; charset=utf-8",
            r#"application/ld+json; profile="https://www.w3.org/ns/activitystreams""#,
            r#"application/ld+json;charset=utf-8;profile="https://www.w3.org/ns/activitystreams""#,
            r#"application/ld+json; profile="https://x.test/p https://www.w3.org/ns/activitystreams""#,
            "application/ld+json; profile=https://www.w3.org/ns/activitystreams",
        ] {
            assert!(is_activity(text), "{text}");
        }
        for text in [
            "application/json",
            "application/ld+json",
            "text/html",
            "",
            "activity+json",
            "a b/c",
        ] {
            assert!(!is_activity(text), "{text}");
        }
    }

    #[test]
    fn separators_inside_quotes_separate_nothing() {
        let media = MediaType::parse(r#"text/plain; a="x;y=\"z"; B=2; broken"#).unwrap();
        assert_eq!(media.parameter("a"), Some(r#"x;y="z"#));
        assert_eq!(media.parameter("b"), Some("2"));
        assert_eq!(media.parameters.len(), 2);
    }
}
