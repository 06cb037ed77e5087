//! Discovery of the kinds that a server serves, with their names: the REST mapper.
//!
//! [`Discovery`] requests the discovery documents once and caches them, in memory and optionally in
//! files that it shares with kubectl. A kind that is not found causes another request, because a
//! CustomResourceDefinition can have been created in the meantime.
//!
//! ```no_run
//! # async fn run(client: kube::Client) -> Result<(), kubewright_runtime::Error> {
//! use kubewright_runtime::discovery::Discovery;
//!
//! let discovery = Discovery::new(client);
//! let deployments = discovery.find("deploy").await?.expect("a built-in kind");
//! assert_eq!(deployments.resource.qualified_name(), "deployments.apps");
//! # Ok(())
//! # }
//! ```

mod aggregated;
mod cached;
mod catalog;
mod disk;
mod documents;
mod fetch;
mod open_api;

pub use cached::Discovery;
pub use catalog::{Catalog, ServedKind};
pub use disk::DiskCache;
