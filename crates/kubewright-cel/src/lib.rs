//! CEL as Kubernetes uses it: parse, check, estimate, evaluate within a budget; Go's regular expressions.
//!
//! The language is that of cel-go with the options of k8s.io/apiserver/pkg/cel/environment for
//! 1.36: optional values, comprehensions with two variables, numbers that compare across types,
//! and Kubernetes' own functions. Errors have the messages and positions of cel-go. Parts that are
//! not supported (a time zone as an argument, `authorizer`, `variables` as a whole) fail by name
//! when an expression is compiled.
//!
//! ```
//! use std::sync::Arc;
//!
//! use kubewright_cel::{Budget, Environment, ObjectType, Program, Type, Value, Variables};
//! use serde_json::json;
//!
//! // The type of `self`, as a CustomResourceDefinition would declare it.
//! let spec = ObjectType::new("Spec")
//!     .property("replicas", Type::Int)
//!     .property("hosts", Type::list(Type::String));
//! let of = Type::Object(Arc::new(spec));
//! let environment = Environment::default().variable("self", of.clone());
//!
//! let rule = "self.replicas >= size(self.hosts) && self.hosts.all(h, h.endsWith('.example'))";
//! let program = Program::compile(rule, &environment)?;
//! assert_eq!(*program.result_type(), Type::Bool);
//!
//! let spec = json!({"replicas": 2, "hosts": ["a.example", "b.example"]});
//! let variables = Variables::from([("self", Value::from_json(&spec, &of))]);
//! let mut budget = Budget::default();
//! assert_eq!(program.evaluate(&variables, &mut budget)?, Value::Bool(true));
//!
//! // Errors are those of cel-go.
//! let error = Program::compile("self.replica > 1", &environment).unwrap_err();
//! assert_eq!(
//!     error.to_string(),
//!     "ERROR: <input>:1:5: undefined field 'replica'\n | self.replica > 1\n | ....^"
//! );
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod admission;
mod budget;
mod check;
mod cost;
mod error;
mod estimate;
mod evaluate;
mod functions;
mod go_regex;
mod identifier;
mod program;
mod syntax;
mod values;

pub use admission::{
    Composition, Condition, ConditionInput, LazyVariables, request_environment, webhook_environment,
};
pub use budget::{Budget, OUT_OF_BUDGET};
pub use check::Environment;
pub use error::{CompileError, EvaluationError};
pub use estimate::SizeLimits;
pub use evaluate::Variables;
pub use go_regex::{GoRegex, RegexError};
pub use identifier::{escape, is_identifier};
pub use program::Program;
pub use values::{
    Cidr, JSON_PATCH, Key, ListShape, NamedFormat, ObjectLiteral, ObjectType, Type, Url, Value,
    Version, parse_date, parse_duration, parse_timestamp, patch_type, type_mismatches,
};
