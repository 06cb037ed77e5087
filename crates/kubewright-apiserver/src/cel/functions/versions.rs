use std::cmp::Ordering;
use std::sync::Arc;

use crate::cel::evaluate::Evaluated;
use crate::cel::problem::Fault;
use crate::cel::value::Value;

/// A version by the rules of semver.org.
#[derive(Clone, Debug)]
pub(crate) struct Version {
    numbers: [u64; 3],
    before: Vec<String>,
}

impl Version {
    fn parse(text: &str) -> Option<Self> {
        let (text, build) = match text.split_once('+') {
            Some((text, build)) => (text, Some(build)),
            None => (text, None),
        };
        let (numbers, before) = match text.split_once('-') {
            Some((numbers, before)) => (numbers, Some(before)),
            None => (text, None),
        };
        let number = |text: &str| {
            let is_plain = text.bytes().all(|byte| byte.is_ascii_digit());
            let has_zero = text.len() > 1 && text.starts_with('0');
            text.parse().ok().filter(|_| is_plain && !has_zero)
        };
        let mut parts = numbers.split('.');
        let mut next = || parts.next().and_then(number);
        let numbers = [next()?, next()?, next()?];
        if parts.next().is_some() {
            return None;
        }
        let is_word = |word: &str| {
            let inner = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'-';
            !word.is_empty() && word.bytes().all(inner)
        };
        let is_build = |build: &str| build.split('.').all(is_word);
        if !build.is_none_or(is_build) {
            return None;
        }
        let is_before = |word: &str| {
            let is_number = word.bytes().all(|byte| byte.is_ascii_digit());
            is_word(word) && !(is_number && word.len() > 1 && word.starts_with('0'))
        };
        let before: Vec<String> = match before {
            Some(before) if before.split('.').all(is_before) => {
                before.split('.').map(str::to_owned).collect()
            }
            Some(_) => return None,
            None => Vec::new(),
        };
        Some(Self { numbers, before })
    }

    /// What people write: a `v` in front, numbers left out, zeros in front of numbers.
    fn normalized(text: &str) -> Option<Self> {
        let text = text.trim().strip_prefix('v').unwrap_or(text.trim());
        let end = text.find(['-', '+']).unwrap_or(text.len());
        let (numbers, rest) = text.split_at_checked(end)?;
        let mut parts: Vec<&str> = numbers
            .split('.')
            .map(|part| match part.trim_start_matches('0') {
                "" if !part.is_empty() => "0",
                trimmed => trimmed,
            })
            .collect();
        // A short version has nothing behind its numbers.
        if parts.len() < 3 && !rest.is_empty() {
            return None;
        }
        parts.resize(parts.len().max(3), "0");
        Self::parse(&format!("{}{rest}", parts.join(".")))
    }

    /// Which of two comes first.
    pub(in crate::cel) fn order(&self, other: &Self) -> Ordering {
        let numbers = self.numbers.cmp(&other.numbers);
        if numbers.is_ne() {
            return numbers;
        }
        match (self.before.is_empty(), other.before.is_empty()) {
            (true, true) => Ordering::Equal,
            (true, false) => Ordering::Greater,
            (false, true) => Ordering::Less,
            (false, false) => {
                let pairs = self.before.iter().zip(&other.before);
                let words = pairs.map(|(one, two)| order_words(one, two));
                let found = words.into_iter().find(|order| order.is_ne());
                found.unwrap_or_else(|| self.before.len().cmp(&other.before.len()))
            }
        }
    }
}

/// Numbers come before words, and by their amounts.
fn order_words(one: &str, two: &str) -> Ordering {
    match (one.parse::<u64>(), two.parse::<u64>()) {
        (Ok(one), Ok(two)) => one.cmp(&two),
        (Ok(_), Err(_)) => Ordering::Less,
        (Err(_), Ok(_)) => Ordering::Greater,
        (Err(_), Err(_)) => one.cmp(two),
    }
}

pub(super) fn call(name: &str, args: &[Value]) -> Option<Evaluated> {
    let number = |of: u64| Value::Int(i64::try_from(of).unwrap_or(i64::MAX));
    Some(match (name, args) {
        ("semver" | "isSemver", [Value::String(text), rest @ ..]) => {
            let version = match rest {
                [] | [Value::Bool(false)] => Version::parse(text),
                [Value::Bool(true)] => Version::normalized(text),
                _ => return None,
            };
            match (name, version) {
                ("isSemver", version) => Ok(Value::Bool(version.is_some())),
                (_, Some(version)) => Ok(Value::Semver(Arc::new(version))),
                (_, None) => Err(Fault::new(format!("invalid semver {text:?}"))),
            }
        }
        (_, [Value::Semver(version)]) => {
            let [major, minor, patch] = version.numbers;
            Ok(match name {
                "major" => number(major),
                "minor" => number(minor),
                "patch" => number(patch),
                _ => return None,
            })
        }
        (_, [Value::Semver(one), Value::Semver(two)]) => {
            let order = one.order(two);
            Ok(match name {
                "isLessThan" => Value::Bool(order.is_lt()),
                "isGreaterThan" => Value::Bool(order.is_gt()),
                "compareTo" => Value::Int(match order {
                    Ordering::Less => -1,
                    Ordering::Equal => 0,
                    Ordering::Greater => 1,
                }),
                _ => return None,
            })
        }
        _ => return None,
    })
}
