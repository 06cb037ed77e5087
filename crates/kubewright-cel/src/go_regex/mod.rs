//! Regular expressions of Go (`regexp/syntax`), with Go's errors.
//!
//! A regular expression is translated to one of the `regex` crate. Both descend from RE2, but in Go
//! `\d`, `\w` and `\s` match ASCII only, a class has no operators, and a brace that is not a
//! repetition is a literal.

mod class;
mod compile;
mod error;
mod escape;
mod translate;

pub use compile::GoRegex;
pub use error::RegexError;
