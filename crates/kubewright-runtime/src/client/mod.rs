//! Reaching an API server: where it is, with which settings, and raw answers as streams of bytes.

mod answer;
mod connect;
mod manners;
mod meaning;
mod metered;
mod query;
mod service;
mod unsent;

pub use answer::{Answer, open, open_as};
pub use connect::{connect, load_config};
pub use manners::Manners;
pub use meaning::Meaning;
pub use metered::{Metered, RequestMetrics};
pub use query::Query;
pub use service::{ClientService, rebuilt};
pub use unsent::Unsent;
pub(crate) use unsent::cause_of;
