//! The choices that kinds differ in.

/// Whether objects of a kind are in the store.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Persistence {
    /// Objects are stored.
    Stored,
    /// A resource of its own whose objects are only requests, such as `tokenreviews`.
    Virtual,
    /// The body of a subresource, such as the `Scale` of a Deployment.
    Subresource,
}

/// The encoding that Kubernetes stores objects in, which decides whether empty fields survive.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StorageEncoding {
    /// Empty fields are lost.
    Protobuf,
    /// Empty fields are kept.
    Json,
}

/// What a finalizer in `metadata.finalizers` may be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FinalizerRule {
    /// A standard finalizer, or a name with a domain. `ValidateObjectMeta` of
    /// k8s.io/kubernetes/pkg/apis/core adds this to the rule of k8s.io/apimachinery.
    Domain,
    /// Any qualified name: kinds whose validation calls k8s.io/apimachinery directly.
    QualifiedName,
}

/// Whether a kind's strategy allows something.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Permission {
    /// Yes.
    Allowed,
    /// No.
    Denied,
}

/// Which changes increment `metadata.generation`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Generation {
    /// None.
    Unused,
    /// Changes of anything but metadata and status.
    Content,
    /// The same changes, and those of the annotations.
    ContentAndAnnotations,
}

/// What a delete that removes the object returns (`ReturnDeletedObject` of the kind's storage).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DeleteResponse {
    /// A Status.
    Status,
    /// The deleted object.
    Object,
}

/// What happens to the dependents of a deleted object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Propagation {
    /// They are deleted afterwards.
    Background,
    /// They are deleted first.
    Foreground,
    /// They stay.
    Orphan,
    /// The kind does not support garbage collection.
    Unsupported,
}

/// How `spec.selector` is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SelectorForm {
    /// A LabelSelector with `matchLabels` and `matchExpressions`.
    LabelSelector,
    /// A map of labels.
    Labels,
}

/// Whether the cluster runs what acts on the kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ControllerSupport {
    /// Its controller runs, or it needs none.
    Complete,
    /// Its controller is not implemented.
    Missing,
}
