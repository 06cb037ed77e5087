//! CEL expressions of webhooks and policies, and the one that lets finalizers be removed.

/// A CEL expression with a name: a match condition or a variable.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NamedExpression {
    /// The name.
    pub name: String,
    /// The expression, in CEL.
    pub expression: String,
}

impl NamedExpression {
    /// Is true for every request except an update that changes only the metadata of an object
    /// under deletion.
    ///
    /// A controller must be able to remove its finalizer, however invalid the rest of the object
    /// is and whether or not the webhook can be reached: a webhook that fails closed would
    /// otherwise block the deletion of the object, and of its namespace, forever. Other changes
    /// to an object under deletion still go through admission: a Pod can be terminating for an
    /// hour, and a new image would run meanwhile.
    pub fn not_finalizing() -> Self {
        Self {
            name: "not-finalizing".to_owned(),
            expression: NOT_FINALIZING.to_owned(),
        }
    }
}

/// It evaluates without an error for every request: only an update has both objects, and the
/// logical operators of CEL short-circuit.
const NOT_FINALIZING: &str = "request.operation != 'UPDATE' \
    || !has(oldObject.metadata.deletionTimestamp) \
    || oldObject.exists(field, !(field in object)) \
    || object.exists(field, field != 'metadata' \
    && !(field in oldObject && object[field] == oldObject[field]))";
