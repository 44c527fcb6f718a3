//! Holds the tree of dependencies against `deny.toml`: licences, banned crates, registries. It asks `cargo metadata`,
//! so that the gate needs no tool that takes minutes to install; `cargo deny` reads the same file and may say more.

use std::path::Path;
use std::process::Command;

use serde::Deserialize;

#[test]
fn every_dependency_keeps_to_deny_toml() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let rules = std::fs::read_to_string(root.join("deny.toml")).expect("deny.toml is there");
    let rules: Rules = toml::from_str(&rules).expect("deny.toml parses");
    let metadata = Command::new(env!("CARGO"))
        .args(["metadata", "--format-version=1", "--locked"])
        .current_dir(root)
        .output()
        .expect("cargo runs");
    assert!(
        metadata.status.success(),
        "{}",
        String::from_utf8_lossy(&metadata.stderr)
    );
    let tree: Tree = serde_json::from_slice(&metadata.stdout).expect("cargo metadata is JSON");
    assert!(
        tree.packages.len() > 50,
        "the tree has only {} packages",
        tree.packages.len()
    );

    let problems: Vec<String> = tree
        .packages
        .iter()
        .filter_map(|package| rules.objection(package))
        .collect();
    assert!(problems.is_empty(), "\n{}\n", problems.join("\n"));
}

#[derive(Deserialize)]
struct Rules {
    licenses: Licenses,
    bans: Bans,
    sources: Sources,
}

#[derive(Deserialize)]
struct Licenses {
    allow: Vec<String>,
}

#[derive(Deserialize)]
struct Bans {
    deny: Vec<Ban>,
}

#[derive(Deserialize)]
struct Ban {
    name: String,
}

#[derive(Deserialize)]
#[serde(rename_all = "kebab-case")]
struct Sources {
    allow_registry: Vec<String>,
}

#[derive(Deserialize)]
struct Tree {
    packages: Vec<Package>,
}

#[derive(Deserialize)]
struct Package {
    name: String,
    license: Option<String>,
    source: Option<String>,
}

impl Rules {
    /// What the rules have against a package, if anything. A package without a source is this one.
    fn objection(&self, package: &Package) -> Option<String> {
        let Package {
            name,
            license,
            source,
        } = package;
        if self.bans.deny.iter().any(|ban| ban.name == *name) {
            return Some(format!("`{name}` is banned"));
        }
        if let Some(source) = source {
            let registry = source.strip_prefix("registry+").unwrap_or(source);
            if !self
                .sources
                .allow_registry
                .iter()
                .any(|allowed| allowed == registry)
            {
                return Some(format!("`{name}` comes from `{source}`"));
            }
        }
        match license {
            Some(license) if permitted(license, &self.licenses.allow) => None,
            license => Some(format!(
                "`{name}` has the licence `{}`",
                license.as_deref().unwrap_or("none")
            )),
        }
    }
}

/// Whether an SPDX expression can be met by allowed licences alone: `AND` needs both sides, `OR` (which binds less)
/// one, `/` is an old spelling of `OR`, and `WITH` belongs to the licence's name. What does not parse is not met.
fn permitted(expression: &str, allowed: &[String]) -> bool {
    let spaced = expression
        .replace('/', " OR ")
        .replace('(', " ( ")
        .replace(')', " ) ");
    let words: Vec<&str> = spaced.split_whitespace().collect();
    let mut at = 0;
    alternatives(&words, &mut at, allowed) && at == words.len()
}

fn alternatives(words: &[&str], at: &mut usize, allowed: &[String]) -> bool {
    let mut met = all_of(words, at, allowed);
    while words.get(*at) == Some(&"OR") {
        *at += 1;
        met |= all_of(words, at, allowed);
    }
    met
}

fn all_of(words: &[&str], at: &mut usize, allowed: &[String]) -> bool {
    let mut met = one(words, at, allowed);
    while words.get(*at) == Some(&"AND") {
        *at += 1;
        met &= one(words, at, allowed);
    }
    met
}

fn one(words: &[&str], at: &mut usize, allowed: &[String]) -> bool {
    let Some(word) = words.get(*at) else { return false };
    *at += 1;
    if *word == "(" {
        let met = alternatives(words, at, allowed);
        let closed = words.get(*at) == Some(&")");
        *at += 1;
        return met && closed;
    }
    let mut name = (*word).to_owned();
    if let [with @ "WITH", exception, ..] = &words[*at..] {
        name = format!("{name} {with} {exception}");
        *at += 2;
    }
    allowed.contains(&name)
}

#[test]
fn expressions_bind_as_spdx_says() {
    let allowed = [
        "MIT".to_owned(),
        "ISC".to_owned(),
        "Apache-2.0 WITH LLVM-exception".to_owned(),
    ];
    for (expression, met) in [
        ("MIT", true),
        ("GPL-3.0", false),
        ("GPL-3.0 OR MIT", true),
        ("GPL-3.0/MIT", true),
        ("GPL-3.0 AND MIT", false),
        ("MIT AND ISC", true),
        ("MIT OR GPL-3.0 AND AGPL-3.0", true),
        ("(MIT OR GPL-3.0) AND AGPL-3.0", false),
        ("ISC AND (Apache-2.0 OR MIT)", true),
        ("Apache-2.0 WITH LLVM-exception", true),
        ("Apache-2.0", false),
        ("MIT WITH Some-exception", false),
        ("", false),
        ("MIT MIT", false),
        ("(MIT", false),
        ("MIT)", false),
        ("MIT AND", false),
    ] {
        assert_eq!(permitted(expression, &allowed), met, "{expression}");
    }
}

#[test]
fn each_rule_finds_its_own() {
    let rules: Rules = toml::from_str(
        "[licenses]\nallow = ['MIT']\n[bans]\ndeny = [{ name = 'openssl' }]\n[sources]\nallow-registry = ['https://a.test']\n",
    )
    .expect("parses");
    let package = |name: &str, license: Option<&str>, source: Option<&str>| Package {
        name: name.into(),
        license: license.map(Into::into),
        source: source.map(Into::into),
    };
    for (package, expected) in [
        (package("own", Some("MIT"), None), None),
        (
            package("good", Some("MIT"), Some("registry+https://a.test")),
            None,
        ),
        (
            package("openssl", Some("MIT"), Some("registry+https://a.test")),
            Some("`openssl` is banned"),
        ),
        (
            package("far", Some("MIT"), Some("git+https://a.test")),
            Some("`far` comes from `git+https://a.test`"),
        ),
        (package("bare", None, None), Some("`bare` has the licence `none`")),
        (
            package("gpl", Some("GPL-3.0"), None),
            Some("`gpl` has the licence `GPL-3.0`"),
        ),
    ] {
        assert_eq!(rules.objection(&package).as_deref(), expected);
    }
}
