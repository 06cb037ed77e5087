//! Limits and timeouts of a webhook server.

use std::time::Duration;

/// Limits and timeouts of a webhook server.
#[derive(Clone, Debug)]
pub struct ServeOptions {
    /// The largest size of a review, in bytes; the API server's objects are smaller.
    pub body_limit: usize,
    /// The timeout of a request that does not set one.
    pub timeout: Duration,
    /// How long the server still handles requests after it was stopped. A request may be on its way
    /// when a connection is closed, and would be lost; so responses first have the header
    /// `connection: close`.
    pub shutdown_delay: Duration,
    /// How long requests in flight may take after that.
    pub drain: Duration,
    /// Whether HTTP/2 is offered too. The API server does not need it, and HTTP/1.1 is not exposed
    /// to attacks such as rapid reset.
    #[cfg(feature = "http2")]
    pub http2: bool,
}

/// 7 MiB, a timeout of 10 seconds, a shutdown delay of half a second, 30 seconds to drain, only
/// HTTP/1.1.
impl Default for ServeOptions {
    fn default() -> Self {
        Self {
            body_limit: 7 * 1024 * 1024,
            timeout: Duration::from_secs(10),
            shutdown_delay: Duration::from_millis(500),
            drain: Duration::from_secs(30),
            #[cfg(feature = "http2")]
            http2: false,
        }
    }
}

impl ServeOptions {
    /// The protocols for ALPN.
    pub(super) fn protocols(&self) -> &'static [&'static str] {
        #[cfg(feature = "http2")]
        if self.http2 {
            return &["h2", "http/1.1"];
        }
        &["http/1.1"]
    }
}
