use std::fs::{File, OpenOptions, TryLockError};
use std::path::Path;
use std::time::Duration;

use tokio::time::{Instant, sleep};

use crate::Error;
use crate::progress::say;

/// The right to build into a folder; one process has it at a time.
///
/// The operating system takes it back when the process ends, however that happens.
#[derive(Debug)]
pub(super) struct Lock {
    _file: File,
}

const LOOK_AGAIN: Duration = Duration::from_millis(200);
const SAY_AGAIN: Duration = Duration::from_secs(5);

impl Lock {
    /// Waits until no other process builds into `folder`, and says so while it waits.
    pub(super) async fn acquire(folder: &Path) -> Result<Self, Error> {
        let not_writable = |source| Error::CacheNotWritable {
            folder: folder.to_owned(),
            source,
        };
        let file = OpenOptions::new()
            .create(true)
            .append(true)
            .open(folder.join("lock"))
            .map_err(not_writable)?;
        let start = Instant::now();
        let mut said = None::<Instant>;
        loop {
            match file.try_lock() {
                Ok(()) => return Ok(Self { _file: file }),
                Err(TryLockError::Error(source)) => return Err(not_writable(source)),
                Err(TryLockError::WouldBlock) => {}
            }
            if said.is_none_or(|time| time.elapsed() >= SAY_AGAIN) {
                say(format_args!(
                    "another process builds the control plane in {}; waiting since {} s",
                    folder.display(),
                    start.elapsed().as_secs()
                ));
                said = Some(Instant::now());
            }
            sleep(LOOK_AGAIN).await;
        }
    }
}
