//! Which hosts the farm has and what each wears.

use std::collections::{BTreeMap, HashSet};
use std::sync::Arc;

use crate::ids::{Host, NameError};
use crate::software::notes::Notes;
use crate::software::raw::Section;
use crate::software::{Problem, Profiles, Software};

/// How many peers a farm may have.
pub const PEERS_MAX: usize = 10_000;

/// The hosts of a farm, each once, in order.
#[derive(Clone, Debug, Default)]
pub struct Roster {
    entries: Vec<Entry>,
    hosts: HashSet<Host>,
}

/// One host.
#[derive(Clone, Debug)]
pub struct Entry {
    /// Its name.
    pub host: Host,
    /// What it wears.
    pub software: Arc<Software>,
}

impl Roster {
    /// So many peers of each software, `("mastodon", 12), ("lemmy", 8)`: hosts `mastodon1.test` to `mastodon12.test`,
    /// then `lemmy1.test` to `lemmy8.test`.
    pub fn of_mix<'a>(
        parts: impl IntoIterator<Item = (&'a str, usize)>,
        profiles: &Profiles,
    ) -> Result<Roster, RosterError> {
        let mut roster = Roster::default();
        for (name, count) in parts {
            let software = profiles.get(name).ok_or_else(|| RosterError::Software {
                name: name.to_owned(),
                known: profiles.iter().map(|software| software.name.clone()).collect(),
            })?;
            for number in 1..=count {
                roster.add(&format!("{name}{number}.test"), software)?;
            }
        }
        Ok(roster)
    }

    /// The same softwares in the same order under other names, made from the place in the roster, from 1.
    pub fn renamed(&self, name: impl Fn(usize) -> Host) -> Result<Roster, RosterError> {
        let mut roster = Roster::default();
        for (index, entry) in self.entries.iter().enumerate() {
            roster.add(name(index + 1).as_str(), &entry.software)?;
        }
        Ok(roster)
    }

    /// The hosts with what they wear.
    pub fn entries(&self) -> &[Entry] {
        &self.entries
    }

    /// The hosts.
    pub fn hosts(&self) -> impl Iterator<Item = &Host> {
        self.entries.iter().map(|entry| &entry.host)
    }

    /// Reads a roster file: an array of tables `peers` with `host` and `software`. The roster is good only where no
    /// problem comes with it. A software that is not listed is one where the list is `complete`.
    pub(super) fn parse(
        file: &str,
        text: &str,
        softwares: &BTreeMap<String, Arc<Software>>,
        complete: bool,
    ) -> (Roster, Vec<Problem>) {
        let mut roster = Roster::default();
        let notes = Notes::new(file, text);
        if let Some(table) = notes.parse() {
            let root = Section::root(&notes, &table);
            let peers = root.sections("peers");
            if peers.is_empty() && notes.is_empty() {
                root.wrong("peers", "at least one peer belongs here");
            }
            for peer in &peers {
                let (host, name) = (peer.text("host"), peer.text("software"));
                let known = || softwares.keys().cloned().collect();
                match softwares.get(&name) {
                    Some(software) if peer.has("host") => {
                        peer.right(
                            "host",
                            roster.add(&host, software).map_err(|error| error.to_string()),
                        );
                    }
                    None if complete && peer.has("software") => {
                        peer.wrong(
                            "software",
                            RosterError::Software { name, known: known() }.to_string(),
                        );
                    }
                    _ => {}
                }
            }
        }
        (roster, notes.take())
    }

    fn add(&mut self, host: &str, software: &Arc<Software>) -> Result<(), RosterError> {
        let host: Host = host.parse()?;
        if host.as_str() == HOOKS_HOST || host.as_str().ends_with(&format!(".{HOOKS_HOST}")) {
            return Err(RosterError::Reserved(host));
        }
        if self.entries.len() == PEERS_MAX {
            return Err(RosterError::TooMany);
        }
        if !self.hosts.insert(host.clone()) {
            return Err(RosterError::Twice(host));
        }
        self.entries.push(Entry {
            host,
            software: Arc::clone(software),
        });
        Ok(())
    }
}

