//! Resolves a call to the overloads that match the types of its arguments.

use crate::functions::{CallStyle, Function, Overload, Resolution};
use crate::values::Type;

/// The overloads of a call and the type of its result.
pub(super) struct Resolved {
    pub(super) resolution: Resolution,
    pub(super) of: Type,
}

/// The reason why a call has no overload.
pub(super) enum Unresolved {
    UndeclaredFunction,
    NoMatchingOverload,
}

/// Resolves a call. The result is `dyn` if the matching overloads return different types.
pub(super) fn resolve(
    function: &str,
    style: CallStyle,
    arguments: &[Type],
) -> Result<Resolved, Unresolved> {
    let function = Function::find(function).ok_or(Unresolved::UndeclaredFunction)?;
    let (matching, results): (Vec<&'static Overload>, Vec<Type>) = function
        .overloads()
        .iter()
        .copied()
        .filter(|overload| overload.signature.style == style)
        .filter_map(|overload| Some((overload, overload.signature.result_for(arguments)?)))
        .unzip();
    let Some((first, others)) = results.split_first() else {
        return Err(Unresolved::NoMatchingOverload);
    };
    let of = if others.iter().all(|other| other == first) {
        first.clone()
    } else {
        Type::Dyn
    };
    let resolution = Resolution::new(function, matching);
    Ok(Resolved { resolution, of })
}

/// The name of what a call needs that this crate does not support. The types of the arguments do
/// not count.
pub(super) fn unsupported(
    function: &str,
    style: CallStyle,
    argument_count: usize,
) -> Option<&'static str> {
    Function::find(function)?
        .overloads()
        .iter()
        .filter(|overload| overload.signature.style == style)
        .filter(|overload| overload.signature.parameters.len() == argument_count)
        .find_map(|overload| overload.unsupported_name())
}

/// The arguments as the error about them shows them.
pub(super) fn shown_arguments(style: CallStyle, arguments: &[Type]) -> String {
    let join = |types: &[Type]| {
        let names: Vec<String> = types.iter().map(ToString::to_string).collect();
        names.join(", ")
    };
    match (style, arguments.split_first()) {
        (CallStyle::Member, Some((receiver, rest))) => format!("{receiver}.({})", join(rest)),
        _ => format!("({})", join(arguments)),
    }
}
