use regex::Regex;

use super::escape::{escape, taken};
use super::wrong::Wrong;

const POSIX: [&str; 14] = [
    "alnum", "alpha", "ascii", "blank", "cntrl", "digit", "graph", "lower", "print", "punct",
    "space", "upper", "word", "xdigit",
];

/// A part of a pattern, translated, and what follows it.
pub(super) struct Part<'p> {
    pub(super) text: String,
    pub(super) rest: &'p str,
}

/// `\d`, `\s`, `\w` and their opposites, which are of ASCII; none for anything else.
pub(super) fn perl_class(text: &str) -> Option<Part<'_>> {
    let mut letters = text.strip_prefix('\\')?.chars();
    let letter = letters.next()?;
    let inside = match letter.to_ascii_lowercase() {
        'd' => "0-9",
        's' => r"\t\n\x0C\r ",
        'w' => "0-9A-Za-z_",
        _ => return None,
    };
    let not = if letter.is_ascii_uppercase() { "^" } else { "" };
    Some(Part {
        text: format!("[{not}{inside}]"),
        rest: letters.as_str(),
    })
}

/// `\pL` and `\p{Greek}`; none for anything else.
pub(super) fn unicode_class(text: &str) -> Result<Option<Part<'_>>, Wrong> {
    let Some(after) = text
        .strip_prefix(r"\p")
        .or_else(|| text.strip_prefix(r"\P"))
    else {
        return Ok(None);
    };
    let mut letters = after.chars();
    let (name, rest) = match letters.next() {
        None => return Ok(None),
        Some('{') => match letters.as_str().split_once('}') {
            Some(found) => found,
            None => return Err(Wrong::range(text)),
        },
        Some(_) => (taken(after, letters.as_str()), letters.as_str()),
    };
    let plain = name.strip_prefix('^');
    let is_negated = text.starts_with(r"\P") != plain.is_some();
    let letter = if is_negated { 'P' } else { 'p' };
    let class = format!(r"\{letter}{{{}}}", plain.unwrap_or(name));
    let is_name = |letter: char| letter.is_ascii_alphanumeric() || letter == '_';
    let is_known = plain.unwrap_or(name).chars().all(is_name) && Regex::new(&class).is_ok();
    match is_known {
        true => Ok(Some(Part { text: class, rest })),
        false => Err(Wrong::range(taken(text, rest))),
    }
}

/// A class in brackets (`parseClass`). What is no class by itself is written by its number, so
/// that none of it is an operator.
pub(super) fn bracket_class(text: &str) -> Result<Part<'_>, Wrong> {
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
        let (low, after) = class_letter(rest, text)?;
        rest = after;
        class.push_str(&numbered(low));
        // A dash before the end is one.
        let range = rest.strip_prefix('-').filter(|after| !after.is_empty());
        if let Some(after) = range.filter(|after| !after.starts_with(']')) {
            let (high, after) = class_letter(after, text)?;
            rest = after;
            if high < low {
                return Err(Wrong::range(taken(start, rest)));
            }
            class.push('-');
            class.push_str(&numbered(high));
        }
    }
    class.push(']');
    Ok(Part {
        text: class,
        rest: rest.strip_prefix(']').unwrap_or(rest),
    })
}

/// `[:alpha:]`; none for anything else.
fn named_class(text: &str) -> Result<Option<Part<'_>>, Wrong> {
    let named = text
        .strip_prefix("[:")
        .and_then(|after| after.split_once(":]"));
    let Some((name, rest)) = named else {
        return Ok(None);
    };
    let found = taken(text, rest);
    match POSIX.contains(&name.strip_prefix('^').unwrap_or(name)) {
        true => Ok(Some(Part {
            text: found.to_owned(),
            rest,
        })),
        false => Err(Wrong::range(found)),
    }
}

fn class_letter<'p>(text: &'p str, class: &str) -> Result<(char, &'p str), Wrong> {
    if text.starts_with('\\') {
        let escaped = escape(text)?;
        return Ok((escaped.letter, escaped.rest));
    }
    let mut letters = text.chars();
    match letters.next() {
        Some(letter) => Ok((letter, letters.as_str())),
        None => Err(Wrong::open_class(class)),
    }
}

fn numbered(letter: char) -> String {
    match letter.is_ascii_alphanumeric() {
        true => letter.to_string(),
        false => format!(r"\x{{{:X}}}", u32::from(letter)),
    }
}
