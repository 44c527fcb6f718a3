//! The farm as a process: its start, its `ready` line, its end, and the commands beside it.

use std::io::Read;

use serde_json::Value;

use crate::support::{Peerfarm, Serving};

#[test]
fn a_farm_says_when_it_is_ready_and_ends_by_a_signal() {
    let mut farm =
        Serving::start("--roster mastodon=2,lemmy=1 --hooks 127.0.0.1:0 --listen-http 127.0.0.1:0");
    let names: Vec<&str> = farm.ready().map(|(name, _)| name).collect();
    assert_eq!(names, ["federation", "federation", "control", "hooks"]);
    for (_, url) in farm.ready() {
        assert!(!url.ends_with(":0"), "{url}");
    }
    farm.greeting_has("mastodon2.test");

    let peers = farm.beside("peers").run().ends(0, "");
    assert_eq!(
        peers.stdout.lines().filter(|line| line.contains(".test")).count(),
        3,
        "{}",
        peers.stdout
    );
    farm.beside("peers lemmy1.test").run().ends(0, "");
    let stats = farm.beside("stats").run().ends(0, "");
    assert!(
        stats.stdout.contains("no delivery has arrived"),
        "{}",
        stats.stdout
    );
    let json = farm.beside("stats --json").run().ends(0, "");
    let json: Value = serde_json::from_str(&json.stdout).unwrap();
    assert_eq!(json["totals"]["requests"], 0);
    farm.beside("journal")
        .run()
        .ends(0, "")
        .has_line("nothing has arrived that fits");
    farm.beside("reset").run().ends(0, "");
    farm.beside("wait --quiet 10ms").run().ends(0, "");
    farm.beside("wait --unique 1 --timeout 10ms").run().ends(1, "");

    farm.signal("TERM");
    assert_eq!(farm.ended(), Some(0));
}

#[test]
fn what_arrives_is_shown() {
    let farm = Serving::start("--roster mastodon=1,lemmy=1");
    farm.post_hook("a", "{}").read_exact(&mut [0; 12]).unwrap();
    farm.beside("wait --path /hook/a --kind hook --requests 1")
        .run()
        .ends(0, "");
    farm.beside("follow alice@mastodon1.test @bob@lemmy1.test")
        .run()
        .ends(0, "");
    farm.beside("wait --unique 3").run().ends(0, "");

    let stats = farm.beside("stats --host hooks.test").run().ends(0, "");
    assert!(stats.stdout.contains("/hook/a"), "{}", stats.stdout);
    let journal = farm.beside("journal --kind hook").run().ends(0, "");
    let line = journal.stdout.lines().nth(1).unwrap();
    let id = line.split_whitespace().next().unwrap();
    let entry = farm.beside(&format!("journal show {id}")).run().ends(0, "");
    entry.has_line("POST /hook/a HTTP/1.1");
    entry.has_line("{}");
}

#[test]
fn a_second_signal_ends_at_once() {
    let mut farm = Serving::start("--roster mastodon=1 --hook-latency-ms 60000");
    // Under way, so that the farm has something to wait for.
    let _held = farm.post_hook("a", "{}");
    farm.beside("wait --requests 1").run().ends(0, "");
    farm.signal("INT");
    assert_eq!(farm.hears(), "ending; a second signal ends at once");
    farm.signal("INT");
    assert_eq!(farm.ended(), Some(130));
}

#[test]
fn certs_are_read_beside_a_running_farm() {
    let mut farm = Serving::start("--roster mastodon=1");
    let certs = farm.beside("certs").run().ends(0, "");
    let pem = farm.beside("certs --pem").run().ends(0, "");
    assert!(
        pem.stdout.starts_with("-----BEGIN CERTIFICATE-----"),
        "{}",
        pem.stdout
    );
    assert_eq!(std::fs::read_to_string(certs.stdout.trim()).unwrap(), pem.stdout);
    farm.signal("INT");
    assert_eq!(farm.ended(), Some(0));
}

#[test]
fn certs_without_a_farm_s_state_say_what_to_do() {
    Peerfarm::with("certs --state none")
        .run()
        .ends(2, "hint: start `peerfarm serve` once");
}

#[test]
fn hosts_are_those_of_the_roster() {
    let said = Peerfarm::with("hosts --roster mastodon=2 --address ::1")
        .run()
        .ends(0, "");
    assert_eq!(
        said.stdout,
        "::1 mastodon1.test\n::1 mastodon2.test\n::1 hooks.test\n"
    );
    let said = Peerfarm::with("hosts --compose --domain flood{n}.test")
        .file("peerfarm.toml", "roster = \"lemmy=1\"")
        .run()
        .ends(0, "");
    assert_eq!(said.stdout, "- flood1.test\n- hooks.test\n");
    let said = Peerfarm::with("hosts").run().ends(0, "");
    assert_eq!(said.stdout.lines().count(), 21, "{}", said.stdout);
    Peerfarm::with("hosts --roster geocities=2")
        .run()
        .ends(2, "`geocities`");
}

#[test]
fn what_cannot_be_loaded_ends_with_2() {
    let serve = "serve --listen 127.0.0.1:0 --control 127.0.0.1:0";
    Peerfarm::with(&format!("{serve} --roster geocities=2"))
        .run()
        .ends(2, "`geocities`");
    Peerfarm::with(&format!("{serve} --trust none.pem"))
        .run()
        .ends(2, "none.pem");
}
