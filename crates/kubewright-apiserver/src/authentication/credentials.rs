//! Credentials of a request: the connection's user or a bearer token.

use http::HeaderMap;
use http::header::AUTHORIZATION;
use jiff::Timestamp;
use kubewright_wire::status::Status;

use super::token::{Directory, TokenSigner};
use super::user::User;

/// What the connection of a request proves about its sender.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Credentials {
    /// A caller in this process and its user; a token in the request takes precedence.
    InProcess(User),
    /// The user of a verified client certificate; it takes precedence over a token.
    Certificate(User),
    /// Nothing.
    Anonymous,
}

/// The user that sends a request.
///
/// 401 without credentials or with an invalid token: anonymous requests are disabled.
pub(super) fn authenticate(
    credentials: &Credentials,
    headers: &HeaderMap,
    signer: &TokenSigner,
    now: Timestamp,
    directory: &Directory<'_>,
) -> Result<User, Status> {
    if let Credentials::Certificate(user) = credentials {
        return Ok(user.clone());
    }
    match (bearer_token(headers)?, credentials) {
        (Some(token), _) => signer
            .user(token, now, directory)
            .ok_or_else(Status::unauthorized),
        (None, Credentials::InProcess(user)) => Ok(user.clone()),
        (None, Credentials::Certificate(_) | Credentials::Anonymous) => Err(Status::unauthorized()),
    }
}

/// The token of an `Authorization: Bearer TOKEN` header; 401 when the header is there and cannot
/// be read.
fn bearer_token(headers: &HeaderMap) -> Result<Option<&str>, Status> {
    let Some(value) = headers.get(AUTHORIZATION) else {
        return Ok(None);
    };
    let value = std::str::from_utf8(value.as_bytes()).map_err(|_| Status::unauthorized())?;
    let Some((scheme, rest)) = value.trim().split_once(' ') else {
        return Ok(None);
    };
    let token = rest.split(' ').next().unwrap_or_default();
    Ok((scheme.eq_ignore_ascii_case("bearer") && !token.is_empty()).then_some(token))
}

#[cfg(test)]
mod tests {
    use http::header::AUTHORIZATION;
    use http::{HeaderMap, HeaderValue};
    use jiff::Timestamp;
    use kubewright_kinds::BuiltinKind;

    use super::{Credentials, authenticate};
    use crate::authentication::token::TokenSigner;
    use crate::authentication::user::User;

    fn name(credentials: &Credentials, authorization: Option<&str>) -> Result<String, u16> {
        name_of(credentials, authorization.map(str::as_bytes))
    }

    fn name_of(credentials: &Credentials, authorization: Option<&[u8]>) -> Result<String, u16> {
        let mut headers = HeaderMap::new();
        if let Some(value) = authorization {
            headers.insert(AUTHORIZATION, HeaderValue::from_bytes(value).unwrap());
        }
        let signer = TokenSigner::default();
        let nothing = |_: &BuiltinKind, _: &str, _: &str| None;
        authenticate(
            credentials,
            &headers,
            &signer,
            Timestamp::UNIX_EPOCH,
            &nothing,
        )
        .map(|user| user.name)
        .map_err(|status| status.code)
    }

    #[test]
    fn invalid_token_fails_with_401_even_from_an_authenticated_connection() {
        let bob = Credentials::InProcess(User::new("bob", [""; 0]));
        assert_eq!(name(&bob, None), Ok("bob".to_owned()));
        assert_eq!(name(&bob, Some("Bearer no.such.token")), Err(401));
        assert_eq!(name(&bob, Some("Basic Ym9iOmJvYg==")), Ok("bob".to_owned()));
        assert_eq!(name(&bob, Some("Bearer ")), Ok("bob".to_owned()));
    }

    #[test]
    fn authorization_header_that_is_not_utf8_fails_with_401() {
        let bob = Credentials::InProcess(User::new("bob", [""; 0]));
        assert_eq!(name_of(&bob, Some(b"Bearer \xff")), Err(401));
        assert_eq!(name(&bob, Some("Bearer \u{e4}")), Err(401));
    }

    #[test]
    fn client_certificate_takes_precedence_over_a_token() {
        let eve = Credentials::Certificate(User::new("eve", [""; 0]));
        assert_eq!(
            name(&eve, Some("Bearer no.such.token")),
            Ok("eve".to_owned())
        );
    }

    #[test]
    fn anonymous_request_fails_with_401() {
        assert_eq!(name(&Credentials::Anonymous, None), Err(401));
        assert_eq!(name(&Credentials::Anonymous, Some("bearer x")), Err(401));
    }
}
