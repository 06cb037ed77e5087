//! A request's way through the server, one file per step:
//! `respond` reads and negotiates, asks who sends it and whether he may, and hands it
//! to `execute`, the one door that the cluster's own parts use as well; then decode,
//! old object, patch or apply, prune, ownership, admission, validate, store, encode.

mod admission;
mod admit;
mod answer;
mod body;
mod commit;
mod connect;
mod continue_token;
mod create;
mod decode;
mod delete;
mod delete_options;
mod eviction;
mod execute;
mod gzip;
mod json;
mod json_patch;
mod known;
mod list;
mod metadata;
mod negotiate;
mod offload;
mod options;
mod ownership;
mod patch;
mod promises;
mod read;
mod receive;
mod respond;
#[cfg(test)]
mod robust;
mod scale;
mod select;
mod service;
mod subresource;
mod target;
mod update;
mod validate;
#[cfg(test)]
mod vectors;
mod version;
mod warnings;
mod watch;

pub use answer::{ApiBody, ApiResponse};
pub use body::ServerBody;
pub(crate) use delete::delete_instance;
pub use execute::{ApiRequest, Content, PatchKind};
pub(crate) use json_patch::{DEEPEST, JsonPatchError, height, json_patch_listed};
pub use list::List;
pub(crate) use negotiate::accepted;
pub(crate) use offload::Workers;
pub use promises::{continue_token, json, json_patch_promise};
pub(crate) use receive::BodyRoom;
pub(crate) use respond::{failure_response, value_response, with_type};
pub use service::InProcess;
pub use warnings::Warnings;
pub use watch::Watch;
