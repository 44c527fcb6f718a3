//! `GET /metrics`: one snapshot in the Prometheus text format 0.0.4.

use std::fmt;

use http::Response;
use prometheus_client::collector::Collector;
use prometheus_client::encoding::{
    DescriptorEncoder, EncodeLabel, EncodeLabelSet, LabelSetEncoder, NoLabelSet, prometheus_text,
};
use prometheus_client::metrics::MetricType;
use prometheus_client::registry::Registry;

use crate::control::body::whole;
use crate::control::query::Parameters;
use crate::control::{Body, Problem};
use crate::deliver::KeyFetches;
use crate::serve::Site;
use crate::stats::{Filter, PathSnapshot, Snapshot};

/// Every counter of the farm. A reset is a counter reset to Prometheus too.
pub(super) fn metrics(site: &Site, query: Option<&str>) -> Result<Response<Body>, Problem> {
    Parameters::read(query, &[])?;
    let scrape = Scrape(
        site.world.snapshot(&Filter::default()),
        site.outbound.key_fetches(),
    );
    Ok(whole(prometheus_text::CONTENT_TYPE, text(scrape)))
}

fn text(scrape: Scrape) -> String {
    let mut registry = Registry::with_prefix("peerfarm");
    registry.register_collector(Box::new(scrape));
    let mut text = String::new();
    // A String takes whatever is written.
    prometheus_text::encode(&mut text, &registry).unwrap_or_default();
    text
}

/// What one scrape tells.
#[derive(Debug)]
struct Scrape(Snapshot, KeyFetches);

impl Collector for Scrape {
    fn encode(&self, mut encoder: DescriptorEncoder<'_>) -> fmt::Result {
        self.paths(&mut encoder)?;
        self.parts(&mut encoder)?;
        self.fetches(&mut encoder)?;
        self.rest(&mut encoder)
    }
}

impl Scrape {
    /// The counters that each path has one of.
    fn paths(&self, encoder: &mut DescriptorEncoder<'_>) -> fmt::Result {
        type Read = fn(&PathSnapshot) -> u64;
        let families: [(&str, &str, MetricType, Read); 9] = [
            (
                "requests",
                "Deliveries that arrived",
                MetricType::Counter,
                |path| path.requests,
            ),
            (
                "in_flight",
                "Deliveries not yet answered",
                MetricType::Gauge,
                |path| path.in_flight,
            ),
            ("accepted", "Deliveries taken", MetricType::Counter, |path| {
                path.accepted
            }),
            ("refused", "Deliveries not taken", MetricType::Counter, |path| {
                path.refused
            }),
            (
                "faulted",
                "Deliveries decided by a fault",
                MetricType::Counter,
                |path| path.faulted,
            ),
            (
                "aborted",
                "Deliveries left by their sender",
                MetricType::Counter,
                |path| path.aborted,
            ),
            (
                "unique",
                "Distinct delivery ids taken",
                MetricType::Counter,
                |path| path.unique,
            ),
            (
                "duplicates",
                "Repeats of ids already taken",
                MetricType::Counter,
                |path| path.duplicates,
            ),
            ("bytes", "Bytes of bodies", MetricType::Counter, |path| path.bytes),
        ];
        for (name, help, metric, read) in families {
            let samples = self.each_path().map(|place| Sample {
                labels: place.labels(None),
                value: read(place.counts),
            });
            family(encoder, (name, help, metric), samples)?;
        }
        Ok(())
    }

