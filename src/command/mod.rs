//! All that a user can say. The command line is a script of one line: `cli` and scenario files parse with these
//! definitions and hand the result to the same `runner`, so a flag, its help and its message exist once.

mod actors;
mod certs;
mod completions;
mod hosts;
mod journal;
mod misbehave;
mod peers;
mod reach;
pub mod serve;
mod stats;
mod surroundings;
mod target;
mod verify;
mod wait;

pub use actors::{Follow, Send};
pub use certs::Certs;
pub use completions::Completions;
pub use hosts::Hosts;
pub use journal::{Entries, Journal, Show};
pub use peers::Peers;
pub use reach::{FarmUrl, FarmUrlError, Reach};
pub use stats::{Reset, Stats};
pub use surroundings::{File, Problem, Surroundings};
pub use target::{Target, TargetError};
pub use verify::{Moment, MomentError, Verify};
pub use wait::Wait;

use std::ffi::OsString;

use clap::{ArgMatches, CommandFactory, Parser, Subcommand};

/// Twenty federated servers and a webhook receiver in one process, for testing the server you write
///
/// Without a command, `peerfarm` serves: its flags are those of `peerfarm serve`.
#[derive(Clone, Debug, Parser)]
#[command(
    name = "peerfarm",
    version,
    max_term_width = 110,
    args_conflicts_with_subcommands = true
)]
#[command(after_help = "\
Examples:
  peerfarm                                   twenty peers on 127.0.0.1:7443
  peerfarm --roster mastodon=2,lemmy=1       three peers
  peerfarm send alice@mastodon1.test @me@sut.test --note hello
  peerfarm stats --watch

Each flag of `serve` has an environment variable, --public-port for instance
PEERFARM_PUBLIC_PORT, and a key in peerfarm.toml of the working directory,
public-port. Precedence: flag, environment, file, default.

Exit codes: 0 done, passed; 1 a check failed; 2 the words or a file are wrong;
3 the farm or the server under test could not be reached, or a system call
failed; 130 interrupted.")]
pub struct Cli {
    #[command(flatten)]
    serve: serve::Flags,
    #[command(subcommand)]
    command: Option<Command>,
}

/// One command.
#[derive(Clone, Debug, Subcommand)]
pub enum Command {
    /// Runs the farm until it is interrupted
    #[command(after_help = SERVE_EXAMPLES)]
    Serve(Box<serve::Flags>),
    /// What ends by itself.
    #[command(flatten)]
    Step(Box<Step>),
}

/// A command that ends by itself and has a result.
#[derive(Clone, Debug, Subcommand)]
pub enum Step {
    /// Lists peers, or one peer with its actors
    Peers(Peers),
    /// Lets an actor of the farm follow somebody
    #[command(after_help = "\
Examples:
  peerfarm follow alice@mastodon1.test @me@sut.test
  peerfarm follow bob@lemmy1.test https://sut.test/users/me --json")]
    Follow(Follow),
    /// Takes a follow back
    #[command(after_help = "\
Examples:
  peerfarm unfollow alice@mastodon1.test @me@sut.test")]
    Unfollow(Follow),
    /// Delivers one activity, signed, and tells what the server under test said
    Send(Send),
    /// Shows what arrived, by host and path
    Stats(Stats),
    /// Zeroes counters and journal in one step, and shows the totals that were
    Reset(Reset),
    /// Returns when all named conditions hold, or exits 1 at the timeout
    Wait(Wait),
    /// Lists what arrived, newest first, with verdicts
    Journal(Journal),
    /// Judges the signature of a request saved in a file, without a farm
    Verify(Box<Verify>),
    /// Prints where the CA is that a server under test has to trust
    Certs(Certs),
    /// Prints lines for /etc/hosts that name every peer and `hooks.test`
    Hosts(Hosts),
    /// Prints completions for a shell
    Completions(Completions),
}

