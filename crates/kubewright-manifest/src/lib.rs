//! Manifests of an operator from its `Description`: CRDs, roles, webhook configurations, policies, Deployment, as YAML, kustomize folder or Helm chart; unsafe changes of CRDs.
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

mod certificates;
mod components;
mod crd;
mod crd_change;
mod deployment;
mod error;
mod helm;
mod kustomize;
mod matching;
mod metrics;
mod names;
mod objects;
mod options;
mod output;
mod policies;
mod roles;
mod schema;
mod webhooks;
mod without_webhooks;
mod yaml;

pub use certificates::{WebhookCertificates, certificate_rules, secret_rules};
pub use components::Component;
pub use crd::tidy_crd;
pub use crd_change::{Hazard, UnsafeChange, unsafe_changes};
pub use deployment::deployment;
pub use error::Error;
pub use helm::{Chart, helm_chart};
pub use kustomize::kustomization;
pub use names::webhook_service;
pub use objects::objects;
pub use options::{ManifestOptions, WebhookUse};
pub use output::{OutputFile, stale_files};
pub use schema::{core_schema, inline_references};
pub use without_webhooks::{
    calls_webhooks, is_converted, keep_only_storage_version, without_webhooks,
};
pub use yaml::to_yaml;
