//! The collection that a reflector reads.

use kube::Client;

use super::options::ReflectorOptions;
use super::record_reader::RecordReader;
use super::spec::InformerSpec;

/// The collection that a reflector reads, and how it reads it.
pub(super) struct Collection {
    pub(super) client: Client,
    pub(super) spec: InformerSpec,
    pub(super) options: ReflectorOptions,
    pub(super) reader: RecordReader,
}

impl Collection {
    pub(super) fn new(client: Client, spec: InformerSpec, options: ReflectorOptions) -> Self {
        Self {
            client,
            reader: RecordReader::new(&spec, &options),
            spec,
            options,
        }
    }
}
