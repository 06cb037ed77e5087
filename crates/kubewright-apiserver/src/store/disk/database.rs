//! The data file of a store, written in transactions.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use imbl::OrdMap;
use kubewright_core::Revision;
use redb::{Database, ReadableDatabase, ReadableTable, ReadableTableMetadata, TableDefinition};

use super::entry::{decode, entry_key};
use super::error::DiskError;
use super::folder::{FILE, make_private, private_file};
use crate::store::key::Key;
use crate::store::log::{Change, ChangeKind};
use crate::store::object::Object;

/// Objects as JSON, by resource, a zero byte, and path.
const OBJECTS: TableDefinition<'_, &str, &[u8]> = TableDefinition::new("objects");
/// The bytes of objects that cannot be read.
const UNREADABLE: TableDefinition<'_, &str, &[u8]> = TableDefinition::new("unreadable");
/// The revision of the last write.
const COUNTERS: TableDefinition<'_, &str, u64> = TableDefinition::new("counters");
/// The keys that the cluster signs with.
const SECRETS: TableDefinition<'_, &str, &[u8]> = TableDefinition::new("secrets");

const REVISION: &str = "revision";

/// The data folder of a store.
#[derive(Debug)]
pub(crate) struct Disk {
    /// None after a failed write: the file is opened again then.
    database: Option<Database>,
    folder: PathBuf,
}

/// The key and the bytes of an entry.
type Entry = (String, Vec<u8>);

/// The objects and the revision of a data file.
#[derive(Debug, Default)]
pub(in crate::store) struct LoadedState {
    pub(in crate::store) objects: OrdMap<Key, Arc<Object>>,
    pub(in crate::store) revision: Revision,
}

/// One transaction.
#[derive(Debug)]
pub(super) struct Transaction<'a> {
    /// Objects to restore to an earlier state; none for those to remove.
    pub(super) restored: &'a OrdMap<Key, Option<Arc<Object>>>,
    /// Writes, in order.
    pub(super) changes: &'a [Arc<Change>],
    /// The revision of the store after them.
    pub(super) revision: Revision,
}

impl Disk {
    /// Opens the data in a folder, or creates it. Only the user of this process has access.
    pub(crate) fn open(folder: &Path) -> Result<Self, DiskError> {
        make_private(folder)?;
        let mut disk = Self {
            database: None,
            folder: folder.to_owned(),
        };
        disk.database()?;
        Ok(disk)
    }

    /// The open file.
    fn database(&mut self) -> Result<&mut Database, DiskError> {
        let database = match self.database.take() {
            Some(database) => database,
            None => open_file(&self.folder)?,
        };
        Ok(self.database.insert(database))
    }

    fn with<T>(
        &mut self,
        tried: &'static str,
        work: impl FnOnce(&mut Database) -> Result<T, redb::Error>,
    ) -> Result<T, DiskError> {
        let result = work(self.database()?);
        result.map_err(|source| {
            // redb fails every call after a failure until the file is opened again.
            self.database = None;
            DiskError::Storage {
                tried,
                folder: self.folder.clone(),
                source: Box::new(source),
            }
        })
    }

    /// Reads all objects. The bytes of an object that cannot be read are moved to another table, so
    /// that it neither hides the others nor is overwritten.
    pub(in crate::store) fn load(&mut self) -> Result<LoadedState, DiskError> {
        let (revision, entries) = self.with("read", read_all)?;
        let mut loaded = LoadedState {
            revision: Revision::new(revision),
            ..LoadedState::default()
        };
        let mut unreadable = Vec::new();
        for (key, bytes) in entries {
            match decode(&key, &bytes) {
                Some((key, object)) => drop(loaded.objects.insert(key, object)),
                None => unreadable.push((key, bytes)),
            }
        }
        let count = self.with("write", |database| set_aside(database, &unreadable))?;
        if count > 0 {
            let new: Vec<String> = unreadable
                .iter()
                .map(|(key, _)| key.replace('\0', "/"))
                .collect();
            tracing::error!(
                folder = %self.folder.display(),
                new = new.join(", "),
                "{count} objects of the data folder cannot be read and are left out; their bytes \
                 are in the table `unreadable` of {FILE}"
            );
        }
        Ok(loaded)
    }

