use std::path::{Path, PathBuf};
use std::sync::Arc;

use imbl::OrdMap;
use kubewright_core::Revision;
use redb::{Database, ReadableDatabase, ReadableTable, TableDefinition};
use serde_json::Value;

use super::{Change, ChangeKind, Key, Object};

/// Objects as JSON, by resource, a zero byte, and path.
const OBJECTS: TableDefinition<'_, &str, &[u8]> = TableDefinition::new("objects");
/// The revision of the last write.
const COUNTERS: TableDefinition<'_, &str, u64> = TableDefinition::new("counters");
/// What the cluster must find again: keys it signs with.
const SECRETS: TableDefinition<'_, &str, &[u8]> = TableDefinition::new("secrets");

const REVISION: &str = "revision";
const FILE: &str = "cluster.redb";

/// Why a data folder could not be used.
#[derive(Debug, thiserror::Error)]
pub enum DiskError {
    /// The folder cannot be made.
    #[error("make the data folder {folder}: name a folder that you may write to")]
    Folder {
        /// The folder.
        folder: PathBuf,
        /// What the system said.
        #[source]
        source: std::io::Error,
    },
    /// Another process has it open.
    #[error("open the data in {folder}: another cluster is using it; stop that one first")]
    InUse {
        /// The folder.
        folder: PathBuf,
    },
    /// The file cannot be read or written.
    #[error("{tried} the data in {folder}: is the disk full, or the file damaged?")]
    Storage {
        /// What was tried.
        tried: &'static str,
        /// The folder.
        folder: PathBuf,
        /// What the storage said.
        #[source]
        source: Box<redb::Error>,
    },
    /// The thread that writes could not be started.
    #[error("start the thread that writes the data: are there threads left?")]
    Thread {
        /// What the system said.
        #[from]
        source: std::io::Error,
    },
    /// An object in the file is not what was written.
    #[error("read {key} in {folder}: it is not a stored object; restore the folder from a copy")]
    Damaged {
        /// Which object.
        key: String,
        /// The folder.
        folder: PathBuf,
    },
}

/// A folder in which a store is kept.
#[derive(Debug)]
pub(crate) struct Disk {
    database: Database,
    folder: PathBuf,
}

/// A key and a value as the file has them.
type Stored = (String, Vec<u8>);

/// What was kept.
#[derive(Debug, Default)]
pub(super) struct Kept {
    pub(super) objects: OrdMap<Key, Arc<Object>>,
    pub(super) revision: Revision,
}

impl Disk {
    /// Opens the data in a folder, or makes it.
    pub(crate) fn open(folder: &Path) -> Result<Self, DiskError> {
        std::fs::create_dir_all(folder).map_err(|source| DiskError::Folder {
            folder: folder.to_owned(),
            source,
        })?;
        let database = match Database::create(folder.join(FILE)) {
            Ok(database) => database,
            Err(redb::DatabaseError::DatabaseAlreadyOpen) => {
                return Err(DiskError::InUse {
                    folder: folder.to_owned(),
                });
            }
            Err(source) => return Err(failed("open", folder)(source.into())),
        };
        Ok(Self {
            database,
            folder: folder.to_owned(),
        })
    }

    /// Everything that was kept.
    pub(super) fn load(&self) -> Result<Kept, DiskError> {
        // A transaction that writes makes the tables of a new file.
        let found = self.read_all().map_err(failed("read", &self.folder))?;
        let mut kept = Kept {
            revision: Revision::new(found.0),
            ..Kept::default()
        };
        for (key, bytes) in found.1 {
            let object = decode(&key, &bytes).ok_or_else(|| DiskError::Damaged {
                key,
                folder: self.folder.clone(),
            })?;
            kept.objects.insert(object.0, object.1);
        }
        Ok(kept)
    }

    fn read_all(&self) -> Result<(u64, Vec<Stored>), redb::Error> {
        let writing = self.database.begin_write()?;
        writing.open_table(OBJECTS)?;
        writing.open_table(COUNTERS)?;
        writing.open_table(SECRETS)?;
        writing.commit()?;
        let reading = self.database.begin_read()?;
        let revision = reading.open_table(COUNTERS)?.get(REVISION)?;
        let revision = revision.map(|found| found.value()).unwrap_or_default();
        let mut objects = Vec::new();
        for entry in reading.open_table(OBJECTS)?.iter()? {
            let (key, value) = entry?;
            objects.push((key.value().to_owned(), value.value().to_vec()));
        }
        Ok((revision, objects))
    }

    /// Keeps a number of writes, all of them or none; returns when they are on the disk.
    pub(super) fn keep(&self, changes: &[Arc<Change>]) -> Result<(), DiskError> {
        self.write(changes).map_err(failed("write", &self.folder))
    }

    fn write(&self, changes: &[Arc<Change>]) -> Result<(), redb::Error> {
        let Some(last) = changes.last() else {
            return Ok(());
        };
        let writing = self.database.begin_write()?;
        {
            let mut objects = writing.open_table(OBJECTS)?;
            for change in changes {
                let key = place(&change.key);
                match change.kind {
                    ChangeKind::Deleted => {
                        objects.remove(key.as_str())?;
                    }
                    ChangeKind::Added | ChangeKind::Modified => {
                        objects.insert(key.as_str(), change.after.bytes().as_ref())?;
                    }
                }
            }
            let mut counters = writing.open_table(COUNTERS)?;
            counters.insert(REVISION, last.revision().number())?;
        }
        writing.commit()?;
        Ok(())
    }

    /// What was kept under a name; made and kept when there is nothing.
    pub(crate) fn secret(
        &self,
        name: &str,
        make: impl FnOnce() -> Option<Vec<u8>>,
    ) -> Result<Option<Vec<u8>>, DiskError> {
        let failed = failed("write", &self.folder);
        self.find_or_make(name, make).map_err(failed)
    }

    fn find_or_make(
        &self,
        name: &str,
        make: impl FnOnce() -> Option<Vec<u8>>,
    ) -> Result<Option<Vec<u8>>, redb::Error> {
        let writing = self.database.begin_write()?;
        let found = {
            let mut secrets = writing.open_table(SECRETS)?;
            let found = secrets.get(name)?.map(|found| found.value().to_vec());
            match found {
                Some(found) => Some(found),
                None => {
                    let made = make();
                    if let Some(made) = &made {
                        secrets.insert(name, made.as_slice())?;
                    }
                    made
                }
            }
        };
        writing.commit()?;
        Ok(found)
    }
}

fn failed(tried: &'static str, folder: &Path) -> impl FnOnce(redb::Error) -> DiskError + use<> {
    let folder = folder.to_owned();
    move |source| DiskError::Storage {
        tried,
        folder,
        source: Box::new(source),
    }
}

fn place(key: &Key) -> String {
    format!("{}\0{}", key.resource(), key.path())
}

fn decode(place: &str, bytes: &[u8]) -> Option<(Key, Arc<Object>)> {
    let (resource, path) = place.split_once('\0')?;
    let value: Value = serde_json::from_slice(bytes).ok()?;
    let revision = value.pointer("/metadata/resourceVersion")?.as_str()?;
    let revision = Revision::new(revision.parse().ok()?);
    let object = Arc::new(Object::new(value, revision));
    Some((Key::at(resource, path), object))
}
