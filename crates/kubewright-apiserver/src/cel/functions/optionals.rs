use crate::cel::evaluate::Evaluated;
use crate::cel::problem::Fault;
use crate::cel::value::Value;

pub(super) fn call(name: &str, args: &[Value]) -> Option<Evaluated> {
    Some(match (name, args) {
        ("optional.of", [value]) => Ok(Value::some(value.clone())),
        ("optional.none", []) => Ok(Value::Optional(None)),
        ("optional.ofNonZeroValue", [value]) => Ok(match value.is_zero() {
            true => Value::Optional(None),
            false => Value::some(value.clone()),
        }),
        ("hasValue", [Value::Optional(value)]) => Ok(Value::Bool(value.is_some())),
        ("value", [Value::Optional(Some(value))]) => Ok((**value).clone()),
        ("value", [Value::Optional(None)]) => Err(Fault::new("optional.none() dereference")),
        ("or", [Value::Optional(None), other]) => Ok(other.clone()),
        ("or", [Value::Optional(Some(_)), _]) => Ok(args.first()?.clone()),
        ("orValue", [Value::Optional(value), other]) => {
            Ok(value.as_deref().unwrap_or(other).clone())
        }
        _ => return None,
    })
}
