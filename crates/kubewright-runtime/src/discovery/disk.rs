//! The cached discovery documents on disk.

use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use jiff::Timestamp;
use kubewright_core::Clock;
use serde::de::DeserializeOwned;

use super::Catalog;
use super::documents::{GroupList, ResourceList};

/// Cached discovery documents in the format of kubectl (`~/.kube/cache/discovery`), which can read
/// the same files.
#[derive(Clone, Debug)]
pub struct DiskCache {
    folder: PathBuf,
    max_age: Duration,
    clock: Clock,
}

/// The default of kubectl.
const MAX_AGE: Duration = Duration::from_secs(6 * 60 * 60);

impl DiskCache {
    /// The cache for the server at `host` (`https://10.0.0.1:6443`), in a folder of its own below
    /// `parent`. Documents are used for six hours.
    ///
    /// ```
    /// use kubewright_core::Clock;
    /// use kubewright_runtime::discovery::DiskCache;
    ///
    /// let cache = DiskCache::new("/cache/discovery", "https://10.0.0.1:6443", Clock::system());
    /// assert!(cache.folder().ends_with("10.0.0.1_6443"));
    /// ```
    pub fn new(parent: impl AsRef<Path>, host: &str, clock: Clock) -> Self {
        // `computeDiscoverCacheDir` of cli-runtime.
        let host = host
            .trim_start_matches("https://")
            .trim_start_matches("http://");
        let safe = |c: char| match c {
            c if c.is_ascii_alphanumeric() || "(/.)".contains(c) => c,
            _ => '_',
        };
        let host: String = host.trim_end_matches('/').chars().map(safe).collect();
        Self {
            folder: parent.as_ref().join(host),
            max_age: MAX_AGE,
            clock,
        }
    }

    /// Sets the age up to which documents are used.
    #[must_use]
    pub fn max_age(self, max_age: Duration) -> Self {
        Self { max_age, ..self }
    }

    /// The folder of the files.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// Reads the catalog; `None` when a file is missing, malformed or too old.
    pub(super) fn read(&self) -> Option<Catalog> {
        let groups: GroupList = self.file("servergroups.json")?;
        let versions = groups.groups.iter().flat_map(|group| &group.versions);
        let lists: Option<Vec<_>> = versions
            .map(|version| {
                let path = format!("{}/serverresources.json", version.group_version);
                self.file::<ResourceList>(&path)
            })
            .collect();
        Some(Catalog {
            lists: lists?,
            groups,
        })
    }

    /// Writes the catalog. Each file is replaced atomically.
    pub(super) fn write(&self, catalog: &Catalog) -> io::Result<()> {
        for list in &catalog.lists {
            let path = format!("{}/serverresources.json", list.group_version);
            self.put(&path, &serde_json::to_vec(list)?)?;
        }
        self.put("servergroups.json", &serde_json::to_vec(&catalog.groups)?)
    }

    fn file<T: DeserializeOwned>(&self, path: &str) -> Option<T> {
        let file = self.folder.join(path);
        let modified = std::fs::metadata(&file).ok()?.modified().ok()?;
        let written = Timestamp::try_from(modified).ok()?;
        // Negative when the clock was set back: such a file is new.
        let age = self.clock.now().duration_since(written);
        if Duration::try_from(age).is_ok_and(|age| age > self.max_age) {
            return None;
        }
        serde_json::from_slice(&std::fs::read(file).ok()?).ok()
    }

    fn put(&self, path: &str, bytes: &[u8]) -> io::Result<()> {
        let file = self.folder.join(path);
        if let Some(folder) = file.parent() {
            std::fs::create_dir_all(folder)?;
        }
        let temporary = file.with_extension(format!("json.{}", std::process::id()));
        std::fs::write(&temporary, bytes)?;
        std::fs::rename(temporary, file)
    }
}
