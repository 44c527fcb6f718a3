//! The entry: the only place that prints, reads the environment and exits.

mod exit;
mod output;
mod serve;
mod show;
mod step;

pub use exit::Exit;

use std::collections::BTreeMap;
use std::process::ExitCode;
use std::{env, fs, io};

use crate::command::{self, Command, File, Surroundings, WordsError};

/// Reads the command line and what is around it, carries the command out, and says how that went.
pub fn main() -> ExitCode {
    let around = match surroundings() {
        Ok(around) => around,
        Err(error) => {
            output::error(&format!("cannot read `{SETTINGS_FILE}`: {error}"));
            return Exit::Words.into();
        }
    };
    let exit = match command::parse(env::args_os(), &around) {
        Ok(Command::Serve(flags)) => serve::serve(*flags),
        Ok(Command::Step(step)) => step::carry_out(&step),
        Err(WordsError::Typed(error)) => {
            // Help and version come as errors too; a closed pipe is no reason to fail.
            let _ = error.print();
            if error.use_stderr() {
                Exit::Words
            } else {
                Exit::Done
            }
        }
        Err(WordsError::Surroundings(problems)) => {
            for problem in problems {
                output::error(&problem.to_string());
            }
            Exit::Words
        }
    };
    exit.into()
}

/// The environment, as far as it is text, and the settings file of the working directory.
fn surroundings() -> io::Result<Surroundings> {
    let environment: BTreeMap<String, String> = env::vars_os()
        .filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)))
        .collect();
    let file = match fs::read_to_string(SETTINGS_FILE) {
        Ok(text) => Some(File {
            name: SETTINGS_FILE.to_owned(),
            text,
        }),
        Err(error) if error.kind() == io::ErrorKind::NotFound => None,
        Err(error) => return Err(error),
    };
    Ok(Surroundings { environment, file })
}

const SETTINGS_FILE: &str = "peerfarm.toml";
