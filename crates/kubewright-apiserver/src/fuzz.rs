//! What must hold of every input, as functions over bytes: each reads what it can, and falls over
//! only where a promise is broken. See [`kubewright_wire::fuzz`], which has more of them and what
//! runs them.

pub use crate::cel::cel;
pub use crate::request::{continue_token, json, json_patch_promise as json_patch};
