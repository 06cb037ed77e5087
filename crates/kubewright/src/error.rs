use kubewright_core::ParseSelectorError;
use kubewright_runtime::controller::Failure;

/// What a reconcile function returns; `?` turns any error into a [`Failure`].
pub type Result<T, E = Failure> = std::result::Result<T, E>;

/// Why an operator could not be built, started or go on.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The operator's or a controller's name cannot name Kubernetes objects.
    #[error(
        "name {what} {name:?}: use lower-case letters, digits and '-', at most {longest}, \
         beginning and ending with a letter or digit"
    )]
    Name {
        /// What was to be named.
        what: &'static str,
        /// The name that was given.
        name: String,
        /// How many characters it may have.
        longest: usize,
    },
    /// Two controllers of one operator have the same name.
    #[error("register controller {name:?} twice: give one of them another name with .named(..)")]
    DuplicateController {
        /// The name that both have.
        name: String,
    },
    /// A label selector does not parse.
    #[error("select {kind} by {text:?} in controller {controller:?}")]
    Selector {
        /// The controller that registers the kind.
        controller: String,
        /// The kind that is selected.
        kind: String,
        /// The selector as it was given.
        text: String,
        /// What is wrong with it.
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
    /// A registration says something that it has no use for.
    #[error(
        "register {kind} in controller {controller:?}: {option} has no effect on {registration}; \
         leave it out"
    )]
    UnusedOption {
        /// The controller that registers the kind.
        controller: String,
        /// The kind.
        kind: String,
        /// What has no effect.
        option: &'static str,
        /// On what.
        registration: &'static str,
    },
    /// A controller reads a kind that it has not registered.
    #[error(
        "read {kind} in controller {controller:?}: the kind is not registered; add \
         .reads({selection}) to the controller, or .owns(..) or .watches(..)"
    )]
    Unregistered {
        /// The controller that reads.
        controller: String,
        /// The kind.
        kind: String,
        /// How the kind is registered.
        selection: String,
    },
    /// A controller looks objects up by an index that it has not registered.
    #[error(
        "look {kind} up by {name:?} in controller {controller:?}: add .index({name:?}, ..) to its \
         {selection}"
    )]
    Unindexed {
        /// The controller that reads.
        controller: String,
        /// The kind.
        kind: String,
        /// The index that was asked for.
        name: String,
        /// How the kind is registered.
        selection: String,
    },
    /// An object has a controller, which is another one.
    #[error(
        "make {owner} the controller of {what}: {controller} is, and an object has one at most; \
         choose another name, or let that one give it up"
    )]
    AlreadyControlled {
        /// The object.
        what: String,
        /// Who was to control it.
        owner: String,
        /// Who does.
        controller: String,
    },
    /// A finalizer's name is not one that the API server takes, or there are two of them.
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
    #[error("register webhook {path} twice: join the functions, or give one another .path(..)")]
    DuplicateWebhook {
        /// The path that both have.
        path: String,
    },
    /// A kind that a webhook reads is selected by something that it has no use for.
    #[error(
        "read {kind} in webhook {path}: {option} has no effect on {registration}; leave it out"
    )]
    WebhookPointless {
        /// Where the webhook is served.
        path: String,
        /// The kind.
        kind: String,
        /// What has no effect.
        option: &'static str,
        /// On what.
        registration: &'static str,
    },
    /// A label selector of a webhook does not parse.
    #[error("select by {text:?} in webhook {path}")]
    WebhookSelector {
        /// Where the webhook is served.
        path: String,
        /// The selector as it was given.
        text: String,
        /// What is wrong with it.
        #[source]
        source: ParseSelectorError,
    },
    /// A webhook's path is none.
    #[error("serve a webhook under {path:?}: begin with '/' and use letters, digits, '-' and '_'")]
    WebhookPath {
        /// The path that was given.
        path: String,
    },
    /// A condition of a webhook is not one that the API server takes.
    #[error("register webhook {path}: {why}")]
    WebhookCondition {
        /// Where the webhook is served.
        path: String,
        /// The reason and the next step.
        why: &'static str,
    },
    /// A webhook's time limit is not one that the API server takes.
    #[error("wait {timeout:?} for webhook {path}: use 1 to 30 seconds")]
    WebhookTimeout {
        /// Where the webhook is served.
        path: String,
        /// The time that was given.
        timeout: std::time::Duration,
    },
    /// A webhook would keep every Pod of the cluster from starting while the operator is down.
    #[error(
        "register webhook {path} for the Pods of all namespaces with FailurePolicy::Fail: while the \
         operator is down no Pod could start, not even its own; leave .exempt(..) out, choose Pods \
         with .objects(..) or .namespaces(..), or use .on_failure(FailurePolicy::Ignore)"
    )]
    WebhookWidth {
        /// Where the webhook is served.
        path: String,
    },
    /// Two policies of one operator have the same name.
    #[error("register policy {name:?} twice: give one of them another name")]
    DuplicatePolicy {
        /// The name that both have.
        name: String,
    },
    /// A label selector of a policy does not parse.
    #[error("select by {text:?} in policy {policy:?}")]
    PolicySelector {
        /// The policy.
        policy: String,
        /// The selector as it was given.
        text: String,
        /// What is wrong with it.
        #[source]
        source: ParseSelectorError,
    },
    /// A policy could keep every Pod of the cluster from starting.
    #[error(
        "register policy {policy:?} for the Pods of all namespaces with FailurePolicy::Fail: where \
         an expression has no value no Pod could start, not even the operator's own; leave \
         .exempt(..) out, choose Pods with .objects(..) or .namespaces(..), or use \
         .on_failure(FailurePolicy::Ignore)"
    )]
    PolicyWidth {
        /// The policy.
        policy: String,
    },
    /// The API server would not take a policy.
    #[error("register policy {policy:?}: {why}")]
    Policy {
        /// The policy.
        policy: String,
        /// The reason and the next step.
        why: &'static str,
    },
    /// Nothing does the work of a policy where a cluster serves none.
    #[error(
        "do without policy {policy:?}: no webhook stands in for it; add .stand_in(Webhook::..) to \
         it, or leave --no-policies out"
    )]
    NoStandIn {
        /// The policy.
        policy: String,
    },
    /// The cluster does not know policies of that kind.
    #[error(
        "run with policy {policy:?}: the cluster serves no {kind}, which Kubernetes does since \
         1.{since}; install and run the operator with --no-policies, so that webhooks stand in, or \
         upgrade the cluster"
    )]
    PolicyNotServed {
        /// The policy.
        policy: String,
        /// Its kind.
        kind: &'static str,
        /// The first minor version that serves it.
        since: u32,
    },
    /// Two versions cannot be converted into each other like this.
    #[error("convert {from} to {to}: {why}")]
    Conversion {
        /// The version that is converted.
        from: String,
        /// The hub.
        to: String,
        /// The reason and the next step.
        why: &'static str,
    },
    /// The webhooks cannot be served.
    #[error(transparent)]
    Webhook(#[from] kubewright_webhook::Error),
    /// The address of the webhooks is taken or not this machine's.
    #[error("listen on {address} for webhooks: choose another with --webhook-address")]
    WebhookAddress {
        /// The address.
        address: std::net::SocketAddr,
        /// What the system said.
        #[source]
        source: std::io::Error,
    },
    /// A file that the command line names cannot be read.
    #[error("read {path}", path = path.display())]
    File {
        /// The file.
        path: std::path::PathBuf,
        /// Why not.
        #[source]
        source: std::io::Error,
    },
    /// A request that the operator's role does not allow.
    #[error("{verb} {resource}: the operator's role does not grant it; {registration}")]
    NotPermitted {
        /// The verb, as roles spell it.
        verb: String,
        /// The resource, with its group and subresource.
        resource: String,
        /// The next step: the line to add.
        registration: String,
    },
    /// The object may not be applied or deleted like this.
    #[error("{what}: {why}")]
    Refused {
        /// What was tried, on what.
        what: String,
        /// The reason and the next step.
        why: &'static str,
    },
    /// The API server did not answer a read past the cache, or said no.
    #[error("read {what} from the API server")]
    Live {
        /// What was to be read.
        what: String,
        /// What went wrong.
        #[source]
        source: Box<kube::Error>,
    },
    /// An object is not what its kind says.
    #[error("{what}: it does not fit its type")]
    Decode {
        /// What was decoded.
        what: String,
        /// Where it differs.
        #[source]
        source: serde_json::Error,
    },
    /// An operator shall take part in an election that it has not registered.
    #[error(
        "elect a leader of {operator}: it has no Lease and no right to one; add \
         .leader_election(LeaderElection::default()) to the operator"
    )]
    NoElection {
        /// The operator.
        operator: String,
    },
    /// A port could not be listened on.
    #[error("serve {what} on {address}: choose another address with {flag}, or 0 for none")]
    Address {
        /// What was to be served.
        what: &'static str,
        /// Where.
        address: String,
        /// The flag that says where.
        flag: &'static str,
        /// What the system said.
        #[source]
        source: std::io::Error,
    },
    /// No cluster is known, or no client could be made for it.
    #[error(transparent)]
    Connect(#[from] kubewright_runtime::Error),
    /// Threads or signal handlers could not be had.
    #[error("start the process: the system denied {what}")]
    System {
        /// What was asked for.
        what: &'static str,
        /// What the system said.
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
