use std::io::{BufRead, BufReader, Read, Write};
use std::os::unix::fs::PermissionsExt;
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};

use super::*;

#[test]
fn a_new_state_is_private_but_for_the_bundle() {
    let home = tempfile::tempdir().unwrap();
    let dir = home.path().join("deep/state");
    let store = Store::open(&dir).unwrap();
    store.authorities_for(&hosts(&["a.test"]), NOW).unwrap();
    for (name, mode) in [
        ("", 0o755),
        ("ca", 0o700),
        ("lock", 0o600),
        ("ca/1.pem", 0o600),
        ("ca.pem", 0o644),
        (".gitignore", 0o644),
    ] {
        let found = fs::metadata(dir.join(name)).unwrap().permissions().mode() & 0o777;
        assert_eq!(found, mode, "`{name}`: {found:o}");
    }
    assert_eq!(fs::read_dir(dir.join("tmp")).unwrap().count(), 0);
}

#[test]
fn a_second_writer_is_told_what_to_do() {
    let dir = tempfile::tempdir().unwrap();
    let first = Store::open(dir.path()).unwrap();
    first.authorities_for(&hosts(&["a.test"]), NOW).unwrap();
    let error = Store::open(dir.path()).unwrap_err().to_string();
    assert!(
        error.starts_with(&format!("another farm writes `{}`; hint: ", dir.path().display())),
        "{error}"
    );
    assert_eq!(Store::read(dir.path()).unwrap().certificates.len(), 1);
    drop(first);
    Store::open(dir.path()).unwrap();
}

#[test]
fn a_killed_writer_leaves_nothing_in_the_way() {
    let dir = tempfile::tempdir().unwrap();
    let mut writer = Command::new(std::env::current_exe().unwrap())
        .args([
            "--ignored",
            "--exact",
            "--nocapture",
            "store::tests::write_until_killed",
        ])
        .env("PEERFARM_TEST_STATE", dir.path())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(writer.stdout.take().unwrap()).lines();
    assert!(lines.any(|line| line.unwrap().contains("state is held")));
    assert!(matches!(Store::open(dir.path()), Err(StoreError::Busy { .. })));
    writer.kill().unwrap();
    writer.wait().unwrap();

    let store = Store::open(dir.path()).unwrap();
    assert_eq!(fs::read_dir(dir.path().join("tmp")).unwrap().count(), 0);
    assert!(
        store
            .authorities_for(&hosts(&["a.test"]), NOW)
            .unwrap()
            .made()
            .is_none()
    );
}

#[test]
#[ignore = "the other process of `a_killed_writer_leaves_nothing_in_the_way`"]
fn write_until_killed() {
    let Some(dir) = std::env::var_os("PEERFARM_TEST_STATE") else {
        return;
    };
    let dir = Path::new(&dir);
    let store = Store::open(dir).unwrap();
    store.authorities_for(&hosts(&["a.test"]), NOW).unwrap();
    fs::write(dir.join("tmp/7"), "half a fi").unwrap();
    writeln!(std::io::stdout(), "state is held").unwrap();
    std::io::stdin().read_to_end(&mut Vec::new()).unwrap();
}

#[test]
fn the_same_state_gives_the_same_authority() {
    let dir = tempfile::tempdir().unwrap();
    let made = |store: &Store| {
        store
            .authorities_for(&hosts(&["a.test", "b.test"]), NOW)
            .unwrap()
            .made()
            .is_some()
    };
    assert!(made(&Store::open(dir.path()).unwrap()));
    let bundle = fs::read_to_string(dir.path().join("ca.pem")).unwrap();
    assert!(!made(&Store::open(dir.path()).unwrap()));
    assert_eq!(fs::read_to_string(dir.path().join("ca.pem")).unwrap(), bundle);
}

#[test]
fn a_changed_roster_adds_one_authority_and_keeps_the_old() {
    let dir = tempfile::tempdir().unwrap();
    let store = Store::open(dir.path()).unwrap();
    let first = store.authorities_for(&hosts(&["a.test", "b.test"]), NOW).unwrap();
    let old = first.made().unwrap().der().clone();

    let second = store
        .authorities_for(&hosts(&["c.test", "a.test", "d.test"]), NOW)
        .unwrap();
    let new = second.made().unwrap();
    assert_eq!(new.names().collect::<Vec<_>>(), ["c.test", "d.test"]);
    assert_eq!(second.certificates().len(), 2);
    assert_eq!(second.authority(&host("a.test")).unwrap().der(), &old);
    assert_eq!(second.authority(&host("d.test")).unwrap().der(), new.der());

    let bundle = Store::read(dir.path()).unwrap();
    assert_eq!(
        bundle
            .certificates
            .iter()
            .map(|one| one.der())
            .collect::<Vec<_>>(),
        [&old, new.der()]
    );
    drop(store);
    let store = Store::open(dir.path()).unwrap();
    let third = store
        .authorities_for(&hosts(&["d.test", "b.test", "www.a.test"]), NOW)
        .unwrap();
    assert!(third.made().is_none());
}

#[test]
fn an_expired_authority_is_replaced() {
    let dir = tempfile::tempdir().unwrap();
    let store = Store::open(dir.path()).unwrap();
    store.authorities_for(&hosts(&["a.test"]), NOW).unwrap();
    let later = NOW.plus(std::time::Duration::from_secs(11 * 366 * 86_400));
    assert!(
        store
            .authorities_for(&hosts(&["a.test"]), later)
            .unwrap()
            .made()
            .is_some()
    );
}

