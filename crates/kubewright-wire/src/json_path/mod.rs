//! JSONPath as Kubernetes uses it.
//!
//! There are two grammars. [`JsonPath`] is the one of k8s.io/client-go/util/jsonpath, for printer
//! columns and `kubectl -o jsonpath`, without templates (`{..}`, `range`). [`FieldPath`] is the
//! simpler one of k8s.io/apiextensions-apiserver, for selectable fields and the `fieldPath` of
//! validation rules, which has only field names.
//!
//! ```
//! use kubewright_wire::json_path::JsonPath;
//! use serde_json::json;
//!
//! let object = json!({"status": {"conditions": [{"type": "Ready", "status": "True"}]}});
//! let path = JsonPath::parse(r#".status.conditions[?(@.type=="Ready")].status"#)?;
//! assert_eq!(path.first(&object), Some(&json!("True")));
//! # Ok::<(), kubewright_wire::json_path::JsonPathError>(())
//! ```

mod error;
mod evaluate;
mod field_path;
mod literal;
mod parse;
mod path;

pub use error::{EvaluateError, FieldPathError, JsonPathError};
pub use field_path::FieldPath;
pub use path::{Comparison, Filter, JsonPath, Operand, Operator, Step};
