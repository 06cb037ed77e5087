use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use jiff::Timestamp;
use kubewright_core::Clock;
use serde::de::DeserializeOwned;

use super::Catalog;
use super::catalog::{GroupList, ResourceList};

/// Files in the form in which kubectl keeps what it has found out, in `~/.kube/cache/discovery`:
/// each reads what the other has written.
#[derive(Clone, Debug)]
pub struct DiskCache {
    folder: PathBuf,
    lasts: Duration,
    clock: Clock,
}

/// As kubectl has it.
const LASTS: Duration = Duration::from_secs(6 * 60 * 60);

impl DiskCache {
    /// For the server at `host` (`https://10.0.0.1:6443`), in a folder of its own below `parent`;
    /// what was found out is used for six hours.
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
            lasts: LASTS,
            clock,
        }
    }

    /// The same, where what was found out is used for so long.
    #[must_use]
    pub fn lasting(self, lasts: Duration) -> Self {
        Self { lasts, ..self }
    }

    /// Where the files are.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// What is there and not too old, whole or not at all.
    pub(super) fn read(&self) -> Option<Catalog> {
        let groups: GroupList = self.file("servergroups.json")?;
        let versions = groups.groups.iter().flat_map(|group| &group.versions);
        let lists = versions.map(|version| {
            let path = format!("{}/serverresources.json", version.group_version);
            self.file::<ResourceList>(&path)
        });
        let lists: Option<Vec<_>> = lists.collect();
        Some(Catalog {
            lists: lists?,
            groups,
        })
    }

    /// Keeps it; each file is written whole or not at all.
    pub(super) fn write(&self, catalog: &Catalog) -> io::Result<()> {
        for list in &catalog.lists {
            let path = format!("{}/serverresources.json", list.group_version);
            self.put(&path, &serde_json::to_vec(list)?)?;
        }
        self.put("servergroups.json", &serde_json::to_vec(&catalog.groups)?)
    }

    fn file<T: DeserializeOwned>(&self, path: &str) -> Option<T> {
        let file = self.folder.join(path);
        let written = std::fs::metadata(&file).ok()?.modified().ok()?;
        let written = Timestamp::try_from(written).ok()?;
        let age = self.clock.now().duration_since(written);
        let age = Duration::try_from(age).unwrap_or_default();
        if age > self.lasts {
            return None;
        }
        serde_json::from_slice(&std::fs::read(file).ok()?).ok()
    }

    fn put(&self, path: &str, bytes: &[u8]) -> io::Result<()> {
        let file = self.folder.join(path);
        if let Some(folder) = file.parent() {
            std::fs::create_dir_all(folder)?;
        }
        let beside = file.with_extension(format!("json.{}", std::process::id()));
        std::fs::write(&beside, bytes)?;
        std::fs::rename(beside, file)
    }
}