    /// The counters that each path has several of.
    fn parts(&self, encoder: &mut DescriptorEncoder<'_>) -> fmt::Result {
        let verdicts = self.each_path().flat_map(|place| {
            let found = place.counts.verdicts;
            let each = [
                ("valid", found.valid),
                ("invalid", found.invalid),
                ("unsigned", found.unsigned),
            ];
            each.map(|(result, value)| place.sample("result", result, value))
        });
        let name = ("verdicts", "What verification found", MetricType::Counter);
        family(encoder, name, verdicts)?;
        let status = self.each_path().flat_map(|place| {
            let each = place.counts.status.iter();
            each.map(move |(code, value)| place.sample("code", code, *value))
        });
        family(
            encoder,
            ("status", "Answers by status", MetricType::Counter),
            status,
        )?;
        let faults = self.each_path().flat_map(|place| {
            let each = place.counts.faults.iter();
            each.map(move |(fault, value)| place.sample("fault", fault, *value))
        });
        let name = (
            "faults",
            "Deliveries that a fault took part in",
            MetricType::Counter,
        );
        family(encoder, name, faults)
    }

    fn fetches(&self, encoder: &mut DescriptorEncoder<'_>) -> fmt::Result {
        let each = || {
            let hosts = self.0.hosts.iter();
            hosts.flat_map(|(host, counts)| {
                counts
                    .fetches
                    .iter()
                    .map(move |(kind, fetches)| (host, kind, fetches))
            })
        };
        let requests = each().map(|(host, kind, fetches)| Sample {
            labels: vec![("host", host.to_string()), ("kind", kind.to_string())],
            value: fetches.requests,
        });
        family(
            encoder,
            ("fetches", "Fetches that ended", MetricType::Counter),
            requests,
        )?;
        let status = each().flat_map(|(host, kind, fetches)| {
            fetches.status.iter().map(move |(code, value)| Sample {
                labels: vec![
                    ("host", host.to_string()),
                    ("kind", kind.to_string()),
                    ("code", code.to_string()),
                ],
                value: *value,
            })
        });
        let name = (
            "fetch_status",
            "Answers to fetches by status",
            MetricType::Counter,
        );
        family(encoder, name, status)
    }

    /// What belongs to no host.
    fn rest(&self, encoder: &mut DescriptorEncoder<'_>) -> fmt::Result {
        let (connections, bounds) = (&self.0.connections, &self.0.bounds);
        let alone = [
            (
                "generation",
                "One more than there were resets",
                MetricType::Gauge,
                self.0.generation,
            ),
            (
                "connections_accepted",
                "Connections accepted",
                MetricType::Counter,
                connections.accepted,
            ),
            (
                "connections_open",
                "Connections open",
                MetricType::Gauge,
                connections.open,
            ),
            (
                "connections_refused",
                "Connections turned away",
                MetricType::Counter,
                connections.refused,
            ),
        ];
        for (name, help, metric, value) in alone {
            family(
                encoder,
                (name, help, metric),
                [Sample {
                    labels: Vec::new(),
                    value,
                }],
            )?;
        }
        let failed = connections.tls_failed.iter().map(|(reason, value)| Sample {
            labels: vec![("reason", reason.to_string())],
            value: *value,
        });
        family(
            encoder,
            ("tls_failed", "TLS handshakes that failed", MetricType::Counter),
            failed,
        )?;
        let bad = connections.bad_requests.iter().map(|(code, value)| Sample {
            labels: vec![("code", code.to_string())],
            value: *value,
        });
        let name = (
            "bad_requests",
            "Requests that were for no peer",
            MetricType::Counter,
        );
        family(encoder, name, bad)?;
        let keys = self.1.outcomes.iter().map(|(outcome, value)| Sample {
            labels: vec![("outcome", outcome.to_string())],
            value: *value,
        });
        family(
            encoder,
            ("key_fetches", "Keys fetched to verify", MetricType::Counter),
            keys,
        )?;
        let bounds = [
            ("ids_evicted", bounds.ids_evicted),
            ("journal_evicted", bounds.journal_evicted),
            ("paths_folded", bounds.paths_folded),
            ("attempts_evicted", bounds.attempts_evicted),
            ("relations_refused", bounds.relations_refused),
            ("sent_evicted", bounds.sent_evicted),
        ];
        let bounds = bounds.map(|(bound, value)| Sample {
            labels: vec![("bound", bound.to_owned())],
            value,
        });
        family(
            encoder,
            ("bounds", "How often a bound bit", MetricType::Counter),
            bounds,
        )
    }