#[test]
fn a_host_of_nobody_has_no_certificate() {
    let dir = tempfile::tempdir().unwrap();
    let store = Store::open(dir.path()).unwrap();
    let authorities = store.authorities_for(&hosts(&["a.test"]), NOW).unwrap();
    assert!(authorities.leaf(&host("a.test"), NOW).unwrap().is_ok());
    assert!(authorities.leaf(&host("b.test"), NOW).is_none());
    assert!(store.authorities_for(&[], NOW).unwrap().made().is_none());
}

#[test]
fn authorities_are_bounded() {
    let dir = tempfile::tempdir().unwrap();
    let store = Store::open(dir.path()).unwrap();
    store.authorities_for(&hosts(&["a.test"]), NOW).unwrap();
    let one = fs::read(dir.path().join("ca/1.pem")).unwrap();
    drop(store);
    for number in 2..=MAX_AUTHORITIES {
        fs::write(dir.path().join(format!("ca/{number}.pem")), &one).unwrap();
    }
    let store = Store::open(dir.path()).unwrap();
    assert!(matches!(
        store.authorities_for(&hosts(&["b.test"]), NOW),
        Err(StoreError::Full { .. })
    ));
    assert!(store.authorities_for(&hosts(&["a.test"]), NOW).is_ok());
}

#[test]
fn a_bundle_that_fell_behind_is_brought_in_line() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("ca.pem");
    Store::open(dir.path())
        .unwrap()
        .authorities_for(&hosts(&["a.test"]), NOW)
        .unwrap();
    let bundle = fs::read_to_string(&path).unwrap();
    fs::remove_file(&path).unwrap();
    assert!(matches!(Store::read(dir.path()), Err(StoreError::Missing { .. })));
    drop(Store::open(dir.path()).unwrap());
    assert_eq!(fs::read_to_string(&path).unwrap(), bundle);
    fs::write(&path, "old").unwrap();
    drop(Store::open(dir.path()).unwrap());
    assert_eq!(fs::read_to_string(&path).unwrap(), bundle);
}

#[test]
fn a_broken_authority_stops_the_start_and_names_its_file() {
    let dir = tempfile::tempdir().unwrap();
    Store::open(dir.path())
        .unwrap()
        .authorities_for(&hosts(&["a.test"]), NOW)
        .unwrap();
    let path = dir.path().join("ca/1.pem");
    let whole = fs::read_to_string(&path).unwrap();
    for (text, problem) in [("", "there is no certificate"), (&whole[..300], "it is no PEM")] {
        fs::write(&path, text).unwrap();
        let error = Store::open(dir.path()).unwrap_err().to_string();
        let start = format!(
            "`{}` does not hold a certificate authority: {problem}; hint: ",
            path.display()
        );
        assert!(error.starts_with(&start), "{error}");
        assert_eq!(fs::read_to_string(&path).unwrap(), text);
    }
    fs::write(&path, &whole).unwrap();
    Store::open(dir.path()).unwrap();
}

#[test]
fn a_reader_names_what_is_wrong() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("ca.pem");
    let error = Store::read(dir.path()).unwrap_err().to_string();
    assert!(
        error.starts_with(&format!("`{}` does not exist: no farm has run", path.display())),
        "{error}"
    );
    fs::write(&path, "-----BEGIN CERTIFICATE-----\n").unwrap();
    assert!(matches!(Store::read(dir.path()), Err(StoreError::Corrupt { .. })));
    // Reading made nothing.
    assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 1);
}

#[test]
fn what_is_no_directory_or_cannot_be_one_is_named() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("file");
    fs::write(&file, "").unwrap();
    let error = Store::open(&file).unwrap_err().to_string();
    assert_eq!(
        error,
        format!(
            "`{}` is no directory; hint: name one: `--state DIR`",
            file.display()
        )
    );
    let below = file.join("state");
    let error = Store::open(&below).unwrap_err().to_string();
    assert!(
        error.starts_with(&format!(
            "cannot write the state directory `{}`: ",
            below.display()
        )),
        "{error}"
    );
    // The kernel makes no directories there, not even for root.
    assert!(matches!(
        Store::open(Path::new("/proc/peerfarm")),
        Err(StoreError::Unwritable { .. })
    ));
}

#[test]
fn a_reader_sees_whole_files_while_they_are_written() {
    let dir = tempfile::tempdir().unwrap();
    let store = Store::open(dir.path()).unwrap();
    store.authorities_for(&hosts(&["h0.test"]), NOW).unwrap();
    let done = AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            for n in 1..100 {
                store
                    .authorities_for(&hosts(&[&format!("h{n}.test")]), NOW)
                    .unwrap();
            }
            done.store(true, Ordering::Release);
        });
        let mut seen = 0;
        while !done.load(Ordering::Acquire) {
            let bundle = Store::read(dir.path()).unwrap();
            assert!(bundle.certificates.len() >= seen && bundle.pem.ends_with("-----END CERTIFICATE-----\n"));
            seen = bundle.certificates.len();
        }
    });
    assert_eq!(Store::read(dir.path()).unwrap().certificates.len(), 100);
}

pub(super) fn hosts(names: &[&str]) -> Vec<Host> {
    names.iter().map(|name| host(name)).collect()
}

pub(super) fn host(name: &str) -> Host {
    name.parse().unwrap()
}

/// 2027-01-15T08:00:00Z.
pub(super) const NOW: Timestamp = Timestamp::from_unix(1_800_000_000);
