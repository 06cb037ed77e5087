//! Translates regular expressions of Go to those of the `regex` crate.

use super::class::{Part, bracket_class, perl_class, unicode_class};
use super::error::RegexError;
use super::escape::{consumed, escape};

/// The maximum count of a repetition.
const MAX_REPEAT: u32 = 1000;

/// Translates a regular expression.
pub(super) fn translate(pattern: &str) -> Result<String, RegexError> {
    let mut translation = Translation {
        whole: pattern,
        rest: pattern,
        output: String::new(),
        groups: Vec::new(),
        copies: 1,
        has_operand: false,
        repeated_at: None,
    };
    while !translation.rest.is_empty() {
        translation.step()?;
    }
    if translation.groups.is_empty() {
        Ok(translation.output)
    } else {
        Err(RegexError::open_group(pattern))
    }
}

struct Translation<'p> {
    whole: &'p str,
    rest: &'p str,
    output: String,
    /// The open groups: for each the maximum of copies that the repetitions inside of it make.
    groups: Vec<u32>,
    /// The copies of the last operand.
    copies: u32,
    /// Whether there is an operand that a repetition can follow.
    has_operand: bool,
    /// The rest of the input at the start of the repetition that ends at the current position.
    repeated_at: Option<&'p str>,
}

impl<'p> Translation<'p> {
    fn step(&mut self) -> Result<(), RegexError> {
        let repeated_at = self.repeated_at.take();
        let Some(character) = self.rest.chars().next() else {
            return Ok(());
        };
        match character {
            '(' if self.rest.starts_with("(?") => self.flags(),
            '(' => {
                self.groups.push(1);
                self.copy_symbol("(", false);
                Ok(())
            }
            ')' => {
                let unopened = || RegexError::unopened_group(self.whole);
                let copies = self.groups.pop().ok_or_else(unopened)?;
                self.copy_symbol(")", true);
                self.set_copies(copies);
                Ok(())
            }
            '|' => {
                self.copy_symbol("|", false);
                Ok(())
            }
            '^' | '$' | '.' => {
                self.copy_symbol(&character.to_string(), true);
                Ok(())
            }
            '[' => {
                let part = bracket_class(self.rest)?;
                self.add(part);
                Ok(())
            }
            '*' | '+' | '?' => {
                let after = self.rest.get(1..).unwrap_or_default();
                self.repeat(after, None, repeated_at)
            }
            '{' => match counted(self.rest)? {
                Some((after, count)) => self.repeat(after, Some(count), repeated_at),
                None => {
                    self.literal('{');
                    Ok(())
                }
            },
            '\\' => self.backslash(),
            character => {
                self.literal(character);
                Ok(())
            }
        }
    }

    /// Copies a symbol of one byte that both languages have.
    fn copy_symbol(&mut self, symbol: &str, is_operand: bool) {
        self.output.push_str(symbol);
        self.rest = self.rest.get(1..).unwrap_or_default();
        self.has_operand = is_operand;
        self.copies = 1;
    }

    /// Sets the number of copies of the last operand.
    fn set_copies(&mut self, copies: u32) {
        self.copies = copies;
        if let Some(group) = self.groups.last_mut() {
            *group = copies.max(*group);
        }
    }

    fn add(&mut self, part: Part<'p>) {
        self.output.push_str(&part.text);
        self.rest = part.rest;
        self.has_operand = true;
        self.copies = 1;
    }

    fn literal(&mut self, character: char) {
        self.output
            .push_str(&regex::escape(character.encode_utf8(&mut [0; 4])));
        self.rest = self.rest.get(character.len_utf8()..).unwrap_or_default();
        self.has_operand = true;
        self.copies = 1;
    }

    /// Translates a repetition. Nested repetitions together have the same limit of copies as one
    /// (`repeatIsValid` of Go's regexp/syntax).
    fn repeat(
        &mut self,
        after_operator: &'p str,
        count: Option<Count>,
        repeated_at: Option<&'p str>,
    ) -> Result<(), RegexError> {
        let start = self.rest;
        let after = after_operator.strip_prefix('?').unwrap_or(after_operator);
        if let Some(before) = repeated_at {
            return Err(RegexError::nested_repetition(consumed(before, after)));
        }
        let operator = consumed(start, after);
        if !self.has_operand {
            return Err(RegexError::nothing_to_repeat(operator));
        }
        if let Some(count) = count {
            let copies = count.copies(self.copies);
            if count.is_many() && copies > MAX_REPEAT {
                return Err(RegexError::repeat_count(operator));
            }
            self.set_copies(copies);
        }
        self.output.push_str(operator);
        self.rest = after;
        self.repeated_at = Some(start);
        Ok(())
    }

