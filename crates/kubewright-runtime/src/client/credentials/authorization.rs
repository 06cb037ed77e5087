//! Values of the header `Authorization`.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use http::HeaderValue;

use crate::client::connect_error::ConnectError;

/// The value for a bearer token.
pub(super) fn bearer(token: &str) -> Result<HeaderValue, ConnectError> {
    authorization("the token", format!("Bearer {}", token.trim()))
}

/// The value for a user name and a password.
pub(super) fn basic(name: &str, password: &str) -> Result<HeaderValue, ConnectError> {
    let pair = STANDARD.encode(format!("{name}:{password}"));
    authorization("the password", format!("Basic {pair}"))
}

fn authorization(what: &'static str, text: String) -> Result<HeaderValue, ConnectError> {
    let mut value = HeaderValue::try_from(text).map_err(|_| ConnectError::Header { what })?;
    value.set_sensitive(true);
    Ok(value)
}
