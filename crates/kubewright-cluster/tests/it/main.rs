//! The cluster as its clients see it: plain HTTP requests to the API server, on paused time.

mod client;
mod deletion;
mod deployment;
mod disruption;
mod endpointslice;
mod many_clusters;
mod nodes;
mod pods;
mod rbac;
mod resourcequota;
mod scheduler;
mod test_cluster;
