use std::collections::BTreeMap;
use std::sync::Arc;

use crate::cel::evaluate::Evaluated;
use crate::cel::problem::Fault;
use crate::cel::value::{Key, Value};

/// An address on the web in its parts (`net/url` of Go, as far as the language shows it).
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Url {
    scheme: String,
    host: String,
    path: String,
    query: String,
}

impl Url {
    /// What `ParseRequestURI` takes: an absolute address or an absolute path.
    fn parse(text: &str) -> Result<Self, String> {
        let refuse = |why: &str| Err(format!("parse {text:?}: {why}"));
        if text.is_empty() {
            return refuse("empty url");
        }
        if text.chars().any(|c| c.is_control()) {
            return refuse("net/url: invalid control character in URL");
        }
        let scheme = text
            .split_once(':')
            .map(|(scheme, _)| scheme)
            .filter(|scheme| {
                let inner = |c: char| c.is_ascii_alphanumeric() || matches!(c, '+' | '-' | '.');
                scheme.starts_with(|c: char| c.is_ascii_alphabetic()) && scheme.chars().all(inner)
            });
        let rest = scheme.map_or(text, |scheme| {
            text.get(scheme.len() + 1..).unwrap_or_default()
        });
        if !rest.starts_with('/') {
            return refuse("invalid URI for request");
        }
        let rest = rest.split_once('#').map_or(rest, |(rest, _)| rest);
        let (rest, query) = rest.split_once('?').unwrap_or((rest, ""));
        let (host, path) = match rest.strip_prefix("//") {
            Some(rest) if scheme.is_some() => {
                let end = rest.find('/').unwrap_or(rest.len());
                rest.split_at_checked(end).unwrap_or((rest, ""))
            }
            _ => ("", rest),
        };
        let host = host.rsplit_once('@').map_or(host, |(_, host)| host);
        if host.contains([' ', '<', '>', '"']) {
            return refuse("invalid character in host name");
        }
        let port = host
            .rsplit_once(':')
            .filter(|(before, _)| !before.contains('[') || before.ends_with(']'));
        if port.is_some_and(|(_, port)| !port.bytes().all(|byte| byte.is_ascii_digit())) {
            return refuse("invalid port after host");
        }
        Ok(Self {
            scheme: scheme.unwrap_or_default().to_ascii_lowercase(),
            host: host.to_owned(),
            path: path.replace(' ', "%20"),
            query: query.to_owned(),
        })
    }

    /// The host without its port, and without the brackets of IPv6, and the port.
    fn host_and_port(&self) -> (&str, &str) {
        if let Some(rest) = self.host.strip_prefix('[') {
            let (name, after) = rest.split_once(']').unwrap_or((rest, ""));
            return (name, after.strip_prefix(':').unwrap_or_default());
        }
        self.host.split_once(':').unwrap_or((&self.host, ""))
    }

    fn parameters(&self) -> Value {
        let mut found: BTreeMap<Key, Vec<Value>> = BTreeMap::new();
        for pair in self.query.split('&').filter(|pair| !pair.is_empty()) {
            let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
            let key = Key::String(decode(name).into());
            found
                .entry(key)
                .or_default()
                .push(Value::text(&decode(value)));
        }
        let lists = found
            .into_iter()
            .map(|(key, values)| (key, Value::list(values)));
        Value::map(lists.collect())
    }
}

/// `%41` and `+` as they are in a query.
fn decode(text: &str) -> String {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.bytes();
    while let Some(byte) = rest.next() {
        let decoded = match byte {
            b'+' => b' ',
            b'%' => {
                let digits = [rest.next().unwrap_or(b'%'), rest.next().unwrap_or(b'%')];
                let digits = std::str::from_utf8(&digits).ok();
                let code = digits.and_then(|digits| u8::from_str_radix(digits, 16).ok());
                code.unwrap_or(b'%')
            }
            byte => byte,
        };
        bytes.push(decoded);
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

/// What is wrong with an address.
pub(super) fn problem(text: &str) -> Option<String> {
    Url::parse(text).err()
}

pub(super) fn call(name: &str, args: &[Value]) -> Option<Evaluated> {
    match (name, args) {
        ("url", [Value::String(text)]) => Some(
            Url::parse(text)
                .map(|url| Value::Url(Arc::new(url)))
                .map_err(|why| {
                    Fault::new(format!(
                        "URL parse error during conversion from string: {why}"
                    ))
                }),
        ),
        ("isURL", [Value::String(text)]) => Some(Ok(Value::Bool(Url::parse(text).is_ok()))),
        (_, [Value::Url(url)]) => {
            let (host, port) = url.host_and_port();
            Some(Ok(match name {
                "getScheme" => Value::text(&url.scheme),
                "getHost" => Value::text(&url.host),
                "getHostname" => Value::text(host),
                "getPort" => Value::text(port),
                "getEscapedPath" => Value::text(&url.path),
                "getQuery" => url.parameters(),
                _ => return None,
            }))
        }
        _ => None,
    }
}
