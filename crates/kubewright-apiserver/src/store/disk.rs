//! The data folder of a store: one file, written in transactions.

use std::fs::{DirBuilder, File, OpenOptions, Permissions};
use std::io;
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use imbl::OrdMap;
use kubewright_core::Revision;
use redb::{Database, ReadableDatabase, ReadableTable, ReadableTableMetadata, TableDefinition};
use serde::Deserialize as _;
use serde_json::Value;

use super::{Change, ChangeKind, DEEPEST, Key, Object};

/// Objects as JSON, by resource, a zero byte, and path.
const OBJECTS: TableDefinition<'_, &str, &[u8]> = TableDefinition::new("objects");
/// Objects that could not be read, as they were found.
const UNREADABLE: TableDefinition<'_, &str, &[u8]> = TableDefinition::new("unreadable");
/// The revision of the last write.
const COUNTERS: TableDefinition<'_, &str, u64> = TableDefinition::new("counters");
/// What the cluster must find again: keys it signs with.
const SECRETS: TableDefinition<'_, &str, &[u8]> = TableDefinition::new("secrets");

const REVISION: &str = "revision";
const FILE: &str = "cluster.redb";
/// What a cluster keeps in its folder.
const OWN_FILES: [&str; 4] = [FILE, "ca.key", "ca.part", "kubeconfig.yaml"];

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
        source: io::Error,
    },
    /// Other users have access to the folder, which holds other files, too.
    #[error(
        "use the data folder {folder}: other users have access to it (mode {mode:o}), and it would \
         hold Secrets and keys; name an empty folder, or run `chmod 700 {folder}`"
    )]
    Shared {
        /// The folder.
        folder: PathBuf,
        /// Its permissions.
        mode: u32,
    },
    /// Another process has it open.
    #[error("open the data in {folder}: another cluster is using it; stop that one first")]
    InUse {
        /// The folder.
        folder: PathBuf,
    },
    /// The file cannot be opened.
    #[error("open the data file {path}: may you read and write it?")]
    File {
        /// The file.
        path: PathBuf,
        /// What the system said.
        #[source]
        source: io::Error,
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
        source: io::Error,
    },
}

/// A folder in which a store is kept.
#[derive(Debug)]
pub(crate) struct Disk {
    /// None after a failed write: the file has to be opened again then.
    database: Option<Database>,
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

/// One transaction.
#[derive(Debug)]
pub(super) struct Transaction<'a> {
    /// Objects to be put back to an earlier state, which may be none.
    pub(super) restored: &'a OrdMap<Key, Option<Arc<Object>>>,
    /// Writes, in their order.
    pub(super) changes: &'a [Arc<Change>],
    /// The revision of the store after them.
    pub(super) revision: Revision,
}

impl Disk {
    /// Opens the data in a folder, or makes it. Only the user of this process gets access.
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
        let done = work(self.database()?);
        done.map_err(|source| {
            // A database that failed once fails until it is opened again.
            self.database = None;
            DiskError::Storage {
                tried,
                folder: self.folder.clone(),
                source: Box::new(source),
            }
        })
    }

    /// Everything that was kept. An object that cannot be read is set aside with its bytes, so that
    /// it neither hides the others nor is overwritten.
    pub(super) fn load(&mut self) -> Result<Kept, DiskError> {
        let (revision, stored) = self.with("read", read_all)?;
        let mut kept = Kept {
            revision: Revision::new(revision),
            ..Kept::default()
        };
        let mut unreadable = Vec::new();
        for (key, bytes) in stored {
            match decode(&key, &bytes) {
                Some((key, object)) => drop(kept.objects.insert(key, object)),
                None => unreadable.push((key, bytes)),
            }
        }
        let all = self.with("write", |database| set_aside(database, &unreadable))?;
        if all > 0 {
            let newly: Vec<String> = unreadable
                .iter()
                .map(|(key, _)| key.replace('\0', "/"))
                .collect();
            tracing::error!(
                folder = %self.folder.display(),
                newly = newly.join(", "),
                "{all} objects of the data folder cannot be read and are left out; their bytes are \
                 kept in the table `unreadable` of {FILE}"
            );
        }
        Ok(kept)
    }

    /// Writes a transaction, the whole of it or nothing; returns when it is on the disk.
    pub(super) fn write(&mut self, transaction: &Transaction<'_>) -> Result<(), DiskError> {
        self.with("write", |database| transaction.commit(database))
    }

    /// What was kept under a name; made and kept when there is nothing.
    pub(crate) fn secret(
        &mut self,
        name: &str,
        make: impl FnOnce() -> Option<Vec<u8>>,
    ) -> Result<Option<Vec<u8>>, DiskError> {
        self.with("write", |database| find_or_make(database, name, make))
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
                        objects.insert(place(key).as_str(), object.bytes().as_ref())?;
                    }
                    None => {
                        objects.remove(place(key).as_str())?;
                    }
                }
            }
            for change in self.changes {
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
            counters.insert(REVISION, self.revision.number())?;
        }
        writing.commit()?;
        Ok(())
    }
}

