//! A filter that logs the warnings of an API server.

use std::collections::BTreeSet;
use std::sync::Arc;

use http::header::{HeaderMap, WARNING};
use http::{Request, Response};
use kube::client::Body;
use parking_lot::Mutex;
use tower::BoxError;

use crate::client::{Blocked, RequestFilter, ResponseBody};

/// How many different warnings are logged; further ones are not.
const MAX_WARNINGS: usize = 1000;

/// Logs the warnings in the responses of an API server, each once. Clones share what was logged.
#[derive(Clone, Debug, Default)]
pub struct WarningLog {
    logged: Arc<Mutex<BTreeSet<String>>>,
}

impl WarningLog {
    fn log(&self, headers: &HeaderMap) {
        for warning in headers.get_all(WARNING) {
            let text = warning_text(warning.to_str().unwrap_or_default());
            let mut logged = self.logged.lock();
            if logged.len() < MAX_WARNINGS && logged.insert(text.clone()) {
                tracing::warn!("the API server warns: {text}");
            }
        }
    }
}

/// The text of `299 - "text"` (RFC 7234, section 5.5). Kubernetes uses no other code (KEP-1693).
fn warning_text(header: &str) -> String {
    let quoted = header.strip_prefix("299 - ").unwrap_or(header);
    quoted
        .strip_prefix('"')
        .and_then(|text| text.strip_suffix('"'))
        .unwrap_or(quoted)
        .replace("\\\"", "\"")
}

impl RequestFilter for WarningLog {
    type RequestState = ();

    fn before(&self, _: &mut Request<Body>) -> Result<(), Blocked> {
        Ok(())
    }

    fn after(&self, (): (), response: &Result<Response<ResponseBody>, BoxError>) {
        if let Ok(response) = response {
            self.log(response.headers());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::warning_text;

    #[test]
    fn warning_is_logged_without_code_and_quotes() {
        let header = r#"299 - "unknown field \"spec.foo\"""#;
        assert_eq!(warning_text(header), r#"unknown field "spec.foo""#);
        assert_eq!(warning_text("plain"), "plain");
    }
}
