//! Holds the order of the layers: a module uses only modules listed above it in `src/lib.rs`, names them by paths
//! that start with `crate::`, one a `use`, and reaches upwards in no other way. The check reads text, so that a
//! wrong import fails with its file and line before anything is compiled around it.

use std::fs;
use std::path::{Path, PathBuf};

#[test]
fn every_module_uses_only_what_stands_above_it() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let order = order(&fs::read_to_string(root.join("lib.rs")).expect("src/lib.rs is there"));
    assert!(order.len() > 10, "read only {order:?} out of src/lib.rs");

    let mut problems = Vec::new();
    for file in sources(&root) {
        let inside = file.strip_prefix(&root).expect("found below src");
        let shown = Path::new("src").join(inside).display().to_string();
        match module_of(inside) {
            "lib" | "main" => {}
            module => {
                let text = fs::read_to_string(&file).expect("a source file is UTF-8");
                problems.extend(check(&order, module, &shown, &text));
            }
        }
    }
    assert!(problems.is_empty(), "\n{}\n", problems.join("\n"));
}

/// The modules in the order of the `mod` lines.
fn order(lib: &str) -> Vec<String> {
    lib.lines()
        .filter_map(|line| {
            let line = line.strip_prefix("pub ").unwrap_or(line);
            let name = line.strip_prefix("mod ")?.strip_suffix(';')?;
            Some(name.to_owned())
        })
        .collect()
}

/// Every `.rs` file below a folder, in an order that does not depend on the file system.
fn sources(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).expect("src can be read") {
        let path = entry.expect("src can be read").path();
        if path.is_dir() {
            found.extend(sources(&path));
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            found.push(path);
        }
    }
    found.sort();
    found
}

/// The module of the crate root that a file, named from `src/`, belongs to.
fn module_of(inside: &Path) -> &str {
    let first = inside
        .iter()
        .next()
        .and_then(|part| part.to_str())
        .expect("a UTF-8 file name");
    first.strip_suffix(".rs").unwrap_or(first)
}

/// What is wrong in one file of `module`, each as `file:line: what`.
fn check(order: &[String], module: &str, file: &str, text: &str) -> Vec<String> {
    let Some(own) = order.iter().position(|name| name == module) else {
        return vec![format!("{file}:1: `{module}` has no `mod` line in src/lib.rs")];
    };
    let in_tests_file = file.ends_with("/tests.rs") || file.contains("/tests/");
    let mut block = "";
    let mut problems = Vec::new();
    for (number, line) in text.lines().enumerate() {
        let code = code_of(line);
        let mut report = |what: String| problems.push(format!("{file}:{}: {what}", number + 1));
        for used in names_after(code, "crate::") {
            match order.iter().position(|name| name == used) {
                _ if used.is_empty() => report("`crate::` names one module, no `{` and no `*`".into()),
                None => report(format!("`crate::{used}` is no module of src/lib.rs")),
                Some(place) if place > own => report(format!("`{module}` stands above `crate::{used}`")),
                Some(_) => {}
            }
        }
        let glob = if in_tests_file {
            "use super::*;"
        } else {
            "    use super::*;"
        };
        if code.contains("super::") && (code != glob || !(in_tests_file || block == "mod tests {")) {
            report("`super::` only as `use super::*;` directly in `mod tests`".into());
        }
        if !code.is_empty() && !code.starts_with(char::is_whitespace) {
            block = code;
        }
    }
    problems
}

/// A line without its comment. Two slashes inside a word (`https://`) start none.
fn code_of(line: &str) -> &str {
    let end = if line.trim_start().starts_with("//") {
        0
    } else {
        line.find(" //").unwrap_or(line.len())
    };
    line[..end].trim_end()
}

