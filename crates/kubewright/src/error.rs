//! The errors of an operator's registrations, start and run.

use kubewright_core::ParseSelectorError;
use kubewright_runtime::controller::Failure;

/// The result of a reconcile function; `?` converts any error into a [`Failure`].
pub type Result<T, E = Failure> = std::result::Result<T, E>;

/// An error of building, starting or running an operator.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The name of the operator or a controller is invalid for Kubernetes objects.
    #[error(
        "name {what} {name:?}: use lower-case letters, digits and '-', at most {longest}, \
         beginning and ending with a letter or digit"
    )]
    Name {
        /// The kind of name.
        what: &'static str,
        /// The name.
        name: String,
        /// The maximum number of characters.
        longest: usize,
    },
    /// Two controllers of one operator have the same name.
    #[error("register controller {name:?} twice: give one of them another name with .named(..)")]
    DuplicateController {
        /// The name of both.
        name: String,
    },
    /// A label selector does not parse.
    #[error("select {kind} by {text:?} in controller {controller:?}")]
    Selector {
        /// The controller that registers the kind.
        controller: String,
        /// The selected kind.
        kind: String,
        /// The selector.
        text: String,
        /// Why it does not parse.
        #[source]
        source: ParseSelectorError,
    },
    /// One controller registers a kind with two selectors.
    #[error(
        "register {kind} in controller {controller:?} with two selectors: a controller has one \
         view of a kind; use the wider selector for both, or a second controller"
    )]
    TwoViews {
        /// The controller that registers the kind.
        controller: String,
        /// The kind.
        kind: String,
    },
    /// An option of a registration has no effect.
    #[error(
        "register {kind} in controller {controller:?}: {option} has no effect on {registration}; \
         leave it out"
    )]
    UnusedOption {
        /// The controller that registers the kind.
        controller: String,
        /// The kind.
        kind: String,
        /// The option.
        option: &'static str,
        /// The registration.
        registration: &'static str,
    },
    /// A controller reads a kind that is not registered.
    #[error(
        "read {kind} in controller {controller:?}: the kind is not registered; add \
         .reads({selection}) to the controller, or .owns(..) or .watches(..)"
    )]
    Unregistered {
        /// The controller that reads.
        controller: String,
        /// The kind.
        kind: String,
        /// The selection that registers the kind.
        selection: String,
    },
    /// A controller looks objects up by an index that is not registered.
    #[error(
        "look {kind} up by {name:?} in controller {controller:?}: add .index({name:?}, ..) to its \
         {selection}"
    )]
    Unindexed {
        /// The controller that reads.
        controller: String,
        /// The kind.
        kind: String,
        /// The index.
        name: String,
        /// The selection that registers the kind.
        selection: String,
    },
    /// Another object controls the object.
    #[error(
        "make {owner} the controller of {object}: {controller} is its controller, and an object has \
         at most one; choose another name, or remove that owner first"
    )]
    AlreadyControlled {
        /// The object.
        object: String,
        /// The new controller.
        owner: String,
        /// The existing controller.
        controller: String,
    },
    /// The name of a finalizer is invalid, or a controller has two finalizers.
    #[error("give controller {controller:?} the finalizer {name:?}: {why}")]
    Finalizer {
        /// The controller.
        controller: String,
        /// The finalizer.
        name: String,
        /// The reason and the next step.
        why: &'static str,
    },
    /// Two webhooks of one operator have the same path.
    #[error("register webhook {path} twice: join the functions, or set .path(..) of one of them")]
    DuplicateWebhook {
        /// The path of both.
        path: String,
    },
    /// An option of a kind that a webhook reads has no effect.
    #[error(
        "read {kind} in webhook {path}: {option} has no effect on {registration}; leave it out"
    )]
    UnusedWebhookOption {
        /// The path of the webhook.
        path: String,
        /// The kind.
        kind: String,
        /// The option.
        option: &'static str,
        /// The registration.
        registration: &'static str,
    },
    /// A label selector of a webhook does not parse.
    #[error("select by {text:?} in webhook {path}")]
    WebhookSelector {
        /// The path of the webhook.
        path: String,
        /// The selector.
        text: String,
        /// Why it does not parse.
        #[source]
        source: ParseSelectorError,
    },
    /// The path of a webhook is invalid.
    #[error("serve a webhook under {path:?}: begin with '/' and use letters, digits, '-' and '_'")]
    WebhookPath {
        /// The path.
        path: String,
    },
    /// A match condition of a webhook is invalid.
    #[error("register webhook {path}: {why}")]
    WebhookCondition {
        /// The path of the webhook.
        path: String,
        /// The reason and the next step.
        why: &'static str,
    },
    /// The timeout of a webhook is invalid.
    #[error("set timeout {timeout:?} of webhook {path}: use 1 to 30 seconds")]
    WebhookTimeout {
        /// The path of the webhook.
        path: String,
        /// The timeout.
        timeout: std::time::Duration,
    },
    /// A webhook would prevent all Pods of the cluster from starting while the operator is down.
    #[error(
        "register webhook {path} for the Pods of all namespaces with FailurePolicy::Fail: while the \
         operator is down no Pod could start, not even its own; leave .exempt(..) out, choose Pods \
         with .objects(..) or .namespaces(..), or use .on_failure(FailurePolicy::Ignore)"
    )]
    WebhookTooBroad {
        /// The path of the webhook.
        path: String,
    },
    /// Two policies of one operator have the same name.
    #[error("register policy {name:?} twice: give one of them another name")]
    DuplicatePolicy {
        /// The name of both.
        name: String,
    },
    /// A label selector of a policy does not parse.
    #[error("select by {text:?} in policy {policy:?}")]
    PolicySelector {
        /// The policy.
        policy: String,
        /// The selector.
        text: String,
        /// Why it does not parse.
        #[source]
        source: ParseSelectorError,
    },
    /// A policy could prevent all Pods of the cluster from starting.
    #[error(
        "register policy {policy:?} for the Pods of all namespaces with FailurePolicy::Fail: where \
         an expression has no value no Pod could start, not even the operator's own; leave \
         .exempt(..) out, choose Pods with .objects(..) or .namespaces(..), or use \
         .on_failure(FailurePolicy::Ignore)"
    )]
    PolicyTooBroad {
        /// The policy.
        policy: String,
    },
    /// A policy is invalid.
    #[error("register policy {policy:?}: {why}")]
    Policy {
        /// The policy.
        policy: String,
        /// The reason and the next step.
        why: &'static str,
    },
    /// A policy has no fallback for clusters that serve no policies.
    #[error(
        "replace policy {policy:?} by a webhook: it has no fallback; add .fallback(Webhook::..) to \
         it, or leave --no-policies out"
    )]
    NoFallback {
        /// The policy.
        policy: String,
    },
    /// The cluster does not serve policies of that kind.
    #[error(
        "run with policy {policy:?}: the cluster does not serve {kind}, which Kubernetes has since \
         1.{since}; install and run the operator with --no-policies, which uses the fallback \
         webhooks, or upgrade the cluster"
    )]
    PolicyNotServed {
        /// The policy.
        policy: String,
        /// The kind of the policy.
        kind: &'static str,
        /// The first minor version that serves it.
        since: u32,
    },
    /// A conversion between two versions is invalid.
    #[error("convert {from} to {to}: {why}")]
    Conversion {
        /// The converted version.
        from: String,
        /// The hub version.
        to: String,
        /// The reason and the next step.
        why: &'static str,
    },
    /// Webhooks could not be served.
    #[error(transparent)]
    Webhook(#[from] kubewright_webhook::Error),
    /// The address of the webhooks is in use or not local.
    #[error("listen on {address} for webhooks: choose another with --webhook-address")]
    WebhookAddress {
        /// The address.
        address: std::net::SocketAddr,
        /// The error of the system.
        #[source]
        source: std::io::Error,
    },
    /// A file of the command line could not be read.
    #[error("read {path}", path = path.display())]
    File {
        /// The path of the file.
        path: std::path::PathBuf,
        /// The error of the system.
        #[source]
        source: std::io::Error,
    },
    /// The operator's role does not grant a request.
    #[error("{verb} {resource}: the operator's role does not grant it; {registration}")]
    NotPermitted {
        /// The verb, as in roles.
        verb: String,
        /// The resource, with its group and subresource.
        resource: String,
        /// The line to add.
        registration: String,
    },
    /// A call is invalid for its object, and nothing was sent.
    #[error("{what}: {why}")]
    Invalid {
        /// The action and its object.
        what: String,
        /// The reason and the next step.
        why: &'static str,
    },
    /// A read past the cache failed.
    #[error("read {what} from the API server")]
    Live {
        /// The objects that were read.
        what: String,
        /// The error of the client.
        #[source]
        source: Box<kube::Error>,
    },
    /// An object does not decode as its type.
    #[error("{what}: the object does not match its type")]
    Decode {
        /// The action and its object.
        what: String,
        /// Where the object differs.
        #[source]
        source: serde_json::Error,
    },
    /// An operator without a registered election was started with election options.
    #[error(
        "elect a leader of {operator}: it registers no Lease; add \
         .leader_election(LeaderElection::default()) to the operator"
    )]
    NoElection {
        /// The operator.
        operator: String,
    },
    /// A listener could not be opened.
    #[error("serve {what} on {address}: choose another address with {flag}, or 0 for none")]
    Address {
        /// The service.
        what: &'static str,
        /// The address.
        address: String,
        /// The flag that sets the address.
        flag: &'static str,
        /// The error of the system.
        #[source]
        source: std::io::Error,
    },
    /// The configuration of a cluster or a client for it could not be loaded.
    #[error(transparent)]
    Connect(#[from] kubewright_runtime::Error),
    /// Threads or signal handlers could not be created.
    #[error("start the process: the system denied {what}")]
    System {
        /// The resource.
        what: &'static str,
        /// The error of the system.
        #[source]
        source: std::io::Error,
    },
    /// The manifests could not be written.
    #[error("print the manifests")]
    Manifest(#[source] kubewright_manifest::Error),
    /// Standard output is closed.
    #[error("print to standard output")]
    Output(#[source] std::io::Error),
}
