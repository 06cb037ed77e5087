//! YAML as Kubernetes reads and writes it: YAML 1.1 scalars, keys as text, several documents in
//! one stream.

mod read;
mod scalar;
mod write;

pub use read::{YamlError, documents, from_str};
pub use write::{to_string, to_string_multiple};
