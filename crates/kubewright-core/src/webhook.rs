//! Admission and conversion webhooks of a `Description`.

use std::fmt;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::expression::NamedExpression;
use crate::kind::{Kind, Resource};
use crate::selector::LabelSelector;

/// One admission webhook of a [`Description`](crate::Description).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WebhookDescription {
    /// Names the webhook in its configuration and in responses to clients: three dotted parts or
    /// more.
    pub name: String,
    /// Whether it mutates objects or only validates them.
    pub kind: WebhookKind,
    /// Where it is served, such as `/validate-apps-example-io-v1-set`.
    pub path: String,
    /// The kind that the webhook is called for.
    pub resource: Resource,
    /// The subresource that it is called for, such as `status`; none for the object itself.
    pub subresource: Option<String>,
    /// The operations that it is called for.
    pub operations: Vec<Operation>,
    /// What happens to a request when the call of the webhook fails.
    pub failure_policy: FailurePolicy,
    /// How long the API server waits for the response.
    pub timeout: Duration,
    /// Whether a call changes anything besides its response.
    pub side_effects: SideEffects,
    /// Whether it is called again when a later webhook changed the object.
    pub reinvocation: Reinvocation,
    /// Only objects with these labels.
    pub objects: LabelSelector,
    /// Only objects in namespaces with these labels.
    pub namespaces: LabelSelector,
    /// Which namespaces are exempt, whatever their labels.
    pub exemption: Exemption,
    /// Only requests for which all of these are true.
    pub conditions: Vec<NamedExpression>,
    /// The kinds that it reads from the cache.
    pub reads: Vec<Resource>,
}

impl WebhookDescription {
    /// The path under which controller-runtime serves such a webhook: dots of the group become
    /// dashes, the kind is in lower case.
    ///
    /// ```
    /// use kubewright_core::{Kind, WebhookDescription, WebhookKind};
    ///
    /// let path = |kind: &Kind| WebhookDescription::default_path(WebhookKind::Mutating, kind);
    /// assert_eq!(path(&Kind::new("", "v1", "Pod")), "/mutate--v1-pod");
    /// assert_eq!(path(&Kind::new("a.ex.io", "v1", "Set")), "/mutate-a-ex-io-v1-set");
    /// ```
    pub fn default_path(webhook: WebhookKind, kind: &Kind) -> String {
        let verb = match webhook {
            WebhookKind::Mutating => "mutate",
            WebhookKind::Validating => "validate",
        };
        let group = kind.group().replace('.', "-");
        let name = kind.kind.to_lowercase();
        format!("/{verb}-{group}-{}-{name}", kind.version())
    }
}

/// The versions of one kind that a [`Description`](crate::Description) converts between.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConversionDescription {
    /// The kind in its storage version, which all conversions go through.
    pub hub: Resource,
    /// The other versions, such as `v1alpha1`.
    pub spokes: Vec<String>,
}

impl ConversionDescription {
    /// The path of the conversion webhook, as in controller-runtime.
    pub const PATH: &'static str = "/convert";
}

/// The two kinds of admission webhooks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum WebhookKind {
    /// Changes objects.
    Mutating,
    /// Admits or denies them.
    Validating,
}

/// What a request does to an object, as admission spells it.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize,
)]
#[serde(rename_all = "UPPERCASE")]
pub enum Operation {
    /// Creates it.
    #[default]
    Create,
    /// Replaces or patches it.
    Update,
    /// Deletes it.
    Delete,
    /// Connects to it, as `kubectl exec` does.
    Connect,
}

impl Operation {
    /// The spelling in reviews and rules.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Create => "CREATE",
            Self::Update => "UPDATE",
            Self::Delete => "DELETE",
            Self::Connect => "CONNECT",
        }
    }
}

impl fmt::Display for Operation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// What happens to a request when the call of a webhook fails.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum FailurePolicy {
    /// It is denied.
    #[default]
    Fail,
    /// It continues without the webhook.
    Ignore,
}

/// Whether a call of a webhook changes anything besides its response.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum SideEffects {
    /// It changes nothing.
    #[default]
    None,
    /// It changes nothing when the request is a dry run.
    NoneOnDryRun,
}

/// Whether a mutating webhook is called again when a later one changed the object.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Reinvocation {
    /// It is called once.
    #[default]
    Never,
    /// It is called once more.
    IfNeeded,
}

/// Which namespaces are exempt from a webhook or policy.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Exemption {
    /// `kube-system` and the operator's own, so that the operator and the cluster can start while
    /// the webhook is down.
    #[default]
    SystemNamespaces,
    /// None.
    Nothing,
}
