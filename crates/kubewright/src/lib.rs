//! The facade a user depends on: `Operator`, `Controller`, `Webhook`, `prelude`.
//!
//! An operator is one value. Its registrations determine what it watches, its permissions, and the
//! manifests that `manifests` prints:
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
//! The root has the names of a first program; every other name is in the module of its subject:
//! [`client`], [`context`], [`controller`], [`queue`], [`metrics`], [`webhook`], [`policy`],
//! [`election`], [`events`], [`description`], [`owner`], [`schema`] and [`marker`].
//!
//! Two features are off by default: `mimalloc` adds an allocator for `main.rs`, and `http2` serves
//! webhooks over HTTP/2 too, which makes the program 0.6 MB larger.

pub mod client;
mod condition;
pub mod context;
pub mod controller;
pub mod description;
pub mod election;
mod endpoint;
mod error;
pub mod events;
mod kinds;
pub mod marker;
pub mod metrics;
mod operator;
pub mod owner;
mod permissions;
pub mod policy;
pub mod prelude;
pub mod queue;
pub mod schema;
mod scheme;
mod slow_start;
pub mod webhook;

pub use condition::{ConditionStatus, condition, set_condition};
pub use context::Context;
pub use controller::Controller;
pub use error::{Error, Result};
pub use events::Event;
pub use kinds::{kind, kind_of};
pub use operator::{Operator, RunOptions, Running, TaskContext};
pub use policy::Policy;
pub use scheme::Scheme;
pub use slow_start::slow_start;
pub use webhook::Webhook;

pub use kubewright_core::{
    Clock, Description, Kind, LabelSelector, ObjectKey, PolicyRule, Resource, Scope, Verb,
};
pub use kubewright_runtime::NamespaceSet;
pub use kubewright_runtime::cache::{List, Metadata};
pub use kubewright_runtime::controller::{Failure, Outcome};
pub use kubewright_runtime::informer::Informer;
pub use {k8s_openapi, kube};

/// The allocator for an operator's `main.rs`:
/// `#[global_allocator] static ALLOCATOR: kubewright::Allocator = kubewright::Allocator;`
///
/// It returns memory to the system that glibc keeps after a large list. An operator that never
/// holds much is about 0.7 MB smaller without it.
#[cfg(feature = "mimalloc")]
pub use mimalloc::MiMalloc as Allocator;
