use std::fs;
use std::path::Path;
use std::sync::Arc;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use http::HeaderValue;
use kube::config::{AuthInfo, AuthProviderConfig};
use kubewright_core::Clock;
use secrecy::ExposeSecret as _;

use super::plugin::Plugin;
use super::{Identity, Reloaded};
use crate::client::fault::Fault;

/// Who a client is.
pub(in crate::client) struct Credentials {
    source: Source,
    /// The client certificate that the settings name.
    own: Option<Arc<Identity>>,
}

enum Source {
    Fixed(Option<HeaderValue>),
    File(Reloaded<HeaderValue>),
    Plugin(Plugin),
}

/// What one request carries.
#[derive(Clone)]
pub(in crate::client) struct Grant {
    /// The value of `Authorization`.
    pub(in crate::client) header: Option<HeaderValue>,
    /// What the connection is made with.
    pub(in crate::client) identity: Option<Arc<Identity>>,
}

impl Credentials {
    /// What the settings say of a user, in kube's order; a plugin runs when the first request
    /// needs it.
    pub(in crate::client) fn new(user: &AuthInfo, clock: Clock) -> Result<Self, Fault> {
        let own = Identity::of(user)?;
        let source = source(user, own.as_ref(), clock)?;
        Ok(Self { source, own })
    }

    /// The client certificate that the settings name.
    pub(in crate::client) fn own(&self) -> Option<&Arc<Identity>> {
        self.own.as_ref()
    }

    /// What the next request carries.
    ///
    /// # Cancel safety
    ///
    /// Dropped, nothing is lost: a plugin that runs comes to its end, and what it answers is kept.
    pub(in crate::client) async fn current(&self) -> Result<Grant, Fault> {
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

    /// The API server did not take it: what can be had anew is, for the next request.
    pub(in crate::client) fn refused(&self, grant: &Grant) {
        match &self.source {
            Source::Fixed(_) => {}
            Source::File(file) => file.expire(),
            Source::Plugin(plugin) => plugin.forget(grant),
        }
    }
}

impl Grant {
    /// Whether both are the same, and not only alike.
    pub(super) fn is(&self, other: &Self) -> bool {
        self.header == other.header && same(self.identity.as_ref(), other.identity.as_ref())
    }
}

/// Whether two connections may be one.
pub(in crate::client) fn same(one: Option<&Arc<Identity>>, other: Option<&Arc<Identity>>) -> bool {
    match (one, other) {
        (Some(one), Some(other)) => Arc::ptr_eq(one, other),
        (None, None) => true,
        _ => false,
    }
}

pub(super) fn bearer(token: &str) -> Result<HeaderValue, Fault> {
    authorization("the token", format!("Bearer {}", token.trim()))
}

fn source(user: &AuthInfo, own: Option<&Arc<Identity>>, clock: Clock) -> Result<Source, Fault> {
    if let Some(provider) = &user.auth_provider {
        return by_provider(provider).map(|header| Source::Fixed(Some(header)));
    }
    if let (Some(name), Some(password)) = (&user.username, &user.password) {
        let pair = STANDARD.encode(format!("{name}:{}", password.expose_secret()));
        let header = authorization("the password", format!("Basic {pair}"))?;
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

/// Of what kubectl once had, a token that is there already is as good as any.
fn by_provider(provider: &AuthProviderConfig) -> Result<HeaderValue, Fault> {
    let token = provider.config.get("id-token");
    match token.filter(|_| provider.name == "oidc") {
        Some(token) => bearer(token),
        None => Err(Fault::Provider {
            name: provider.name.clone(),
        }),
    }
}

fn read_token(path: &Path) -> Result<HeaderValue, Fault> {
    let token = fs::read_to_string(path).map_err(|source| Fault::File {
        what: "the token",
        path: path.to_owned(),
        source,
    })?;
    match token.trim() {
        "" => Err(Fault::Empty {
            path: path.to_owned(),
        }),
        token => bearer(token),
    }
}

fn authorization(what: &'static str, text: String) -> Result<HeaderValue, Fault> {
    let mut value = HeaderValue::try_from(text).map_err(|_| Fault::Header { what })?;
    value.set_sensitive(true);
    Ok(value)
}

#[cfg(test)]
mod tests {
    use std::fs;

    use kube::config::AuthInfo;
    use kubewright_core::Clock;
    use serde_json::{Value, json};
    use tempfile::TempDir;

    use super::Credentials;
    use crate::client::fault::Fault;

    fn of(user: Value) -> Result<Credentials, Fault> {
        let user: AuthInfo = serde_json::from_value(user).unwrap();
        Credentials::new(&user, Clock::system())
    }

    async fn header(credentials: &Credentials) -> Option<String> {
        let header = credentials.current().await.unwrap().header?;
        assert!(header.is_sensitive());
        Some(header.to_str().unwrap().to_owned())
    }

    #[tokio::test]
    async fn the_first_of_what_a_user_has_is_sent() {
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
            let credentials = of(user).expect("usable");
            assert_eq!(header(&credentials).await.as_deref(), expected);
        }
    }

    #[tokio::test]
    async fn what_cannot_be_used_is_told_without_secrets() {
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
            let fault = of(user).err().expect("not usable");
            assert!(fault.to_string().contains(expected), "{fault}");
            assert!(!format!("{fault} {fault:?}").contains("ses"), "{fault}");
        }
    }

    #[tokio::test(start_paused = true)]
    async fn a_token_that_is_refused_is_read_anew() {
        let folder = TempDir::new().unwrap();
        let file = folder.path().join("token");
        fs::write(&file, "one\n").unwrap();
        let credentials = of(json!({"tokenFile": file})).ok().unwrap();
        assert_eq!(header(&credentials).await.as_deref(), Some("Bearer one"));
        fs::write(&file, "two\n").unwrap();
        assert_eq!(header(&credentials).await.as_deref(), Some("Bearer one"));
        credentials.refused(&credentials.current().await.unwrap());
        assert_eq!(header(&credentials).await.as_deref(), Some("Bearer two"));
        fs::write(&file, "\n").unwrap();
        credentials.refused(&credentials.current().await.unwrap());
        assert_eq!(header(&credentials).await.as_deref(), Some("Bearer two"));
    }
}
