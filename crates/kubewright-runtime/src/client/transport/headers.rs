use std::fmt::Write as _;

use http::{HeaderName, HeaderValue};
use kube::Config;
use kube::config::AuthInfo;

use crate::client::fault::Fault;

/// What all requests carry beside their own: what the settings name, and as whom to act.
pub(super) fn headers(config: &Config) -> Result<Vec<(HeaderName, HeaderValue)>, Fault> {
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
        headers.push((name, value("the user to act as", user)?));
    }
    if let Some(uid) = impersonate_uid {
        let name = HeaderName::from_static("impersonate-uid");
        headers.push((name, value("the uid to act as", uid)?));
    }
    for group in impersonate_groups.iter().flatten() {
        let name = HeaderName::from_static("impersonate-group");
        headers.push((name, value("a group to act as", group)?));
    }
    let mut extra: Vec<_> = impersonate_user_extra.iter().flatten().collect();
    extra.sort();
    for (key, values) in extra {
        let name = extra_name(key)?;
        for extra in values {
            headers.push((
                name.clone(),
                value("an extra of the user to act as", extra)?,
            ));
        }
    }
    Ok(headers)
}

fn value(what: &'static str, text: &str) -> Result<HeaderValue, Fault> {
    HeaderValue::from_str(text).map_err(|_| Fault::Header { what })
}

/// What cannot stand in the name of a header, and the percent sign, is written in hexadecimal, as
/// `headerKeyEscape` of client-go's `transport/round_trippers.go` does.
fn extra_name(key: &str) -> Result<HeaderName, Fault> {
    const PLAIN: &[u8] = b"!#$&'*+-.^_`|~";
    let mut name = "impersonate-extra-".to_owned();
    for byte in key.bytes() {
        if byte.is_ascii_alphanumeric() || PLAIN.contains(&byte) {
            name.push(char::from(byte));
        } else {
            write!(name, "%{byte:02X}").expect("a string takes all that is written");
        }
    }
    HeaderName::try_from(name).map_err(|_| Fault::Header {
        what: "the name of an extra of the user to act as",
    })
}

#[cfg(test)]
mod tests {
    use kube::Config;
    use serde_json::json;

    use super::headers;

    #[test]
    fn a_user_to_act_as_is_told_in_full() {
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
