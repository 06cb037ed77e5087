//! The names that nearly every operator uses: `use kubewright::prelude::*;`.

pub use std::sync::Arc;
pub use std::time::Duration;

pub use k8s_openapi::api::apps::v1::Deployment;
pub use k8s_openapi::api::core::v1::{ConfigMap, Pod, Secret, Service};
pub use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
pub use kube::{CustomResource, ResourceExt};
pub use schemars::JsonSchema;
pub use serde::{Deserialize, Serialize};

pub use crate::controller::{changed, enqueue};
pub use crate::{Context, Controller, Failure, Operator, Outcome, Result, Webhook, kind};
