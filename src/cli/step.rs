//! Carrying out one command, and showing what came of it.

use std::io;
use std::time::Duration;

use tokio::runtime;
use tokio::time::{MissedTickBehavior, interval};

use crate::cli::output::{self, Written};
use crate::cli::{Exit, show};
use crate::command::Step;
use crate::runner::{self, Failure, Outcome};

/// Carries out `step`, prints its result and says how to exit.
pub(super) fn carry_out(step: &Step) -> Exit {
    let runtime = match runtime::Builder::new_current_thread().enable_all().build() {
        Ok(runtime) => runtime,
        Err(error) => {
            output::error(&format!("cannot start: {error}"));
            return Exit::Unreached;
        }
    };
    let work = async {
        match step {
            Step::Stats(words) if words.watch => watch(step).await,
            _ => once(step).await,
        }
    };
    let ended = runtime.block_on(async {
        tokio::select! {
            ended = work => ended,
            _ = tokio::signal::ctrl_c() => Ok(Exit::Interrupted),
        }
    });
    ended.unwrap_or_else(|trouble| {
        output::error(&match &trouble {
            Trouble::Failure(Failure::Roster(error)) => output::not_started(error),
            _ => output::chain(&trouble),
        });
        match &trouble {
            Trouble::Failure(failure) => failure.into(),
            Trouble::Show(_) | Trouble::Write(_) => Exit::Unreached,
        }
    })
}

async fn once(step: &Step) -> Result<Exit, Trouble> {
    let outcome = runner::carry_out(step).await?;
    let text = match step.json() {
        true => format!("{:#}", outcome.json()),
        false => show::outcome(step, &outcome)?,
    };
    output::result(&text)?;
    Ok(Exit::from(&outcome))
}

/// Shows the counters again and again: in place on a terminal, else one under the other, as JSON one a line.
async fn watch(step: &Step) -> Result<Exit, Trouble> {
    let mut ticks = interval(WATCH_EVERY);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    loop {
        ticks.tick().await;
        let outcome: Outcome = runner::carry_out(step).await?;
        let text = match step.json() {
            true => outcome.json().to_string(),
            false if output::on_terminal() => format!("{CLEAR}{}", show::outcome(step, &outcome)?),
            false => format!("{}\n", show::outcome(step, &outcome)?),
        };
        if output::result(&text)? == Written::ReaderGone {
            return Ok(Exit::Done);
        }
    }
}

/// Why nothing could be shown.
#[derive(Debug, thiserror::Error)]
enum Trouble {
    #[error(transparent)]
    Failure(#[from] Failure),
    #[error("the farm's answer is not of this `peerfarm`'s shape; hint: `--json` shows it as it is")]
    Show(#[from] serde_json::Error),
    #[error("cannot write to stdout")]
    Write(#[from] io::Error),
}

const WATCH_EVERY: Duration = Duration::from_secs(1);
/// Cursor home, clear the screen.
const CLEAR: &str = "\x1b[H\x1b[2J";
