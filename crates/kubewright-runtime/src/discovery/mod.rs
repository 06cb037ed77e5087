//! Which kinds a server serves, and how they are called: the REST mapper.
//!
//! [`Discovery`] asks once and remembers, in memory and, where it is told to, in files that
//! kubectl reads and writes too. What is looked for and not found is asked for again, because a
//! definition may have come meanwhile.
//!
//! ```no_run
//! # async fn run(client: kube::Client) -> Result<(), kubewright_runtime::Error> {
//! use kubewright_runtime::discovery::Discovery;
//!
//! let discovery = Discovery::new(client);
//! let deployments = discovery.find("deploy").await?;
//! assert_eq!(deployments.map(|one| one.resource.qualified_name()).as_deref(), Some("deployments.apps"));
//! # Ok(())
//! # }
//! ```

mod aggregated;
mod cached;
mod catalog;
mod disk;
mod fetch;
mod open_api;

pub use cached::Discovery;
pub use catalog::{Catalog, Served};
pub use disk::DiskCache;
