//! Processes one after the other and beside each other: how a farm ends, what it leaves for the next one, and what
//! keeps it from starting.

use std::fs;
use std::net::TcpListener;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use tokio::io::AsyncReadExt;
use tokio::net::TcpStream;

use crate::support::{Peerfarm, Request, Serving, raw, tls};

#[tokio::test]
async fn each_address_of_the_ready_line_answers() {
    let farm = Serving::start("--listen [::1]:0 --listen-http 127.0.0.1:0 --hooks 127.0.0.1:0");
    let (secure, plain) = (farm.federation("https"), farm.federation("http"));
    assert!(secure.len() == 2 && secure[1].is_ipv6(), "{secure:?}");
    assert_eq!(plain.len(), 1);
    let finger =
        Request::get("https://mastodon1.test/.well-known/webfinger?resource=acct:alice@mastodon1.test");
    for to in secure {
        let trusting = tls::trusting_file(&farm.state().join("ca.pem"), &["http/1.1"]);
        let mut stream = tls::connect(to, "mastodon1.test", trusting).await.unwrap();
        finger.send_over(&mut stream).await.ok();
    }
    finger.send(plain[0]).await.ok();
    for api in [farm.api(), farm.hooks()] {
        assert_eq!(api.get("/healthz").await, json!({"status": "ok"}));
    }
}

#[tokio::test]
async fn a_signal_lets_what_is_under_way_end() {
    for signal in ["TERM", "INT"] {
        let mut farm = Serving::start("--hook-latency-ms 1000");
        let mut under_way = raw::begin(farm.api().0, "/hook/a").await;
        farm.api().get("/wait?requests=1").await;
        farm.signal(signal);
        assert_eq!(raw::answer(&mut under_way).await.status, 200, "{signal}");
        assert_eq!(farm.ended(), Some(0), "{signal}");
    }
}

#[tokio::test]
async fn what_is_under_way_holds_the_end_up_for_five_seconds_at_the_most() {
    let mut farm = Serving::start("--hook-latency-ms 60000");
    let mut held = raw::begin(farm.api().0, "/hook/a").await;
    farm.api().get("/wait?requests=1").await;
    let begun = Instant::now();
    farm.signal("TERM");
    assert_eq!(farm.ended(), Some(0));
    // Twice what is promised: other tests want the processor too.
    assert!(begun.elapsed() < Duration::from_secs(10), "{:?}", begun.elapsed());
    assert_eq!(raw::ended(&mut held).await, b"", "never answered");
}

#[tokio::test]
async fn a_killed_farm_leaves_its_ca_and_keys_to_the_next() {
    let mut farm = Serving::start("--listen-http 127.0.0.1:0");
    let (ca, key) = (farm.state().join("ca.pem"), public_key(&farm).await);
    let before = fs::read(&ca).unwrap();
    let trusting = tls::trusting_file(&ca, &["h2"]);
    farm.signal("KILL");
    assert_eq!(farm.ended(), None);

    let words = "serve --listen 127.0.0.1:0 --listen-http 127.0.0.1:0 --control 127.0.0.1:0";
    let next = farm.beside(words).serve();
    assert_eq!(fs::read(&ca).unwrap(), before);
    assert_eq!(public_key(&next).await, key);
    // Who trusted the CA before trusts the new process.
    tls::connect(next.federation("https")[0], "lemmy1.test", trusting)
        .await
        .unwrap();
}

#[tokio::test]
async fn a_restart_binds_the_same_addresses_at_once() {
    // An address of this test's own, where no port is ever taken for another test's outbound connection.
    let [_, _, high, low] = std::process::id().to_be_bytes();
    let own = format!("127.77.{high}.{low}");
    let words =
        |plain: &str, control: &str| format!("--listen off --listen-http {plain} --control {control}");
    let free = format!("{own}:0");
    let mut farm = Peerfarm::with(&words(&free, &free)).serve();
    let (plain, control) = (farm.federation("http")[0], farm.api().0);
    let mut connections = Vec::new();
    for to in [plain, control] {
        // Served once, so that it is kept alive, and the farm is the one to close it.
        let mut stream = TcpStream::connect(to).await.unwrap();
        let url = format!("http://{to}/");
        Request::get(&url).send_over(&mut stream).await;
        connections.push(stream);
    }
    farm.signal("TERM");
    for connection in &mut connections {
        assert_eq!(connection.read(&mut [0]).await.unwrap(), 0);
    }
    assert_eq!(farm.ended(), Some(0));
    drop(connections);
    let next = farm
        .beside(&words(&plain.to_string(), &control.to_string()))
        .serve();
    assert_eq!((next.federation("http")[0], next.api().0), (plain, control));
}

#[tokio::test]
async fn a_second_farm_on_one_state_is_told_to_take_another() {
    let farm = Serving::start("");
    let words = "serve --listen 127.0.0.1:0 --control 127.0.0.1:0";
    let said = farm.beside(words).run().ends(3, "error: another farm writes `");
    let hint = "; hint: give this one a state directory of its own: `--state DIR`\n";
    assert!(said.stderr.ends_with(hint), "{}", said.stderr);
    assert_eq!(said.stdout, "");
    assert_eq!(farm.api().get("/healthz").await, json!({"status": "ok"}));
    farm.beside(&format!("{words} --state other")).serve();
}