    /// Writes a transaction completely or not at all. Returns when it is on the disk.
    pub(super) fn write(&mut self, transaction: &Transaction<'_>) -> Result<(), DiskError> {
        self.with("write", |database| transaction.commit(database))
    }

    /// The stored key of that name. It is generated and stored when there is none.
    pub(crate) fn secret(
        &mut self,
        name: &str,
        generate: impl FnOnce() -> Option<Vec<u8>>,
    ) -> Result<Option<Vec<u8>>, DiskError> {
        self.with("write", |database| {
            find_or_generate(database, name, generate)
        })
    }
}

impl Transaction<'_> {
    fn commit(&self, database: &Database) -> Result<(), redb::Error> {
        let writing = database.begin_write()?;
        {
            let mut objects = writing.open_table(OBJECTS)?;
            for (key, object) in self.restored {
                match object {
                    Some(object) => {
                        objects.insert(entry_key(key).as_str(), object.bytes().as_ref())?;
                    }
                    None => {
                        objects.remove(entry_key(key).as_str())?;
                    }
                }
            }
            for change in self.changes {
                let key = entry_key(&change.key);
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
            counters.insert(REVISION, self.revision.number())?;
        }
        writing.commit()?;
        Ok(())
    }
}

fn open_file(folder: &Path) -> Result<Database, DiskError> {
    let path = folder.join(FILE);
    let file = private_file(&path).map_err(|source| DiskError::File { path, source })?;
    match Database::builder().create_file(file) {
        Ok(database) => Ok(database),
        Err(redb::DatabaseError::DatabaseAlreadyOpen) => Err(DiskError::InUse {
            folder: folder.to_owned(),
        }),
        Err(source) => Err(DiskError::Storage {
            tried: "open",
            folder: folder.to_owned(),
            source: Box::new(source.into()),
        }),
    }
}

/// Reads the revision and all entries. Creates the tables of a new file.
fn read_all(database: &mut Database) -> Result<(u64, Vec<Entry>), redb::Error> {
    let writing = database.begin_write()?;
    for table in [OBJECTS, UNREADABLE, SECRETS] {
        writing.open_table(table)?;
    }
    writing.open_table(COUNTERS)?;
    writing.commit()?;
    let reading = database.begin_read()?;
    let revision = reading
        .open_table(COUNTERS)?
        .get(REVISION)?
        .map(|found| found.value())
        .unwrap_or_default();
    let mut objects = Vec::new();
    for entry in reading.open_table(OBJECTS)?.iter()? {
        let (key, value) = entry?;
        objects.push((key.value().to_owned(), value.value().to_vec()));
    }
    Ok((revision, objects))
}

/// Moves entries that cannot be read to another table. Returns how many it has.
fn set_aside(database: &mut Database, unreadable: &[Entry]) -> Result<u64, redb::Error> {
    let writing = database.begin_write()?;
    let count = {
        let mut objects = writing.open_table(OBJECTS)?;
        let mut aside = writing.open_table(UNREADABLE)?;
        for (key, bytes) in unreadable {
            aside.insert(key.as_str(), bytes.as_slice())?;
            objects.remove(key.as_str())?;
        }
        aside.len()?
    };
    if unreadable.is_empty() {
        writing.abort()?;
    } else {
        writing.commit()?;
    }
    Ok(count)
}

