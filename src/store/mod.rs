//! What lies on disk: the authorities that sign for the peers' hosts, and the actors' keys.
//!
//! ```text
//! .peerfarm/          0755
//!   lock              held by the one farm that writes
//!   ca.pem      0644  every authority's certificate: what others trust
//!   ca/<n>.pem  0600  one authority each, certificate and key; the first that permits a host signs for it
//!   keys/<host>/      one file an actor, 0600
//!   tmp/              files being written
//! ```

mod actor_keys;
mod authorities;
mod authority;
mod disk;
mod error;
mod key_owner;
mod keyring;
mod once;

pub use actor_keys::ActorKeys;
pub use authorities::Authorities;
pub use authority::{AuthorityCertificate, Leaf};
pub use error::StoreError;
pub use key_owner::KeyOwner;
pub use keyring::{KeyCounts, KeyScope, Keyring};
pub use once::OnceTry;

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use crate::clock::Timestamp;
use crate::ids::Host;
use crate::store::authority::Authority;
use crate::store::disk::{Disk, Mode};

/// The state directory, open for its one writer.
#[derive(Debug)]
pub struct Store {
    disk: Disk,
    /// In the order of their numbers; the last number is the largest.
    authorities: Mutex<Vec<(u32, Arc<Authority>)>>,
}

impl Store {
    /// Opens the state directory to write it, makes it where there is none, and reads its authorities.
    ///
    /// # Errors
    /// When another farm writes it, when it cannot be written, when an authority cannot be read.
    pub fn open(dir: &Path) -> Result<Store, StoreError> {
        let disk = Disk::open(dir)?;
        disk.make_folder(Path::new(AUTHORITIES))?;
        let authorities = read_authorities(&disk)?;
        write_bundle(&disk, &authorities)?;
        Ok(Store {
            disk,
            authorities: Mutex::new(authorities),
        })
    }

    /// Reads the authorities' certificates, also beside a farm that writes.
    ///
    /// # Errors
    /// When no farm has run with this directory, and when the file cannot be read.
    pub fn read(dir: &Path) -> Result<Bundle, StoreError> {
        let path = dir.join(BUNDLE);
        let Some(pem) = disk::read_text(&path)? else {
            return Err(StoreError::Missing { path });
        };
        match AuthorityCertificate::bundle_from_pem(&pem) {
            Ok(certificates) => Ok(Bundle {
                path,
                pem,
                certificates,
            }),
            Err(problem) => Err(StoreError::Corrupt {
                path,
                wanted: "the authorities' certificates",
                problem,
            }),
        }
    }

    /// The directory as it was named.
    pub fn dir(&self) -> &Path {
        self.disk.dir()
    }

    /// The bundle of all authorities' certificates, for `curl --cacert` and `NODE_EXTRA_CA_CERTS`.
    pub fn bundle_path(&self) -> PathBuf {
        self.dir().join(BUNDLE)
    }

    /// Finds an authority for each host: the first that permits it. For the hosts that none permits one new authority
    /// is made and kept, so that those already trusted stay good when the roster changes; see [`Authorities::made`].
    ///
    /// # Errors
    /// When the new authority cannot be made or written, or there are too many.
    pub fn authorities_for(&self, hosts: &[Host], now: Timestamp) -> Result<Authorities, StoreError> {
        let mut known = self.authorities.lock().unwrap_or_else(PoisonError::into_inner);
        let in_order: Vec<_> = known.iter().map(|(_, authority)| Arc::clone(authority)).collect();
        let (mut authorities, homeless) = Authorities::assign(&in_order, hosts, now);
        if homeless.is_empty() {
            return Ok(authorities);
        }
        if known.len() >= MAX_AUTHORITIES {
            return Err(StoreError::Full {
                dir: self.dir().join(AUTHORITIES),
                limit: MAX_AUTHORITIES,
            });
        }
        let made = Authority::make(&homeless, now).map_err(|source| StoreError::Sign {
            what: "a certificate authority".to_owned(),
            source,
        })?;
        let made = Arc::new(made);
        let number = known.last().map_or(1, |(number, _)| number.saturating_add(1));
        self.disk.put(
            &authority_file(number),
            made.private_pem().as_bytes(),
            Mode::Private,
        )?;
        known.push((number, Arc::clone(&made)));
        write_bundle(&self.disk, &known)?;
        authorities.add(homeless, made);
        Ok(authorities)
    }
}

/// The authorities' certificates as others read them.
#[derive(Debug)]
pub struct Bundle {
    /// The file.
    pub path: PathBuf,
    /// Its text.
    pub pem: String,
    /// The certificates in it.
    pub certificates: Vec<AuthorityCertificate>,
}

/// Every authority in the order of its number. Files of other names are somebody else's.
fn read_authorities(disk: &Disk) -> Result<Vec<(u32, Arc<Authority>)>, StoreError> {
    let folder = disk.dir().join(AUTHORITIES);
    let failed = |source| StoreError::File {
        action: "read",
        path: folder.clone(),
        source,
    };
    let mut numbers = Vec::new();
    for entry in fs::read_dir(&folder).map_err(failed)? {
        let name = entry.map_err(failed)?.file_name();
        let number = name
            .to_str()
            .and_then(|name| name.strip_suffix(".pem"))
            .and_then(|stem| stem.parse().ok());
        numbers.extend(number.filter(|number| authority_file(*number).file_name() == Some(&name)));
    }
    numbers.sort_unstable();
    numbers
        .into_iter()
        .map(|number| Ok((number, Arc::new(read_authority(disk, number)?))))
        .collect()
}

fn read_authority(disk: &Disk, number: u32) -> Result<Authority, StoreError> {
    let file = authority_file(number);
    let text = disk.text(&file)?.unwrap_or_default();
    Authority::from_pem(&text).map_err(|problem| StoreError::Corrupt {
        path: disk.dir().join(file),
        wanted: "a certificate authority",
        problem,
    })
}

/// Brings `ca.pem` in line with the authorities, also after a process died between the two writes.
fn write_bundle(disk: &Disk, authorities: &[(u32, Arc<Authority>)]) -> Result<(), StoreError> {
    let pem: String = authorities
        .iter()
        .map(|(_, authority)| authority.certificate().pem())
        .collect();
    let unchanged = matches!(disk.text(Path::new(BUNDLE)), Ok(Some(text)) if text == pem);
    if unchanged || pem.is_empty() {
        return Ok(());
    }
    disk.put(Path::new(BUNDLE), pem.as_bytes(), Mode::Public)
}

fn authority_file(number: u32) -> PathBuf {
    Path::new(AUTHORITIES).join(format!("{number}.pem"))
}

const AUTHORITIES: &str = "ca";
const BUNDLE: &str = "ca.pem";

/// How many authorities one state keeps: each is a change of the roster that needed new names. Dropping the oldest
/// instead would break what somebody trusts.
const MAX_AUTHORITIES: usize = 256;

#[cfg(test)]
mod tests;
