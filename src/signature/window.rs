//! Moments against now: the two findings that a signature's dates can give.

use crate::clock::Timestamp;
use crate::signature::{Finding, Reason, Terms, Window};
use crate::units::Span;

/// The finding on a date that lies outside of the window; `early` is the reason where it lies ahead. `what` begins the
/// detail, "`created`, 1700000000,", and is written only where there is one.
pub(super) fn outside(
    window: Window,
    now: Timestamp,
    date: Timestamp,
    early: Reason,
    what: std::fmt::Arguments<'_>,
) -> Option<Finding> {
    if date > now.plus(window.future) {
        let (ahead, most) = (apart(date, now), Span::from(window.future));
        let detail = format!("{what} lies {ahead} ahead; up to {most} is let pass");
        return Some(Finding::new(early, detail));
    }
    if date < now.minus(window.past) {
        let (old, most) = (apart(now, date), Span::from(window.past));
        let detail = format!("{what} is {old} old; up to {most} is let pass");
        return Some(Finding::new(Reason::DateTooOld, detail));
    }
    None
}

/// The finding on an `expires` that has passed, given the margin by which clocks may differ.
pub(super) fn expired(terms: Terms, expires: i64) -> Option<Finding> {
    let Terms { window, now, .. } = terms;
    let (end, margin) = (Timestamp::from_unix(expires), Span::from(window.future));
    (now > end.plus(window.future)).then(|| {
        let since = apart(now, end);
        let detail = format!("`expires`, {expires}, passed {since} ago; up to {margin} is let pass");
        Finding::new(Reason::Expired, detail)
    })
}

/// The whole seconds from one moment to a later one.
fn apart(later: Timestamp, earlier: Timestamp) -> Span {
    let micros = later.micros_since(earlier);
    Span::seconds(u64::try_from(micros / 1_000_000).unwrap_or(0))
}
