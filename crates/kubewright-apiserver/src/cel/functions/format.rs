use super::convert::shown;
use crate::cel::evaluate::Evaluated;
use crate::cel::problem::Fault;
use crate::cel::value::Value;

/// `'%s has %d'.format([a, b])` (cel-go/ext/formatting.go).
pub(super) fn call(name: &str, args: &[Value]) -> Option<Evaluated> {
    match (name, args) {
        ("format", [Value::String(text), Value::List(items, _)]) => Some(format(text, items)),
        _ => None,
    }
}

fn format(text: &str, items: &[Value]) -> Evaluated {
    let mut out = String::new();
    let mut chars = text.chars();
    let mut next = 0;
    while let Some(c) = chars.next() {
        if c != '%' {
            out.push(c);
            continue;
        }
        let mut verb = chars.next();
        if verb == Some('%') {
            out.push('%');
            continue;
        }
        let mut precision = None;
        if verb == Some('.') {
            let digits: String = chars.clone().take_while(char::is_ascii_digit).collect();
            chars = skip(chars, digits.len());
            precision = digits.parse::<usize>().ok();
            verb = chars.next();
        }
        let item = items
            .get(next)
            .ok_or_else(|| Fault::new(format!("index {next} out of range")))?;
        next += 1;
        let verb = verb.ok_or_else(|| Fault::new("unexpected end of format string"))?;
        out.push_str(&clause(verb, precision, item)?);
    }
    Ok(Value::text(&out))
}

fn skip(mut chars: std::str::Chars<'_>, count: usize) -> std::str::Chars<'_> {
    for _ in 0..count {
        chars.next();
    }
    chars
}

fn clause(verb: char, precision: Option<usize>, item: &Value) -> Result<String, Fault> {
    let wrong = |what: &str| {
        Fault::new(format!(
            "error during formatting: {what} clause cannot be used on {}",
            item.type_name()
        ))
    };
    let digits = precision.unwrap_or(6);
    match verb {
        's' => Ok(plain(item)),
        'd' => match item {
            Value::Int(_) | Value::Uint(_) => Ok(shown(item)),
            _ => Err(wrong("decimal")),
        },
        'f' => match item.float() {
            Some(number) => Ok(format!("{number:.digits$}")),
            None => Err(wrong("fixed-point")),
        },
        'e' => match item.float() {
            Some(number) => Ok(exponent(number, digits)),
            None => Err(wrong("scientific notation")),
        },
        'b' => match item {
            Value::Bool(value) => Ok(u8::from(*value).to_string()),
            _ => whole(item, |number| format!("{number:b}")).ok_or_else(|| wrong("binary")),
        },
        'o' => whole(item, |number| format!("{number:o}")).ok_or_else(|| wrong("octal")),
        'x' | 'X' => {
            let bytes = |bytes: &[u8]| bytes.iter().map(|byte| format!("{byte:02x}")).collect();
            let text: Option<String> = match item {
                Value::String(text) => Some(bytes(text.as_bytes())),
                Value::Bytes(all) => Some(bytes(all)),
                _ => whole(item, |number| format!("{number:x}")),
            };
            let text = text.ok_or_else(|| wrong("hex"))?;
            Ok(if verb == 'X' {
                text.to_uppercase()
            } else {
                text
            })
        }
        other => Err(Fault::new(format!(
            "could not parse formatting clause: unrecognized formatting clause {other:?}"
        ))),
    }
}

fn whole(item: &Value, write: impl Fn(u64) -> String) -> Option<String> {
    match item {
        Value::Int(number) if *number < 0 => Some(format!("-{}", write(number.unsigned_abs()))),
        Value::Int(number) => Some(write(number.unsigned_abs())),
        Value::Uint(number) => Some(write(*number)),
        _ => None,
    }
}

fn exponent(number: f64, digits: usize) -> String {
    let text = format!("{number:.digits$e}");
    let Some((head, exponent)) = text.split_once('e') else {
        return text;
    };
    let (sign, exponent) = match exponent.strip_prefix('-') {
        Some(exponent) => ('-', exponent),
        None => ('+', exponent),
    };
    format!("{head}e{sign}{exponent:0>2}")
}

/// What `%s` makes of a value; texts inside others are quoted.
fn plain(value: &Value) -> String {
    let inner = |value: &Value| match value {
        Value::String(text) => format!("{text:?}"),
        other => plain(other),
    };
    match value {
        Value::Null => "null".to_owned(),
        Value::Type(name) => name.to_string(),
        Value::List(items, _) => {
            let items: Vec<String> = items.iter().map(inner).collect();
            format!("[{}]", items.join(", "))
        }
        Value::Map(entries) => {
            let entries: Vec<String> = entries
                .iter()
                .map(|(key, value)| format!("{}: {}", inner(&Value::from(key)), inner(value)))
                .collect();
            format!("{{{}}}", entries.join(", "))
        }
        other => shown(other),
    }
}
