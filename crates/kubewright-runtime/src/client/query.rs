//! Queries of requests.

use std::fmt::Write as _;

/// The query of a request. Values are percent-encoded.
///
/// ```
/// use kubewright_runtime::client::Query;
///
/// let query = Query::new().with("labelSelector", "app in (a,b)").with("limit", 500);
/// assert_eq!(query.to_string(), "?labelSelector=app%20in%20%28a%2Cb%29&limit=500");
/// assert_eq!(Query::new().to_string(), "");
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Query {
    text: String,
}

impl Query {
    /// The empty query.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a parameter. An empty value adds nothing.
    #[must_use]
    pub fn with(mut self, name: &str, value: impl ToString) -> Self {
        let value = value.to_string();
        if value.is_empty() {
            return self;
        }
        self.text.push(if self.text.is_empty() { '?' } else { '&' });
        self.text.push_str(name);
        self.text.push('=');
        for byte in value.bytes() {
            if byte.is_ascii_alphanumeric() || b"-._~".contains(&byte) {
                self.text.push(char::from(byte));
            } else {
                write!(self.text, "%{byte:02X}").expect("writing to a String cannot fail");
            }
        }
        self
    }
}

impl std::fmt::Display for Query {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.text)
    }
}
