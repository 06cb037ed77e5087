use std::process::Stdio;
use std::thread::available_parallelism;

use tokio::process::{Child, Command};

use crate::error::Error;

/// Work for a processor that has nothing else to do; it ends by itself after a minute of it.
const WORK: &str = "ulimit -t 60; while :; do :; done";

/// Processors that do not sleep while this is held.
///
/// A processor that sleeps between two events is up to twice as slow for the first tenths of a
/// millisecond after it, which is when an event is handled, and by how much changes within minutes.
/// Work that gives way to any other keeps it awake.
#[derive(Debug)]
pub(super) struct Awake {
    /// Dropping one ends it.
    _work: Vec<Child>,
}

impl Awake {
    pub(super) fn keep() -> Result<Self, Error> {
        let processors = available_parallelism().map_or(1, usize::from);
        let work = (0..processors).map(|_| work()).collect::<Result<_, _>>()?;
        Ok(Self { _work: work })
    }
}

fn work() -> Result<Child, Error> {
    Command::new("chrt")
        .args(["--idle", "0", "sh", "-c", WORK])
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .kill_on_drop(true)
        .spawn()
        .map_err(Error::Awake)
}
