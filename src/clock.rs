//! The only reader of wall time; everything else takes a [`Timestamp`] as an argument.

use std::fmt;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use serde::{Serialize, Serializer};
use time::OffsetDateTime;
use time::format_description::well_known::Rfc3339;

/// A moment, to the microsecond, as a Unix time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Timestamp {
    micros: i64,
}

impl Timestamp {
    /// The present moment.
    #[expect(clippy::disallowed_methods, reason = "this is the one reader of wall time")]
    pub fn now() -> Timestamp {
        let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        Timestamp {
            micros: i64::try_from(since.as_micros()).unwrap_or(i64::MAX),
        }
    }

    /// So many seconds after the epoch.
    pub const fn from_unix(seconds: i64) -> Timestamp {
        Timestamp {
            micros: seconds.saturating_mul(1_000_000),
        }
    }

    /// So many milliseconds after the epoch.
    pub const fn from_unix_millis(millis: i64) -> Timestamp {
        Timestamp {
            micros: millis.saturating_mul(1_000),
        }
    }

    /// Whole seconds since the epoch.
    pub const fn unix(self) -> i64 {
        self.micros.div_euclid(1_000_000)
    }

    /// Whole milliseconds since the epoch.
    pub const fn unix_millis(self) -> i64 {
        self.micros.div_euclid(1_000)
    }

    /// Microseconds from `earlier` to this moment; negative where `earlier` is later.
    pub const fn micros_since(self, earlier: Timestamp) -> i64 {
        self.micros.saturating_sub(earlier.micros)
    }

    /// This moment and so much more.
    pub fn plus(self, duration: Duration) -> Timestamp {
        let micros = i64::try_from(duration.as_micros()).unwrap_or(i64::MAX);
        Timestamp {
            micros: self.micros.saturating_add(micros),
        }
    }

    /// This moment less so much.
    pub fn minus(self, duration: Duration) -> Timestamp {
        let micros = i64::try_from(duration.as_micros()).unwrap_or(i64::MAX);
        Timestamp {
            micros: self.micros.saturating_sub(micros),
        }
    }

    /// Reads an RFC 3339 date and time, as `published` carries it.
    pub fn parse_rfc3339(text: &str) -> Option<Timestamp> {
        let moment = OffsetDateTime::parse(text.trim(), &Rfc3339).ok()?;
        let micros = i64::try_from(moment.unix_timestamp_nanos() / 1_000).ok()?;
        Some(Timestamp { micros })
    }

    /// An HTTP date (RFC 9110 section 5.6.7), as the `Date` header carries it.
    pub fn http_date(self) -> String {
        let seconds = u64::try_from(self.unix()).unwrap_or(0);
        httpdate::fmt_http_date(UNIX_EPOCH + Duration::from_secs(seconds))
    }

    /// Reads an HTTP date in any of the three forms of RFC 9110 section 5.6.7.
    pub fn parse_http_date(text: &str) -> Option<Timestamp> {
        let date = httpdate::parse_http_date(text).ok()?;
        let since = date.duration_since(UNIX_EPOCH).ok()?;
        Some(Timestamp::from_unix(i64::try_from(since.as_secs()).ok()?))
    }

    /// RFC 3339 in UTC with whole seconds: `2026-01-01T00:00:00Z`.
    pub fn seconds_rfc3339(self) -> String {
        let text = Timestamp::from_unix(self.unix()).to_string();
        text.replace(".000Z", "Z")
    }
}

/// When a sender says it sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sent {
    /// The moment.
    pub at: Timestamp,
    /// Whether the stamp has whole seconds only, and so tells nothing about milliseconds.
    pub whole_seconds: bool,
}

impl Sent {
    /// What an RFC 3339 stamp such as `published` says.
    pub fn from_rfc3339(text: &str) -> Option<Sent> {
        let at = Timestamp::parse_rfc3339(text)?;
        Some(Sent {
            at,
            whole_seconds: !text.contains('.'),
        })
    }

    /// What a stamp in Unix milliseconds says; one in seconds, as `date +%s` prints it, is told by its size.
    pub fn from_unix_millis(text: &str) -> Option<Sent> {
        /// In milliseconds that was in 1973, in seconds it will be in 5138.
        const SECONDS_END: i64 = 100_000_000_000;
        let number: i64 = text.trim().parse().ok()?;
        let whole_seconds = number < SECONDS_END;
        let at = match whole_seconds {
            true => Timestamp::from_unix(number),
            false => Timestamp::from_unix_millis(number),
        };
        Some(Sent { at, whole_seconds })
    }
}

impl fmt::Display for Timestamp {
    /// RFC 3339 in UTC with milliseconds: `2026-01-01T00:00:00.000Z`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let moment = OffsetDateTime::from_unix_timestamp_nanos(i128::from(self.micros) * 1_000)
            .unwrap_or(OffsetDateTime::UNIX_EPOCH);
        let (date, time) = (moment.date(), moment.time());
        write!(
            f,
            "{:04}-{:02}-{:02}T{:02}:{:02}:{:02}.{:03}Z",
            date.year(),
            u8::from(date.month()),
            date.day(),
            time.hour(),
            time.minute(),
            time.second(),
            time.millisecond()
        )
    }
}

impl Serialize for Timestamp {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_moment_prints_as_rfc_3339_and_reads_back() {
        let moment = Timestamp::from_unix_millis(1_700_000_000_250);
        assert_eq!(moment.to_string(), "2023-11-14T22:13:20.250Z");
        assert_eq!(
            Timestamp::parse_rfc3339("2023-11-14T23:13:20.25+01:00"),
            Some(moment)
        );
        assert_eq!(moment.seconds_rfc3339(), "2023-11-14T22:13:20Z");
    }

    #[test]
    fn a_stamp_in_seconds_is_told_from_one_in_milliseconds() {
        let sent =
            |text| Sent::from_unix_millis(text).map(|sent| (sent.at.unix_millis(), sent.whole_seconds));
        assert_eq!(sent("1700000000123"), Some((1_700_000_000_123, false)));
        assert_eq!(sent(" 1700000000 "), Some((1_700_000_000_000, true)));
        assert_eq!(sent("soon"), None);
    }

    #[test]
    fn http_dates_read_in_all_three_forms() {
        // RFC 9110 section 5.6.7 gives these three for one moment.
        for text in [
            "Sun, 06 Nov 1994 08:49:37 GMT",
            "Sunday, 06-Nov-94 08:49:37 GMT",
            "Sun Nov  6 08:49:37 1994",
        ] {
            assert_eq!(
                Timestamp::parse_http_date(text),
                Some(Timestamp::from_unix(784_111_777))
            );
        }
        assert_eq!(
            Timestamp::from_unix(784_111_777).http_date(),
            "Sun, 06 Nov 1994 08:49:37 GMT"
        );
        assert_eq!(
            Timestamp::parse_http_date("Sun, 06 Nov 1994 08:49:37 +0000"),
            None
        );
    }
}
