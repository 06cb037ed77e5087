//! What nearly every operator names: `use kubewright::prelude::*;`.

pub use std::process::ExitCode;
pub use std::sync::Arc;
pub use std::time::Duration;

pub use k8s_openapi::api::apps::v1::{DaemonSet, Deployment, ReplicaSet, StatefulSet};
pub use k8s_openapi::api::batch::v1::{CronJob, Job};
pub use k8s_openapi::api::core::v1::{
    ConfigMap, Namespace, Node, PersistentVolumeClaim, Pod, Secret, Service, ServiceAccount,
};
pub use k8s_openapi::apimachinery::pkg::apis::meta::v1::{Condition, ObjectMeta};
pub use kube::{CustomResource, ResourceExt};
pub use schemars::JsonSchema;
pub use serde::{Deserialize, Serialize};

pub use crate::{
    Admission, Change, Context, Controller, Denied, Event, Failure, Findings, List, Metadata,
    ObjectKey, Operation, Operator, Outcome, Policy, PolicyRule, Result, Verb, Webhook, changed,
    condition, enqueue, kind, kind_of, only, projection, set_condition, slow_start,
};
