use jiff::Timestamp;

use super::times::{parse_duration, parse_timestamp};
use crate::cel::evaluate::Evaluated;
use crate::cel::problem::Fault;
use crate::cel::value::Value;

/// The value that a type's name stands for.
pub(in crate::cel) fn type_named(name: &str) -> Option<&'static str> {
    Some(match name {
        "bool" => "bool",
        "int" => "int",
        "uint" => "uint",
        "double" => "double",
        "string" => "string",
        "bytes" => "bytes",
        "list" => "list",
        "map" => "map",
        "null_type" => "null_type",
        "type" => "type",
        "dyn" => "dyn",
        "optional_type" => "optional_type",
        _ => return None,
    })
}

pub(super) fn call(name: &str, args: &[Value]) -> Option<Evaluated> {
    let [value] = args else {
        return None;
    };
    match name {
        "type" => Some(Ok(Value::Type(value.type_name().into()))),
        "dyn" => Some(Ok(value.clone())),
        "int" => to_int(value),
        "uint" => to_uint(value),
        "double" => to_double(value),
        "bool" => to_bool(value),
        "string" => to_string(value).map(|text| Ok(Value::text(&text))),
        "bytes" => match value {
            Value::Bytes(_) => Some(Ok(value.clone())),
            Value::String(text) => Some(Ok(Value::Bytes(text.as_bytes().into()))),
            _ => None,
        },
        "duration" => match value {
            Value::Duration(_) => Some(Ok(value.clone())),
            Value::String(text) => {
                let read = parse_duration(text).map(Value::Duration);
                Some(read.ok_or_else(|| not_read("google.protobuf.Duration")))
            }
            _ => None,
        },
        "timestamp" => to_timestamp(value),
        _ => None,
    }
}

fn to_int(value: &Value) -> Option<Evaluated> {
    let overflow = || Fault::new("integer overflow");
    Some(match value {
        Value::Int(_) => Ok(value.clone()),
        Value::Uint(number) => i64::try_from(*number)
            .map(Value::Int)
            .map_err(|_| overflow()),
        Value::Double(number) => crate::cel::value::whole(number.trunc()).ok_or_else(overflow),
        Value::String(text) => text.parse().map(Value::Int).map_err(|_| not_read("int")),
        Value::Timestamp(time) => Ok(Value::Int(time.as_second())),
        _ => return None,
    })
}

fn to_uint(value: &Value) -> Option<Evaluated> {
    let overflow = || Fault::new("unsigned integer overflow");
    let from_int = |number: i64| {
        u64::try_from(number)
            .map(Value::Uint)
            .map_err(|_| overflow())
    };
    Some(match value {
        Value::Uint(_) => Ok(value.clone()),
        Value::Int(number) => from_int(*number),
        Value::Double(number) => match crate::cel::value::whole(number.trunc()) {
            Some(Value::Int(number)) => from_int(number),
            _ => Err(overflow()),
        },
        Value::String(text) => text.parse().map(Value::Uint).map_err(|_| not_read("uint")),
        _ => return None,
    })
}

fn to_double(value: &Value) -> Option<Evaluated> {
    match value {
        Value::String(text) => {
            let number = text.parse().map(Value::Double);
            Some(number.map_err(|_| not_read("double")))
        }
        number => number.float().map(|number| Ok(Value::Double(number))),
    }
}

/// A text that is none of a type.
fn not_read(wanted: &str) -> Fault {
    Fault::new(format!("type conversion error from 'string' to '{wanted}'"))
}

fn to_bool(value: &Value) -> Option<Evaluated> {
    match value {
        Value::Bool(_) => Some(Ok(value.clone())),
        Value::String(text) => Some(match &**text {
            "1" | "t" | "T" | "TRUE" | "true" | "True" => Ok(Value::Bool(true)),
            "0" | "f" | "F" | "FALSE" | "false" | "False" => Ok(Value::Bool(false)),
            _ => Err(not_read("bool")),
        }),
        _ => None,
    }
}

fn to_timestamp(value: &Value) -> Option<Evaluated> {
    let overflow = || Fault::new("timestamp overflow");
    Some(match value {
        Value::Timestamp(_) => Ok(value.clone()),
        Value::Int(seconds) => Timestamp::from_second(*seconds)
            .map(Value::Timestamp)
            .map_err(|_| overflow()),
        Value::String(text) => parse_timestamp(text)
            .map(Value::Timestamp)
            .ok_or_else(|| not_read("google.protobuf.Timestamp")),
        _ => return None,
    })
}

fn to_string(value: &Value) -> Option<String> {
    Some(match value {
        Value::String(text) => text.to_string(),
        Value::Bool(value) => value.to_string(),
        Value::Int(number) => number.to_string(),
        Value::Uint(number) => number.to_string(),
        Value::Double(number) => go_float(*number),
        Value::Bytes(bytes) => String::from_utf8(bytes.to_vec()).ok()?,
        Value::Timestamp(time) => time.to_string(),
        Value::Duration(duration) => format!("{}s", duration.as_secs_f64()),
        Value::Ip(address) => address.to_string(),
        Value::Cidr(cidr) => cidr.to_string(),
        _ => return None,
    })
}

/// A float as Go's `%g` writes it.
fn go_float(number: f64) -> String {
    let size = number.abs();
    if number == 0.0 || !number.is_finite() || (1e-4..1e21).contains(&size) {
        return number.to_string();
    }
    let text = format!("{number:e}");
    let Some((digits, exponent)) = text.split_once('e') else {
        return text;
    };
    let (sign, exponent) = match exponent.strip_prefix('-') {
        Some(exponent) => ('-', exponent),
        None => ('+', exponent),
    };
    format!("{digits}e{sign}{exponent:0>2}")
}

/// A value in an error.
pub(in crate::cel) fn shown(value: &Value) -> String {
    to_string(value).unwrap_or_else(|| value.type_name().to_owned())
}
