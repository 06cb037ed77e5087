//! Semantic versions (semver.org).

use std::cmp::Ordering;

/// A semantic version.
#[derive(Clone, Debug)]
pub struct Version {
    /// Major, minor and patch.
    pub(crate) numbers: [u64; 3],
    pre_release: Vec<String>,
}

impl Version {
    /// Parses a version; `None` if the text does not follow the specification.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        let (version, build) = match text.split_once('+') {
            Some((version, build)) => (version, Some(build)),
            None => (text, None),
        };
        let (core, pre_release) = match version.split_once('-') {
            Some((core, pre_release)) => (core, Some(pre_release)),
            None => (version, None),
        };
        let mut parts = core.split('.');
        let mut next_number = || parts.next().and_then(parse_number);
        let numbers = [next_number()?, next_number()?, next_number()?];
        if parts.next().is_some() {
            return None;
        }
        let is_build = |build: &str| build.split('.').all(is_identifier);
        if !build.is_none_or(is_build) {
            return None;
        }
        let pre_release = match pre_release {
            Some(text) if text.split('.').all(is_pre_release_identifier) => {
                text.split('.').map(str::to_owned).collect()
            }
            Some(_) => return None,
            None => Vec::new(),
        };
        Some(Self {
            numbers,
            pre_release,
        })
    }

    /// Parses a version that may have a `v` in front, fewer than three numbers and leading zeros.
    pub(crate) fn parse_normalized(text: &str) -> Option<Self> {
        let version = text.trim().strip_prefix('v').unwrap_or(text.trim());
        let end = version.find(['-', '+']).unwrap_or(version.len());
        let (core, rest) = version.split_at_checked(end)?;
        let mut numbers: Vec<&str> = core
            .split('.')
            .map(|number| match number.trim_start_matches('0') {
                "" if !number.is_empty() => "0",
                trimmed => trimmed,
            })
            .collect();
        // A version with fewer numbers has neither a pre-release nor a build.
        if numbers.len() < 3 && !rest.is_empty() {
            return None;
        }
        numbers.resize(numbers.len().max(3), "0");
        Self::parse(&format!("{}{rest}", numbers.join(".")))
    }

    /// The order of two versions. Builds do not count.
    pub(crate) fn order(&self, other: &Self) -> Ordering {
        let numbers = self.numbers.cmp(&other.numbers);
        if numbers.is_ne() {
            return numbers;
        }
        match (self.pre_release.is_empty(), other.pre_release.is_empty()) {
            (true, true) => Ordering::Equal,
            (true, false) => Ordering::Greater,
            (false, true) => Ordering::Less,
            (false, false) => {
                let pairs = self.pre_release.iter().zip(&other.pre_release);
                let different = pairs
                    .map(|(left, right)| order_identifiers(left, right))
                    .find(|order| order.is_ne());
                different.unwrap_or_else(|| self.pre_release.len().cmp(&other.pre_release.len()))
            }
        }
    }
}

fn parse_number(text: &str) -> Option<u64> {
    let is_plain = text.bytes().all(|byte| byte.is_ascii_digit());
    text.parse()
        .ok()
        .filter(|_| is_plain && !has_leading_zero(text))
}

fn has_leading_zero(text: &str) -> bool {
    text.len() > 1 && text.starts_with('0')
}

fn is_identifier(text: &str) -> bool {
    let is_allowed = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'-';
    !text.is_empty() && text.bytes().all(is_allowed)
}

fn is_pre_release_identifier(text: &str) -> bool {
    let is_number = text.bytes().all(|byte| byte.is_ascii_digit());
    is_identifier(text) && !(is_number && has_leading_zero(text))
}

/// Numbers precede words and are ordered by their values.
fn order_identifiers(left: &str, right: &str) -> Ordering {
    match (left.parse::<u64>(), right.parse::<u64>()) {
        (Ok(left), Ok(right)) => left.cmp(&right),
        (Ok(_), Err(_)) => Ordering::Less,
        (Err(_), Ok(_)) => Ordering::Greater,
        (Err(_), Err(_)) => left.cmp(right),
    }
}