fn find_or_generate(
    database: &mut Database,
    name: &str,
    generate: impl FnOnce() -> Option<Vec<u8>>,
) -> Result<Option<Vec<u8>>, redb::Error> {
    let writing = database.begin_write()?;
    let secret = {
        let mut secrets = writing.open_table(SECRETS)?;
        let stored = secrets.get(name)?.map(|stored| stored.value().to_vec());
        if stored.is_some() {
            stored
        } else {
            let generated = generate();
            if let Some(generated) = &generated {
                secrets.insert(name, generated.as_slice())?;
            }
            generated
        }
    };
    writing.commit()?;
    Ok(secret)
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt as _;
    use std::path::Path;
    use std::sync::Arc;

    use imbl::OrdMap;
    use kubewright_core::Revision;
    use serde_json::{Value, json};

    use super::{Change, ChangeKind, Disk, DiskError, Key, Object, Transaction};
    use crate::store::object::MAX_OBJECT_DEPTH;

    fn nested(levels: usize) -> Value {
        (0..levels).fold(json!(1), |inside, _| json!({"a": inside}))
    }

    fn object(name: &str, value: Value) -> Arc<Change> {
        let value = json!({"metadata": {"name": name}, "spec": value});
        Arc::new(Change {
            key: Key::new("pots", None, name),
            before: None,
            after: Arc::new(Object::new(value, Revision::new(7))),
            kind: ChangeKind::Added,
        })
    }

    fn write(disk: &mut Disk, changes: &[Arc<Change>]) {
        let transaction = Transaction {
            restored: &OrdMap::new(),
            changes,
            revision: Revision::new(7),
        };
        disk.write(&transaction).unwrap();
    }

    fn mode(path: &Path) -> u32 {
        path.metadata().unwrap().permissions().mode() & 0o777
    }

    #[test]
    fn object_of_the_maximum_depth_is_read_back() {
        let folder = tempfile::tempdir().unwrap();
        let mut disk = Disk::open(folder.path()).unwrap();
        disk.load().unwrap();
        let deep = object("deep", nested(MAX_OBJECT_DEPTH - 1));
        write(&mut disk, &[Arc::clone(&deep)]);
        drop(disk);
        let loaded = Disk::open(folder.path()).unwrap().load().unwrap();
        assert_eq!(loaded.objects[&deep.key].value(), deep.after.value());
        assert_eq!(loaded.revision, Revision::new(7));
    }

    #[test]
    fn unreadable_object_is_set_aside_and_hides_no_other() {
        let folder = tempfile::tempdir().unwrap();
        let mut disk = Disk::open(folder.path()).unwrap();
        disk.load().unwrap();
        let too_deep = object("deep", nested(MAX_OBJECT_DEPTH + 1));
        write(&mut disk, &[object("a", json!(1)), too_deep]);
        drop(disk);
        for _ in 0..2 {
            let mut disk = Disk::open(folder.path()).unwrap();
            let loaded = disk.load().unwrap();
            let names = loaded.objects.values().map(|object| object.name());
            assert_eq!(names.collect::<Vec<_>>(), ["a"]);
            let aside = disk.with("read", |database| super::set_aside(database, &[]));
            assert_eq!(aside.unwrap(), 1);
        }
    }

    #[test]
    fn only_the_owner_has_access_to_folder_and_file() {
        let parent = tempfile::tempdir().unwrap();
        let (folder, file) = (
            parent.path().join("data"),
            parent.path().join("data/cluster.redb"),
        );
        drop(Disk::open(&folder).unwrap());
        assert_eq!((mode(&folder), mode(&file)), (0o700, 0o600));
        // Permissions that earlier versions left are corrected.
        let open = |path: &Path, mode: u32| {
            std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode)).unwrap();
        };
        open(&folder, 0o755);
        open(&file, 0o644);
        drop(Disk::open(&folder).unwrap());
        assert_eq!((mode(&folder), mode(&file)), (0o700, 0o600));
        // A folder with other files is left alone.
        std::fs::write(folder.join("notes"), "").unwrap();
        open(&folder, 0o750);
        let error = Disk::open(&folder).unwrap_err();
        assert!(
            matches!(error, DiskError::Shared { mode: 0o750, .. }),
            "{error}"
        );
        assert_eq!(mode(&folder), 0o750);
    }
}
