//! The wait for the disk: no response shows a write that the disk could still lose.

use kubewright_wire::status::Status;

use crate::store::Store;

/// Runs the work of a response, and waits until everything that it can have read is on the disk.
/// Fails when changes were lost meanwhile, because the work can have read them.
///
/// # Cancel safety
///
/// That of the work.
#[cfg_attr(
    not(feature = "disk"),
    expect(unused_variables, reason = "without a disk no write can be lost")
)]
pub(crate) async fn settled<T>(
    store: &Store,
    work: impl Future<Output = Result<T, Status>>,
) -> Result<T, Status> {
    #[cfg(feature = "disk")]
    let losses = store.losses();
    let result = work.await;
    #[cfg(feature = "disk")]
    if let Err(why) = store.settled(losses).await {
        return Err(not_stored(&why));
    }
    result
}

/// The error of requests while the data folder cannot be written.
pub(super) fn not_stored(why: &str) -> Status {
    Status::internal(format!(
        "{why}; nothing was stored, and writes fail until the data folder can be written again"
    ))
}
