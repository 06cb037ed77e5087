//! The controllers of kube-controller-manager, one module each, under the names that they have in
//! `pkg/controller` of Kubernetes.
//!
//! To add a controller (`statefulset`, `daemonset`, `job`, `cronjob`, `replication`, ...), write a
//! module here that implements [`ControlLoop`](crate::framework::ControlLoop), and add one entry
//! to the table in `controller_manager/table.rs`.

mod clusterroleaggregation;
mod deployment;
mod disruption;
mod endpointslice;
mod garbagecollector;
mod namespace;
mod nodelifecycle;
mod podgc;
mod replicaset;
mod resourcequota;
mod rootcacertpublisher;
mod serviceaccount;
mod tainteviction;

pub(crate) use clusterroleaggregation::ClusterRoleAggregationController;
pub(crate) use deployment::DeploymentController;
pub(crate) use disruption::DisruptionController;
pub(crate) use endpointslice::EndpointSliceController;
pub(crate) use garbagecollector::GarbageCollector;
pub(crate) use namespace::NamespaceController;
pub(crate) use nodelifecycle::NodeLifecycleController;
pub(crate) use podgc::PodGarbageCollector;
pub(crate) use replicaset::ReplicaSetController;
pub(crate) use resourcequota::ResourceQuotaController;
pub(crate) use rootcacertpublisher::RootCaCertPublisher;
pub(crate) use serviceaccount::ServiceAccountController;
pub(crate) use tainteviction::TaintEvictionController;
