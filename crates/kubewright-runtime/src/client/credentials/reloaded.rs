use std::fmt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use parking_lot::Mutex;
use tokio::time::Instant;

use crate::client::fault::Fault;

/// How old what was read may get. Kubernetes changes what it mounts long before it ends.
const AGE: Duration = Duration::from_secs(60);

/// What a file says, read again each minute while it is asked for.
///
/// When it cannot be read, what it said last holds on: some make a token available for the start
/// only (kubernetes/kubernetes#68164).
pub(in crate::client) struct Reloaded<T> {
    path: PathBuf,
    read: fn(&Path) -> Result<T, Fault>,
    kept: Mutex<Kept<T>>,
}

struct Kept<T> {
    value: T,
    /// When to read again.
    due: Instant,
}

impl<T: Clone> Reloaded<T> {
    pub(in crate::client) fn new(
        path: PathBuf,
        read: fn(&Path) -> Result<T, Fault>,
    ) -> Result<Self, Fault> {
        let kept = Mutex::new(Kept {
            value: read(&path)?,
            due: Instant::now() + AGE,
        });
        Ok(Self { path, read, kept })
    }

    /// What the file said when it was last read.
    pub(in crate::client) fn current(&self) -> T {
        let mut kept = self.kept.lock();
        let now = Instant::now();
        if now >= kept.due {
            kept.due = now + AGE;
            match (self.read)(&self.path) {
                Ok(value) => kept.value = value,
                Err(error) => tracing::warn!(
                    %error,
                    path = %self.path.display(),
                    "what the file said before holds on"
                ),
            }
        }
        kept.value.clone()
    }

    /// Reads the file again when it is next asked for.
    pub(in crate::client) fn expire(&self) {
        self.kept.lock().due = Instant::now();
    }
}

/// Without what the file says.
impl<T> fmt::Debug for Reloaded<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Reloaded")
            .field("path", &self.path)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::path::Path;
    use std::time::Duration;

    use tempfile::TempDir;
    use tokio::time::advance;

    use super::Reloaded;
    use crate::client::fault::Fault;

    fn text(path: &Path) -> Result<String, Fault> {
        fs::read_to_string(path).map_err(|_| Fault::Base64 { what: "a test" })
    }

    #[tokio::test(start_paused = true)]
    async fn a_file_is_read_again_each_minute_and_when_told() {
        let folder = TempDir::new().unwrap();
        let path = folder.path().join("token");
        assert!(Reloaded::new(path.clone(), text).is_err());
        fs::write(&path, "one").unwrap();
        let file = Reloaded::new(path.clone(), text).unwrap();
        fs::write(&path, "two").unwrap();
        advance(Duration::from_secs(59)).await;
        assert_eq!(file.current(), "one");
        advance(Duration::from_secs(1)).await;
        assert_eq!(file.current(), "two");
        fs::write(&path, "three").unwrap();
        assert_eq!(file.current(), "two");
        file.expire();
        assert_eq!(file.current(), "three");
    }

    #[tokio::test(start_paused = true)]
    async fn what_a_file_said_last_outlives_it() {
        let folder = TempDir::new().unwrap();
        let path = folder.path().join("token");
        fs::write(&path, "one").unwrap();
        let file = Reloaded::new(path.clone(), text).unwrap();
        fs::remove_file(&path).unwrap();
        advance(Duration::from_secs(61)).await;
        assert_eq!(file.current(), "one");
        fs::write(&path, "two").unwrap();
        advance(Duration::from_secs(61)).await;
        assert_eq!(file.current(), "two");
    }
}
