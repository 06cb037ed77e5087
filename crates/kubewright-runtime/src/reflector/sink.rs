use std::sync::Arc;

use kubewright_wire::record::Record;

use crate::Error;
use crate::store::Delta;

/// Who takes in what a reflector reads. No call may block.
pub trait Sink: Send {
    /// A record equal to this one that is already held, to be kept instead of it.
    fn held(&self, record: &Record) -> Option<Record>;

    /// The whole collection, as of the given resourceVersion.
    fn replace(&mut self, list: Vec<Record>, resource_version: &str);

    /// Nobody serves the kind any more, so that there are no objects of it.
    fn withdrawn(&mut self);

    /// What a watch has said, in its order.
    fn apply(&mut self, deltas: Vec<Delta>);

    /// So many objects of what was just told were left out, because not even their metadata could
    /// be read; `last` is about one of them.
    fn skipped(&mut self, objects: u64, last: Arc<Error>);

    /// Something failed; the reflector goes on by itself.
    fn failed(&mut self, error: Arc<Error>);
}
