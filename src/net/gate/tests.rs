//! What passes the gate and what does not.

use std::sync::Mutex;

use super::*;
use crate::net::resolve::Lookup;

#[tokio::test]
async fn only_loopback_private_and_named_hosts_pass() {
    let gate = gate(&[
        "named.test",
        "bücher.test",
        "169.254.1.1",
        "fe80::1",
        "0.0.0.0",
        "8.8.4.4",
    ]);
    let refused = [
        "https://8.8.8.8/",
        "https://[2606:4700::1111]/",
        "https://169.254.169.254/",
        "https://[fe80::2]/",
        "https://0.0.0.0/",
        "https://[::]/",
        "https://[64:ff9b::7f00:1]/",
        "https://100.64.0.1/",
        "https://0x08080808/",
        "https://[::ffff:8.8.8.8]/",
        "https://public.test/",
    ];
    for url in refused {
        let refusal = vet(&gate, url).await.unwrap_err();
        assert!(matches!(refusal, Refusal::Address { .. }), "{url}: {refusal}");
    }
    let passing = [
        ("https://127.1/", "127.0.0.1:443"),
        ("https://[::ffff:10.0.0.1]/", "10.0.0.1:443"),
        ("https://169.254.1.1/", "169.254.1.1:443"),
        ("https://[fe80::1]/", "[fe80::1]:443"),
        ("https://8.8.4.4:8443/", "8.8.4.4:8443"),
        ("https://private.test./", "10.0.0.1:443"),
    ];
    for (url, address) in passing {
        assert_eq!(
            vet(&gate, url).await.unwrap().addresses(),
            [address.parse().unwrap()],
            "{url}"
        );
    }
}

#[tokio::test]
async fn a_named_host_may_be_public_but_not_link_local() {
    for (answer, passes) in [
        ("8.8.8.8", true),
        ("100.64.0.1", true),
        ("169.254.169.254", false),
        ("0.0.0.0", false),
    ] {
        let gate = gate_answering(&["Named.test."], vec![vec![answer]]);
        assert_eq!(
            vet(&gate, "https://named.test/").await.is_ok(),
            passes,
            "{answer}"
        );
    }
}

#[tokio::test]
async fn a_refusal_says_what_would_let_it_pass() {
    for (url, said) in [
        (
            "https://public.test/",
            "`public.test` leads to `8.8.8.8`, neither loopback nor private; hint: if it is yours to test, \
             `--allow-target public.test` lets the farm reach it",
        ),
        (
            "https://169.254.169.254/",
            "`169.254.169.254` is a link-local or metadata address; hint: `--allow-target` with that very address \
             lets the farm reach it",
        ),
    ] {
        assert_eq!(vet(&gate(&[]), url).await.unwrap_err().to_string(), said);
    }
}

#[tokio::test]
async fn every_address_of_a_name_is_judged() {
    let answers = vec![vec!["8.8.8.8", "10.0.0.1", "2606:4700::1111", "::1", "10.0.0.1"]];
    let permit = vet(&gate_answering(&[], answers), "https://mixed.test/")
        .await
        .unwrap();
    assert_eq!(
        permit.addresses(),
        ["10.0.0.1:443".parse().unwrap(), "[::1]:443".parse().unwrap()]
    );
}

#[tokio::test]
async fn a_name_that_moves_after_it_was_judged_moves_nothing() {
    let gate = gate_answering(&[], vec![vec!["127.0.0.1"], vec!["8.8.8.8"]]);
    let permit = vet(&gate, "https://rebind.test/").await.unwrap();
    assert!(vet(&gate, "https://rebind.test/").await.is_err());
    assert_eq!(permit.addresses(), ["127.0.0.1:443".parse().unwrap()]);
}

#[tokio::test]
async fn rules_come_before_the_resolver_and_are_judged_too() {
    let rule = |host, port, address: &str, to| Rule::new(host, port, address.parse().unwrap(), to);
    let resolve = vec![
        rule("sut.test", Some(443), "127.0.0.1", Some(3000)),
        rule("bad.test", None, "8.8.8.8", None),
        rule("10.9.9.9", None, "127.0.0.2", None),
    ];
    let gate = Gate::with_resolver(
        Settings {
            resolve,
            ..Settings::default()
        },
        Box::new(Script::new(vec![])),
    );
    gate.pin([Rule::new(
        "own.test",
        Some(7443),
        "127.0.0.1".parse().unwrap(),
        Some(40_000),
    )]);
    for (url, address) in [
        ("https://sut.test/inbox", "127.0.0.1:3000"),
        ("https://own.test:7443/", "127.0.0.1:40000"),
        ("https://10.9.9.9:444/", "127.0.0.2:444"),
    ] {
        assert_eq!(
            vet(&gate, url).await.unwrap().addresses(),
            [address.parse().unwrap()]
        );
    }
    assert!(matches!(
        vet(&gate, "https://bad.test/").await,
        Err(Refusal::Address { .. })
    ));
    assert!(matches!(
        vet(&gate, "https://sut.test:444/").await,
        Err(Refusal::Lookup { .. })
    ));
}