impl Step {
    /// Whether the result is asked for as JSON.
    pub fn json(&self) -> bool {
        match self {
            Step::Peers(Peers { reach, .. })
            | Step::Follow(Follow { reach, .. })
            | Step::Unfollow(Follow { reach, .. })
            | Step::Send(Send { reach, .. })
            | Step::Stats(Stats { reach, .. })
            | Step::Reset(Reset { reach })
            | Step::Wait(Wait { reach, .. })
            | Step::Journal(Journal {
                command: Some(Entries::Show(Show { reach, .. })),
                ..
            })
            | Step::Journal(Journal { reach, .. }) => reach.json,
            Step::Verify(verify) => verify.json,
            Step::Certs(certs) => certs.json,
            Step::Hosts(hosts) => hosts.json,
            Step::Completions(_) => false,
        }
    }
}

/// Reads a command line, `argv[0]` included, and fills what was not typed from `around` it.
///
/// # Errors
/// What clap finds wrong, help and version included; else every value of the surroundings that does not fit.
pub fn parse(argv: impl IntoIterator<Item = OsString>, around: &Surroundings) -> Result<Command, WordsError> {
    let mut argv: Vec<OsString> = argv.into_iter().collect();
    let mut definition = Cli::command();
    let typed = definition.try_get_matches_from_mut(&argv)?;
    let (depth, definition, typed) = innermost(&definition, &typed);
    let words = around
        .words(definition, typed)
        .map_err(WordsError::Surroundings)?;
    // Flags and subcommands exclude each other, so the first `depth` words are the subcommands.
    let place = (depth + 1).min(argv.len());
    argv.splice(place..place, words.into_iter().map(OsString::from));
    let cli = Cli::try_parse_from(argv)?;
    Ok(cli.command.unwrap_or_else(|| Command::Serve(Box::new(cli.serve))))
}

/// The definition and the matches of the subcommand in question, and how many subcommands lead to it.
fn innermost<'a>(
    mut definition: &'a clap::Command,
    mut matches: &'a ArgMatches,
) -> (usize, &'a clap::Command, &'a ArgMatches) {
    let mut depth = 0;
    while let Some((name, inner)) = matches.subcommand()
        && let Some(found) = definition.find_subcommand(name)
    {
        (definition, matches, depth) = (found, inner, depth + 1);
    }
    (depth, definition, matches)
}

/// What was typed, or stands around it, is no command.
#[derive(Debug, thiserror::Error)]
pub enum WordsError {
    /// Values in the environment or the file do not fit.
    #[error("{}", .0.iter().map(Problem::to_string).collect::<Vec<_>>().join("\n"))]
    Surroundings(Vec<Problem>),
    /// The words do not fit; also `--help` and `--version`.
    #[error(transparent)]
    Typed(#[from] clap::Error),
}

const SERVE_EXAMPLES: &str = "\
Examples:
  peerfarm serve
  peerfarm serve --listen 127.0.0.1:0 --control 127.0.0.1:0   on free ports
  peerfarm serve --listen off --listen-http 127.0.0.1:7480    without TLS
  peerfarm serve --roster mastodon=12,lemmy=8 --resolve sut.test=127.0.0.1:3000
  PEERFARM_ACTORS=100 peerfarm serve";

#[cfg(test)]
mod tests {
    use super::*;

    fn around(environment: &[(&str, &str)], file: Option<&str>) -> Surroundings {
        Surroundings {
            environment: environment
                .iter()
                .map(|(name, value)| ((*name).to_owned(), (*value).to_owned()))
                .collect(),
            file: file.map(|text| File {
                name: "peerfarm.toml".to_owned(),
                text: text.to_owned(),
            }),
        }
    }

    fn parsed(line: &str, around: &Surroundings) -> Result<Command, WordsError> {
        parse(line.split(' ').map(OsString::from), around)
    }

    fn settings(line: &str, around: &Surroundings) -> serve::Settings {
        match parsed(line, around) {
            Ok(Command::Serve(flags)) => flags.check().unwrap(),
            other => panic!("{other:?}"),
        }
    }

    fn step(line: &str, around: &Surroundings) -> Step {
        match parsed(line, around) {
            Ok(Command::Step(step)) => *step,
            other => panic!("{other:?}"),
        }
    }