    fn each_path(&self) -> impl Iterator<Item = Place<'_>> {
        self.0.hosts.iter().flat_map(|(host, counts)| {
            let host = host.as_str();
            counts
                .paths
                .iter()
                .map(move |(path, counts)| Place { host, path, counts })
        })
    }
}

/// One path of one host.
#[derive(Clone, Copy)]
struct Place<'a> {
    host: &'a str,
    path: &'a str,
    counts: &'a PathSnapshot,
}

impl Place<'_> {
    fn labels(&self, more: Option<(&'static str, String)>) -> Vec<(&'static str, String)> {
        let place = [
            ("host", self.host.to_owned()),
            ("path", self.path.to_owned()),
            ("kind", self.counts.kind.label().to_owned()),
        ];
        place.into_iter().chain(more).collect()
    }

    fn sample(&self, label: &'static str, text: impl ToString, value: u64) -> Sample {
        let labels = self.labels(Some((label, text.to_string())));
        Sample { labels, value }
    }
}

/// One line of the text.
struct Sample {
    labels: Vec<(&'static str, String)>,
    value: u64,
}

impl EncodeLabelSet for Sample {
    fn encode(&self, encoder: &mut LabelSetEncoder<'_>) -> fmt::Result {
        for (name, text) in &self.labels {
            (*name, text.as_str()).encode(encoder.encode_label())?;
        }
        Ok(())
    }
}

/// One family: its head, and a line a sample. The writer adds `_total` to the name of a counter.
fn family(
    encoder: &mut DescriptorEncoder<'_>,
    (name, help, metric): (&str, &str, MetricType),
    samples: impl IntoIterator<Item = Sample>,
) -> fmt::Result {
    let mut encoder = encoder.encode_descriptor(name, help, None, metric)?;
    for sample in samples {
        let mut line = encoder.encode_family(&sample)?;
        match metric {
            MetricType::Gauge => line.encode_gauge(&i64::try_from(sample.value).unwrap_or(i64::MAX))?,
            _ => line.encode_counter::<NoLabelSet, _, u64>(&sample.value, None)?,
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::clock::Timestamp;
    use crate::seed::Seed;
    use crate::stats::{Kind, Stats};

    fn scraped(stats: &Stats) -> String {
        text(Scrape(
            stats.snapshot(&Filter::default(), |_| {}),
            KeyFetches::default(),
        ))
    }

    #[test]
    fn a_label_keeps_what_would_end_it() {
        let host: crate::ids::Host = "a.test".parse().unwrap();
        let stats = Stats::new(Seed(1), [(host.clone(), "mastodon".to_owned())].into());
        let arrival = stats
            .arrive(
                &host,
                "/in\"b\\o\nx",
                Kind::Unknown,
                Timestamp::now(),
                std::time::Instant::now(),
            )
            .unwrap();
        let text = scraped(&stats);
        // The text format escapes exactly these three (Prometheus, exposition formats).
        let expected = r#"peerfarm_requests_total{host="a.test",path="/in\"b\\o\nx",kind="unknown"} 1"#;
        assert!(text.lines().any(|line| line == expected), "{text}");
        let expected = r#"peerfarm_in_flight{host="a.test",path="/in\"b\\o\nx",kind="unknown"} 1"#;
        assert!(text.lines().any(|line| line == expected), "{text}");
        drop(arrival);
    }

    #[test]
    fn every_sample_stands_below_its_family() {
        let text = scraped(&Stats::new(Seed(1), [].into()));
        let mut family = String::new();
        for line in text.lines() {
            if let Some(typed) = line.strip_prefix("# TYPE ") {
                let (name, kind) = typed.split_once(' ').unwrap();
                assert_eq!(name.ends_with("_total"), kind == "counter", "{line}");
                family = name.to_owned();
            } else if !line.starts_with('#') {
                assert_eq!(line.split(['{', ' ']).next(), Some(family.as_str()));
            }
        }
        assert!(text.contains("peerfarm_connections_open 0\n"), "{text}");
    }
}
