use super::class::{Part, bracket_class, perl_class, unicode_class};
use super::escape::{escape, taken};
use super::wrong::Wrong;

/// The most often that something may be repeated.
const MOST: u32 = 1000;

/// A pattern of Go as one of the `regex` crate.
pub(super) fn translate(pattern: &str) -> Result<String, Wrong> {
    let mut translation = Translation {
        whole: pattern,
        rest: pattern,
        made: String::new(),
        groups: Vec::new(),
        copies: 1,
        has_operand: false,
        repeated_at: None,
    };
    while !translation.rest.is_empty() {
        translation.step()?;
    }
    match translation.groups.is_empty() {
        true => Ok(translation.made),
        false => Err(Wrong::open_group(pattern)),
    }
}

struct Translation<'p> {
    whole: &'p str,
    rest: &'p str,
    made: String,
    /// The groups that are open: how many copies counts make of something in each, at most.
    groups: Vec<u32>,
    /// The same for what could be repeated now.
    copies: u32,
    /// Whether there is something that could be repeated.
    has_operand: bool,
    /// What was left when the repetition began that ends just here.
    repeated_at: Option<&'p str>,
}

impl<'p> Translation<'p> {
    fn step(&mut self) -> Result<(), Wrong> {
        let repeated_at = self.repeated_at.take();
        let Some(letter) = self.rest.chars().next() else {
            return Ok(());
        };
        match letter {
            '(' if self.rest.starts_with("(?") => self.flags(),
            '(' => {
                self.groups.push(1);
                self.pass("(", false);
                Ok(())
            }
            ')' => {
                let unopened = || Wrong::unopened_group(self.whole);
                let copies = self.groups.pop().ok_or_else(unopened)?;
                self.pass(")", true);
                self.copy(copies);
                Ok(())
            }
            '|' => {
                self.pass("|", false);
                Ok(())
            }
            '^' | '$' | '.' => {
                self.pass(&letter.to_string(), true);
                Ok(())
            }
            '[' => {
                let part = bracket_class(self.rest)?;
                self.add(part);
                Ok(())
            }
            '*' | '+' | '?' => {
                let after = self.rest.get(1..).unwrap_or_default();
                self.repeat((after, None), repeated_at)
            }
            '{' => match counted(self.rest)? {
                Some((after, count)) => self.repeat((after, Some(count)), repeated_at),
                None => {
                    self.literal('{');
                    Ok(())
                }
            },
            '\\' => self.backslash(),
            letter => {
                self.literal(letter);
                Ok(())
            }
        }
    }

    /// Takes over a symbol of one byte that means the same.
    fn pass(&mut self, symbol: &str, is_operand: bool) {
        self.made.push_str(symbol);
        self.rest = self.rest.get(1..).unwrap_or_default();
        self.has_operand = is_operand;
        self.copies = 1;
    }

    /// Notes how many copies there are of what stands here.
    fn copy(&mut self, copies: u32) {
        self.copies = copies;
        if let Some(group) = self.groups.last_mut() {
            *group = copies.max(*group);
        }
    }

    fn add(&mut self, part: Part<'p>) {
        self.made.push_str(&part.text);
        self.rest = part.rest;
        self.has_operand = true;
        self.copies = 1;
    }

    fn literal(&mut self, letter: char) {
        self.made
            .push_str(&regex::escape(letter.encode_utf8(&mut [0; 4])));
        self.rest = self.rest.get(letter.len_utf8()..).unwrap_or_default();
        self.has_operand = true;
        self.copies = 1;
    }

