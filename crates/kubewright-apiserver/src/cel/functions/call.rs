use super::{
    addresses, convert, format, lists, named_formats, operators, optionals, patches, patterns,
    quantities, strings, times, urls, versions,
};
use crate::cel::budget::Budget;
use crate::cel::evaluate::Evaluated;
use crate::cel::problem::Fault;
use crate::cel::value::Value;

/// A library: what its function of that name comes to; none when it has none for such arguments.
#[derive(Clone, Copy)]
enum Library {
    /// What its functions do and return grows no faster than their arguments.
    Linear(fn(&str, &[Value]) -> Option<Evaluated>),
    /// Its functions count what else they do before they do it.
    Counting(fn(&str, &[Value], &mut Budget) -> Option<Evaluated>),
}

const LIBRARIES: [Library; 14] = [
    Library::Counting(operators::call),
    Library::Counting(strings::call),
    Library::Counting(lists::call),
    Library::Linear(convert::call),
    Library::Linear(times::call),
    Library::Counting(patterns::call),
    Library::Linear(optionals::call),
    Library::Counting(format::call),
    Library::Linear(quantities::call),
    Library::Linear(addresses::call),
    Library::Linear(urls::call),
    Library::Linear(versions::call),
    Library::Linear(named_formats::call),
    Library::Linear(patches::call),
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
    let found = libraries.find_map(|library| match library {
        Library::Linear(call) => call(name, args),
        Library::Counting(call) => call(name, args, budget),
    });
    found.unwrap_or_else(|| Err(Fault::no_overload()))
}
