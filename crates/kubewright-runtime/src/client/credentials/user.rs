//! The credentials of the user in a kubeconfig.

use std::fs;
use std::path::Path;
use std::sync::Arc;

use http::HeaderValue;
use kube::config::{AuthInfo, AuthProviderConfig};
use kubewright_core::Clock;
use secrecy::ExposeSecret as _;

use super::authorization::{basic, bearer};
use super::grant::Grant;
use super::plugin::Plugin;
use super::{Identity, Reloaded};
use crate::client::connect_error::ConnectError;

/// The credentials of a client.
pub(in crate::client) struct Credentials {
    source: Source,
    /// The client certificate of the configuration.
    own: Option<Arc<Identity>>,
}

/// Where the value of `Authorization` comes from.
enum Source {
    Fixed(Option<HeaderValue>),
    File(Reloaded<HeaderValue>),
    Plugin(Plugin),
}

impl Credentials {
    /// The credentials that a kubeconfig has for a user. Where it has several, the same one is used
    /// as by kube. A plugin first runs for the first request.
    pub(in crate::client) fn new(user: &AuthInfo, clock: Clock) -> Result<Self, ConnectError> {
        let own = Identity::of(user)?;
        let source = source(user, own.as_ref(), clock)?;
        Ok(Self { source, own })
    }

    /// The client certificate of the configuration.
    pub(in crate::client) fn own(&self) -> Option<&Arc<Identity>> {
        self.own.as_ref()
    }

    /// The credentials for the next request.
    ///
    /// # Cancel safety
    ///
    /// When dropped, nothing is lost: a plugin that runs completes, and its result is kept.
    pub(in crate::client) async fn current(&self) -> Result<Grant, ConnectError> {
        let header = match &self.source {
            Source::Fixed(header) => header.clone(),
            Source::File(file) => Some(file.current()),
            Source::Plugin(plugin) => return plugin.current().await,
        };
        Ok(Grant {
            header,
            identity: self.own.clone(),
        })
    }

    /// Called when the API server rejected `grant` with 401: the next request reads the token file
    /// or runs the plugin again.
    pub(in crate::client) fn reject(&self, grant: &Grant) {
        match &self.source {
            Source::Fixed(_) => {}
            Source::File(file) => file.expire(),
            Source::Plugin(plugin) => plugin.reject(grant),
        }
    }
}

fn source(
    user: &AuthInfo,
    own: Option<&Arc<Identity>>,
    clock: Clock,
) -> Result<Source, ConnectError> {
    if let Some(provider) = &user.auth_provider {
        return by_provider(provider).map(|header| Source::Fixed(Some(header)));
    }
    if let (Some(name), Some(password)) = (&user.username, &user.password) {
        let header = basic(name, password.expose_secret())?;
        return Ok(Source::Fixed(Some(header)));
    }
    let token = user.token.as_ref().map(|token| token.expose_secret());
    if let Some(token) = token.filter(|token| !token.is_empty()) {
        return Ok(Source::Fixed(Some(bearer(token)?)));
    }
    if let Some(file) = user.token_file.as_ref().filter(|file| !file.is_empty()) {
        return Reloaded::new(file.into(), read_token).map(Source::File);
    }
    match &user.exec {
        Some(exec) => Plugin::new(exec, own.cloned(), clock).map(Source::Plugin),
        None => Ok(Source::Fixed(None)),
    }
}

/// Of the auth-providers that kubectl once had, only the token that OIDC has stored is used.
fn by_provider(provider: &AuthProviderConfig) -> Result<HeaderValue, ConnectError> {
    let token = provider.config.get("id-token");
    match token.filter(|_| provider.name == "oidc") {
        Some(token) => bearer(token),
        None => Err(ConnectError::Provider {
            name: provider.name.clone(),
        }),
    }
}

fn read_token(path: &Path) -> Result<HeaderValue, ConnectError> {
    let token = fs::read_to_string(path).map_err(|source| ConnectError::File {
        what: "the token",
        path: path.to_owned(),
        source,
    })?;
    match token.trim() {
        "" => Err(ConnectError::Empty {
            path: path.to_owned(),
        }),
        token => bearer(token),
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use kube::config::AuthInfo;
    use kubewright_core::Clock;
    use serde_json::{Value, json};
    use tempfile::TempDir;

    use super::Credentials;
    use crate::client::connect_error::ConnectError;

    fn credentials_of(user: Value) -> Result<Credentials, ConnectError> {
        let user: AuthInfo = serde_json::from_value(user).unwrap();
        Credentials::new(&user, Clock::system())
    }

    async fn header(credentials: &Credentials) -> Option<String> {
        let header = credentials.current().await.unwrap().header?;
        assert!(header.is_sensitive());
        Some(header.to_str().unwrap().to_owned())
    }

    #[tokio::test]
    async fn first_credential_of_a_user_is_sent() {
        let cases = [
            (json!({}), None),
            (json!({"token": "", "tokenFile": ""}), None),
            (
                json!({"token": "sesame", "tokenFile": "/nowhere"}),
                Some("Bearer sesame"),
            ),
            (
                json!({"username": "ali", "password": "baba", "token": "sesame"}),
                Some("Basic YWxpOmJhYmE="),
            ),
            (
                json!({"auth-provider": {"name": "oidc", "config": {"id-token": "sesame"}}}),
                Some("Bearer sesame"),
            ),
        ];
        for (user, expected) in cases {
            let credentials = credentials_of(user).expect("usable");
            assert_eq!(header(&credentials).await.as_deref(), expected);
        }
    }

    #[tokio::test]
    async fn unusable_credentials_fail_without_a_secret_in_the_error() {
        let cases = [
            (json!({"token": "ses\name"}), "header"),
            (json!({"tokenFile": "/nowhere"}), "/nowhere"),
            (
                json!({"auth-provider": {"name": "gcp", "config": {}}}),
                "exec plugin",
            ),
            (
                json!({"auth-provider": {"name": "oidc", "config": {}}}),
                "oidc",
            ),
            (json!({"exec": {"apiVersion": "v1"}}), "command"),
        ];
        for (user, expected) in cases {
            let error = credentials_of(user).err().expect("not usable");
            assert!(error.to_string().contains(expected), "{error}");
            assert!(!format!("{error} {error:?}").contains("ses"), "{error}");
        }
    }

    #[tokio::test(start_paused = true)]
    async fn rejected_token_is_read_again() {
        let folder = TempDir::new().unwrap();
        let file = folder.path().join("token");
        fs::write(&file, "one\n").unwrap();
        let credentials = credentials_of(json!({"tokenFile": file})).ok().unwrap();
        assert_eq!(header(&credentials).await.as_deref(), Some("Bearer one"));
        fs::write(&file, "two\n").unwrap();
        assert_eq!(header(&credentials).await.as_deref(), Some("Bearer one"));
        credentials.reject(&credentials.current().await.unwrap());
        assert_eq!(header(&credentials).await.as_deref(), Some("Bearer two"));
        fs::write(&file, "\n").unwrap();
        credentials.reject(&credentials.current().await.unwrap());
        assert_eq!(header(&credentials).await.as_deref(), Some("Bearer two"));
    }
}
