//! Processor time, and the figures that come of many measurements.

use std::fs;
use std::time::Duration;

use anyhow::{Context, Result};

/// The middle of several figures, and the outermost.
#[derive(Clone, Copy, Debug)]
pub struct Spread {
    pub least: f64,
    pub median: f64,
    pub most: f64,
}

impl Spread {
    /// Of at least one figure.
    pub fn of(mut values: Vec<f64>) -> Spread {
        values.sort_by(f64::total_cmp);
        let middle = values.len() / 2;
        let median = match values.len() % 2 {
            1 => values[middle],
            _ => f64::midpoint(values[middle - 1], values[middle]),
        };
        Spread {
            least: values[0],
            median,
            most: values[values.len() - 1],
        }
    }
}

/// Processor time of this thread so far.
pub fn thread_time() -> Result<Duration> {
    // The kernel brings the sum up to date when it looks for somebody else to run.
    std::thread::yield_now();
    let schedstat = fs::read_to_string("/proc/thread-self/schedstat")?;
    let nanoseconds = schedstat
        .split(' ')
        .next()
        .context("an empty schedstat")?
        .parse()?;
    Ok(Duration::from_nanos(nanoseconds))
}

/// User and system time of a process so far: fields 14 and 15 of `stat` in proc(5), counted after the name in brackets.
pub fn process_time(process: u32) -> Result<Duration> {
    let stat = fs::read_to_string(format!("/proc/{process}/stat"))?;
    let (_, fields) = stat.rsplit_once(") ").context("no name in stat")?;
    let ticks: Vec<u64> = fields
        .split(' ')
        .skip(11)
        .take(2)
        .map(str::parse)
        .collect::<Result<_, _>>()?;
    Ok(Duration::from_millis(ticks.iter().sum::<u64>() * MILLIS_PER_TICK))
}

/// `USER_HZ` is 100 on every Linux that Rust runs on.
const MILLIS_PER_TICK: u64 = 10;
