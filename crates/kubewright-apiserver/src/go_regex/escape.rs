use super::wrong::Wrong;

/// What stands behind a backslash, for one character.
pub(super) struct Escaped<'p> {
    pub(super) letter: char,
    pub(super) rest: &'p str,
}

/// Reads the escape at the start of a text (`parseEscape`).
pub(super) fn escape(text: &str) -> Result<Escaped<'_>, Wrong> {
    let mut letters = text.chars();
    letters.next();
    let Some(letter) = letters.next() else {
        return Err(Wrong::trailing_backslash());
    };
    let rest = letters.as_str();
    let plain = match letter {
        'a' => '\u{7}',
        'f' => '\u{c}',
        'n' => '\n',
        'r' => '\r',
        't' => '\t',
        'v' => '\u{b}',
        '0'..='7' => return octal(text, letter, rest),
        'x' => return hexadecimal(text, rest),
        letter if letter.is_ascii() && !letter.is_ascii_alphanumeric() => letter,
        _ => return Err(Wrong::escape(taken(text, rest))),
    };
    Ok(Escaped {
        letter: plain,
        rest,
    })
}

/// What of a text was read when so much is left.
pub(super) fn taken<'p>(text: &'p str, rest: &str) -> &'p str {
    let length = text.len().saturating_sub(rest.len());
    text.get(..length).unwrap_or(text)
}

/// Up to three digits; a single one that is not zero would refer to a group, which Go does not.
fn octal<'p>(text: &'p str, first: char, rest: &'p str) -> Result<Escaped<'p>, Wrong> {
    let is_digit = |letter: &char| ('0'..='7').contains(letter);
    let more: String = rest.chars().take(2).take_while(is_digit).collect();
    if first != '0' && more.is_empty() {
        return Err(Wrong::escape(taken(text, rest)));
    }
    let number = u32::from_str_radix(&format!("{first}{more}"), 8).ok();
    let letter = number.and_then(char::from_u32);
    let rest = rest.get(more.len()..).unwrap_or_default();
    match letter {
        Some(letter) => Ok(Escaped { letter, rest }),
        None => Err(Wrong::escape(taken(text, rest))),
    }
}

/// Two digits, or any number of them in braces.
fn hexadecimal<'p>(text: &'p str, rest: &'p str) -> Result<Escaped<'p>, Wrong> {
    let (digits, after) = match rest.strip_prefix('{') {
        Some(braced) => {
            let digits: String = braced.chars().take_while(char::is_ascii_hexdigit).collect();
            let after = braced.get(digits.len()..).unwrap_or_default();
            match after.strip_prefix('}') {
                Some(after) if !digits.is_empty() => (digits, after),
                // Read up to what is no digit.
                _ => {
                    let mut letters = after.chars();
                    letters.next();
                    return Err(Wrong::escape(taken(text, letters.as_str())));
                }
            }
        }
        None => {
            let digits: String = rest.chars().take(2).collect();
            (digits.clone(), rest.get(digits.len()..).unwrap_or_default())
        }
    };
    let is_number = digits.len() >= 2 || rest.starts_with('{');
    let number = u32::from_str_radix(&digits, 16).ok();
    match number.filter(|_| is_number).and_then(char::from_u32) {
        Some(letter) => Ok(Escaped {
            letter,
            rest: after,
        }),
        None => Err(Wrong::escape(taken(text, after))),
    }
}
