//! Which form of a resource an `Accept` asks for (RFC 9110 section 12.5.1).

use std::cmp::Ordering;

use http::HeaderMap;
use http::header::ACCEPT;

use crate::activitypub::media::{ACTIVITY_STREAMS, MediaType, split_outside_quotes};

/// The two forms of an actor or a note.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// The ActivityStreams document.
    Document,
    /// The page for people.
    Page,
}

/// Chooses by the qualities of all `Accept` lines. No `Accept`, `*/*` and every other tie give `usual`; so does an
/// `Accept` that takes neither (RFC 9110 section 12.4.1 lets a server disregard it).
pub fn negotiate(headers: &HeaderMap, usual: Form) -> Form {
    let ranges = ranges(headers);
    let best = |offers: &[Offer]| {
        offers
            .iter()
            .map(|offer| offer.quality(&ranges))
            .max()
            .unwrap_or(0)
    };
    match best(&PAGE).cmp(&best(&DOCUMENT)) {
        Ordering::Equal => usual,
        Ordering::Greater => Form::Page,
        Ordering::Less => Form::Document,
    }
}

/// Whether an `Accept` names JSON before XML: what host-meta's one path with two forms goes by. XML where it says
/// neither.
pub fn prefers_json(headers: &HeaderMap) -> bool {
    let ranges = ranges(headers);
    let best = |offers: &[Offer]| {
        offers
            .iter()
            .map(|offer| offer.quality(&ranges))
            .max()
            .unwrap_or(0)
    };
    best(&JSON) > best(&XML)
}

/// A media type under which a form can be had.
struct Offer {
    kind: &'static str,
    subtype: &'static str,
    profile: Option<&'static str>,
}

const fn plain(kind: &'static str, subtype: &'static str) -> Offer {
    Offer {
        kind,
        subtype,
        profile: None,
    }
}

/// `application/json` asks for the document too, as at Mastodon; what it gets carries the ActivityStreams type.
const DOCUMENT: [Offer; 3] = [
    plain("application", "activity+json"),
    Offer {
        kind: "application",
        subtype: "ld+json",
        profile: Some(ACTIVITY_STREAMS),
    },
    plain("application", "json"),
];
const PAGE: [Offer; 1] = [plain("text", "html")];
const JSON: [Offer; 2] = [plain("application", "json"), plain("application", "jrd+json")];
const XML: [Offer; 3] = [
    plain("application", "xrd+xml"),
    plain("application", "xml"),
    plain("text", "xml"),
];

/// A media range with its quality in thousandths.
struct Range {
    media: MediaType,
    quality: u16,
}

impl Offer {
    /// The quality that the most specific range gives this offer; 0 where none matches. Without ranges all is well.
    fn quality(&self, ranges: &[Range]) -> u16 {
        if ranges.is_empty() {
            return FULL;
        }
        let matching = ranges
            .iter()
            .filter_map(|range| Some((self.match_of(&range.media)?, range.quality)));
        matching.max().map_or(0, |(_, quality)| quality)
    }

    /// How specifically a range names this offer: 0 for `*/*`, 1 for `type/*`, 2 for the type, 3 with a profile.
    fn match_of(&self, range: &MediaType) -> Option<u8> {
        match (range.kind.as_str(), range.subtype.as_str()) {
            ("*", "*") => Some(0),
            (kind, "*") if kind == self.kind => Some(1),
            (kind, subtype) if kind == self.kind && subtype == self.subtype => {
                match range.parameter("profile") {
                    None => Some(2),
                    Some(_) => self
                        .profile
                        .is_some_and(|own| range.has_profile(own))
                        .then_some(3),
                }
            }
            _ => None,
        }
    }
}

fn ranges(headers: &HeaderMap) -> Vec<Range> {
    let lines = headers
        .get_all(ACCEPT)
        .iter()
        .filter_map(|line| line.to_str().ok());
    let members = lines.flat_map(|line| split_outside_quotes(line, b','));
    members
        .filter_map(|member| {
            let media = MediaType::parse(member)?;
            let quality = media.parameter("q").map_or(Some(FULL), weight)?;
            Some(Range { media, quality })
        })
        .take(RANGES_MAX)
        .collect()
}

/// A weight in thousandths (RFC 9110 section 12.4.2); a member whose weight is none counts for nothing.
fn weight(text: &str) -> Option<u16> {
    let number: f32 = text.parse().ok()?;
    // NaN lies in no range.
    (0.0..=1.0)
        .contains(&number)
        .then(|| (number * f32::from(FULL)).round() as u16)
}

