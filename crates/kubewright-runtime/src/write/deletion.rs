//! What responses reveal about the deletion of an object.

use kubewright_wire::record::{Node, Record};
use kubewright_wire::status::Status;

use crate::client::ErrorReason;

/// The messages of `rest.BeforeDelete` and of `storage.Preconditions.Check` of k8s.io/apiserver:
/// only they distinguish this conflict from others.
const OTHER_UID: [&str; 2] = ["the UID in the precondition", "UID in precondition"];

/// Whether the object of a response to a write no longer exists.
pub(super) fn is_removed(record: &Record) -> bool {
    record.deletion_timestamp().is_some() && !is_terminating(record)
}

/// Whether a deleted object still exists, for its grace period or its finalizers.
pub(super) fn is_terminating(record: &Record) -> bool {
    let grace_period = record.field(["metadata", "deletionGracePeriodSeconds"]);
    let is_immediate = grace_period.and_then(Node::as_integer) == Some(0);
    record.deletion_timestamp().is_some() && (!is_immediate || record.finalizers().next().is_some())
}

/// Whether a delete with a UID precondition failed because the object no longer exists.
///
/// A conflict on the precondition means that the name belongs to another object now. After any
/// other conflict, such as that of a webhook, the object still exists.
pub(super) fn is_gone(status: &Status) -> bool {
    match ErrorReason::of(status) {
        ErrorReason::NotFound => true,
        ErrorReason::Conflict => OTHER_UID.iter().any(|text| status.message.contains(text)),
        _ => false,
    }
}
