//! The formats of the Kubernetes API, and the tables of its own kinds: JSON as Go reads it, YAML, protobuf, flat records; routes, lists and watch frames, Status errors, reviews, continue tokens, JSONPath; patches, server-side apply and field ownership. No sockets, no async.
//!
//! Everything here is a function of its input: no sockets, no tasks, no clock. The embedded API
//! server and the client of an operator share these formats and tables.

pub mod apply;
pub mod continue_token;
pub mod fields;
pub mod json;
pub mod json_path;
pub mod patch;
pub mod protobuf;
pub mod record;
pub mod review;
pub mod route;
pub mod scan;
pub mod schema;
pub mod status;
pub mod yaml;
