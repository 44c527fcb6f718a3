//! The profiles that come with the farm, and files that are wrong: each fixture says in its first line what is wrong
//! with it, and in the lines that begin with `#!` which problems have to be found, and no others. Of a fixture that
//! shows one thing, what else is missing is not counted.

use std::collections::{BTreeMap, HashMap};
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::*;

mod profiles;

fn profiles() -> Profiles {
    load(None).unwrap_or_else(|problems| panic!("{problems}"))
}

fn fixtures() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/peers")
}

fn softwares(profiles: &Profiles) -> BTreeMap<String, Arc<Software>> {
    profiles
        .iter()
        .map(|software| (software.name.clone(), Arc::clone(software)))
        .collect()
}

#[test]
fn the_profiles_that_come_with_the_farm_load() {
    let profiles = profiles();
    let names: Vec<_> = profiles.iter().map(|software| software.name.as_str()).collect();
    assert_eq!(names, ["lemmy", "mastodon", "misskey"]);
}

#[test]
fn every_wrong_fixture_is_told_its_problems_by_line_and_key() {
    let profiles = profiles();
    let mut count = 0;
    for entry in fs::read_dir(fixtures()).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        let text = fs::read_to_string(&path).unwrap();
        assert!(
            text.starts_with("# "),
            "{name} says in its first line what is wrong with it"
        );
        let found = match name.starts_with("roster") {
            true => Roster::parse(&name, &text, &softwares(&profiles), true).1,
            false => check::profile(&name, &text, &HashMap::new()).unwrap_err(),
        };
        let expected: Vec<&str> = text.lines().filter_map(|line| line.strip_prefix("#! ")).collect();
        let found = Problems::of(found).unwrap();
        let mut found: Vec<String> = found
            .iter()
            .map(|problem| problem.to_string().replace(&format!("{name}:"), ""))
            .collect();
        found.retain(|problem| !problem.ends_with(": missing") || expected.contains(&problem.as_str()));
        let fits = found.len() == expected.len()
            && found
                .iter()
                .zip(&expected)
                .all(|(found, wanted)| found.starts_with(wanted));
        assert!(
            fits,
            "{name}: found\n{}\nexpected\n{}",
            found.join("\n"),
            expected.join("\n")
        );
        count += 1;
    }
    assert!(count >= 17, "{count}");
}

#[test]
fn a_directory_reports_every_file_at_once() {
    let problems = load(Some(&fixtures())).unwrap_err();
    for name in ["unknown-key.toml", "no-json.toml", "name.toml", "no-toml.toml"] {
        assert!(
            problems.iter().any(|problem| problem.file.ends_with(name)),
            "{name}"
        );
    }
    let json = serde_json::to_value(&problems).unwrap();
    assert!(json[0]["file"].is_string() && json[0]["line"].is_u64() && json[0]["key"].is_string());
    assert!(
        load(Some(Path::new("/nowhere")))
            .unwrap_err()
            .to_string()
            .starts_with("/nowhere:1: cannot be read: ")
    );
}

#[test]
fn a_directory_replaces_and_adds_by_name() {
    let directory = tempfile::tempdir().unwrap();
    let mastodon = include_str!("../../../peers/mastodon.toml");
    let write = |name: &str, text: &str| fs::write(directory.path().join(name), text).unwrap();
    write(
        "own.toml",
        &mastodon.replace("version = \"4.7.0\"", "version = \"3.0.0\""),
    );
    write(
        "other.toml",
        &mastodon.replace("name = \"mastodon\"", "name = \"glitch\""),
    );
    write(
        "roster.toml",
        "[[peers]]\nhost = \"a.example\"\nsoftware = \"glitch\"\n",
    );
    write("notes.txt", "not read");
    let profiles = load(Some(directory.path())).unwrap_or_else(|problems| panic!("{problems}"));
    let names: Vec<_> = profiles.iter().map(|software| software.name.as_str()).collect();
    assert_eq!(names, ["glitch", "lemmy", "mastodon", "misskey"]);
    assert_eq!(profiles.get("mastodon").unwrap().version, "3.0.0");
    let hosts: Vec<_> = profiles.roster().hosts().map(|host| host.as_str()).collect();
    assert_eq!(hosts, ["a.example"]);

    write("twin.toml", mastodon);
    let problems = load(Some(directory.path())).unwrap_err().to_string();
    let (own, twin) = (
        directory.path().join("own.toml"),
        directory.path().join("twin.toml"),
    );
    let expected = format!(
        "{}:4: name: `mastodon` is also the name in `{}`",
        twin.display(),
        own.display()
    );
    assert_eq!(problems, expected);
}

/// A broken profile must not make the roster look wrong.
#[test]
fn the_roster_is_not_blamed_for_a_broken_profile() {
    let directory = tempfile::tempdir().unwrap();
    fs::write(directory.path().join("new.toml"), "name = \"new\"\n").unwrap();
    fs::write(
        directory.path().join("roster.toml"),
        "[[peers]]\nhost = \"a.test\"\nsoftware = \"new\"\n",
    )
    .unwrap();
    let problems = load(Some(directory.path())).unwrap_err();
    assert!(
        problems.iter().all(|problem| problem.file.ends_with("new.toml")),
        "{problems}"
    );
}

/// docs/adding-a-peer.md is the reference of the format.
#[test]
fn every_key_and_every_fact_is_explained() {
    let reference = include_str!("../../../docs/adding-a-peer.md");
    for (name, tells) in FACTS {
        assert!(reference.contains(&format!("| `{name}` | {tells} |")), "{name}");
    }
    let mut waiting: Vec<toml::Value> = ["mastodon", "misskey", "lemmy"]
        .map(|name| Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("peers/{name}.toml")))
        .map(|path| toml::Value::Table(fs::read_to_string(path).unwrap().parse().unwrap()))
        .into();
    while let Some(value) = waiting.pop() {
        match value {
            toml::Value::Array(members) => waiting.extend(members),
            toml::Value::Table(entries) => {
                for (key, value) in entries {
                    let explained = [
                        format!("`{key}`"),
                        format!("`[{key}]`"),
                        format!(".{key}]`"),
                        format!(".{key}]]`"),
                    ];
                    assert!(explained.iter().any(|word| reference.contains(word)), "{key}");
                    // Free keys: reasons, and facts, which were looked at above.
                    if key != "by_reason" && key != "facts" {
                        waiting.push(value);
                    }
                }
            }
            _ => {}
        }
    }
}

proptest::proptest! {
    #[test]
    fn no_file_makes_the_readers_panic(text in "(\\[{1,2}[a-z_.]{0,10}\\]{1,2}\n|[a-z_]{0,8} = (\"[{}a-z]{0,9}\"|'''\n[{}\"a:\n]{0,9}'''|[0-9]{0,3}|\\[\"a\"\\]|\\{ status = 3 \\})\n|.{0,6}){0,8}") {
        let _ = check::profile("x.toml", &text, &HashMap::new());
        let _ = Roster::parse("roster.toml", &text, &BTreeMap::new(), true);
    }
}

#[test]
fn what_is_no_plain_file_is_not_read() {
    let directory = tempfile::tempdir().unwrap();
    std::fs::create_dir(directory.path().join("directory.toml")).unwrap();
    std::os::unix::fs::symlink("/dev/zero", directory.path().join("endless.toml")).unwrap();
    let problems = load(Some(directory.path())).unwrap_err().to_string();
    for name in ["directory.toml", "endless.toml"] {
        let line = format!("{name}:1: cannot be read: it is no plain file");
        assert!(problems.contains(&line), "{problems}");
    }
}
