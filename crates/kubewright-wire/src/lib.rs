//! From bytes to values and back, and the tables that say what Kubernetes' own kinds look like: JSON, YAML, flat records; routes; watch frames; Status errors; the patches and field ownership. No sockets, no async.
//!
//! Everything here is a function of its input: no sockets, no tasks, no clock. The embedded API
//! server and an operator's client read the same routes, answers and tables.

pub mod apply;
pub mod fields;
#[doc(hidden)]
pub mod fuzz;
pub mod patch;
pub mod protobuf;
pub mod record;
pub mod review;
pub mod route;
pub mod scan;
pub mod schema;
pub mod status;
pub mod yaml;
