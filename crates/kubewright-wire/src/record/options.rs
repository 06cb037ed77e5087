//! Options of the encoder.

use kubewright_core::Kind;

/// Options of an [`Encoder`](super::Encoder).
#[derive(Clone, Debug, Default)]
pub struct EncoderOptions {
    /// The manager whose Apply entry of `metadata.managedFields` is hashed into the record's
    /// [`FieldHash`](super::FieldHash).
    pub field_manager: Option<String>,
    /// The `apiVersion` and `kind` of all records. Items of a list often do not have them; with this
    /// option, the records of a list and of a watch are equal.
    pub kind: Option<Kind>,
}
