use std::path::Path;

use crate::error::Error;
use crate::objects::{Located, Ownership, apply_all, read_folder};

/// Applies every object in the `.yaml` files of the folder, in the order of their names.
///
/// # Cancel safety
///
/// Dropping the future may leave part of the objects applied.
pub(crate) async fn apply(client: &kube::Client, folder: &Path) -> Result<Vec<Located>, Error> {
    let objects = match folder.exists() {
        true => read_folder(folder)?,
        false => Vec::new(),
    };
    apply_all(client, &objects, Ownership::Dev).await
}