/// Why there is no such roster.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RosterError {
    /// A host's name does not parse.
    #[error(transparent)]
    Host(#[from] NameError),
    /// The name belongs to the webhook providers.
    #[error("`{0}` belongs to the webhook providers: `{HOOKS_HOST}` and the names under it are taken")]
    Reserved(Host),
    /// There is no such profile.
    #[error("no software `{name}`; known are: {}", .known.join(", "))]
    Software {
        /// The name as written.
        name: String,
        /// The names of the profiles there are.
        known: Vec<String>,
    },
    /// More peers than a farm may have.
    #[error("more than {PEERS_MAX} peers")]
    TooMany,
    /// Two peers of one name.
    #[error("two peers are named `{0}`")]
    Twice(Host),
}

/// The name under which the webhook providers live.
const HOOKS_HOST: &str = "hooks.test";

#[cfg(test)]
mod tests {
    use super::*;
    use crate::software::load;

    #[test]
    fn a_mix_names_hosts_by_software_and_number() {
        let profiles = load(None).unwrap();
        let roster = Roster::of_mix([("lemmy", 2), ("mastodon", 1)], &profiles).unwrap();
        let named: Vec<_> = roster
            .entries()
            .iter()
            .map(|e| (e.host.as_str(), e.software.name.as_str()))
            .collect();
        assert_eq!(
            named,
            [
                ("lemmy1.test", "lemmy"),
                ("lemmy2.test", "lemmy"),
                ("mastodon1.test", "mastodon")
            ]
        );
        let flood = roster
            .renamed(|n| format!("flood{n}.test").parse().unwrap())
            .unwrap();
        let hosts: Vec<_> = flood.hosts().map(Host::as_str).collect();
        assert_eq!(hosts, ["flood1.test", "flood2.test", "flood3.test"]);
        assert_eq!(flood.entries()[2].software.name, "mastodon");
    }

    #[test]
    fn what_is_no_roster_is_refused() {
        let profiles = load(None).unwrap();
        let unknown = Roster::of_mix([("mastodom", 1)], &profiles).unwrap_err();
        assert_eq!(
            unknown.to_string(),
            "no software `mastodom`; known are: lemmy, mastodon, misskey"
        );
        assert!(Roster::of_mix([("lemmy", PEERS_MAX)], &profiles).is_ok());
        assert_eq!(
            Roster::of_mix([("lemmy", PEERS_MAX + 1)], &profiles).unwrap_err(),
            RosterError::TooMany
        );
        let two = Roster::of_mix([("lemmy", 2)], &profiles).unwrap();
        for (host, expected) in [
            ("x.test", "two peers are named `x.test`"),
            (
                "hooks.test",
                "`hooks.test` belongs to the webhook providers: `hooks.test` and the names under it are taken",
            ),
        ] {
            assert_eq!(
                two.renamed(|_| host.parse().unwrap()).unwrap_err().to_string(),
                expected
            );
        }
        assert!(
            two.renamed(|n| format!("a{n}.hooks.test").parse().unwrap())
                .is_err()
        );
        assert!(
            two.renamed(|n| format!("a{n}hooks.test").parse().unwrap())
                .is_ok()
        );
    }

    #[test]
    fn the_default_roster_is_the_twenty() {
        let profiles = load(None).unwrap();
        let hosts: Vec<_> = profiles.roster().hosts().map(Host::to_string).collect();
        let expected = [("mastodon", 10), ("misskey", 5), ("lemmy", 5)];
        let expected = expected
            .iter()
            .flat_map(|(name, count)| (1..=*count).map(move |n| format!("{name}{n}.test")));
        assert_eq!(hosts, expected.collect::<Vec<_>>());
    }
}
