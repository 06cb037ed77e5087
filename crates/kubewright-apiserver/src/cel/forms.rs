use super::expr::{Expr, Node};
use super::signatures::{OPEN_TYPES, Signature};
use super::types::Type;
use super::value::Value;

/// What one form of a function gives for these arguments, if it takes them.
pub(super) fn result(form: &Signature, types: &[Type]) -> Option<Type> {
    if form.takes.len() != types.len() {
        return None;
    }
    let mut bound = vec![None; OPEN_TYPES];
    let mut pairs = form.takes.iter().zip(types);
    pairs
        .all(|(parameter, argument)| parameter.takes(argument, &mut bound))
        .then(|| form.gives.with(&bound))
}

/// The name that stands where a key is expected.
pub(super) fn named_key(key: &Expr) -> Option<&str> {
    match &key.node {
        Node::Literal(Value::String(name)) => Some(&**name),
        _ => None,
    }
}

/// The arguments in the error about them.
pub(super) fn shown(types: &[Type], is_member: bool) -> String {
    let join = |types: &[Type]| {
        let names: Vec<String> = types.iter().map(ToString::to_string).collect();
        names.join(", ")
    };
    match (types.split_first(), is_member) {
        (Some((receiver, rest)), true) => format!("{receiver}.({})", join(rest)),
        _ => format!("({})", join(types)),
    }
}

/// What nothing was found out about can be anything.
pub(super) fn opened(of: Type) -> Type {
    match of {
        Type::Unknown => Type::Dyn,
        other => other,
    }
}

/// The type of a value that stands in an expression.
pub(super) fn literal(value: &Value) -> Type {
    match value {
        Value::Null => Type::Null,
        Value::Bool(_) => Type::Bool,
        Value::Int(_) => Type::Int,
        Value::Uint(_) => Type::Uint,
        Value::Double(_) => Type::Double,
        Value::String(_) => Type::String,
        Value::Bytes(_) => Type::Bytes,
        _ => Type::Dyn,
    }
}

/// The types that have names.
pub(super) fn named_type(name: &str) -> Option<Type> {
    Some(match name {
        "bool" => Type::Bool,
        "int" => Type::Int,
        "uint" => Type::Uint,
        "double" => Type::Double,
        "string" => Type::String,
        "bytes" => Type::Bytes,
        "list" => Type::list(Type::Dyn),
        "map" => Type::map(Type::Dyn, Type::Dyn),
        "null_type" => Type::Null,
        "type" | "dyn" | "optional_type" => Type::Dyn,
        _ => return None,
    })
}