    /// Translates flags, named groups and groups without a capture (`parsePerlFlags`).
    fn flags(&mut self) -> Result<(), RegexError> {
        let start = self.rest;
        let inside = start.get(2..).unwrap_or_default();
        let named = inside
            .strip_prefix("P<")
            .or_else(|| inside.strip_prefix('<'));
        if let Some(named) = named.filter(|named| !named.is_empty()) {
            let Some((name, after)) = named.split_once('>') else {
                return Err(RegexError::name(start));
            };
            let is_allowed = |c: char| c.is_ascii_alphanumeric() || c == '_';
            if name.is_empty() || !name.chars().all(is_allowed) {
                return Err(RegexError::name(consumed(start, after)));
            }
            self.groups.push(1);
            self.output.push('(');
            self.rest = after;
            self.has_operand = false;
            return Ok(());
        }
        let end = flags_end(inside).map_err(|after| RegexError::perl(consumed(start, after)))?;
        let flags = consumed(start, end);
        // The `regex` crate does not accept an empty list of flags.
        if flags != "(?)" {
            self.output.push_str(flags);
        }
        if !flags.ends_with(')') {
            self.groups.push(1);
            self.has_operand = false;
        }
        self.rest = end;
        Ok(())
    }

    fn backslash(&mut self) -> Result<(), RegexError> {
        let after = self.rest.get(2..).unwrap_or_default();
        let assertion = match self.rest.as_bytes().get(1) {
            Some(b'A') => Some(r"\A"),
            Some(b'z') => Some(r"\z"),
            Some(b'b') => Some(r"(?-u:\b)"),
            Some(b'B') => Some(r"\B"),
            Some(b'C') => return Err(RegexError::escape(consumed(self.rest, after))),
            Some(b'Q') => {
                let (quoted, after) = after.split_once(r"\E").unwrap_or((after, ""));
                self.output.push_str(&regex::escape(quoted));
                self.has_operand |= !quoted.is_empty();
                self.copies = 1;
                self.rest = after;
                return Ok(());
            }
            _ => None,
        };
        if let Some(assertion) = assertion {
            self.output.push_str(assertion);
            self.rest = after;
            self.has_operand = true;
            self.copies = 1;
            return Ok(());
        }
        if let Some(part) = unicode_class(self.rest)?.or_else(|| perl_class(self.rest)) {
            self.add(part);
            return Ok(());
        }
        let escaped = escape(self.rest)?;
        let character = escaped.character.to_string();
        self.add(Part {
            text: regex::escape(&character),
            rest: escaped.rest,
        });
        Ok(())
    }
}

/// What follows valid flags; the error is what follows the first invalid character.
fn flags_end(inside: &str) -> Result<&str, &str> {
    let mut characters = inside.chars();
    let mut is_negated = false;
    let mut has_flag = false;
    while let Some(character) = characters.next() {
        match character {
            'i' | 'm' | 's' | 'U' => has_flag = true,
            '-' if !is_negated => {
                is_negated = true;
                has_flag = false;
            }
            ':' | ')' if has_flag || !is_negated => return Ok(characters.as_str()),
            _ => return Err(characters.as_str()),
        }
    }
    Err(characters.as_str())
}

/// The bounds of a repetition in braces.
#[derive(Clone, Copy, Debug)]
struct Count {
    min: u32,
    /// `None` without an upper bound.
    max: Option<u32>,
}

impl Count {
    fn is_many(self) -> bool {
        self.min.max(self.max.unwrap_or_default()) >= 2
    }

    /// The copies of an operand that has that many copies without the repetition.
    fn copies(self, copies: u32) -> u32 {
        match self.max {
            Some(0) => 1,
            max => copies.saturating_mul(max.unwrap_or(self.min).max(1)),
        }
    }
}

/// Parses a count in braces. Returns what follows it; `None` if the braces are literals.
fn counted(text: &str) -> Result<Option<(&str, Count)>, RegexError> {
    let inside = text
        .strip_prefix('{')
        .and_then(|after| after.split_once('}'));
    let Some((inside, after)) = inside else {
        return Ok(None);
    };
    let is_number = |text: &str| {
        let has_zero = text.len() > 1 && text.starts_with('0');
        !text.is_empty() && !has_zero && text.bytes().all(|byte| byte.is_ascii_digit())
    };
    let (min, max) = inside.split_once(',').unwrap_or((inside, inside));
    if !is_number(min) || !(max.is_empty() || is_number(max)) {
        return Ok(None);
    }
    // A number that overflows exceeds the limit too.
    let parse = |text: &str| text.parse().unwrap_or(u32::MAX);
    let count = Count {
        min: parse(min),
        max: (!max.is_empty()).then(|| parse(max)),
    };
    let high = count.max.unwrap_or(MAX_REPEAT);
    if high <= MAX_REPEAT && count.min <= high {
        Ok(Some((after, count)))
    } else {
        Err(RegexError::repeat_count(consumed(text, after)))
    }
}
