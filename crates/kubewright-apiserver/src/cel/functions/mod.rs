//! What the operators and functions of expressions do, one file per library.

mod addresses;
mod call;
mod convert;
mod format;
mod lists;
mod named_formats;
mod operators;
mod optionals;
mod patches;
mod patterns;
mod quantities;
mod strings;
mod times;
mod urls;
mod versions;

pub(super) use addresses::Cidr;
pub(super) use call::call;
pub(super) use convert::{shown, type_named};
pub(super) use named_formats::NamedFormat;
pub(super) use patterns::is_pattern;
pub(crate) use times::{parse_date, parse_duration, parse_timestamp};
pub(super) use urls::Url;
pub(super) use versions::Version;
