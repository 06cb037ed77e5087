use super::{
    addresses, convert, format, lists, named_formats, operators, optionals, patches, patterns,
    quantities, strings, times, urls, versions,
};
use crate::cel::budget::Budget;
use crate::cel::evaluate::Evaluated;
use crate::cel::problem::Fault;
use crate::cel::value::Value;

/// A library: what its function of that name comes to; none when it has none for such arguments.
type Library = fn(&str, &[Value]) -> Option<Evaluated>;

const LIBRARIES: [Library; 14] = [
    operators::call,
    strings::call,
    lists::call,
    convert::call,
    times::call,
    patterns::call,
    optionals::call,
    format::call,
    quantities::call,
    addresses::call,
    urls::call,
    versions::call,
    named_formats::call,
    patches::call,
];

/// What a function comes to. A member has what stands before its dot as the first argument.
pub(in crate::cel) fn call(name: &str, args: &[Value], budget: &mut Budget) -> Evaluated {
    for argument in args {
        match argument {
            Value::String(text) => budget.bytes(text.len())?,
            Value::Bytes(bytes) => budget.bytes(bytes.len())?,
            // An index costs nothing more, whatever it is into.
            Value::List(items, _) if name != "_[_]" => budget.items(items.len())?,
            _ => {}
        }
    }
    let mut libraries = LIBRARIES.iter();
    let found = libraries.find_map(|library| library(name, args));
    found.unwrap_or_else(|| Err(Fault::no_overload()))
}
