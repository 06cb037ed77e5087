//! The words all others speak: object keys, kinds and resources, revisions, selectors and their grammar, owner references, the clock, and `Description`, the plain value of what an operator registers.
//!
//! Nothing here does any input or output, and nothing depends on `kube` or `k8s-openapi`: the
//! embedded API server speaks these words too.

mod clock;
mod description;
mod key;
mod kind;
mod owner;
mod policy;
mod revision;
mod selector;
mod webhook;

pub use clock::Clock;
pub use description::{ControllerDescription, Description, PolicyRule, Use, Verb};
pub use key::{ClusterId, ObjectKey};
pub use kind::{GroupVersion, Kind, Resource, Scope};
pub use owner::OwnerReference;
pub use policy::{
    MissingParameter, NamedExpression, ParameterDescription, PolicyAction, PolicyDescription,
    PolicyEffect, PolicyPatch, RuleMessage, ValidationRule,
};
pub use revision::{ParseRevisionError, Revision};
pub use selector::{
    FieldRequirement, FieldSelector, LabelOperator, LabelRequirement, LabelSelector,
    ParseSelectorError,
};
pub use webhook::{
    ConversionDescription, Exemption, FailurePolicy, Operation, Reinvocation, SideEffects,
    WebhookDescription, WebhookKind,
};
