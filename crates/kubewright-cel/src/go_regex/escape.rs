//! Escapes of single characters.

use super::error::RegexError;

/// The character of an escape and what follows it.
pub(super) struct Escaped<'p> {
    pub(super) character: char,
    pub(super) rest: &'p str,
}

/// Parses the escape at the start of a text (`parseEscape`).
pub(super) fn escape(text: &str) -> Result<Escaped<'_>, RegexError> {
    let mut characters = text.chars();
    characters.next();
    let Some(character) = characters.next() else {
        return Err(RegexError::trailing_backslash());
    };
    let rest = characters.as_str();
    let plain = match character {
        'a' => '\u{7}',
        'f' => '\u{c}',
        'n' => '\n',
        'r' => '\r',
        't' => '\t',
        'v' => '\u{b}',
        '0'..='7' => return octal(text, character, rest),
        'x' => return hexadecimal(text, rest),
        character if character.is_ascii() && !character.is_ascii_alphanumeric() => character,
        _ => return Err(RegexError::escape(consumed(text, rest))),
    };
    Ok(Escaped {
        character: plain,
        rest,
    })
}

/// The part of a text before the rest of it.
pub(super) fn consumed<'p>(text: &'p str, rest: &str) -> &'p str {
    let length = text.len().saturating_sub(rest.len());
    text.get(..length).unwrap_or(text)
}

/// Up to three digits. Go has no references to groups, so that a single digit must be zero.
fn octal<'p>(text: &'p str, first: char, rest: &'p str) -> Result<Escaped<'p>, RegexError> {
    let is_digit = |character: &char| ('0'..='7').contains(character);
    let more: String = rest.chars().take(2).take_while(is_digit).collect();
    if first != '0' && more.is_empty() {
        return Err(RegexError::escape(consumed(text, rest)));
    }
    let number = u32::from_str_radix(&format!("{first}{more}"), 8).ok();
    let character = number.and_then(char::from_u32);
    let rest = rest.get(more.len()..).unwrap_or_default();
    match character {
        Some(character) => Ok(Escaped { character, rest }),
        None => Err(RegexError::escape(consumed(text, rest))),
    }
}

/// Two digits, or any number of digits in braces.
fn hexadecimal<'p>(text: &'p str, rest: &'p str) -> Result<Escaped<'p>, RegexError> {
    let (digits, after) = match rest.strip_prefix('{') {
        Some(braced) => {
            let digits: String = braced.chars().take_while(char::is_ascii_hexdigit).collect();
            let after = braced.get(digits.len()..).unwrap_or_default();
            match after.strip_prefix('}') {
                Some(after) if !digits.is_empty() => (digits, after),
                // The error contains everything up to the first character that is not a digit.
                _ => {
                    let mut characters = after.chars();
                    characters.next();
                    return Err(RegexError::escape(consumed(text, characters.as_str())));
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
        Some(character) => Ok(Escaped {
            character,
            rest: after,
        }),
        None => Err(RegexError::escape(consumed(text, after))),
    }
}