const FULL: u16 = 1000;

/// How many ranges of one request are looked at.
const RANGES_MAX: usize = 64;

#[cfg(test)]
mod tests {
    use super::*;

    fn accept(lines: &[&str]) -> HeaderMap {
        let mut headers = HeaderMap::new();
        for line in lines {
            headers.append(ACCEPT, line.parse().unwrap());
        }
        headers
    }

    #[test]
    fn programs_get_the_document() {
        let cases: [&[&str]; 15] = [
            &[],
            &[""],
            &["*/*"],
            &["*"],
            &["application/*"],
            &["application/activity+json"],
            &["application/json"],
            &["application/ld+json"],
            &[r#"application/ld+json; profile="https://www.w3.org/ns/activitystreams""#],
            &[
                r#"application/activity+json, application/ld+json; profile="https://www.w3.org/ns/activitystreams", text/html;q=0.1"#,
            ],
            &["text/html;q=0.1", "application/activity+json"],
            &[
                r#"application/ld+json; profile="https://x.test/a,text/html;q=1 https://www.w3.org/ns/activitystreams", text/html;q=0.9"#,
            ],
            &["image/png"],
            &["text/html, application/activity+json"],
            // `*/*` still takes it by its other names.
            &["application/activity+json;q=0, */*"],
        ];
        for lines in cases {
            assert_eq!(
                negotiate(&accept(lines), Form::Document),
                Form::Document,
                "{lines:?}"
            );
        }
        let names_it =
            |text: &str| text.contains("application/") && !text.contains("html") && !text.contains("*/*");
        for lines in cases.iter().filter(|lines| names_it(&lines.concat())) {
            assert_eq!(negotiate(&accept(lines), Form::Page), Form::Document, "{lines:?}");
        }
    }

    #[test]
    fn a_tie_gives_the_usual_form() {
        let cases: [&[&str]; 5] = [
            &[],
            &["*/*"],
            &["*"],
            &["text/html, application/activity+json"],
            &["image/png"],
        ];
        for lines in cases {
            assert_eq!(negotiate(&accept(lines), Form::Page), Form::Page, "{lines:?}");
        }
    }

    #[test]
    fn people_get_the_page() {
        let cases: [&[&str]; 6] = [
            &["text/html"],
            &["text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8"],
            &["text/*, */*;q=0.1"],
            &["application/activity+json;q=0.2", "text/html;q=0.3"],
            // A profile that is not this document's matches nothing.
            &[r#"application/ld+json; profile="https://x.test/p", text/html;q=0.5"#],
            // Neither a weight above one nor a word counts.
            &["application/activity+json;q=7, application/json;q=high, text/html;q=.1"],
        ];
        for lines in cases {
            assert_eq!(negotiate(&accept(lines), Form::Document), Form::Page, "{lines:?}");
        }
    }

    #[test]
    fn host_meta_is_xml_unless_json_is_named() {
        for lines in [
            &["application/json"][..],
            &["application/jrd+json"],
            &["application/json, */*;q=0.1"],
        ] {
            assert!(prefers_json(&accept(lines)), "{lines:?}");
        }
        for lines in [
            &["application/xrd+xml"][..],
            &["*/*"],
            &[],
            &["application/xrd+xml, application/json;q=0.5"],
        ] {
            assert!(!prefers_json(&accept(lines)), "{lines:?}");
        }
    }

    proptest::proptest! {
        #[test]
        fn no_header_makes_it_panic(text in "[ -~]{0,60}", list in "[a-z*/;,=\"\\\\q.0-9 ]{0,60}") {
            let headers = accept(&[&text, &list]);
            let _ = (negotiate(&headers, Form::Page), prefers_json(&headers));
        }

        #[test]
        fn the_order_of_members_does_not_matter(
            mut members in proptest::collection::vec(
                proptest::sample::select(vec![
                    "*/*;q=0.3", "text/*;q=0.4", "text/html", "application/*;q=0.9", "application/activity+json;q=0.5",
                    "application/ld+json;q=0.2", "application/json;q=0",
                ]),
                1..6,
            ),
        ) {
            let there = negotiate(&accept(&[&members.join(",")]), Form::Page);
            members.reverse();
            proptest::prop_assert_eq!(negotiate(&accept(&members), Form::Page), there);
        }
    }
}