    /// A repetition, whose sign ends where `after` begins; repetitions within repetitions may not
    /// make more copies than one may (`repeatIsValid` of Go's regexp/syntax).
    fn repeat(
        &mut self,
        (after, count): (&'p str, Option<Count>),
        repeated_at: Option<&'p str>,
    ) -> Result<(), Wrong> {
        let start = self.rest;
        let after = after.strip_prefix('?').unwrap_or(after);
        if let Some(before) = repeated_at {
            return Err(Wrong::nested_repetition(taken(before, after)));
        }
        let sign = taken(start, after);
        if !self.has_operand {
            return Err(Wrong::nothing_to_repeat(sign));
        }
        if let Some(count) = count {
            let copies = count.copies(self.copies);
            if count.is_many() && copies > MOST {
                return Err(Wrong::repeat_count(sign));
            }
            self.copy(copies);
        }
        self.made.push_str(sign);
        self.rest = after;
        self.repeated_at = Some(start);
        Ok(())
    }

    /// Groups that are not captured, flags, and names (`parsePerlFlags`).
    fn flags(&mut self) -> Result<(), Wrong> {
        let start = self.rest;
        let inside = start.get(2..).unwrap_or_default();
        let named = inside
            .strip_prefix("P<")
            .or_else(|| inside.strip_prefix('<'));
        if let Some(named) = named.filter(|named| !named.is_empty()) {
            let Some((name, after)) = named.split_once('>') else {
                return Err(Wrong::name(start));
            };
            let is_letter = |letter: char| letter.is_ascii_alphanumeric() || letter == '_';
            if name.is_empty() || !name.chars().all(is_letter) {
                return Err(Wrong::name(taken(start, after)));
            }
            self.groups.push(1);
            self.made.push('(');
            self.rest = after;
            self.has_operand = false;
            return Ok(());
        }
        let end = flags_end(inside).map_err(|after| Wrong::perl(taken(start, after)))?;
        let flags = taken(start, end);
        // No flags at all mean nothing.
        if flags != "(?)" {
            self.made.push_str(flags);
        }
        if !flags.ends_with(')') {
            self.groups.push(1);
            self.has_operand = false;
        }
        self.rest = end;
        Ok(())
    }

    fn backslash(&mut self) -> Result<(), Wrong> {
        let after = self.rest.get(2..).unwrap_or_default();
        let same = match self.rest.as_bytes().get(1) {
            Some(b'A') => Some(r"\A"),
            Some(b'z') => Some(r"\z"),
            Some(b'b') => Some(r"(?-u:\b)"),
            Some(b'B') => Some(r"\B"),
            Some(b'C') => return Err(Wrong::escape(taken(self.rest, after))),
            Some(b'Q') => {
                let (quoted, after) = after.split_once(r"\E").unwrap_or((after, ""));
                self.made.push_str(&regex::escape(quoted));
                self.has_operand |= !quoted.is_empty();
                self.copies = 1;
                self.rest = after;
                return Ok(());
            }
            _ => None,
        };
        if let Some(same) = same {
            self.made.push_str(same);
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
        let letter = escaped.letter.to_string();
        self.add(Part {
            text: regex::escape(&letter),
            rest: escaped.rest,
        });
        Ok(())
    }
}

/// What follows flags that are some; else what follows that which is none.
fn flags_end(inside: &str) -> Result<&str, &str> {
    let mut letters = inside.chars();
    let (mut is_negated, mut has_flag) = (false, false);
    while let Some(letter) = letters.next() {
        match letter {
            'i' | 'm' | 's' | 'U' => has_flag = true,
            '-' if !is_negated => (is_negated, has_flag) = (true, false),
            ':' | ')' if has_flag || !is_negated => return Ok(letters.as_str()),
            _ => return Err(letters.as_str()),
        }
    }
    Err(letters.as_str())
}

/// How often something is repeated.
#[derive(Clone, Copy, Debug)]
struct Count {
    least: u32,
    /// None where there is no bound.
    most: Option<u32>,
}

impl Count {
    fn is_many(self) -> bool {
        self.least.max(self.most.unwrap_or_default()) >= 2
    }

    /// How many copies there are of something that has so many already.
    fn copies(self, copies: u32) -> u32 {
        match self.most {
            Some(0) => 1,
            most => copies.saturating_mul(most.unwrap_or(self.least).max(1)),
        }
    }
}

/// A count in braces and what follows it; none when they hold none, and stand for themselves.
fn counted(text: &str) -> Result<Option<(&str, Count)>, Wrong> {
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
    let (least, most) = inside.split_once(',').unwrap_or((inside, inside));
    if !is_number(least) || !(most.is_empty() || is_number(most)) {
        return Ok(None);
    }
    // What is no number of this size is far too large.
    let count = |text: &str| text.parse().unwrap_or(u32::MAX);
    let count = Count {
        least: count(least),
        most: (!most.is_empty()).then(|| count(most)),
    };
    let high = count.most.unwrap_or(MOST);
    match high <= MOST && count.least <= high {
        true => Ok(Some((after, count))),
        false => Err(Wrong::repeat_count(taken(text, after))),
    }
}
