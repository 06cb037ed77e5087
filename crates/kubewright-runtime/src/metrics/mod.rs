//! The metrics of controllers, queues, informers, clients and the election, as Prometheus reads
//! them.
//!
//! Each part of the runtime returns its counters as plain values. The functions here write them to
//! a page ([`Exposition`](crate::prometheus::Exposition)), under the names of controller-runtime and
//! client-go where those have the metric, so that existing dashboards work. Metrics that only this
//! library has begin with `kubewright_`.

mod controllers;
mod election;
mod informers;
mod process;
mod queues;
mod requests;
mod row;

pub use controllers::write_controllers;
pub use election::write_election;
pub use informers::write_informers;
pub use process::write_process;
pub use requests::write_requests;
