use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::mpsc;

use super::*;
use crate::ids::Host;
use crate::signature::key::KeyKind;

const RSA: RsaBits = RsaBits::Rsa2048;

#[test]
fn keys_are_made_once_and_found_again() {
    let dir = tempfile::tempdir().unwrap();
    let alice = actor("a.test", "alice");
    let first = {
        let keyring = keyring(dir.path(), KeyScope::Actor);
        assert!(keyring.ready(&alice).is_none());
        let keys = keyring.obtain(&alice, RSA).unwrap();
        assert!(Arc::ptr_eq(&keys, &keyring.ready(&alice).unwrap()));
        assert!(Arc::ptr_eq(&keys, &keyring.obtain(&alice, RSA).unwrap()));
        assert_eq!(
            keyring.counts(),
            KeyCounts {
                held: 1,
                made: 1,
                read: 0,
                dropped: 0
            }
        );
        keys
    };
    let keyring = keyring(dir.path(), KeyScope::Actor);
    let second = keyring.obtain(&alice, RSA).unwrap();
    assert_eq!(
        keyring.counts(),
        KeyCounts {
            held: 1,
            made: 0,
            read: 1,
            dropped: 0
        }
    );
    assert_eq!(second.public_key_pem, first.public_key_pem);
    assert_eq!(second.ed25519_multibase, first.ed25519_multibase);
    assert!(
        second.ed25519_multibase.starts_with("z6Mk"),
        "the multicodec prefix of Ed25519 in base58btc"
    );
}

#[test]
fn openssl_reads_both_keys_from_the_private_file() {
    let dir = tempfile::tempdir().unwrap();
    let keyring = keyring(dir.path(), KeyScope::Actor);
    let keys = keyring.obtain(&actor("a.test", "alice"), RSA).unwrap();
    let path = dir.path().join("keys/a.test/alice.pem");
    assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
    let folder = fs::metadata(path.parent().unwrap()).unwrap();
    assert_eq!(folder.permissions().mode() & 0o777, 0o700);

    // The RSA key comes first, and openssl reads the first.
    let output = Command::new("openssl")
        .args(["pkey", "-pubout", "-in"])
        .arg(&path)
        .output()
        .unwrap();
    assert_eq!(String::from_utf8(output.stdout).unwrap(), keys.public_key_pem);
    let text = fs::read_to_string(&path).unwrap();
    let second = dir.path().join("second.pem");
    fs::write(&second, &text[text.rfind("-----BEGIN").unwrap()..]).unwrap();
    let output = Command::new("openssl")
        .args(["pkey", "-noout", "-text", "-in"])
        .arg(second)
        .output()
        .unwrap();
    assert!(
        String::from_utf8(output.stdout)
            .unwrap()
            .starts_with("ED25519 Private-Key:")
    );
}

#[test]
fn every_owner_has_keys_of_its_own() {
    let dir = tempfile::tempdir().unwrap();
    let keyring = keyring(dir.path(), KeyScope::Actor);
    let owners = [
        actor("a.test", "instance"),
        KeyOwner::instance(host("a.test")),
        KeyOwner::instance(host("b.test")),
        actor("a.test", ".."),
    ];
    let mut pems: Vec<_> = owners
        .iter()
        .map(|owner| keyring.obtain(owner, RSA).unwrap().public_key_pem.clone())
        .collect();
    pems.sort();
    pems.dedup();
    assert_eq!(pems.len(), owners.len());
    assert_eq!(
        files(&dir.path().join("keys/a.test")),
        ["...pem", "@instance.pem", "instance.pem"]
    );
}

#[test]
fn a_peer_can_share_one_pair_of_keys() {
    let dir = tempfile::tempdir().unwrap();
    let keyring = keyring(dir.path(), KeyScope::Peer);
    let alice = keyring.obtain(&actor("a.test", "alice"), RSA).unwrap();
    let instance = keyring.ready(&KeyOwner::instance(host("a.test"))).unwrap();
    assert!(Arc::ptr_eq(&alice, &instance));
    assert!(keyring.ready(&actor("b.test", "alice")).is_none());
    assert_eq!(files(&dir.path().join("keys/a.test")), ["@peer.pem"]);
}

#[test]
fn many_askers_get_the_same_keys_made_once() {
    let dir = tempfile::tempdir().unwrap();
    let keyring = keyring(dir.path(), KeyScope::Actor);
    let alice = actor("a.test", "alice");
    let pems: Vec<String> = thread::scope(|scope| {
        let askers: Vec<_> = (0..8)
            .map(|_| scope.spawn(|| keyring.obtain(&alice, RSA).unwrap()))
            .collect();
        askers
            .into_iter()
            .map(|asker| asker.join().unwrap().public_key_pem.clone())
            .collect()
    });
    assert!(pems.iter().all(|pem| *pem == pems[0]));
    assert_eq!(
        keyring.counts(),
        KeyCounts {
            held: 1,
            made: 1,
            read: 0,
            dropped: 0
        }
    );
}

