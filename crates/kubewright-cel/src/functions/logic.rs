//! The operators `!`, `&&`, `||` and `? :`.

use super::overload::{Overload, global};
use super::type_pattern::{A, BOOL};
use crate::cost::constant;
use crate::values::Value;

pub(super) static OVERLOADS: &[Overload] = &[
    global("!_", &[BOOL], BOOL).overload(
        "logical_not",
        |args, _| Ok(Value::Bool(!args.bool(0)?)),
        constant,
    ),
    global("_&&_", &[BOOL, BOOL], BOOL).lazy("logical_and"),
    global("_||_", &[BOOL, BOOL], BOOL).lazy("logical_or"),
    global("_?_:_", &[BOOL, A, A], A).lazy("conditional"),
];