#[test]
fn broken_profiles_start_nothing_and_each_problem_has_its_place() {
    let broken = include_str!("../../peers/mastodon.toml")
        .replace("rsa_bits = 2048", "rsa_bits = 1024")
        .replace("[client]", "[client]\nspeed = 3");
    let line = |key: &str| 1 + broken.lines().position(|line| line.starts_with(key)).unwrap();
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = taken.local_addr().unwrap();
    let elsewhere = tempfile::tempdir().unwrap();
    let state = elsewhere.path().join("state");
    let said = Peerfarm::with(&format!(
        "--listen {address} --control {address} --peers-dir own --state"
    ))
    .word(state.to_str().unwrap())
    .file("own/a.toml", &broken)
    .file("own/b.toml", "name = \n")
    .run()
    .ends(2, "");
    for expected in [
        format!("error: own/a.toml:{}: keys.rsa_bits: ", line("rsa_bits")),
        format!("error: own/a.toml:{}: client.speed: ", line("speed")),
        "error: own/b.toml:1: ".to_owned(),
    ] {
        let mut lines = said.stderr.lines();
        assert!(
            lines.any(|line| line.starts_with(&expected)),
            "{expected}\n--\n{}",
            said.stderr
        );
    }
    assert_eq!(said.stderr.lines().count(), 3, "{}", said.stderr);
    // Had it tried to bind, the address would have been taken: exit code 3.
    assert_eq!(said.stdout, "");
    assert!(!state.exists(), "nothing was begun");
}

#[test]
fn an_address_in_use_is_named_with_its_flag() {
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let taken = taken.local_addr().unwrap();
    for flag in ["--listen", "--listen-http", "--control", "--hooks"] {
        let others = ["--listen", "--control"]
            .into_iter()
            .filter(|other| *other != flag);
        let others: Vec<String> = others.map(|other| format!("{other} 127.0.0.1:0")).collect();
        let said = Peerfarm::with(&format!("{flag} {taken} {}", others.join(" "))).run();
        let said = said.ends(3, &format!("error: cannot listen on `{taken}` (`{flag}`): "));
        let hint = format!("hint: port 0 picks a free one: `{flag} 127.0.0.1:0`\n");
        assert!(said.stderr.ends_with(&hint), "{}", said.stderr);
        assert_eq!(said.stdout, "");
    }
}

#[tokio::test]
async fn hosts_are_those_of_the_running_farm() {
    let farm = Serving::start("");
    let hosts = farm.beside("hosts").run().ends(0, "").stdout;
    let peers = farm.api().get("/peers").await;
    let peers = peers["peers"].as_array().unwrap().iter();
    let names = peers
        .map(|peer| peer["host"].as_str().unwrap())
        .chain(["hooks.test"]);
    let expected: String = names.map(|name| format!("127.0.0.1 {name}\n")).collect();
    assert_eq!(hosts, expected);
}

#[tokio::test]
async fn commands_print_what_the_api_answers() {
    let farm = Serving::start("");
    farm.api().hook("/hook/a", r#"{"id":"evt_1"}"#).await;
    let json = |words: &str| -> Value {
        let said = farm.beside(words).run().ends(0, "");
        serde_json::from_str(&said.stdout).unwrap()
    };
    assert_eq!(json("stats --json"), farm.api().stats().await);
    assert_eq!(json("journal --json"), farm.api().get("/journal").await);
    assert_eq!(json("reset --json")["totals"]["unique"], 1);
    assert_eq!(farm.api().stats().await["generation"], 2);
}

#[tokio::test]
async fn a_million_actors_are_served_as_soon_as_it_starts() {
    let roster = "--keys shared --roster mastodon=1000 --actors 1000";
    let farm = Serving::start(&format!("{roster} --listen-http 127.0.0.1:0"));
    let plain = farm.federation("http")[0];
    let finger = "http://mastodon1000.test/.well-known/webfinger?resource=acct:user1000@mastodon1000.test";
    let found = raw::get(plain, finger, None).await.ok();
    let mut links = found["links"].as_array().unwrap().iter();
    let own = links.find(|link| link["rel"] == "self").unwrap();
    let url = own["href"].as_str().unwrap();
    let actor = async |url: &str| raw::get(plain, url, Some(ACTIVITY)).await.ok();
    let last = actor(url).await;
    assert_eq!(last["preferredUsername"], "user1000");
    // Another actor of the peer has the same key, one of another peer has not.
    let key = |actor: &Value| actor["publicKey"]["publicKeyPem"].clone();
    assert_eq!(key(&actor(&url.replace("user1000", "alice")).await), key(&last));
    let elsewhere = url.replace("mastodon1000", "mastodon1");
    assert_ne!(key(&actor(&elsewhere).await), key(&last));
}

#[tokio::test]
async fn private_keys_are_their_owners_alone() {
    let farm = Serving::start("--listen-http 127.0.0.1:0");
    public_key(&farm).await;
    let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    let mut private = 0;
    for path in files(&farm.state()) {
        if fs::read_to_string(&path).unwrap().contains("PRIVATE KEY") {
            assert_eq!(mode(&path), 0o600, "{path:?}");
            assert_eq!(mode(path.parent().unwrap()), 0o700, "{path:?}");
            private += 1;
        }
    }
    assert!(private >= 2, "the CA's and the actor's");
    // Others have to read it.
    let ca = farm.state().join("ca.pem");
    assert_eq!(mode(&ca), 0o644);
    assert!(!fs::read_to_string(&ca).unwrap().contains("PRIVATE KEY"));
}

/// The key that `alice@mastodon1.test` shows, over plain HTTP.
async fn public_key(farm: &Serving) -> String {
    let url = "http://mastodon1.test/users/alice";
    let actor = raw::get(farm.federation("http")[0], url, Some(ACTIVITY)).await;
    let actor = actor.ok();
    actor["publicKey"]["publicKeyPem"].as_str().unwrap().to_owned()
}

/// Every file below a folder.
fn files(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    entries
        .flat_map(|path| match path.is_dir() {
            true => files(&path),
            false => vec![path],
        })
        .collect()
}

const ACTIVITY: &str = "application/activity+json";
