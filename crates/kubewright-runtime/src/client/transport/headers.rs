//! Headers that all requests carry: those of the configuration, and impersonation.

use std::fmt::Write as _;

use http::{HeaderName, HeaderValue};
use kube::Config;
use kube::config::AuthInfo;

use crate::client::connect_error::ConnectError;

/// The headers that are added to all requests.
pub(super) fn headers(config: &Config) -> Result<Vec<(HeaderName, HeaderValue)>, ConnectError> {
    let mut headers = config.headers.clone();
    let AuthInfo {
        impersonate,
        impersonate_uid,
        impersonate_groups,
        impersonate_user_extra,
        ..
    } = &config.auth_info;
    if let Some(user) = impersonate {
        let name = HeaderName::from_static("impersonate-user");
        headers.push((name, value("the user to impersonate", user)?));
    }
    if let Some(uid) = impersonate_uid {
        let name = HeaderName::from_static("impersonate-uid");
        headers.push((name, value("the uid to impersonate", uid)?));
    }
    for group in impersonate_groups.iter().flatten() {
        let name = HeaderName::from_static("impersonate-group");
        headers.push((name, value("a group to impersonate", group)?));
    }
    let mut extra: Vec<_> = impersonate_user_extra.iter().flatten().collect();
    extra.sort();
    for (key, values) in extra {
        let name = extra_name(key)?;
        for extra in values {
            headers.push((
                name.clone(),
                value("an extra field of the user to impersonate", extra)?,
            ));
        }
    }
    Ok(headers)
}

fn value(what: &'static str, text: &str) -> Result<HeaderValue, ConnectError> {
    HeaderValue::from_str(text).map_err(|_| ConnectError::Header { what })
}

/// The header of an extra field. Characters that are not allowed in the name of a header, and the
/// percent sign, are percent-encoded, as by `headerKeyEscape` of client-go
/// (transport/round_trippers.go).
fn extra_name(key: &str) -> Result<HeaderName, ConnectError> {
    const PLAIN: &[u8] = b"!#$&'*+-.^_`|~";
    let mut name = "impersonate-extra-".to_owned();
    for byte in key.bytes() {
        if byte.is_ascii_alphanumeric() || PLAIN.contains(&byte) {
            name.push(char::from(byte));
        } else {
            write!(name, "%{byte:02X}").expect("writing to a String cannot fail");
        }
    }
    HeaderName::try_from(name).map_err(|_| ConnectError::Header {
        what: "the name of an extra field of the user to impersonate",
    })
}

#[cfg(test)]
mod tests {
    use kube::Config;
    use serde_json::json;

    use super::headers;

    #[test]
    fn all_fields_of_an_impersonated_user_are_sent() {
        let mut config = Config::new("https://10.0.0.1".parse().unwrap());
        config.auth_info = serde_json::from_value(json!({
            "as": "ali", "as-uid": "40", "as-groups": ["cave", "woods"],
            "as-user-extra": {"example.com/Door%": ["open", "shut"]},
        }))
        .unwrap();
        let headers = headers(&config).unwrap();
        let shown: Vec<_> = headers
            .iter()
            .map(|(name, value)| (name.as_str(), value.to_str().unwrap()))
            .collect();
        assert_eq!(
            shown,
            [
                ("impersonate-user", "ali"),
                ("impersonate-uid", "40"),
                ("impersonate-group", "cave"),
                ("impersonate-group", "woods"),
                ("impersonate-extra-example.com%2fdoor%25", "open"),
                ("impersonate-extra-example.com%2fdoor%25", "shut"),
            ]
        );
    }
}
