//! Reaching an API server: where it is, with which settings, and raw answers as streams of bytes.

mod answer;
mod connect;
mod meaning;
mod query;
mod unsent;

pub use answer::{Answer, open, open_as};
pub use connect::{connect, load_config};
pub use meaning::Meaning;
pub use query::Query;
pub use unsent::Unsent;
pub(crate) use unsent::cause_of;
