//! The `Signature` header and its parameters (draft-cavage-12 sections 2.1 and 4.1, RFC 9110 section 11.4).

use crate::signature::cavage::algorithm::forbids_times;
use crate::signature::cavage::base::{CREATED, EXPIRES, Times};
use crate::signature::{Dialect, Reason, Verdict};

/// A signature's parameters, each in a form that can be used. What is wrong with them beyond that is a finding of
/// verification.
#[derive(Clone, Debug)]
pub struct Header {
    key_id: String,
    pub(super) algorithm: Option<String>,
    created: Option<String>,
    expires: Option<String>,
    pub(super) covered: Vec<String>,
    /// The same as the `headers` parameter spells them; empty without one.
    pub(super) listed: Vec<String>,
    /// The `signature` parameter as it came.
    pub(super) signature: String,
    pub(super) notes: Vec<&'static str>,
}

impl Header {
    /// Reads the parameters. Their names are read in any case, their values as token or quoted string; spaces around
    /// commas and `=` and empty list members are let pass; unknown parameters are passed over.
    ///
    /// # Errors
    /// A verdict of [`Reason::Malformed`], with key id and covered components where they could be read.
    pub(in crate::signature) fn parse(
        text: &[u8],
        note: Option<&'static str>,
    ) -> Result<Header, Box<Verdict>> {
        let Ok(text) = std::str::from_utf8(text) else {
            return Err(Box::new(malformed("the signature header is no UTF-8")));
        };
        let mut parameters = Vec::new();
        let syntax = read(text, &mut parameters);
        let found = |name: &str| {
            let parameter = parameters
                .iter()
                .find(|(found, _)| name.eq_ignore_ascii_case(found));
            parameter.map(|(_, value)| value.clone())
        };
        let listed = found("headers").map(|headers| components(&headers));
        let covered = listed.iter().flatten().map(|name| name.to_ascii_lowercase());
        let fail = |detail: String| {
            Box::new(Verdict {
                key_id: found("keyId"),
                covered: covered.clone().take(MAX_COVERED).collect(),
                notes: note.into_iter().collect(),
                ..malformed(detail)
            })
        };
        syntax.map_err(|error| fail(error.to_string()))?;
        let (Some(key_id), Some(signature)) = (found("keyId"), found("signature")) else {
            return Err(fail("`keyId` and `signature` must both be there".to_owned()));
        };
        let algorithm = found("algorithm");
        let header = Header {
            key_id,
            covered: match &listed {
                Some(_) => covered.clone().collect(),
                None => default_components(algorithm.as_deref()),
            },
            listed: listed.clone().unwrap_or_default(),
            algorithm,
            created: found("created"),
            expires: found("expires"),
            signature,
            notes: note.into_iter().collect(),
        };
        match header.fault() {
            Some(detail) => Err(fail(detail)),
            None => Ok(header),
        }
    }

    /// What makes the parameters unusable, in words.
    fn fault(&self) -> Option<String> {
        if self.key_id.is_empty() {
            return Some("`keyId` is empty".to_owned());
        }
        // Section 2.1.6: a signature of nothing says nothing.
        if self.covered.is_empty() {
            return Some("`headers` is empty: the signature covers nothing".to_owned());
        }
        if self.covered.len() > MAX_COVERED {
            let listed = self.covered.len();
            return Some(format!(
                "`headers` lists {listed} components; at most {MAX_COVERED} are read"
            ));
        }
        let times = self.times();
        if let Some(text) = times.created.filter(|text| text.parse::<i64>().is_err()) {
            return Some(format!(
                "`created` is `{text}`; it should be a Unix time in whole seconds"
            ));
        }
        let expires = times.expires?;
        if seconds(expires).is_none() {
            return Some(format!("`expires` is `{expires}`; it should be a Unix time"));
        }
        // Section 2.1.5 lets it have decimals, and section 2.3 item 3 has no place for them in the signature base.
        let unsignable = self.covers(EXPIRES) && expires.contains('.');
        unsignable.then(|| {
            format!("`expires` is `{expires}` and covered; it should be a Unix time in whole seconds then")
        })
    }

    /// The key id as the signature gives it.
    pub fn key_id(&self) -> &str {
        &self.key_id
    }

    /// The covered components in order, lower case.
    pub fn covered(&self) -> &[String] {
        &self.covered
    }

    pub(super) fn covers(&self, name: &str) -> bool {
        self.covered.iter().any(|covered| covered == name)
    }

    /// `created` and `expires` as they came.
    pub(super) fn times(&self) -> Times<'_> {
        Times {
            created: self.created.as_deref(),
            expires: self.expires.as_deref(),
        }
    }

    /// `created` as a Unix time.
    pub fn created(&self) -> Option<i64> {
        self.created.as_deref()?.parse().ok()
    }

    /// `expires` as a Unix time, in whole seconds.
    pub(super) fn expires(&self) -> Option<i64> {
        seconds(self.expires.as_deref()?)
    }
}