    fn problems(line: &str, around: &Surroundings) -> String {
        match parsed(line, around) {
            Err(error @ WordsError::Surroundings(_)) => error.to_string(),
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn the_definitions_hold_together() {
        Cli::command().debug_assert();
    }

    #[test]
    fn every_command_has_examples() {
        let mut cli = Cli::command();
        cli.build();
        let mut commands = vec![&cli];
        while let Some(command) = commands.pop() {
            let subcommands = command
                .get_subcommands()
                .filter(|command| command.get_name() != "help");
            commands.extend(subcommands);
            let help = command.clone().render_long_help().to_string();
            assert!(help.contains("Examples:\n"), "{}", command.get_name());
        }
    }

    #[test]
    fn nothing_typed_is_the_default() {
        let bare = Surroundings::default();
        assert_eq!(settings("peerfarm", &bare), serve::Settings::default());
        assert_eq!(settings("peerfarm serve", &bare), serve::Settings::default());
    }

    #[test]
    fn flag_goes_before_environment_before_file_before_default() {
        let file =
            "actors = 3\nnotes = 3\nkeys = \"shared\"\nresolve = [\"a.test=127.0.0.1\", \"b.test=::1\"]\n";
        let around = around(
            &[
                ("PEERFARM_ACTORS", "4"),
                ("PEERFARM_NOTES", "4"),
                ("PEERFARM_SEED", ""),
            ],
            Some(file),
        );
        for line in ["peerfarm --actors 5", "peerfarm serve --actors 5"] {
            let settings = settings(line, &around);
            assert_eq!(
                (settings.actors, settings.notes, settings.keys),
                (5, 4, serve::KeyMode::Shared)
            );
            assert_eq!(
                (settings.resolve.len(), settings.seed, settings.max_connections),
                (2, None, 10_000)
            );
        }
    }

    #[test]
    fn a_repeatable_variable_is_a_list() {
        let variables = [
            ("PEERFARM_RESOLVE", "a.test=127.0.0.1, b.test=::1"),
            ("PEERFARM_LISTEN", "127.0.0.1:1,[::1]:1"),
            ("PEERFARM_ROSTER", "mastodon=1,lemmy=1"),
            ("PEERFARM_INSECURE", "1"),
            ("MOCK_LATENCY_MS", "20"),
            ("MOCK_ERROR_RATE", "0.5"),
        ];
        let settings = settings("peerfarm", &around(&variables, None));
        assert_eq!((settings.resolve.len(), settings.listen.len()), (2, 2));
        assert_eq!(settings.roster.unwrap().peers(), 2);
        assert!(settings.insecure && !settings.allow_http);
        assert_eq!(
            (
                settings.hook_latency.to_string().as_str(),
                settings.hook_error_rate
            ),
            ("20ms", 0.5)
        );
    }

    #[test]
    fn a_typed_list_replaces_the_file_s() {
        let around = around(&[], Some("trust = [\"a.pem\", \"b.pem\"]\ninsecure = true\n"));
        let settings = settings("peerfarm serve --trust c.pem --insecure=false", &around);
        assert_eq!(settings.trust, [std::path::PathBuf::from("c.pem")]);
        assert!(!settings.insecure);
    }

    #[test]
    fn every_bad_value_around_is_named_with_its_place() {
        let file = "actors = 3\n\nlisten_http = \"off\"\nspeed = 3\nkeys = \"never\"\nroster = [\"a=1\", \"b=1\"]\n[notes]\n";
        let around = around(
            &[("PEERFARM_ACTORS", "many"), ("PEERFARM_INSECURE", "so-so")],
            Some(file),
        );
        let problems = problems("peerfarm", &around);
        for expected in [
            "`PEERFARM_ACTORS`: `many` does not fit: write a whole number from 1 to 10000",
            "`PEERFARM_INSECURE`: `so-so` does not fit: write one of `true`, `false`",
            "`peerfarm.toml` line 3, key `listen_http`: no such key; did you mean `listen-http`?",
            "`peerfarm.toml` line 4, key `speed`: no such key",
            "`peerfarm.toml` line 5, key `keys`: `never` does not fit: write one of `ahead`, `on-demand`, `shared`",
            "`peerfarm.toml` line 6, key `roster`: takes one value",
            "`peerfarm.toml` line 7, key `notes`: write text",
        ] {
            assert!(problems.contains(expected), "{expected}\n--\n{problems}");
        }
    }

    #[test]
    fn a_file_that_is_no_toml_is_named_with_its_line() {
        let problems = problems("peerfarm", &around(&[], Some("actors = 3\nnotes = = 3\n")));
        assert!(problems.starts_with("`peerfarm.toml` line 2: "), "{problems}");
    }

    #[test]
    fn other_commands_share_the_surroundings_where_they_share_flags() {
        let around = around(
            &[("PEERFARM_FARM", "http://127.0.0.1:1")],
            Some("state = \"elsewhere\"\n"),
        );
        match step("peerfarm journal show -- 7", &around) {
            Step::Journal(Journal {
                command: Some(Entries::Show(show)),
                ..
            }) => {
                let farm = show.reach.farm.to_string();
                assert_eq!(
                    (show.id.as_deref(), farm.as_str()),
                    (Some("7"), "http://127.0.0.1:1")
                );
            }
            other => panic!("{other:?}"),
        }
        match step("peerfarm certs", &around) {
            Step::Certs(certs) => assert_eq!(certs.state.state, std::path::PathBuf::from("elsewhere")),
            other => panic!("{other:?}"),
        }
        assert!(parsed("peerfarm completions bash", &self::around(&[], Some("no toml"))).is_ok());
    }

    #[test]
    fn an_outbox_may_hold_a_hundred_thousand_notes() {
        let settings = settings("peerfarm --notes 100000", &Surroundings::default());
        assert_eq!(settings.notes, 100_000);
    }

    #[test]
    fn a_host_is_named_with_its_port_or_without() {
        for line in [
            "peerfarm stats --host mastodon1.test:7443",
            "peerfarm stats --host mastodon1.test",
        ] {
            match step(line, &Surroundings::default()) {
                Step::Stats(stats) => assert_eq!(stats.host.unwrap().as_str(), "mastodon1.test"),
                other => panic!("{other:?}"),
            }
        }
    }

    #[test]
    fn a_bad_flag_is_named_with_its_value_and_what_would_be_right() {
        for (line, expected) in [
            (
                "peerfarm --actors 0",
                "'0' for '--actors <N>': write a whole number from 1 to 10000",
            ),
            (
                "peerfarm --listen here",
                "'here' for '--listen <ADDRESS>': `here` is no address to listen on",
            ),
            ("peerfarm --control off", "'off' for '--control <ADDRESS>'"),
            ("peerfarm --hook-error-rate NaN", "write a fraction from 0 to 1"),
            (
                "peerfarm --allow-target https://a.test",
                "write a host without scheme",
            ),
            ("peerfarm --log loud=very", "write a level"),
            (
                "peerfarm --seed 9007199254740992",
                "write a whole number from 0 to 9007199254740991",
            ),
            ("peerfarm stats --farm https://127.0.0.1", "`http://ADDRESS:PORT`"),
            ("peerfarm follow alice @me@sut.test", "`alice` is no handle"),
            ("peerfarm wait --timeout 3s", "--unique"),
        ] {
            let error = parsed(line, &Surroundings::default()).unwrap_err().to_string();
            assert!(error.contains(expected), "{line}: {error}");
        }
    }

    #[test]
    fn flags_that_do_not_go_together_are_all_named() {
        let check = |line: &str| match parsed(line, &Surroundings::default()) {
            Ok(Command::Serve(flags)) => flags.check().unwrap_err(),
            other => panic!("{other:?}"),
        };
        use serve::Conflict;
        assert_eq!(check("peerfarm --listen off"), [Conflict::Deaf]);
        assert_eq!(check("peerfarm --listen off --listen :1"), [Conflict::OffAndOn]);
        assert_eq!(
            check("peerfarm --listen off --actors 10000 --roster a=101"),
            [
                Conflict::Deaf,
                Conflict::Crowd {
                    peers: 101,
                    actors: 10_000
                }
            ]
        );
    }

    proptest::proptest! {
        #[test]
        fn no_surroundings_make_the_parser_panic(variable in ".{0,40}", file in "[a-z=\\[\\]{}\"'#.,0-9x_\n -]{0,80}") {
            let _ = parsed("peerfarm", &around(&[("PEERFARM_RESOLVE", &variable)], Some(&file)));
        }
    }
}
