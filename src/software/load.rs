//! The profiles that come with the farm, and those of a directory in their place or besides.

use std::collections::{BTreeMap, HashMap};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::software::{Problem, Problems, Roster, Software, check};

/// Every profile, and the roster that stands when no other is asked for.
#[derive(Debug)]
pub struct Profiles {
    softwares: BTreeMap<String, Arc<Software>>,
    roster: Roster,
}

/// Reads the profiles that come with the farm, and every `*.toml` of a directory. There, a profile takes the place of
/// the one with its name, and `roster.toml` that of the default roster.
///
/// # Errors
/// Every problem of every file; a farm that could not load all of them has none.
pub fn load(directory: Option<&Path>) -> Result<Profiles, Problems> {
    let mut problems = Vec::new();
    let own = directory
        .map(|directory| files_of(directory, &mut problems))
        .unwrap_or_default();
    let embedded = EMBEDDED
        .iter()
        .map(|(name, text)| File::new(*name, *text))
        .collect();

    let mut softwares = BTreeMap::new();
    let mut roster = File::new(EMBEDDED_ROSTER.0, EMBEDDED_ROSTER.1);
    for files in [embedded, own] {
        let mut taken = HashMap::new();
        for file in files {
            if file.is_roster() {
                roster = file;
                continue;
            }
            match check::profile(&file.name, &file.text, &taken) {
                Ok(software) => {
                    taken.insert(software.name.clone(), file.name);
                    softwares.insert(software.name.clone(), Arc::new(software));
                }
                Err(found) => problems.extend(found),
            }
        }
    }

    // A profile that has problems is missing here, and the roster is not to blame for that.
    let complete = problems.is_empty();
    let (roster, found) = Roster::parse(&roster.name, &roster.text, &softwares, complete);
    problems.extend(found);
    match Problems::of(problems) {
        Some(problems) => Err(problems),
        None => Ok(Profiles { softwares, roster }),
    }
}

impl Profiles {
    /// The profile of that name.
    pub fn get(&self, name: &str) -> Option<&Arc<Software>> {
        self.softwares.get(name)
    }

    /// Every profile, by name.
    pub fn iter(&self) -> impl Iterator<Item = &Arc<Software>> {
        self.softwares.values()
    }

    /// The roster that stands when no other is asked for.
    pub fn roster(&self) -> &Roster {
        &self.roster
    }
}

struct File {
    name: String,
    text: String,
}

impl File {
    fn new(name: impl Into<String>, text: impl Into<String>) -> File {
        File {
            name: name.into(),
            text: text.into(),
        }
    }

    fn is_roster(&self) -> bool {
        Path::new(&self.name)
            .file_name()
            .is_some_and(|name| name == "roster.toml")
    }
}

/// The `*.toml` of a directory, by name; what cannot be read is a problem.
fn files_of(directory: &Path, problems: &mut Vec<Problem>) -> Vec<File> {
    let mut unreadable = |path: &Path, error: io::Error| {
        problems.push(Problem {
            file: path.display().to_string(),
            line: 1,
            key: String::new(),
            message: format!("cannot be read: {error}"),
        });
    };
    let listed = fs::read_dir(directory).and_then(|entries| {
        let paths: io::Result<Vec<PathBuf>> = entries.map(|entry| Ok(entry?.path())).collect();
        paths
    });
    let mut paths = match listed {
        Ok(paths) => paths,
        Err(error) => {
            unreadable(directory, error);
            return Vec::new();
        }
    };
    paths.retain(|path| path.extension().is_some_and(|extension| extension == "toml"));
    paths.sort();
    let mut files = Vec::new();
    for path in paths {
        match text_of(&path) {
            Ok(text) => files.push(File::new(path.display().to_string(), text)),
            Err(error) => unreadable(&path, error),
        }
    }
    files
}

/// A pipe would be waited for, and a device read, without end: only a plain file is opened, or a link to one.
fn text_of(path: &Path) -> io::Result<String> {
    match fs::metadata(path)?.is_file() {
        true => fs::read_to_string(path),
        false => Err(io::Error::other("it is no plain file")),
    }
}

const EMBEDDED: &[(&str, &str)] = &[
    ("peers/lemmy.toml", include_str!("../../peers/lemmy.toml")),
    ("peers/mastodon.toml", include_str!("../../peers/mastodon.toml")),
    ("peers/misskey.toml", include_str!("../../peers/misskey.toml")),
];
const EMBEDDED_ROSTER: (&str, &str) = ("peers/roster.toml", include_str!("../../peers/roster.toml"));
