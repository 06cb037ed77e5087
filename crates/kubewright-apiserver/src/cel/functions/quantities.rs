use std::cmp::Ordering;

use kubewright_wire::schema::Quantity;

use crate::cel::evaluate::Evaluated;
use crate::cel::problem::Fault;
use crate::cel::value::Value;

pub(super) fn call(name: &str, args: &[Value]) -> Option<Evaluated> {
    Some(match (name, args) {
        ("quantity", [Value::String(text)]) => Quantity::parse(text)
            .map(Value::Quantity)
            .ok_or_else(|| Fault::new(WRONG)),
        ("isQuantity", [Value::String(text)]) => Ok(Value::Bool(Quantity::parse(text).is_some())),
        ("sign", [Value::Quantity(amount)]) => {
            Ok(Value::Int(number(amount.cmp_amount(&Quantity::zero()))))
        }
        ("isInteger", [Value::Quantity(amount)]) => Ok(Value::Bool(amount.whole().is_some())),
        ("asInteger", [Value::Quantity(amount)]) => amount
            .whole()
            .map(Value::Int)
            .ok_or_else(|| Fault::new("cannot convert value to integer")),
        ("asApproximateFloat", [Value::Quantity(amount)]) => {
            let one = Quantity::parse("1").unwrap_or_else(Quantity::zero);
            Ok(Value::Double(amount.ratio(&one)))
        }
        (_, [Value::Quantity(one), Value::Quantity(two)]) => return of_two(name, *one, *two),
        ("add" | "sub", [Value::Quantity(one), Value::Int(two)]) => {
            let two = Quantity::parse(&two.to_string())?;
            return of_two(name, *one, two);
        }
        _ => return None,
    })
}

const WRONG: &str = "quantities must match the regular expression \
                     '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'";

fn of_two(name: &str, one: Quantity, two: Quantity) -> Option<Evaluated> {
    let order = one.cmp_amount(&two);
    Some(Ok(match name {
        "isGreaterThan" => Value::Bool(order.is_gt()),
        "isLessThan" => Value::Bool(order.is_lt()),
        "compareTo" => Value::Int(number(order)),
        "add" => Value::Quantity(one.plus(two)),
        "sub" => Value::Quantity(one.minus(two)),
        _ => return None,
    }))
}

fn number(order: Ordering) -> i64 {
    match order {
        Ordering::Less => -1,
        Ordering::Equal => 0,
        Ordering::Greater => 1,
    }
}