/// Makes the folder, or checks that no other user has access to it.
fn make_private(folder: &Path) -> Result<(), DiskError> {
    let failed = |source| DiskError::Folder {
        folder: folder.to_owned(),
        source,
    };
    let mut builder = DirBuilder::new();
    builder.recursive(true).mode(0o700);
    builder.create(folder).map_err(failed)?;
    let mode = folder.metadata().map_err(failed)?.permissions().mode() & 0o777;
    if mode & 0o077 == 0 {
        return Ok(());
    }
    for entry in folder.read_dir().map_err(failed)? {
        let name = entry.map_err(failed)?.file_name();
        if !OWN_FILES.iter().any(|own| name == *own) {
            return Err(DiskError::Shared {
                folder: folder.to_owned(),
                mode,
            });
        }
    }
    std::fs::set_permissions(folder, Permissions::from_mode(0o700)).map_err(failed)
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

/// A file that only the user of this process may read, also when it was there before.
fn private_file(path: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.read(true).write(true).create(true).truncate(false);
    let file = options.mode(0o600).open(path)?;
    if file.metadata()?.permissions().mode() & 0o077 != 0 {
        file.set_permissions(Permissions::from_mode(0o600))?;
    }
    Ok(file)
}

/// The revision and all objects; the tables of a new file are made.
fn read_all(database: &mut Database) -> Result<(u64, Vec<Stored>), redb::Error> {
    let writing = database.begin_write()?;
    for table in [OBJECTS, UNREADABLE, SECRETS] {
        writing.open_table(table)?;
    }
    writing.open_table(COUNTERS)?;
    writing.commit()?;
    let reading = database.begin_read()?;
    let revision = reading.open_table(COUNTERS)?.get(REVISION)?;
    let revision = revision.map(|found| found.value()).unwrap_or_default();
    let mut objects = Vec::new();
    for entry in reading.open_table(OBJECTS)?.iter()? {
        let (key, value) = entry?;
        objects.push((key.value().to_owned(), value.value().to_vec()));
    }
    Ok((revision, objects))
}

/// Moves objects that cannot be read to a table of their own; returns how many are there.
fn set_aside(database: &mut Database, unreadable: &[Stored]) -> Result<u64, redb::Error> {
    let writing = database.begin_write()?;
    let all = {
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
    Ok(all)
}

fn find_or_make(
    database: &mut Database,
    name: &str,
    make: impl FnOnce() -> Option<Vec<u8>>,
) -> Result<Option<Vec<u8>>, redb::Error> {
    let writing = database.begin_write()?;
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

fn place(key: &Key) -> String {
    format!("{}\0{}", key.resource(), key.path())
}

fn decode(place: &str, bytes: &[u8]) -> Option<(Key, Arc<Object>)> {
    let (resource, path) = place.split_once('\0')?;
    let value = read_json(bytes)?;
    let revision = value.pointer("/metadata/resourceVersion")?.as_str()?;
    let revision = Revision::new(revision.parse().ok()?);
    let object = Arc::new(Object::new(value, revision));
    Some((Key::at(resource, path), object))
}

/// Reads everything that the store accepts: serde_json alone stops at 127 levels.
fn read_json(bytes: &[u8]) -> Option<Value> {
    if depth(bytes) > DEEPEST {
        return None;
    }
    let mut reader = serde_json::Deserializer::from_slice(bytes);
    reader.disable_recursion_limit();
    let value = Value::deserialize(&mut reader).ok()?;
    reader.end().ok()?;
    Some(value)
}

/// How many lists and objects of a JSON text stand in one another.
fn depth(json: &[u8]) -> usize {
    let (mut depth, mut deepest): (usize, usize) = (0, 0);
    let (mut in_text, mut is_escaped) = (false, false);
    for byte in json {
        match byte {
            _ if is_escaped => is_escaped = false,
            b'\\' if in_text => is_escaped = true,
            b'"' => in_text = !in_text,
            b'{' | b'[' if !in_text => {
                depth += 1;
                deepest = deepest.max(depth);
            }
            b'}' | b']' if !in_text => depth = depth.saturating_sub(1),
            _ => {}
        }
    }
    deepest
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt as _;
    use std::path::Path;
    use std::sync::Arc;

    use imbl::OrdMap;
    use kubewright_core::Revision;
    use serde_json::{Value, json};

    use super::{Change, ChangeKind, DEEPEST, Disk, DiskError, Key, Object, Transaction, depth};

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
    fn deepest_object_that_is_accepted_is_read_back() {
        let folder = tempfile::tempdir().unwrap();
        let mut disk = Disk::open(folder.path()).unwrap();
        disk.load().unwrap();
        let deep = object("deep", nested(DEEPEST - 1));
        write(&mut disk, &[Arc::clone(&deep)]);
        drop(disk);
        let kept = Disk::open(folder.path()).unwrap().load().unwrap();
        assert_eq!(kept.objects[&deep.key].value(), deep.after.value());
        assert_eq!(kept.revision, Revision::new(7));
    }

    #[test]
    fn unreadable_object_is_set_aside_and_hides_no_other() {
        let folder = tempfile::tempdir().unwrap();
        let mut disk = Disk::open(folder.path()).unwrap();
        disk.load().unwrap();
        let too_deep = object("deep", nested(DEEPEST + 1));
        write(&mut disk, &[object("a", json!(1)), too_deep]);
        drop(disk);
        for _ in 0..2 {
            let mut disk = Disk::open(folder.path()).unwrap();
            let kept = disk.load().unwrap();
            let names = kept.objects.values().map(|object| object.name());
            assert_eq!(names.collect::<Vec<_>>(), ["a"]);
            let aside = disk.with("read", |database| super::set_aside(database, &[]));
            assert_eq!(aside.unwrap(), 1);
        }
    }

    #[test]
    fn folder_and_file_are_for_their_owner_alone() {
        let parent = tempfile::tempdir().unwrap();
        let (folder, file) = (
            parent.path().join("data"),
            parent.path().join("data/cluster.redb"),
        );
        drop(Disk::open(&folder).unwrap());
        assert_eq!((mode(&folder), mode(&file)), (0o700, 0o600));
        // As earlier versions have left them.
        let open = |path: &Path, mode: u32| {
            std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode)).unwrap();
        };
        open(&folder, 0o755);
        open(&file, 0o644);
        drop(Disk::open(&folder).unwrap());
        assert_eq!((mode(&folder), mode(&file)), (0o700, 0o600));
        // A folder with other things in it is left alone.
        std::fs::write(folder.join("notes"), "").unwrap();
        open(&folder, 0o750);
        let error = Disk::open(&folder).unwrap_err();
        assert!(
            matches!(error, DiskError::Shared { mode: 0o750, .. }),
            "{error}"
        );
        assert_eq!(mode(&folder), 0o750);
    }

    #[test]
    fn depth_counts_what_is_outside_of_texts() {
        for (text, wanted) in [
            ("1", 0),
            ("{}", 1),
            (r#"{"a":[1,{"b":[]}]}"#, 4),
            (r#"{"a":"[[[\"{{\\"}"#, 1),
        ] {
            assert_eq!(depth(text.as_bytes()), wanted, "{text}");
        }
    }
}
