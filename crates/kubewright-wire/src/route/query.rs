//! Query parameters.

use std::borrow::Cow;

/// The parameters of a request, decoded, in the order they were sent.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Query {
    pairs: Vec<(String, String)>,
}

impl Query {
    /// Parses `a=b&c=d`; a parameter without `=` has an empty value.
    pub fn parse(text: &str) -> Self {
        let pairs = text
            .split('&')
            .filter(|pair| !pair.is_empty())
            .map(|pair| {
                let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
                (decode_form(name), decode_form(value))
            })
            .collect();
        Self { pairs }
    }

    /// The first value of that name.
    pub fn get(&self, name: &str) -> Option<&str> {
        self.iter()
            .find(|(key, _)| *key == name)
            .map(|(_, value)| value)
    }

    /// Every value of that name.
    pub fn all<'a>(&'a self, name: &str) -> impl Iterator<Item = &'a str> {
        self.iter()
            .filter(move |(key, _)| *key == name)
            .map(|(_, value)| value)
    }

    /// Whether a boolean parameter is true: present, and neither `false` nor `0`, as Kubernetes
    /// converts query values.
    pub fn is_set(&self, name: &str) -> bool {
        self.get(name)
            .is_some_and(|value| !value.eq_ignore_ascii_case("false") && value != "0")
    }

    /// Every pair.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &str)> {
        self.pairs
            .iter()
            .map(|(name, value)| (name.as_str(), value.as_str()))
    }
}

/// Decodes `%41` sequences. Invalid sequences stay, and so does a text that would not be UTF-8.
pub fn percent_decode(text: &str) -> Cow<'_, str> {
    if !text.contains('%') {
        return Cow::Borrowed(text);
    }
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((&first, tail)) = rest.split_first() {
        match (first, hex_pair(tail)) {
            (b'%', Some((byte, after))) => {
                bytes.push(byte);
                rest = after;
            }
            _ => {
                bytes.push(first);
                rest = tail;
            }
        }
    }
    match String::from_utf8(bytes) {
        Ok(decoded) => Cow::Owned(decoded),
        Err(_) => Cow::Borrowed(text),
    }
}

fn decode_form(text: &str) -> String {
    percent_decode(&text.replace('+', " ")).into_owned()
}

fn hex_pair(bytes: &[u8]) -> Option<(u8, &[u8])> {
    let (pair, rest) = bytes.split_at_checked(2)?;
    let text = std::str::from_utf8(pair).ok()?;
    if !pair.iter().all(u8::is_ascii_hexdigit) {
        return None;
    }
    u8::from_str_radix(text, 16).ok().map(|byte| (byte, rest))
}

#[cfg(test)]
mod tests {
    use super::{Query, percent_decode};

    #[test]
    fn parameters_are_decoded_and_repeatable() {
        let query = Query::parse("labelSelector=a%3Db%2Cc&dryRun=All&dryRun=x+y&watch");
        assert_eq!(query.get("labelSelector"), Some("a=b,c"));
        assert_eq!(query.all("dryRun").collect::<Vec<_>>(), ["All", "x y"]);
        assert!(query.is_set("watch"));
        assert!(!Query::parse("watch=False").is_set("watch"));
        assert!(!Query::parse("watch=0").is_set("watch"));
    }

    #[test]
    fn invalid_escapes_are_unchanged() {
        assert_eq!(percent_decode("a%2Fb%zz%"), "a/b%zz%");
        assert_eq!(percent_decode("%+1"), "%+1");
        assert_eq!(percent_decode("%ff"), "%ff");
    }
}
