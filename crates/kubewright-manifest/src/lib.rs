//! The YAML that follows from a `Description`: CRDs and roles.
//!
//! ```
//! use kubewright_core::Description;
//! use kubewright_manifest::{ManifestOptions, objects, to_yaml};
//!
//! let description = Description { name: "web".to_owned(), ..Description::default() };
//! let objects = objects(&description, &ManifestOptions::default());
//! assert!(to_yaml(&objects)?.starts_with("apiVersion: v1\nkind: Namespace\n"));
//! # Ok::<(), kubewright_manifest::Error>(())
//! ```

mod crd;
mod error;
mod objects;
mod yaml;

pub use crd::tidy_crd;
pub use error::Error;
pub use objects::{ManifestOptions, objects};
pub use yaml::to_yaml;
