//! What is typed, set in the environment or written in `peerfarm.toml`, and the exit codes.

use crate::support::Peerfarm;

#[test]
fn help_and_version_are_done() {
    let help = Peerfarm::with("--help").run().ends(0, "");
    assert!(help.stdout.contains("Examples:"), "{}", help.stdout);
    let version = Peerfarm::with("--version").run().ends(0, "");
    assert_eq!(
        version.stdout,
        concat!("peerfarm ", env!("CARGO_PKG_VERSION"), "\n")
    );
}

#[test]
fn wrong_words_end_with_2() {
    Peerfarm::with("dance")
        .run()
        .ends(2, "unrecognized subcommand 'dance'");
    Peerfarm::with("--listen nowhere")
        .run()
        .ends(2, "'nowhere' for '--listen <ADDRESS>': `nowhere` is no address");
    Peerfarm::with("serve --listen off")
        .run()
        .ends(2, "give `--listen-http ADDRESS` as well");
    Peerfarm::with("serve").env("PEERFARM_ACTORS", "few").run().ends(
        2,
        "error: `PEERFARM_ACTORS`: `few` does not fit: write a whole number from 1 to 10000",
    );
}

#[test]
fn a_wrong_file_ends_with_2_and_names_line_and_key() {
    let run = |text: &str| Peerfarm::with("serve").file("peerfarm.toml", text).run();
    run("actors = 3\nspeed = 9\n").ends(2, "error: `peerfarm.toml` line 2, key `speed`: no such key");
    run("actors = [").ends(2, "error: `peerfarm.toml` line 1: ");
    Peerfarm::with("completions bash")
        .file("peerfarm.toml", "actors = [")
        .run()
        .ends(0, "");
}

#[test]
fn a_reader_that_has_gone_is_no_failure() {
    let said = Peerfarm::with("completions bash").run_unread().ends(0, "");
    assert_eq!(said.stderr, "");
    let said = Peerfarm::with("--help").run_unread().ends(0, "");
    assert_eq!(said.stderr, "");
}

#[test]
fn completions_know_the_commands() {
    let said = Peerfarm::with("completions bash").run().ends(0, "");
    assert!(said.stdout.contains("unfollow") && said.stdout.contains("--journal-mib"));
}
