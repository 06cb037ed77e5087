//! Files that only their owner may read: keys, certificates, kubeconfigs.

use std::fs::OpenOptions;
use std::io::{self, Write as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::Path;

/// Creates the file; fails when it exists.
pub(crate) fn create_private(path: &Path, text: &str) -> io::Result<()> {
    write(path, text, OpenOptions::new().create_new(true))
}

/// Creates the file, or replaces its content.
pub(crate) fn replace_private(path: &Path, text: &str) -> io::Result<()> {
    write(path, text, OpenOptions::new().create(true).truncate(true))
}

fn write(path: &Path, text: &str, options: &mut OpenOptions) -> io::Result<()> {
    let mut file = options.write(true).mode(0o600).open(path)?;
    file.write_all(text.as_bytes())?;
    file.sync_all()
}