/// The identifiers that follow each occurrence of `prefix`; empty where none does. `$crate::` and the end of a
/// longer word are no occurrence.
fn names_after<'a>(code: &'a str, prefix: &'a str) -> impl Iterator<Item = &'a str> {
    code.match_indices(prefix)
        .filter(move |(at, _)| !code[..*at].ends_with(|c: char| c.is_alphanumeric() || c == '_' || c == '$'))
        .map(move |(at, _)| {
            let rest = &code[at + prefix.len()..];
            &rest[..rest
                .find(|c: char| !c.is_alphanumeric() && c != '_')
                .unwrap_or(rest.len())]
        })
}

const LIB: &str = "//! Text.\n\n// values\npub mod ids;\npub mod clock;\n\npub mod stats;\nmod serve;\n";

fn problems_of(module: &str, text: &str) -> Vec<String> {
    check(&order(LIB), module, &format!("src/{module}.rs"), text)
}

#[test]
fn the_order_is_read_from_the_mod_lines() {
    assert_eq!(order(LIB), ["ids", "clock", "stats", "serve"]);
}

#[test]
fn a_use_of_what_stands_above_passes() {
    let text = "use crate::ids::Host;\nuse crate::stats::Stats;\n\nfn f(c: crate::clock::Clock) {}\n\n#[cfg(test)]\nmod tests {\n    use super::*;\n}\n";
    assert_eq!(problems_of("stats", text), Vec::<String>::new());
}

#[test]
fn a_use_of_what_stands_below_fails_with_its_line() {
    assert_eq!(
        problems_of("clock", "use crate::ids::Host;\nuse crate::stats::Stats;\n"),
        ["src/clock.rs:2: `clock` stands above `crate::stats`"]
    );
    assert_eq!(
        problems_of(
            "ids",
            "fn f() {\n    let x = g(crate::clock::now(), crate::serve::wire());\n}\n"
        ),
        [
            "src/ids.rs:2: `ids` stands above `crate::clock`",
            "src/ids.rs:2: `ids` stands above `crate::serve`"
        ]
    );
    assert_eq!(problems_of("ids", "pub(in crate::serve) fn f() {}\n").len(), 1);
}

#[test]
fn braces_globs_and_strangers_fail() {
    for text in [
        "use crate::{ids, clock};\n",
        "use crate::*;\n",
        "pub(crate) use crate::{\n    ids,\n};\n",
    ] {
        assert_eq!(
            problems_of("stats", text),
            ["src/stats.rs:1: `crate::` names one module, no `{` and no `*`"]
        );
    }
    assert_eq!(
        problems_of("stats", "use crate::Farm;\n"),
        ["src/stats.rs:1: `crate::Farm` is no module of src/lib.rs"]
    );
    assert_eq!(
        problems_of("extra", ""),
        ["src/extra.rs:1: `extra` has no `mod` line in src/lib.rs"]
    );
}

#[test]
fn super_fails_outside_a_test_module() {
    let expected = "`super::` only as `use super::*;` directly in `mod tests`";
    for (line, text) in [
        (1, "use super::Verdict;\n"),
        (1, "use super::*;\n"),
        (2, "mod inner {\n    use super::*;\n}\n"),
        (2, "mod tests {\n    use super::Verdict;\n}\n"),
        (
            3,
            "mod tests {\n    mod deep {\n        use super::*;\n    }\n}\n",
        ),
        (4, "mod tests {\n}\nmod inner {\n    use super::*;\n}\n"),
        (2, "fn f() {\n    super::super::g();\n}\n"),
    ] {
        assert_eq!(
            problems_of("stats", text),
            [format!("src/stats.rs:{line}: {expected}")],
            "{text}"
        );
    }
    assert!(check(&order(LIB), "stats", "src/stats/tests.rs", "use super::*;\n").is_empty());
}

#[test]
fn comments_and_longer_words_are_no_use() {
    let text = "//! See `crate::serve`.\n/// `super::x`\nfn f() {} // crate::serve does it\nmacro_rules! m { () => { $crate::serve::go() } }\nlet u = \"https://serve.test/\";\n";
    assert_eq!(problems_of("ids", text), Vec::<String>::new());
}
