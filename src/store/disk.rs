//! The state directory: its lock, and files that are either the old ones or the new ones, whenever the process dies.

use std::fs::{self, DirBuilder, File, OpenOptions, TryLockError};
use std::io::{self, ErrorKind, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

use crate::store::error::StoreError;

/// The state directory, held by its one writer. The operating system ends the lock with the process, however it dies.
#[derive(Debug)]
pub struct Disk {
    dir: PathBuf,
    drafts: AtomicU64,
    _lock: File,
}

impl Disk {
    /// Makes the directory where there is none, takes its lock and clears what a killed process left half-written.
    ///
    /// # Errors
    /// When another process holds the lock, and when the directory cannot be written.
    pub fn open(dir: &Path) -> Result<Disk, StoreError> {
        let made = make_root(dir)?;
        let lock = take_lock(dir)?;
        let disk = Disk {
            dir: dir.to_owned(),
            drafts: AtomicU64::new(0),
            _lock: lock,
        };
        disk.make_folder(Path::new(DRAFTS))?;
        disk.clear_drafts()?;
        if made {
            // The state often lies in a checkout, and its keys are nothing to commit.
            disk.put(Path::new(".gitignore"), b"*\n", Mode::Public)?;
        }
        Ok(disk)
    }

    /// The directory as it was named.
    pub fn dir(&self) -> &Path {
        &self.dir
    }

    /// Makes a private folder in the directory, with those above it.
    pub fn make_folder(&self, relative: &Path) -> Result<(), StoreError> {
        let path = self.dir.join(relative);
        if path.is_dir() {
            return Ok(());
        }
        let made = DirBuilder::new().recursive(true).mode(0o700).create(&path);
        made.and_then(|()| sync_folder(&path))
            .map_err(|error| StoreError::Unwritable { path, error })
    }

    /// Puts a file in place whole: readers see the old content or the new, and so does the next start after a crash.
    pub fn put(&self, relative: &Path, bytes: &[u8], mode: Mode) -> Result<(), StoreError> {
        let number = self.drafts.fetch_add(1, Ordering::Relaxed);
        let draft = self.dir.join(DRAFTS).join(number.to_string());
        let path = self.dir.join(relative);
        let written = write_draft(&draft, bytes, mode)
            .and_then(|()| fs::rename(&draft, &path))
            .and_then(|()| sync_folder(&path));
        written.map_err(|source| {
            let _ = fs::remove_file(&draft);
            StoreError::File {
                action: "write",
                path,
                source,
            }
        })
    }

    /// The text of a file in the directory; `None` where there is none.
    pub fn text(&self, relative: &Path) -> Result<Option<String>, StoreError> {
        read_text(&self.dir.join(relative))
    }

    fn clear_drafts(&self) -> Result<(), StoreError> {
        let drafts = self.dir.join(DRAFTS);
        let clear = || -> io::Result<()> {
            for entry in fs::read_dir(&drafts)? {
                fs::remove_file(entry?.path())?;
            }
            Ok(())
        };
        clear().map_err(|source| StoreError::File {
            action: "clear",
            path: drafts.clone(),
            source,
        })
    }
}

/// Who may read a file, from the moment it exists. The process's umask may take more away.
#[derive(Clone, Copy, Debug)]
pub enum Mode {
    /// The owner alone.
    Private,
    /// Everybody.
    Public,
}

/// The text of a file; `None` where there is none.
///
/// # Errors
/// When it cannot be read, or is larger than any file of the state.
pub fn read_text(path: &Path) -> Result<Option<String>, StoreError> {
    let failed = |source| StoreError::File {
        action: "read",
        path: path.to_owned(),
        source,
    };
    match fs::metadata(path) {
        Ok(metadata) if metadata.len() > MAX_FILE => Err(failed(ErrorKind::FileTooLarge.into())),
        Ok(_) => fs::read_to_string(path).map(Some).map_err(failed),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
        Err(error) => Err(failed(error)),
    }
}

/// Makes the state directory; says whether there was none.
fn make_root(dir: &Path) -> Result<bool, StoreError> {
    match fs::metadata(dir) {
        Ok(metadata) if metadata.is_dir() => return Ok(false),
        Ok(_) => return Err(StoreError::NotDirectory { path: dir.to_owned() }),
        Err(error) if error.kind() == ErrorKind::NotFound => {}
        Err(error) => {
            return Err(StoreError::Unwritable {
                path: dir.to_owned(),
                error,
            });
        }
    }
    // What lies above is made as `mkdir -p` makes it.
    let above = dir.parent().map_or(Ok(()), fs::create_dir_all);
    // Open to all, for the bundle in it is public; what is private lies in folders of its own.
    let made = above.and_then(|()| DirBuilder::new().mode(0o755).create(dir));
    match made {
        Ok(()) => Ok(true),
        // Another farm was quicker; the lock decides between the two.
        Err(error) if error.kind() == ErrorKind::AlreadyExists => Ok(false),
        Err(error) => Err(StoreError::Unwritable {
            path: dir.to_owned(),
            error,
        }),
    }
}

fn take_lock(dir: &Path) -> Result<File, StoreError> {
    let path = dir.join("lock");
    let opened = OpenOptions::new()
        .create(true)
        .truncate(false)
        .write(true)
        .mode(0o600)
        .open(&path);
    let file = match opened {
        Ok(file) => file,
        Err(error) => return Err(StoreError::Unwritable { path, error }),
    };
    match file.try_lock() {
        Ok(()) => Ok(file),
        Err(TryLockError::WouldBlock) => Err(StoreError::Busy { dir: dir.to_owned() }),
        Err(TryLockError::Error(source)) => Err(StoreError::File {
            action: "lock",
            path,
            source,
        }),
    }
}

fn write_draft(draft: &Path, bytes: &[u8], mode: Mode) -> io::Result<()> {
    let mode = match mode {
        Mode::Private => 0o600,
        Mode::Public => 0o644,
    };
    let mut file = OpenOptions::new()
        .create_new(true)
        .write(true)
        .mode(mode)
        .open(draft)?;
    file.write_all(bytes)?;
    file.sync_all()
}

/// Makes a rename last: it is the folder that remembers it.
fn sync_folder(path: &Path) -> io::Result<()> {
    match path.parent() {
        Some(folder) => File::open(folder)?.sync_all(),
        None => Ok(()),
    }
}

/// Where files are written before they are renamed into place: one folder, so that the leftovers of a killed process
/// are found without a search.
const DRAFTS: &str = "tmp";

/// No file of the state comes near this: an authority of a thousand names has about 40 KB, the bundle of them all a
/// few megabytes.
const MAX_FILE: u64 = 64 << 20;
