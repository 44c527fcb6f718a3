//! The parameters of a call, read strictly: a name that is not known or a value that does not fit is told, never
//! passed over, since a filter that was misspelt would let everything through.

use std::str::FromStr;

use http::StatusCode;
use percent_encoding::percent_decode_str;

use crate::control::Problem;
use crate::ids::Host;
use crate::stats::Kind;

/// The parameters, each at most once, all of them known to the call.
#[derive(Debug)]
pub(super) struct Parameters(Vec<(String, String)>);

impl Parameters {
    /// Reads the part of a target behind its `?`. A `+` stands for itself (RFC 3986), as the zone of a date needs.
    pub(super) fn read(query: Option<&str>, known: &[&str]) -> Result<Parameters, Problem> {
        let mut read: Vec<(String, String)> = Vec::new();
        for pair in query
            .unwrap_or_default()
            .split('&')
            .filter(|pair| !pair.is_empty())
        {
            let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
            let (name, value) = (decoded(name), decoded(value));
            let (Some(name), Some(value)) = (name, value) else {
                let detail = format!("`{pair}` in the query is no UTF-8");
                return Err(Problem::new(StatusCode::BAD_REQUEST, detail));
            };
            if !known.contains(&name.as_str()) {
                let detail = format!("there is no parameter `{name}` here: {}", those(known));
                return Err(bad(detail, &name));
            }
            if read.iter().any(|(earlier, _)| *earlier == name) {
                return Err(bad(format!("`{name}` stands twice: give it once"), &name));
            }
            read.push((name, value));
        }
        Ok(Parameters(read))
    }

    /// A value as text.
    pub(super) fn text(&self, name: &str) -> Option<&str> {
        let found = self.0.iter().find(|(known, _)| known == name);
        found.map(|(_, value)| value.as_str())
    }

    /// A value by its type, whose error says what would be right.
    pub(super) fn value<T>(&self, name: &str) -> Result<Option<T>, Problem>
    where
        T: FromStr<Err: std::fmt::Display>,
    {
        let parse = |text: &str| {
            text.parse()
                .map_err(|error: T::Err| bad(format!("`{name}`: {error}"), name))
        };
        self.text(name).map(parse).transpose()
    }

    /// A value that `read` understands, or else the words for what would be right.
    pub(super) fn read_as<T>(
        &self,
        name: &str,
        read: impl FnOnce(&str) -> Option<T>,
        right: &str,
    ) -> Result<Option<T>, Problem> {
        let Some(text) = self.text(name) else {
            return Ok(None);
        };
        match read(text) {
            Some(value) => Ok(Some(value)),
            None => Err(bad(format!("`{name}`: `{text}` is not {right}"), name)),
        }
    }

    /// A whole number, zero or more.
    pub(super) fn number(&self, name: &str) -> Result<Option<u64>, Problem> {
        self.read_as(name, number, "a whole number, zero or more")
    }

    /// How many entries at the most: from 1 to `most`.
    pub(super) fn limit(&self, default: usize, most: usize) -> Result<usize, Problem> {
        let within = |text: &str| {
            let limit = usize::try_from(number(text)?).ok()?;
            (1..=most).contains(&limit).then_some(limit)
        };
        let limit = self.read_as("limit", within, &format!("a whole number from 1 to {most}"))?;
        Ok(limit.unwrap_or(default))
    }

    /// A host, whose port may stand behind it.
    pub(super) fn host(&self) -> Result<Option<Host>, Problem> {
        let read = |text| Host::before_port(text).map_err(|error| bad(format!("`host`: {error}"), "host"));
        self.text("host").map(read).transpose()
    }

    /// A kind of path that is counted.
    pub(super) fn kind(&self) -> Result<Option<Kind>, Problem> {
        let read = |text: &str| match text {
            "hook" => Some(Kind::Hook),
            "inbox" => Some(Kind::Inbox),
            "unknown" => Some(Kind::Unknown),
            _ => None,
        };
        self.read_as("kind", read, "one of `inbox`, `hook`, `unknown`")
    }
}

/// A refusal that names the parameter.
pub(super) fn bad(detail: String, parameter: &str) -> Problem {
    Problem::new(StatusCode::BAD_REQUEST, detail).with("parameter", parameter)
}

/// Digits alone: `parse` would let a sign pass.
pub(super) fn number(text: &str) -> Option<u64> {
    match text.bytes().all(|byte| byte.is_ascii_digit()) {
        true => text.parse().ok(),
        false => None,
    }
}

/// A part of a target without its percent-encoding.
pub(super) fn decoded(text: &str) -> Option<String> {
    percent_decode_str(text).decode_utf8().ok().map(Into::into)
}

fn those(known: &[&str]) -> String {
    match known {
        [] => "this call takes none".to_owned(),
        _ => format!("this call takes `{}`", known.join("`, `")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn detail(query: &str) -> String {
        let known = ["host", "limit", "kind"];
        let read = Parameters::read(Some(query), &known).and_then(|parameters| {
            parameters.host()?;
            parameters.kind()?;
            parameters.limit(10, 100)
        });
        read.map_or_else(|problem| problem.detail().to_owned(), |limit| limit.to_string())
    }

    #[test]
    fn what_does_not_fit_is_named_with_what_would() {
        for (query, expected) in [
            ("", "10"),
            ("limit=7&&host=a.test&kind=inbox", "7"),
            ("host=a.test:7443", "10"),
            (
                "hots=a.test",
                "there is no parameter `hots` here: this call takes `host`, `limit`, `kind`",
            ),
            ("limit=1&limit=2", "`limit` stands twice: give it once"),
            ("limit=0", "`limit`: `0` is not a whole number from 1 to 100"),
            ("limit=101", "`limit`: `101` is not a whole number from 1 to 100"),
            ("limit=%2B7", "`limit`: `+7` is not a whole number from 1 to 100"),
            ("limit", "`limit`: `` is not a whole number from 1 to 100"),
            (
                "kind=total",
                "`kind`: `total` is not one of `inbox`, `hook`, `unknown`",
            ),
            (
                "host=a..test",
                "`host`: `a..test` is no host name: labels of letters, digits and hyphens, for instance `mastodon1.test`",
            ),
            ("host=%ff", "`host=%ff` in the query is no UTF-8"),
        ] {
            assert_eq!(detail(query), expected, "{query}");
        }
    }

    #[test]
    fn a_plus_stands_for_itself() {
        let parameters = Parameters::read(Some("since=10:00%2B01:00+02"), &["since"]).unwrap();
        assert_eq!(parameters.text("since"), Some("10:00+01:00+02"));
    }

    proptest::proptest! {
        #[test]
        fn no_query_makes_the_reader_panic(query in ".{0,60}") {
            if let Ok(parameters) = Parameters::read(Some(&query), &["a"]) {
                let _ = parameters.number("a");
            }
        }
    }
}
