//! The format of a response body.

use kubewright_wire::protobuf::Layout;

/// The format of a response body.
#[derive(Clone, Copy, Debug)]
pub(super) enum BodyFormat {
    Json,
    /// Protobuf, with the layout of the objects.
    Protobuf(Layout),
}