#[tokio::test]
async fn only_http_urls_without_a_password_are_opened() {
    let mut gate = gate(&[]);
    for url in [
        "ftp://127.0.0.1/",
        "file:///etc/passwd",
        "data:,x",
        "ws://127.0.0.1/",
    ] {
        assert!(matches!(vet(&gate, url).await, Err(Refusal::Scheme(_))), "{url}");
    }
    for url in [
        "https://u@127.0.0.1/",
        "https://u:p@127.0.0.1/",
        "https://:p@127.0.0.1/",
    ] {
        assert!(
            matches!(vet(&gate, url).await, Err(Refusal::Userinfo { .. })),
            "{url}"
        );
    }
    assert!(matches!(
        vet(&gate, "http://127.0.0.1/").await,
        Err(Refusal::PlainHttp(_))
    ));
    gate.allow_http = true;
    assert!(vet(&gate, "http://127.0.0.1/").await.is_ok());
}

#[tokio::test]
async fn the_farms_own_control_address_is_forbidden() {
    let gate = gate(&["127.0.0.1"]);
    gate.forbid("127.0.0.1:7400".parse().unwrap());
    gate.forbid("0.0.0.0:7401".parse().unwrap());
    gate.forbid("[::]:7402".parse().unwrap());
    let own = [
        "https://127.0.0.1:7400/",
        "https://[::ffff:127.0.0.1]:7400/",
        "https://127.9.9.9:7401/",
        "https://[::1]:7402/",
        "https://127.0.0.1:7402/",
    ];
    for url in own {
        assert!(matches!(vet(&gate, url).await, Err(Refusal::Own { .. })), "{url}");
    }
    for url in [
        "https://127.0.0.1:7403/",
        "https://127.0.0.2:7400/",
        "https://10.255.255.1:7401/",
    ] {
        assert!(vet(&gate, url).await.is_ok(), "{url}");
    }
}

/// A resolver that gives its answers in order, the last again and again.
#[derive(Debug)]
struct Script(Mutex<Vec<Vec<&'static str>>>);

impl Script {
    fn new(mut answers: Vec<Vec<&'static str>>) -> Script {
        answers.reverse();
        Script(Mutex::new(answers))
    }
}

impl Resolve for Script {
    fn lookup<'a>(&'a self, _host: &'a str) -> Lookup<'a> {
        let mut answers = self.0.lock().unwrap();
        let answer = if answers.len() > 1 {
            answers.pop()
        } else {
            answers.last().cloned()
        };
        let found = answer.map(|found| found.iter().map(|ip| ip.parse().unwrap()).collect());
        Box::pin(async move { found.ok_or_else(|| io::ErrorKind::NotFound.into()) })
    }
}

#[derive(Debug)]
struct ByName;

impl Resolve for ByName {
    fn lookup<'a>(&'a self, host: &'a str) -> Lookup<'a> {
        let address = if host == "private.test" {
            "10.0.0.1"
        } else {
            "8.8.8.8"
        };
        Box::pin(async move { Ok(vec![address.parse().unwrap()]) })
    }
}

fn settings(allowed: &[&str]) -> Settings {
    Settings {
        allow_targets: allowed.iter().map(|host| (*host).to_owned()).collect(),
        ..Settings::default()
    }
}

fn gate(allowed: &[&str]) -> Gate {
    Gate::with_resolver(settings(allowed), Box::new(ByName))
}

fn gate_answering(allowed: &[&str], answers: Vec<Vec<&'static str>>) -> Gate {
    Gate::with_resolver(settings(allowed), Box::new(Script::new(answers)))
}

async fn vet(gate: &Gate, url: &str) -> Result<Permit, Refusal> {
    gate.vet(&Url::parse(url).unwrap()).await
}
