//! URLs as Go's `net/url` parses them, as far as CEL shows their parts.

use std::collections::BTreeMap;

/// A URL in its parts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Url {
    pub(crate) scheme: String,
    pub(crate) host: String,
    pub(crate) path: String,
    query: String,
}

impl Url {
    /// Parses an absolute URL or an absolute path, as `ParseRequestURI` does. The error is Go's
    /// message.
    pub(crate) fn parse(text: &str) -> Result<Self, String> {
        let error = |why: &str| Err(format!("parse {text:?}: {why}"));
        if text.is_empty() {
            return error("empty url");
        }
        if text.chars().any(|c| c.is_control()) {
            return error("net/url: invalid control character in URL");
        }
        let scheme = scheme(text);
        let after_scheme = scheme.map_or(text, |scheme| {
            text.get(scheme.len() + 1..).unwrap_or_default()
        });
        if !after_scheme.starts_with('/') {
            return error("invalid URI for request");
        }
        let before_fragment = after_scheme
            .split_once('#')
            .map_or(after_scheme, |(before, _)| before);
        let (hierarchy, query) = before_fragment
            .split_once('?')
            .unwrap_or((before_fragment, ""));
        let (authority, path) = match hierarchy.strip_prefix("//") {
            Some(rest) if scheme.is_some() => {
                let end = rest.find('/').unwrap_or(rest.len());
                rest.split_at_checked(end).unwrap_or((rest, ""))
            }
            _ => ("", hierarchy),
        };
        let host = authority
            .rsplit_once('@')
            .map_or(authority, |(_, host)| host);
        if host.contains([' ', '<', '>', '"']) {
            return error("invalid character in host name");
        }
        let port = host
            .rsplit_once(':')
            .filter(|(before, _)| !before.contains('[') || before.ends_with(']'));
        if port.is_some_and(|(_, port)| !port.bytes().all(|byte| byte.is_ascii_digit())) {
            return error("invalid port after host");
        }
        Ok(Self {
            scheme: scheme.unwrap_or_default().to_ascii_lowercase(),
            host: host.to_owned(),
            path: path.replace(' ', "%20"),
            query: query.to_owned(),
        })
    }

    /// The host without its port and without the brackets of IPv6.
    pub(crate) fn hostname(&self) -> &str {
        self.host_and_port().0
    }

    pub(crate) fn port(&self) -> &str {
        self.host_and_port().1
    }

    fn host_and_port(&self) -> (&str, &str) {
        if let Some(rest) = self.host.strip_prefix('[') {
            let (name, after) = rest.split_once(']').unwrap_or((rest, ""));
            return (name, after.strip_prefix(':').unwrap_or_default());
        }
        self.host.split_once(':').unwrap_or((&self.host, ""))
    }

    /// The values of the query, by the names of its parameters.
    pub(crate) fn query_parameters(&self) -> BTreeMap<String, Vec<String>> {
        let mut parameters: BTreeMap<String, Vec<String>> = BTreeMap::new();
        for pair in self.query.split('&').filter(|pair| !pair.is_empty()) {
            let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
            parameters
                .entry(decode(name))
                .or_default()
                .push(decode(value));
        }
        parameters
    }
}

/// What precedes the first colon, if it is a scheme.
fn scheme(text: &str) -> Option<&str> {
    let (scheme, _) = text.split_once(':')?;
    let is_allowed = |c: char| c.is_ascii_alphanumeric() || matches!(c, '+' | '-' | '.');
    let starts_with_letter = scheme.starts_with(|c: char| c.is_ascii_alphabetic());
    (starts_with_letter && scheme.chars().all(is_allowed)).then_some(scheme)
}

/// Decodes `%41` and `+` of a query.
fn decode(text: &str) -> String {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.bytes();
    while let Some(byte) = rest.next() {
        let decoded = match byte {
            b'+' => b' ',
            b'%' => {
                let digits = [rest.next().unwrap_or(b'%'), rest.next().unwrap_or(b'%')];
                std::str::from_utf8(&digits)
                    .ok()
                    .and_then(|digits| u8::from_str_radix(digits, 16).ok())
                    .unwrap_or(b'%')
            }
            byte => byte,
        };
        bytes.push(decoded);
    }
    String::from_utf8_lossy(&bytes).into_owned()
}
