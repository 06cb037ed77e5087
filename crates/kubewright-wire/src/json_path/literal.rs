//! Literals of filters, and the end of a filter with quoted texts.

use serde_json::Value;

/// The position of the parenthesis that closes a filter, outside of quotes and nested filters.
pub(super) fn condition_end(text: &str) -> Option<usize> {
    let mut quote = None;
    let mut open = 0_usize;
    let mut letters = text.char_indices();
    while let Some((index, letter)) = letters.next() {
        match (letter, quote) {
            ('\\', Some(_)) => {
                letters.next();
            }
            (_, Some(closing)) if letter == closing => quote = None,
            ('\'' | '"', None) => quote = Some(letter),
            ('(', None) => open += 1,
            (')', None) if open == 0 => return Some(index),
            (')', None) => open -= 1,
            _ => {}
        }
    }
    None
}

/// A number or boolean.
pub(super) fn literal(text: &str) -> Option<Value> {
    match text {
        "true" => return Some(Value::Bool(true)),
        "false" => return Some(Value::Bool(false)),
        _ => {}
    }
    if !text.starts_with(|c: char| c.is_ascii_digit() || matches!(c, '+' | '-')) {
        return None;
    }
    let integer = text.parse::<i64>().ok().map(Value::from);
    integer.or_else(|| text.parse::<f64>().ok().map(Value::from))
}

/// The content of a quoted text, with the escapes of Go's strings except code points.
pub(super) fn unquote(text: &str, quote: char) -> Option<String> {
    let inner = text.strip_prefix(quote)?.strip_suffix(quote)?;
    let mut plain = String::with_capacity(inner.len());
    let mut letters = inner.chars();
    while let Some(letter) = letters.next() {
        match letter {
            '\\' => plain.push(match letters.next()? {
                'a' => '\u{7}',
                'b' => '\u{8}',
                'f' => '\u{c}',
                'n' => '\n',
                'r' => '\r',
                't' => '\t',
                'v' => '\u{b}',
                '\\' => '\\',
                escaped if escaped == quote => quote,
                _ => return None,
            }),
            letter if letter == quote => return None,
            letter => plain.push(letter),
        }
    }
    Some(plain)
}
