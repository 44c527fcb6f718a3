//! Times in an HDR histogram: microseconds inside, milliseconds outside, three significant digits.

use std::time::Duration;

use hdrhistogram::Histogram;
use serde::Serialize;

use crate::clock::{Sent, Timestamp};

/// Times of one kind. The histogram is made with the first value and grows with the largest, so a path that nobody
/// uses costs nothing.
#[derive(Debug, Default)]
pub(super) struct Timing {
    micros: Option<Box<Histogram<u32>>>,
    whole_seconds: u64,
    negative: u64,
}

/// A distribution in milliseconds; all `null` where nothing was counted.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Summary {
    /// How many values.
    pub count: u64,
    /// The smallest.
    pub min: Option<f64>,
    /// The mean.
    pub mean: Option<f64>,
    /// The median.
    pub p50: Option<f64>,
    /// The 95th percentile.
    pub p95: Option<f64>,
    /// The 99th percentile.
    pub p99: Option<f64>,
    /// The largest.
    pub max: Option<f64>,
}

/// A distribution over what stamps say, and the stamps that say nothing.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct StampedSummary {
    /// The distribution.
    #[serde(flatten)]
    pub summary: Summary,
    /// Stamps in whole seconds, which tell nothing about milliseconds.
    pub whole_seconds: u64,
    /// Stamps that lie after the arrival.
    pub negative: u64,
}

impl Timing {
    pub(super) fn record(&mut self, duration: Duration) {
        let micros = u64::try_from(duration.as_micros())
            .unwrap_or(u64::MAX)
            .min(LONGEST);
        if let Some(histogram) = self.histogram() {
            // It grows as it needs, so no value is too large (its `saturating_record` would not let it grow).
            histogram.record(micros).unwrap_or_default();
        }
    }

    pub(super) fn record_since(&mut self, sent: Sent, arrived: Timestamp) {
        let micros = arrived.micros_since(sent.at);
        if sent.whole_seconds {
            self.whole_seconds += 1;
        } else if micros < 0 {
            self.negative += 1;
        } else {
            self.record(Duration::from_micros(micros.unsigned_abs()));
        }
    }

    pub(super) fn add(&mut self, other: &Timing) {
        self.whole_seconds += other.whole_seconds;
        self.negative += other.negative;
        if let Some(theirs) = &other.micros {
            match &mut self.micros {
                // Both grow as they need, so adding cannot fail.
                Some(mine) => mine.add(theirs.as_ref()).unwrap_or_default(),
                None => self.micros = Some(theirs.clone()),
            }
        }
    }

    pub(super) fn summary(&self) -> Summary {
        let Some(histogram) = self.micros.as_deref() else {
            return Summary::default();
        };
        let millis = |micros: u64| Some(micros as f64 / 1e3);
        Summary {
            count: histogram.len(),
            min: millis(histogram.min()),
            mean: Some(histogram.mean() / 1e3),
            p50: millis(histogram.value_at_quantile(0.50)),
            p95: millis(histogram.value_at_quantile(0.95)),
            p99: millis(histogram.value_at_quantile(0.99)),
            max: millis(histogram.max()),
        }
    }

    pub(super) fn stamped(&self) -> StampedSummary {
        StampedSummary {
            summary: self.summary(),
            whole_seconds: self.whole_seconds,
            negative: self.negative,
        }
    }

    fn histogram(&mut self) -> Option<&mut Histogram<u32>> {
        if self.micros.is_none() {
            // Three significant digits is within what the crate takes (0 to 5).
            self.micros = Histogram::new(3).ok().map(Box::new);
        }
        self.micros.as_deref_mut()
    }
}

/// Ten years, in microseconds: a stamp from the epoch must not make a histogram of every moment since.
const LONGEST: u64 = 10 * 366 * 86_400 * 1_000_000;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentiles_of_many_parts_come_from_one_histogram() {
        // 1,000 at 10 ms and 10 at 2,000 ms: averaging the parts' percentiles would give 1,005.
        let (mut all, mut slow) = (Timing::default(), Timing::default());
        (0..1_000).for_each(|_| all.record(Duration::from_millis(10)));
        (0..10).for_each(|_| slow.record(Duration::from_millis(2_000)));
        all.add(&slow);
        let summary = all.summary();
        let near = |value: Option<f64>, wanted: f64| (value.unwrap() / wanted - 1.0).abs() < 0.001;
        assert_eq!(summary.count, 1_010);
        assert!(near(summary.p95, 10.0) && near(summary.p99, 10.0), "{summary:?}");
        assert!(near(summary.max, 2_000.0), "{summary:?}");
    }

    #[test]
    fn nothing_counted_is_null() {
        let json = serde_json::to_value(Timing::default().summary()).unwrap();
        assert_eq!(json["p99"], serde_json::Value::Null);
        assert_eq!(json["count"], 0);
    }

    #[test]
    fn stamps_that_say_nothing_are_counted_apart() {
        let mut timing = Timing::default();
        let arrived = Timestamp::from_unix_millis(10_500);
        let sent = |millis, whole_seconds| Sent {
            at: Timestamp::from_unix_millis(millis),
            whole_seconds,
        };
        timing.record_since(sent(10_000, true), arrived);
        timing.record_since(sent(11_000, false), arrived);
        timing.record_since(sent(10_400, false), arrived);
        let stamped = timing.stamped();
        assert_eq!(
            (stamped.summary.count, stamped.whole_seconds, stamped.negative),
            (1, 1, 1)
        );
    }
}
