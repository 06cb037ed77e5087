//! Classes of characters.

use regex::Regex;

use super::error::RegexError;
use super::escape::{consumed, escape};

/// The names of the classes of POSIX.
const POSIX: [&str; 14] = [
    "alnum", "alpha", "ascii", "blank", "cntrl", "digit", "graph", "lower", "print", "punct",
    "space", "upper", "word", "xdigit",
];

/// A translated part of a regular expression and what follows it.
pub(super) struct Part<'p> {
    pub(super) text: String,
    pub(super) rest: &'p str,
}

/// `\d`, `\s`, `\w` and their negations, which match ASCII only; `None` for anything else.
pub(super) fn perl_class(text: &str) -> Option<Part<'_>> {
    let mut characters = text.strip_prefix('\\')?.chars();
    let character = characters.next()?;
    let inside = match character.to_ascii_lowercase() {
        'd' => "0-9",
        's' => r"\t\n\x0C\r ",
        'w' => "0-9A-Za-z_",
        _ => return None,
    };
    let not = if character.is_ascii_uppercase() {
        "^"
    } else {
        ""
    };
    Some(Part {
        text: format!("[{not}{inside}]"),
        rest: characters.as_str(),
    })
}

/// `\pL` and `\p{Greek}`; `None` for anything else.
pub(super) fn unicode_class(text: &str) -> Result<Option<Part<'_>>, RegexError> {
    let Some(after) = text
        .strip_prefix(r"\p")
        .or_else(|| text.strip_prefix(r"\P"))
    else {
        return Ok(None);
    };
    let mut characters = after.chars();
    let (name, rest) = match characters.next() {
        None => return Ok(None),
        Some('{') => match characters.as_str().split_once('}') {
            Some(found) => found,
            None => return Err(RegexError::range(text)),
        },
        Some(_) => (consumed(after, characters.as_str()), characters.as_str()),
    };
    let plain = name.strip_prefix('^');
    let is_negated = text.starts_with(r"\P") != plain.is_some();
    let character = if is_negated { 'P' } else { 'p' };
    let class = format!(r"\{character}{{{}}}", plain.unwrap_or(name));
    let is_name = |character: char| character.is_ascii_alphanumeric() || character == '_';
    let is_known = plain.unwrap_or(name).chars().all(is_name) && Regex::new(&class).is_ok();
    if is_known {
        Ok(Some(Part { text: class, rest }))
    } else {
        Err(RegexError::range(consumed(text, rest)))
    }
}

/// A class in brackets (`parseClass`). Its characters are written by their code points, so that
/// none of them is an operator of the `regex` crate.
pub(super) fn bracket_class(text: &str) -> Result<Part<'_>, RegexError> {
    let mut rest = text.strip_prefix('[').unwrap_or(text);
    let mut class = "[".to_owned();
    if let Some(after) = rest.strip_prefix('^') {
        class.push('^');
        rest = after;
    }
    let mut is_first = true;
    while is_first || !rest.starts_with(']') {
        is_first = false;
        let part = match named_class(rest)? {
            Some(part) => Some(part),
            None => unicode_class(rest)?.or_else(|| perl_class(rest)),
        };
        if let Some(part) = part {
            class.push_str(&part.text);
            rest = part.rest;
            continue;
        }
        let start = rest;
        let (low, after) = class_character(rest, text)?;
        rest = after;
        class.push_str(&code_point(low));
        // A dash before the closing bracket is a literal.
        let range = rest.strip_prefix('-').filter(|after| !after.is_empty());
        if let Some(after) = range.filter(|after| !after.starts_with(']')) {
            let (high, after) = class_character(after, text)?;
            rest = after;
            if high < low {
                return Err(RegexError::range(consumed(start, rest)));
            }
            class.push('-');
            class.push_str(&code_point(high));
        }
    }
    class.push(']');
    Ok(Part {
        text: class,
        rest: rest.strip_prefix(']').unwrap_or(rest),
    })
}

/// `[:alpha:]`; `None` for anything else.
fn named_class(text: &str) -> Result<Option<Part<'_>>, RegexError> {
    let named = text
        .strip_prefix("[:")
        .and_then(|after| after.split_once(":]"));
    let Some((name, rest)) = named else {
        return Ok(None);
    };
    let found = consumed(text, rest);
    if !POSIX.contains(&name.strip_prefix('^').unwrap_or(name)) {
        return Err(RegexError::range(found));
    }
    Ok(Some(Part {
        text: found.to_owned(),
        rest,
    }))
}

fn class_character<'p>(text: &'p str, class: &str) -> Result<(char, &'p str), RegexError> {
    if text.starts_with('\\') {
        let escaped = escape(text)?;
        return Ok((escaped.character, escaped.rest));
    }
    let mut characters = text.chars();
    match characters.next() {
        Some(character) => Ok((character, characters.as_str())),
        None => Err(RegexError::open_class(class)),
    }
}

fn code_point(character: char) -> String {
    if character.is_ascii_alphanumeric() {
        character.to_string()
    } else {
        format!(r"\x{{{:X}}}", u32::from(character))
    }
}
