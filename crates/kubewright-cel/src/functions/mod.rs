//! The functions and operators of expressions: one table of overloads per library.
//!
//! An [`Overload`] has its signature, its implementation and the estimate of its cost in one place.
//! The checker resolves a call to the overloads that match the types of its arguments
//! ([`Resolution`]). The estimate and the evaluation of the call use what was resolved.

mod addresses;
mod arguments;
mod arithmetic;
mod collections;
mod comparison;
mod conversions;
mod english_numbers;
mod format;
mod json_patch;
mod lists;
mod logic;
mod named_formats;
mod optionals;
mod overload;
mod quantities;
mod regexes;
mod registry;
mod resolution;
mod sets;
mod strings;
mod times;
mod type_pattern;
mod urls;
mod versions;

pub(crate) use overload::{Availability, CallStyle, Overload, ResultItems};
pub(crate) use regexes::is_regex;
pub(crate) use registry::Function;
pub(crate) use resolution::Resolution;
