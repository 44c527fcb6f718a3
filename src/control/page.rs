//! `GET /`: the peers and what arrived at them, on a plain page.

use std::fmt::Write as _;

use http::Response;
use http::header::{CONTENT_SECURITY_POLICY, HeaderValue};

use crate::control::body::whole;
use crate::control::query::Parameters;
use crate::control::{Body, Problem};
use crate::farm::World;
use crate::stats::{Filter, HostSnapshot, PathSnapshot, Snapshot};

/// The page. It runs no script and loads nothing.
pub(super) fn page(world: &World, query: Option<&str>) -> Result<Response<Body>, Problem> {
    Parameters::read(query, &[])?;
    let text = written(&world.snapshot(&Filter::default()));
    let mut response = whole("text/html; charset=utf-8", text);
    response
        .headers_mut()
        .insert(CONTENT_SECURITY_POLICY, HeaderValue::from_static(POLICY));
    Ok(response)
}

fn written(snapshot: &Snapshot) -> String {
    let mut page = String::from(HEAD);
    let totals = &snapshot.totals;
    // A String takes whatever is written, here and below.
    let _ = writeln!(
        page,
        "<p>{} hosts. Since {}: {} requests, {} in flight, {} unique, {} duplicates. Seed {}.</p>",
        snapshot.hosts.len(),
        snapshot.since,
        totals.requests,
        totals.in_flight,
        totals.unique,
        totals.duplicates,
        snapshot.seed,
    );
    page.push_str(TABLE);
    for (host, counts) in snapshot.hosts.iter().take(HOSTS_MAX) {
        rows(&mut page, host.as_str(), counts);
    }
    page.push_str("</table>\n");
    if snapshot.hosts.len() > HOSTS_MAX {
        let _ = writeln!(
            page,
            "<p>The first {HOSTS_MAX} hosts; <a href=\"/stats\">/stats</a> has all.</p>"
        );
    }
    page
}

/// One row a path, or one alone where nothing was delivered yet.
fn rows(page: &mut String, host: &str, counts: &HostSnapshot) {
    let fetches: u64 = counts.fetches.values().map(|fetches| fetches.requests).sum();
    let (host, software) = (escaped(host), escaped(&counts.software));
    let head = format!("<tr><td>{host}<td>{software}<td>{fetches}");
    if counts.paths.is_empty() {
        let _ = writeln!(page, "{head}<td><td><td><td><td><td><td>");
    }
    for (path, counts) in counts.paths.iter().take(PATHS_MAX) {
        let _ = writeln!(page, "{head}<td>{}{}", escaped(path), cells(counts));
    }
    if let Some(more) = counts.paths.len().checked_sub(PATHS_MAX).filter(|more| *more > 0) {
        let _ = writeln!(page, "{head}<td>and {more} more<td><td><td><td><td><td>");
    }
}

fn cells(counts: &PathSnapshot) -> String {
    let numbers = [
        counts.requests,
        counts.accepted,
        counts.refused,
        counts.faulted,
        counts.unique,
        counts.duplicates,
    ];
    numbers.iter().map(|number| format!("<td>{number}")).collect()
}

/// Text that is text in HTML too, between tags and in attributes.
fn escaped(text: &str) -> String {
    let mut safe = String::with_capacity(text.len());
    for letter in text.chars() {
        match letter {
            '&' => safe.push_str("&amp;"),
            '<' => safe.push_str("&lt;"),
            '>' => safe.push_str("&gt;"),
            '"' => safe.push_str("&quot;"),
            '\'' => safe.push_str("&#39;"),
            _ => safe.push(letter),
        }
    }
    safe
}

const POLICY: &str = "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'";

const HEAD: &str = "<!doctype html>
<html lang=\"en\">
<meta charset=\"utf-8\">
<title>peerfarm</title>
<style>
body { font: 15px/1.5 system-ui, sans-serif; margin: 2em; }
table { border-collapse: collapse; }
th, td { padding: .2em .8em; text-align: right; border-bottom: 1px solid #ddd; }
th:nth-child(-n+2), td:nth-child(-n+2), th:nth-child(4), td:nth-child(4) { text-align: left; }
</style>
<h1>peerfarm</h1>
<p><a href=\"/stats\">/stats</a> <a href=\"/peers\">/peers</a> <a href=\"/journal\">/journal</a>
<a href=\"/metrics\">/metrics</a></p>
";

const TABLE: &str = "<table>
<tr><th>host<th>software<th>fetches<th>path<th>requests<th>accepted<th>refused<th>faulted<th>unique<th>duplicates
";

/// How many hosts the page shows.
const HOSTS_MAX: usize = 1_000;

/// How many paths of a host the page shows.
const PATHS_MAX: usize = 100;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn foreign_text_stays_text() {
        assert_eq!(
            escaped(r#"<a href='x'>"&"#),
            "&lt;a href=&#39;x&#39;&gt;&quot;&amp;"
        );
    }
}
