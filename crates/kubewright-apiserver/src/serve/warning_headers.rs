//! `Warning` headers.

use std::collections::BTreeSet;

use http::header::WARNING;
use http::{HeaderMap, HeaderValue};

/// The limits of k8s.io/apiserver/pkg/endpoints/filters/warning.go.
const MAX_TOTAL: usize = 4096;
const MAX_TRUNCATED: usize = 256;

/// Adds a header for each distinct warning. When they are too long together, each is truncated,
/// and those beyond the limit are left out.
pub(super) fn add_warnings(headers: &mut HeaderMap, warnings: &[String]) {
    let mut seen = BTreeSet::new();
    let texts: Vec<&String> = warnings
        .iter()
        .filter(|text| !text.is_empty() && seen.insert(text.as_str()))
        .collect();
    let total: usize = texts.iter().map(|text| text.chars().count()).sum();
    let mut sent = 0;
    for text in texts {
        if sent >= MAX_TOTAL {
            return;
        }
        let shown: String = if total > MAX_TOTAL {
            text.chars().take(MAX_TRUNCATED).collect()
        } else {
            text.clone()
        };
        sent += shown.chars().count();
        let quoted = shown.replace('\\', "\\\\").replace('"', "\\\"");
        let printable: String = quoted.chars().filter(|c| !c.is_control()).collect();
        if let Ok(value) = HeaderValue::from_bytes(format!("299 - \"{printable}\"").as_bytes()) {
            headers.append(WARNING, value);
        }
    }
}

#[cfg(test)]
mod tests {
    use http::HeaderMap;
    use http::header::WARNING;

    use super::add_warnings;

    fn lengths(texts: &[String]) -> Vec<usize> {
        let mut headers = HeaderMap::new();
        add_warnings(&mut headers, texts);
        let values = headers.get_all(WARNING).iter();
        values.map(|value| value.len()).collect()
    }

    #[test]
    fn long_warnings_are_truncated_and_those_beyond_the_limit_left_out() {
        let long = |n: usize| format!("{n:0300}");
        let frame = "299 - \"\"".len();
        assert_eq!(lengths(&[long(1), long(1), long(2)]), [300 + frame; 2]);
        let many: Vec<String> = (0..50_000).map(long).collect();
        assert_eq!(lengths(&many), [256 + frame; 16]);
    }
}
