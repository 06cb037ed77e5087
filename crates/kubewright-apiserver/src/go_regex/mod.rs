//! Patterns as Go reads them (`regexp/syntax`): what is refused, in Go's words, and what is meant.
//!
//! A pattern is translated to one of the `regex` crate. Both descend from RE2, but `\d`, `\w` and
//! `\s` are of ASCII in Go, a class has no operators, and a brace that repeats nothing is itself.

mod class;
mod compile;
mod escape;
mod translate;
mod wrong;

pub(crate) use compile::GoRegex;
