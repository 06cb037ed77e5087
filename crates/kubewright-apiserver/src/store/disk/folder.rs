//! Permissions of the data folder and its file.

use std::fs::{DirBuilder, File, OpenOptions, Permissions};
use std::io;
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _, PermissionsExt as _};
use std::path::Path;

use super::error::DiskError;

/// The name of the data file.
pub(super) const FILE: &str = "cluster.redb";
/// The files that a cluster stores in its folder.
const OWN_FILES: [&str; 4] = [FILE, "ca.key", "ca.part", "kubeconfig.yaml"];

/// Creates the folder, or removes the access of other users to it. A folder with files of others is
/// left alone, and is an error.
pub(super) fn make_private(folder: &Path) -> Result<(), DiskError> {
    let failed = |source| DiskError::Folder {
        folder: folder.to_owned(),
        source,
    };
    let mut builder = DirBuilder::new();
    builder.recursive(true).mode(0o700);
    builder.create(folder).map_err(failed)?;
    let mode = folder.metadata().map_err(failed)?.permissions().mode() & 0o777;
    if mode & 0o077 == 0 {
        return Ok(());
    }
    for entry in folder.read_dir().map_err(failed)? {
        let name = entry.map_err(failed)?.file_name();
        if !OWN_FILES.iter().any(|own| name == *own) {
            return Err(DiskError::Shared {
                folder: folder.to_owned(),
                mode,
            });
        }
    }
    std::fs::set_permissions(folder, Permissions::from_mode(0o700)).map_err(failed)
}

/// Opens or creates a file that only the user of this process can read.
pub(super) fn private_file(path: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.read(true).write(true).create(true).truncate(false);
    let file = options.mode(0o600).open(path)?;
    if file.metadata()?.permissions().mode() & 0o077 != 0 {
        file.set_permissions(Permissions::from_mode(0o600))?;
    }
    Ok(file)
}
