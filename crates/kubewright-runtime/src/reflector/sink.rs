//! What a reflector writes to.

use std::sync::Arc;

use kubewright_wire::record::Record;

use crate::Error;
use crate::store::Delta;

/// Receives the objects that a reflector reads. No method may block.
pub trait Sink: Send {
    /// A record equal to this one that the sink already has. The reflector keeps it in place of the
    /// new record, to save memory.
    fn held(&self, record: &Record) -> Option<Record>;

    /// Replaces all objects with a list at the given resourceVersion.
    fn replace(&mut self, list: Vec<Record>, resource_version: &str);

    /// Removes all objects, because the server no longer serves the kind.
    fn kind_removed(&mut self);

    /// Applies the events of a watch, in order.
    fn apply(&mut self, deltas: Vec<Delta>);

    /// Reports the number of objects that were skipped in the list or events just delivered,
    /// because not even their metadata could be read. `last` is the error of one of them.
    fn skipped(&mut self, objects: u64, last: Arc<Error>);

    /// Reports a failure, which the reflector retries.
    fn failed(&mut self, error: Arc<Error>);
}
