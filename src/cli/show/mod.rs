//! Outcomes for people: tables and short texts. For programs there is `--json`.

mod deliveries;
mod entry;
mod journal;
mod judged;
mod peers;
mod proof;
mod stats;
mod verdict;

use comfy_table::{CellAlignment, Table, presets};

use crate::cli::output::foreign;
use crate::command::Step;
use crate::runner::Outcome;

/// An outcome as text.
///
/// # Errors
/// When the farm's answer has another shape than the contract's.
pub(super) fn outcome(step: &Step, outcome: &Outcome) -> Result<String, serde_json::Error> {
    match outcome {
        Outcome::Authorities { file, pem } => Ok(match step {
            Step::Certs(words) if words.pem => pem.clone(),
            _ => file.display().to_string(),
        }),
        Outcome::Delivered { answer, .. } => deliveries::deliveries(answer),
        Outcome::Entries(answer) => journal::entries(answer),
        Outcome::Entry(answer) => entry::entry(answer),
        Outcome::Judged { answer, .. } => judged::judged(answer),
        Outcome::Names { hosts, address } => Ok(match step {
            Step::Hosts(words) if words.compose => hosts.iter().map(|host| format!("- {host}\n")).collect(),
            _ => hosts.iter().map(|host| format!("{address} {host}\n")).collect(),
        }),
        Outcome::Peer(answer) => peers::peer(answer),
        Outcome::Peers(answer) => peers::peers(answer),
        Outcome::Script(text) => Ok(text.clone()),
        Outcome::Stats(answer) | Outcome::Waited { answer, held: true } => stats::stats(answer),
        Outcome::Waited { answer, held: false } => Ok(stats::missing(answer)),
    }
}

/// A table without lines. Columns named in `numbers` are set to the right.
pub(super) fn table<const N: usize>(
    columns: [&str; N],
    numbers: &[&str],
    rows: impl IntoIterator<Item = [String; N]>,
) -> String {
    let mut table = Table::new();
    table.load_style(presets::NOTHING).set_header(columns);
    for row in rows {
        table.add_row(row.map(|cell| foreign(&cell)));
    }
    for (index, name) in columns.iter().enumerate() {
        if let Some(column) = table.column_mut(index) {
            column.set_padding((0, 2));
            if numbers.contains(name) {
                column.set_cell_alignment(CellAlignment::Right);
            }
        }
    }
    // Trailing blanks would wrap in a narrow terminal.
    table
        .lines()
        .map(|line| format!("{}\n", line.trim_end()))
        .collect()
}
