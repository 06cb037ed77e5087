//! Cost factors of cel-go (common/cost.go).

/// The cost of traversing one character of a string or one byte.
pub(crate) const STRING_CHARACTER: f64 = 0.1;
/// The cost of one character of a regular expression, for each unit of the string.
pub(crate) const REGEX_CHARACTER: f64 = 0.25;
/// The cost of creating a list, without its items.
pub(crate) const CREATE_LIST: u64 = 10;
/// The cost of creating a map, without its entries.
pub(crate) const CREATE_MAP: u64 = 30;
/// The cost of creating an object, without its fields.
pub(crate) const CREATE_OBJECT: u64 = 40;
