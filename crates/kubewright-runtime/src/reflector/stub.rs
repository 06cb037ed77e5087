//! Stubs: records of which only the metadata could be kept.

use kubewright_wire::record::{Record, RecordError};

/// The stub of an object that cannot be kept whole for the given cause, which is logged. Fails with
/// the cause where there is no stub.
pub(super) fn stub_for(
    stub: Result<Record, RecordError>,
    cause: RecordError,
) -> Result<Record, RecordError> {
    let Ok(stub) = stub else {
        return Err(cause);
    };
    tracing::warn!(
        cause = &cause as &(dyn std::error::Error + 'static),
        "only the metadata of {} {} could be kept",
        stub.root()
            .field("kind")
            .and_then(|kind| kind.as_text())
            .unwrap_or_default(),
        stub.key()
    );
    Ok(stub)
}
