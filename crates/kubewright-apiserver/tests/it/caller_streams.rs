//! What only the tests of the API server need of a caller: headers and watches.

#![expect(clippy::unwrap_used, reason = "a test that cannot be set up fails")]

use http::Method;
use serde_json::Value;

use crate::caller::Caller;

impl Caller {
    /// The same with a header in every request.
    pub(crate) fn with_header(mut self, name: &'static str, value: &str) -> Self {
        self.headers.append(name, value.parse().unwrap());
        self
    }

    /// The events of a watch that ends by itself.
    pub(crate) async fn events(&self, path: &str) -> Vec<Value> {
        let (_, bytes) = self
            .exchange(Method::GET, path, "application/json", None)
            .await;
        let text = String::from_utf8(bytes.to_vec()).unwrap();
        text.lines()
            .map(|line| serde_json::from_str(line).unwrap())
            .collect()
    }
}
