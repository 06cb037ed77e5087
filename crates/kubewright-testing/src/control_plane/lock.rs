//! A lock on a folder that programs are built into.

use std::fs::{File, OpenOptions, TryLockError};
use std::path::Path;
use std::time::Duration;

use tokio::time::{Instant, sleep};

use crate::Error;
use crate::progress::report;

/// The lock on a folder, which one process holds at a time.
///
/// The operating system releases it when the process ends for whatever reason.
#[derive(Debug)]
pub(super) struct Lock {
    _file: File,
}

const POLL_INTERVAL: Duration = Duration::from_millis(200);
const REPORT_INTERVAL: Duration = Duration::from_secs(5);

impl Lock {
    /// Waits until no other process builds into `folder`, and reports the wait.
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
        let mut last_report = None::<Instant>;
        loop {
            match file.try_lock() {
                Ok(()) => return Ok(Self { _file: file }),
                Err(TryLockError::Error(source)) => return Err(not_writable(source)),
                Err(TryLockError::WouldBlock) => {}
            }
            if last_report.is_none_or(|time| time.elapsed() >= REPORT_INTERVAL) {
                report(format_args!(
                    "another process builds the control plane in {}; waiting for {} s",
                    folder.display(),
                    start.elapsed().as_secs()
                ));
                last_report = Some(Instant::now());
            }
            sleep(POLL_INTERVAL).await;
        }
    }
}
