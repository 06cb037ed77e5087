//! Values of files that change while the process runs.

use std::fmt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use parking_lot::Mutex;
use tokio::time::Instant;

use crate::client::connect_error::ConnectError;

/// How long a value is used before the file is read again. Kubernetes replaces a mounted token long
/// before it expires.
const MAX_AGE: Duration = Duration::from_secs(60);

/// The value of a file, which is read again each minute when the value is used.
///
/// When the file cannot be read, its last value stays in use: some environments provide a token only
/// at the start (kubernetes/kubernetes#68164).
pub(in crate::client) struct Reloaded<T> {
    path: PathBuf,
    read: fn(&Path) -> Result<T, ConnectError>,
    last: Mutex<Last<T>>,
}

struct Last<T> {
    value: T,
    /// When to read the file again.
    due: Instant,
}

impl<T: Clone> Reloaded<T> {
    pub(in crate::client) fn new(
        path: PathBuf,
        read: fn(&Path) -> Result<T, ConnectError>,
    ) -> Result<Self, ConnectError> {
        let last = Mutex::new(Last {
            value: read(&path)?,
            due: Instant::now() + MAX_AGE,
        });
        Ok(Self { path, read, last })
    }

    /// The current value.
    pub(in crate::client) fn current(&self) -> T {
        let mut last = self.last.lock();
        let now = Instant::now();
        if now >= last.due {
            last.due = now + MAX_AGE;
            match (self.read)(&self.path) {
                Ok(value) => last.value = value,
                Err(error) => tracing::warn!(
                    %error,
                    path = %self.path.display(),
                    "the file cannot be read; its last value stays in use"
                ),
            }
        }
        last.value.clone()
    }

    /// Makes the next use read the file again.
    pub(in crate::client) fn expire(&self) {
        self.last.lock().due = Instant::now();
    }
}

/// Without the value, which can be a secret.
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
    use crate::client::connect_error::ConnectError;

    fn text(path: &Path) -> Result<String, ConnectError> {
        fs::read_to_string(path).map_err(|_| ConnectError::Base64 { what: "a test" })
    }

    #[tokio::test(start_paused = true)]
    async fn file_is_read_again_each_minute_and_when_expired() {
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
    async fn last_value_stays_in_use_when_the_file_is_gone() {
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