/// A verdict on a header that does not parse.
pub(in crate::signature) fn malformed(detail: impl Into<String>) -> Verdict {
    Verdict {
        dialect: Some(Dialect::Cavage),
        ..Verdict::invalid(Reason::Malformed, detail)
    }
}

/// The names in a `headers` parameter.
fn components(headers: &str) -> Vec<String> {
    headers.split_ascii_whitespace().map(str::to_owned).collect()
}

/// What is covered without a `headers` parameter (section 2.1.6): `(created)`, or `date` under the names that forbid
/// that, as the editions of the draft had it that these names are from.
fn default_components(algorithm: Option<&str>) -> Vec<String> {
    match algorithm.is_some_and(forbids_times) {
        true => vec!["date".to_owned()],
        false => vec![CREATED.to_owned()],
    }
}

/// Whole seconds of a Unix time that may have decimals, as `expires` may (section 2.1.5).
fn seconds(text: &str) -> Option<i64> {
    let (whole, decimals) = text.split_once('.').unwrap_or((text, "0"));
    let digits = !decimals.is_empty() && decimals.bytes().all(|byte| byte.is_ascii_digit());
    whole.parse().ok().filter(|_| digits)
}

/// Reads `name=value` pairs into `parameters`, as far as they go.
fn read(text: &str, parameters: &mut Vec<(String, String)>) -> Result<(), SyntaxError> {
    let mut rest = Rest(text);
    loop {
        while rest.skip_whitespace().take(',') {}
        if rest.0.is_empty() {
            return Ok(());
        }
        let name = rest.token().to_owned();
        if name.is_empty() {
            return Err(SyntaxError::NoName(excerpt(rest.0)));
        }
        if !rest.skip_whitespace().take('=') {
            return Err(SyntaxError::NoValue(name));
        }
        let value = if rest.skip_whitespace().take('"') {
            let value = rest.quoted();
            value.ok_or_else(|| SyntaxError::Unbalanced(name.clone()))?
        } else {
            rest.token().to_owned()
        };
        if !rest.skip_whitespace().0.is_empty() && !rest.0.starts_with(',') {
            return Err(SyntaxError::NoComma {
                name,
                rest: excerpt(rest.0),
            });
        }
        if parameters
            .iter()
            .any(|(other, _)| name.eq_ignore_ascii_case(other))
        {
            return Err(SyntaxError::Repeated(name));
        }
        if parameters.len() == MAX_PARAMETERS {
            return Err(SyntaxError::TooMany);
        }
        parameters.push((name, value));
    }
}

/// What of the text is yet to be read.
struct Rest<'a>(&'a str);

impl<'a> Rest<'a> {
    fn skip_whitespace(&mut self) -> &mut Rest<'a> {
        self.0 = self.0.trim_start_matches([' ', '\t']);
        self
    }

    fn take(&mut self, expected: char) -> bool {
        let taken = self.0.strip_prefix(expected);
        self.0 = taken.unwrap_or(self.0);
        taken.is_some()
    }

    /// A token (RFC 9110 section 5.6.2), possibly empty.
    fn token(&mut self) -> &'a str {
        let is_part = |c: char| c.is_ascii_alphanumeric() || "!#$%&'*+-.^_`|~".contains(c);
        let end = self.0.find(|c| !is_part(c)).unwrap_or(self.0.len());
        let (token, rest) = self.0.split_at(end);
        self.0 = rest;
        token
    }

    /// What stands up to the closing quote, backslashes undone (RFC 9110 section 5.6.4); `None` without one.
    fn quoted(&mut self) -> Option<String> {
        let mut value = String::new();
        let mut rest = self.0;
        loop {
            let (plain, marked) = rest.split_at(rest.find(['"', '\\'])?);
            value.push_str(plain);
            let mut characters = marked.chars();
            if characters.next() == Some('"') {
                self.0 = characters.as_str();
                return Some(value);
            }
            value.push(characters.next()?);
            rest = characters.as_str();
        }
    }
}

#[derive(Debug, thiserror::Error)]
enum SyntaxError {
    #[error("`{name}` is followed by `{rest}` where a comma was expected")]
    NoComma { name: String, rest: String },
    #[error("`{0}` is no parameter: `name=\"value\"` was expected")]
    NoName(String),
    #[error("`{0}` has no `=` and value")]
    NoValue(String),
    #[error("`{0}` is there twice")]
    Repeated(String),
    #[error("there are more than {MAX_PARAMETERS} parameters")]
    TooMany,
    #[error("the value of `{0}` has no closing quote")]
    Unbalanced(String),
}

fn excerpt(text: &str) -> String {
    text.chars().take(20).collect()
}

/// How many parameters a signature may have; the draft knows six.
const MAX_PARAMETERS: usize = 32;

/// How many components a signature may cover. A short list may name a long header over and over.
const MAX_COVERED: usize = 64;