#[test]
fn keys_being_made_keep_nobody_else_waiting() {
    let dir = tempfile::tempdir().unwrap();
    let keyring = Keyring::bounded(store(dir.path()), KeyScope::Actor, 1);
    let (alice, bob) = (actor("a.test", "alice"), actor("a.test", "bob"));
    thread::scope(|scope| {
        let (started, has_started) = mpsc::channel();
        let (finish, may_finish) = mpsc::channel::<()>();
        let (keyring, alice) = (&keyring, &alice);
        let slow = scope.spawn(move || {
            keyring.cell(alice).obtain(|| {
                started.send(()).unwrap();
                may_finish.recv().unwrap();
                keyring.read_or_make(alice, RSA)
            })
        });
        has_started.recv().unwrap();
        assert!(keyring.ready(alice).is_none());
        keyring.obtain(&bob, RSA).unwrap();
        // The bound is one, but keys that are being made are not dropped: they would be made twice.
        finish.send(()).unwrap();
        let keys = slow.join().unwrap().unwrap();
        assert!(Arc::ptr_eq(&keys, &keyring.obtain(alice, RSA).unwrap()));
    });
}

#[test]
fn the_oldest_keys_leave_memory_and_come_back_from_disk() {
    let dir = tempfile::tempdir().unwrap();
    let keyring = Keyring::bounded(store(dir.path()), KeyScope::Actor, 2);
    let names = ["alice", "bob", "carol"];
    let pems = names.map(|name| {
        keyring
            .obtain(&actor("a.test", name), RSA)
            .unwrap()
            .public_key_pem
            .clone()
    });
    assert_eq!(
        keyring.counts(),
        KeyCounts {
            held: 2,
            made: 3,
            read: 0,
            dropped: 1
        }
    );
    assert!(keyring.ready(&actor("a.test", "alice")).is_none());
    assert!(keyring.ready(&actor("a.test", "bob")).is_some());
    for (name, pem) in names.iter().zip(&pems) {
        assert_eq!(
            keyring
                .obtain(&actor("a.test", name), RSA)
                .unwrap()
                .public_key_pem,
            *pem
        );
    }
    assert_eq!(keyring.counts().made, 3);
}

#[test]
fn a_key_of_another_size_is_added_and_the_old_one_kept() {
    let dir = tempfile::tempdir().unwrap();
    let alice = actor("a.test", "alice");
    let obtain = |bits| keyring(dir.path(), KeyScope::Actor).obtain(&alice, bits).unwrap();
    let small = obtain(RsaBits::Rsa2048);
    let large = obtain(RsaBits::Rsa4096);
    assert_eq!(
        (small.rsa.kind(), large.rsa.kind()),
        (KeyKind::Rsa(2_048), KeyKind::Rsa(4_096))
    );
    assert_eq!(small.ed25519_multibase, large.ed25519_multibase);
    assert_eq!(obtain(RsaBits::Rsa2048).public_key_pem, small.public_key_pem);
    assert_eq!(obtain(RsaBits::Rsa4096).public_key_pem, large.public_key_pem);
}

#[test]
fn a_broken_file_is_named_and_left_alone() {
    let dir = tempfile::tempdir().unwrap();
    let keyring = keyring(dir.path(), KeyScope::Actor);
    let alice = actor("a.test", "alice");
    let path = dir.path().join("keys/a.test/alice.pem");
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    let broken = "-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----\n";
    for (text, problem) in [
        ("", "there is no PKCS#8 private key"),
        (broken, "a key in it cannot be read"),
    ] {
        fs::write(&path, text).unwrap();
        let error = keyring.obtain(&alice, RSA).unwrap_err().to_string();
        assert!(
            error.starts_with(&format!(
                "`{}` does not hold an actor's keys: {problem}; ",
                path.display()
            )),
            "{error}"
        );
        assert_eq!(fs::read_to_string(&path).unwrap(), text);
    }
    fs::remove_file(&path).unwrap();
    keyring.obtain(&alice, RSA).unwrap();
}

#[test]
fn keys_made_ahead_are_ready() {
    let dir = tempfile::tempdir().unwrap();
    let keyring = keyring(dir.path(), KeyScope::Actor);
    let owners: Vec<_> = (0..6)
        .map(|n| (actor(&format!("a{n}.test"), "alice"), RSA))
        .collect();
    keyring.make_ahead(&owners, 2).unwrap();
    assert!(owners.iter().all(|(owner, _)| keyring.ready(owner).is_some()));
    assert_eq!(keyring.counts().made, 6);
    keyring.make_ahead(&[], 2).unwrap();
}

#[test]
fn keys_made_ahead_stop_at_the_first_failure() {
    let dir = tempfile::tempdir().unwrap();
    let keyring = keyring(dir.path(), KeyScope::Actor);
    fs::create_dir(dir.path().join("keys")).unwrap();
    fs::write(dir.path().join("keys/a.test"), "in the way").unwrap();
    let owners: Vec<_> = ["alice", "bob"].map(|name| (actor("a.test", name), RSA)).into();
    let error = keyring.make_ahead(&owners, 2).unwrap_err().to_string();
    assert!(error.contains("keys/a.test"), "{error}");
    assert_eq!(keyring.counts().made, 0);
}

fn keyring(dir: &Path, scope: KeyScope) -> Keyring {
    Keyring::new(store(dir), scope)
}

fn store(dir: &Path) -> Arc<Store> {
    Arc::new(Store::open(dir).unwrap())
}

fn actor(of: &str, name: &str) -> KeyOwner {
    KeyOwner::actor(host(of), name)
}

fn host(name: &str) -> Host {
    name.parse().unwrap()
}

fn files(folder: &Path) -> Vec<String> {
    let paths = fs::read_dir(folder)
        .unwrap()
        .map(|entry| PathBuf::from(entry.unwrap().file_name()));
    let mut names: Vec<_> = paths.map(|path| path.display().to_string()).collect();
    names.sort();
    names
}
