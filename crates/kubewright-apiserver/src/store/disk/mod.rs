//! A store in a folder: one file that a thread writes in transactions.
//!
//! `folder` keeps other users out, `database` reads and writes the file, `entry` encodes objects as
//! its entries, and `writer` is the thread.

mod database;
mod entry;
mod error;
mod folder;
mod writer;

pub(crate) use database::Disk;
pub use error::DiskError;
pub(super) use writer::DiskWriter;
