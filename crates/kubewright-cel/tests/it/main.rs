//! Tests of the public interface.

mod composition;
mod conditions;
mod expressions;
mod format;
mod limits;
mod object_literals;
