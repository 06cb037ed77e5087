use std::fmt;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::{Kind, LabelSelector, NamedExpression, Resource};

/// One admission webhook of a [`Description`](crate::Description).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WebhookDescription {
    /// Names the webhook in its configuration and in answers to clients: three dotted parts or
    /// more.
    pub name: String,
    /// Whether it changes objects or only judges them.
    pub kind: WebhookKind,
    /// Where it is served, such as `/validate-apps-example-io-v1-set`.
    pub path: String,
    /// The kind whose objects it sees.
    pub resource: Resource,
    /// The part of such an object that it is asked about, such as `status`; none for the object
    /// itself.
    pub part: Option<String>,
    /// What it is asked about.
    pub operations: Vec<Operation>,
    /// What happens to a request when the webhook cannot be asked.
    pub failure_policy: FailurePolicy,
    /// How long the API server waits for an answer.
    pub timeout: Duration,
    /// Whether it does more than answer.
    pub side_effects: SideEffects,
    /// Whether it is asked again when a later one changed the object.
    pub reinvocation: Reinvocation,
    /// Only objects with these labels.
    pub objects: LabelSelector,
    /// Only objects in namespaces with these labels.
    pub namespaces: LabelSelector,
    /// Which namespaces are left alone whatever their labels.
    pub exemption: Exemption,
    /// Only requests for which all of these hold.
    pub conditions: Vec<NamedExpression>,
    /// What it reads from the cache.
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

/// How objects of one kind are written in its other versions, as a part of a
/// [`Description`](crate::Description).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConversionDescription {
    /// The kind in the version that all others are converted through; it is the stored one.
    pub hub: Resource,
    /// The other versions, such as `v1alpha1`.
    pub spokes: Vec<String>,
}

impl ConversionDescription {
    /// Where all conversions are served, as controller-runtime serves them.
    pub const PATH: &'static str = "/convert";
}

/// The two kinds of admission webhooks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum WebhookKind {
    /// Changes objects.
    Mutating,
    /// Judges them.
    Validating,
}

/// What a request does to an object, as admission spells it.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize,
)]
#[serde(rename_all = "UPPERCASE")]
pub enum Operation {
    /// Makes it.
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

/// What happens to a request when a webhook cannot be asked.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum FailurePolicy {
    /// It is refused.
    #[default]
    Fail,
    /// It goes on as if there were no such webhook.
    Ignore,
}

/// Whether a webhook does more than answer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum SideEffects {
    /// It only answers.
    #[default]
    None,
    /// It only answers when the request is a dry run.
    NoneOnDryRun,
}

/// Whether a mutating webhook is asked again when a later one changed the object.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Reinvocation {
    /// It is asked once.
    #[default]
    Never,
    /// It is asked once more.
    IfNeeded,
}

/// Which namespaces a webhook leaves alone.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Exemption {
    /// `kube-system` and the operator's own, so that the operator and the cluster can start while
    /// the webhook is down.
    #[default]
    SystemNamespaces,
    /// None.
    Nothing,
}
