//! The facade a user depends on: `Operator`, `Controller`, `Webhook`, `prelude`.
//!
//! An operator is one value. What it registers decides what it watches, what it may do, and what
//! `manifests` prints:
//!
//! ```
//! use kubewright::prelude::*;
//!
//! /// One ConfigMap for each site.
//! #[derive(CustomResource, Clone, Debug, Serialize, Deserialize, JsonSchema)]
//! #[kube(group = "ex.io", version = "v1", kind = "Site", namespaced)]
//! pub struct SiteSpec {
//!     pub text: String,
//! }
//!
//! pub fn operator() -> Operator {
//!     Operator::new("site").controller(Controller::new(reconcile).owns(kind::<ConfigMap>()))
//! }
//!
//! async fn reconcile(site: Arc<Site>, cx: Context<Site>) -> Result<Outcome> {
//!     let page = ConfigMap {
//!         metadata: ObjectMeta { name: site.metadata.name.clone(), ..ObjectMeta::default() },
//!         data: Some([("index.html".to_owned(), site.spec.text.clone())].into()),
//!         ..ConfigMap::default()
//!     };
//!     cx.apply(&page).await?;
//!     Ok(Outcome::done())
//! }
//!
//! assert_eq!(operator().description().custom_resources.len(), 1);
//! ```
//!
//! The derives of kube and schemars expand to paths of `kube`, `k8s_openapi`, `schemars`, `serde`
//! and `serde_json`, so a user's `Cargo.toml` lists these beside `kubewright`.
//!
//! Two features are off unless asked for: `mimalloc` has an allocator for `main.rs`, and with
//! `http2` webhooks are answered over HTTP/2 too, which makes the program 0.6 MB larger.

mod condition;
mod context;
mod endpoint;
mod error;
pub mod marker;
mod operator;
pub mod owner;
mod permission;
mod policy;
pub mod prelude;
mod registration;
pub mod schema;
mod scheme;
mod slow_start;
mod webhook;

pub use condition::{ConditionStatus, condition, set_condition};
pub use context::{Apply, Context, Dynamic, Live, Name, Object, StatusWrite, Watch, WithStatus};
pub use endpoint::{MetricsAccess, MetricsServing};
pub use error::{Error, Result};
pub use operator::{Candidacy, LeaderElection, Operator, RunOptions, Running, TaskContext};
pub use permission::Permissions;
pub use policy::{Mutation, Policy, Validation};
pub use registration::{
    AnyKind, Cache, Controller, ControllerKind, Predicate, Selection, TypedKind, changed, enqueue,
    kind, kind_of, only, projection, resource_of, sources,
};
pub use scheme::Scheme;
pub use slow_start::slow_start;

pub use webhook::{
    Admission, AnyWebhook, CertificateSource, Change, Conversion, Converted, Denied, Findings,
    ManagedCertificates, Repetition, Verdict, Webhook, WebhookServing,
};

pub use kubewright_core::{
    Clock, ControllerDescription, ConversionDescription, Description, Exemption, FailurePolicy,
    Kind, LabelSelector, MissingParameter, NamedExpression, ObjectKey, Operation, PolicyAction,
    PolicyDescription, PolicyEffect, PolicyRule, Reinvocation, Resource, Scope, SideEffects, Use,
    Verb, WebhookDescription,
};
pub use kubewright_runtime::cache::{List, Metadata};
pub use kubewright_runtime::client;
pub use kubewright_runtime::client::{
    Blocked, ClientLimits, Conflict, FieldValidation, Namespaced, RequestFilter, RetryPolicy,
    WriteOptions, honor_no_proxy, retry_if, retry_on_conflict,
};
pub use kubewright_runtime::controller::{Failure, Handle, Outcome, Retry};
pub use kubewright_runtime::election::{ElectionTimes, Leadership};
pub use kubewright_runtime::events::{Event, EventKind, Regarding};
pub use kubewright_runtime::informer::Informer;
pub use kubewright_runtime::prometheus::{Exposition, Family, MetricKind};
pub use kubewright_runtime::queue::{Ageing, Backoff, Fairness, Priority, QueueOptions};
pub use kubewright_runtime::reconcile_loop::{LoopKind, ReconcileLoop};
pub use kubewright_runtime::write::{WriteError, WriteResult};
pub use kubewright_runtime::{NamespaceSet, RateLimit};
pub use kubewright_webhook::review::{
    NonResourceAttributes, ResourceAttributes, SubjectAccessReviewSpec,
};
pub use kubewright_webhook::{CertificateFiles, Certificates, Incoming, pki};
pub use {k8s_openapi, kube};

/// The allocator for an operator's `main.rs`:
/// `#[global_allocator] static ALLOCATOR: kubewright::Allocator = kubewright::Allocator;`
///
/// It gives memory back to the system that glibc's would keep after a large list; an operator that
/// never holds much is about 0.7 MB smaller without it.
#[cfg(feature = "mimalloc")]
pub use mimalloc::MiMalloc as Allocator;
