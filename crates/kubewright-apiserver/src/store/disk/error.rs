//! Errors of data folders.

use std::io;
use std::path::PathBuf;

/// Why a data folder cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum DiskError {
    /// The folder cannot be created.
    #[error("create the data folder {folder}: choose a folder that you can write to")]
    Folder {
        /// The folder.
        folder: PathBuf,
        /// The error of the system.
        #[source]
        source: io::Error,
    },
    /// Other users have access to the folder, and it has files that are not of a cluster.
    #[error(
        "use the data folder {folder}: other users have access to it (mode {mode:o}), and it would \
         hold Secrets and keys; choose an empty folder, or run `chmod 700 {folder}`"
    )]
    Shared {
        /// The folder.
        folder: PathBuf,
        /// Its permissions.
        mode: u32,
    },
    /// Another process has it open.
    #[error("open the data in {folder}: another cluster is using it; stop that cluster first")]
    InUse {
        /// The folder.
        folder: PathBuf,
    },
    /// The file cannot be opened.
    #[error("open the data file {path}: check that you can read and write it")]
    File {
        /// The file.
        path: PathBuf,
        /// The error of the system.
        #[source]
        source: io::Error,
    },
    /// The file cannot be read or written.
    #[error("{tried} the data in {folder}: check whether the disk is full or the file damaged")]
    Storage {
        /// What was tried.
        tried: &'static str,
        /// The folder.
        folder: PathBuf,
        /// The error of the storage.
        #[source]
        source: Box<redb::Error>,
    },
    /// The thread that writes cannot be started.
    #[error("start the thread that writes the data: check the limit of threads")]
    Thread {
        /// The error of the system.
        #[from]
        source: io::Error,
    },
}
