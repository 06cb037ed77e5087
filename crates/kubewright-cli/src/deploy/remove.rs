//! Deletes objects and waits until they are gone.

use super::wait::{Wait, wait_until_gone};
use crate::error::Error;
use crate::objects::Located;

/// Deletes the objects in this order and waits until they are gone. Objects that do not exist are
/// skipped.
///
/// # Cancel safety
///
/// Dropping the future leaves part of the objects; another run deletes the rest.
pub(super) async fn remove(
    client: &kube::Client,
    objects: &[Located],
    wait: Wait,
) -> Result<(), Error> {
    let mut deleted = Vec::new();
    for object in objects {
        if object.delete(client).await? {
            deleted.push(object);
        }
    }
    for object in deleted {
        wait_until_gone(client, object, wait).await?;
        wait.format.progress(format_args!("gone     {object}"));
    }
    Ok(())
}
