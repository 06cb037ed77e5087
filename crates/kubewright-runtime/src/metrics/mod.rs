//! Plain counters, for whoever shows them: each part of the runtime gives its own as a value, and
//! [`Exposition`] writes them as Prometheus reads them, under the names that controller-runtime
//! and client-go give them.

mod exposition;
mod families;
mod histogram;
mod process;

pub use exposition::{Exposition, Family, MetricKind};
pub use families::{write_controllers, write_election, write_informers, write_requests};
pub use histogram::Histogram;
pub use process::write_process;
