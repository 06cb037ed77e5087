//! Values and types of CEL, and what can be done with them without an expression.

mod cidr;
mod compare;
mod display;
mod from_json;
mod named_format;
mod object_literal;
mod time;
mod to_json;
mod types;
mod url;
mod value;
mod version;

pub use cidr::Cidr;
pub(crate) use cidr::parse_ip;
pub(crate) use compare::{
    byte_length, concat, contains_all, distinct, equal, intersects, order, position, sort,
};
pub use named_format::NamedFormat;
pub use object_literal::{JSON_PATCH, patch_type, type_mismatches};
pub(crate) use object_literal::{create_object, object_literal_type};
pub use time::{parse_date, parse_duration, parse_timestamp};
pub use types::{ListShape, ObjectType, Type};
pub use url::Url;
pub(crate) use value::{EvaluationResult, integer};
pub use value::{Key, ObjectLiteral, Value};
pub use version::Version;
