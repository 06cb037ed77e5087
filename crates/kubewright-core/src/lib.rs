//! Types that all crates share: object keys, kinds and resources, names and text formats, quantities, revisions, label and field selectors, owner references, the clock, and `Description`, the value that lists what an operator registers.
//!
//! Nothing here does input or output, and nothing depends on `kube` or `k8s-openapi`, so that the
//! embedded API server can use these types too.

mod clock;
mod description;
mod expression;
pub mod format;
pub mod interrupt;
mod key;
mod kind;
mod latency;
mod name_rule;
mod owner;
mod policy;
mod quantity;
mod revision;
mod selector;
mod webhook;

pub use clock::Clock;
pub use description::{ControllerDescription, Description, PolicyRule, Use, Verb};
pub use expression::NamedExpression;
pub use key::{ClusterId, ObjectKey};
pub use kind::{GroupVersion, Kind, Resource, Scope};
pub use latency::LATENCY_BUCKETS;
pub use name_rule::{NameRule, is_label};
pub use owner::OwnerReference;
pub use policy::{
    MissingParameter, ParameterDescription, PolicyAction, PolicyDescription, PolicyEffect,
    PolicyPatch, RuleMessage, ValidationRule,
};
pub use quantity::{Quantity, canonical_quantity};
pub use revision::{ParseRevisionError, Revision};
pub use selector::{
    FieldRequirement, FieldSelector, LabelOperator, LabelRequirement, LabelSelector,
    ParseSelectorError,
};
pub use webhook::{
    ConversionDescription, Exemption, FailurePolicy, Operation, Reinvocation, SideEffects,
    WebhookDescription, WebhookKind,
};
