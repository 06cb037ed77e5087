use bytes::Bytes;
use http::header::{AUTHORIZATION, CONTENT_LENGTH, CONTENT_TYPE, LOCATION, WWW_AUTHENTICATE};
use http::{Method, Request, Response, StatusCode, Uri};
use kube::client::Body;
use kube::{Client, Config};
use serde_json::Value;

use super::blob::Blob;
use super::credentials::basic;
use super::reference::Reference;
use crate::error::Error;

/// A registry that speaks the OCI distribution protocol.
///
/// kube's client carries the requests: it is the one HTTP client with TLS that the command has.
pub(super) struct Registry {
    reference: Reference,
    client: Client,
    authorization: Option<String>,
}

impl Registry {
    /// The registry of a reference.
    pub(super) fn of(reference: &Reference) -> Result<Self, Error> {
        let address = format!("{}://{}", reference.scheme(), reference.registry);
        Ok(Self {
            reference: reference.clone(),
            client: client(&address)?,
            authorization: None,
        })
    }

    /// Whether the registry has a blob already.
    ///
    /// # Cancel safety
    ///
    /// Safe: it only asks.
    pub(super) async fn has(&mut self, blob: &Blob) -> Result<bool, Error> {
        let path = self.path(&format!("blobs/{}", blob.digest));
        let answer = self.send(Method::HEAD, &path, "", Bytes::new()).await?;
        Ok(answer.status() == StatusCode::OK)
    }

    /// Brings a blob there.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future leaves an upload that the registry forgets.
    pub(super) async fn upload(&mut self, blob: &Blob) -> Result<(), Error> {
        let path = self.path("blobs/uploads/");
        let begun = self.send(Method::POST, &path, "", Bytes::new()).await?;
        let begun = self.expect(begun, &path, StatusCode::ACCEPTED).await?;
        let place = begun.headers().get(LOCATION);
        let place = place.and_then(|place| place.to_str().ok()).unwrap_or(&path);
        let place = upload_path(place, &blob.digest);
        let media = "application/octet-stream";
        let bytes = blob.bytes.clone();
        let answer = self.send(Method::PUT, &place, media, bytes).await?;
        self.expect(answer, &place, StatusCode::CREATED).await?;
        Ok(())
    }

    /// Stores a manifest under a tag or its digest.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future stores it or does not.
    pub(super) async fn put(&mut self, manifest: &Blob, name: &str) -> Result<(), Error> {
        let path = self.path(&format!("manifests/{name}"));
        let bytes = manifest.bytes.clone();
        let answer = self.send(Method::PUT, &path, manifest.media, bytes).await?;
        self.expect(answer, &path, StatusCode::CREATED).await?;
        Ok(())
    }

    fn path(&self, rest: &str) -> String {
        format!("/v2/{}/{rest}", self.reference.repository)
    }

    /// Sends a request, and once more after the registry has said whom it wants to see.
    async fn send(
        &mut self,
        method: Method,
        path: &str,
        media: &str,
        body: Bytes,
    ) -> Result<Response<Body>, Error> {
        let answer = self.try_send(&method, path, media, &body).await?;
        if answer.status() != StatusCode::UNAUTHORIZED {
            return Ok(answer);
        }
        let challenge = answer.headers().get(WWW_AUTHENTICATE);
        let challenge = challenge.and_then(|value| value.to_str().ok());
        self.authorization = self.authorize(challenge.unwrap_or_default()).await?;
        self.try_send(&method, path, media, &body).await
    }

    async fn try_send(
        &self,
        method: &Method,
        path: &str,
        media: &str,
        body: &Bytes,
    ) -> Result<Response<Body>, Error> {
        let mut request = Request::builder()
            .method(method)
            .uri(path)
            .header(CONTENT_LENGTH, body.len());
        if !media.is_empty() {
            request = request.header(CONTENT_TYPE, media);
        }
        if let Some(authorization) = &self.authorization {
            request = request.header(AUTHORIZATION, authorization);
        }
        let request = request.body(Body::from(body.clone()));
        let request = request.map_err(|source| self.failed(path, source.into()))?;
        let answer = self.client.send(request).await;
        answer.map_err(|source| self.failed(path, source.into()))
    }

    /// What to send along from now on.
    async fn authorize(&self, challenge: &str) -> Result<Option<String>, Error> {
        let basic = basic(&self.reference.registry);
        let Some(rest) = challenge.strip_prefix("Bearer ") else {
            return Ok(basic);
        };
        let realm = parameter(rest, "realm").unwrap_or_default();
        let (host, path) = split(&realm);
        let mut query: Vec<String> = Vec::new();
        for name in ["service", "scope"] {
            if let Some(value) = parameter(rest, name) {
                query.push(format!("{name}={}", value.replace(' ', "%20")));
            }
        }
        let mut request = Request::builder().uri(format!("{path}?{}", query.join("&")));
        if let Some(basic) = basic {
            request = request.header(AUTHORIZATION, basic);
        }
        let request = request.body(Body::empty());
        let request = request.map_err(|source| self.failed(&realm, source.into()))?;
        let answer = client(&host)?.send(request).await;
        let answer = answer.map_err(|source| self.failed(&realm, source.into()))?;
        let answer = self.expect(answer, &realm, StatusCode::OK).await?;
        let bytes = answer.into_body().collect_bytes().await;
        let bytes = bytes.map_err(|source| self.failed(&realm, source.into()))?;
        let answer: Value = serde_json::from_slice(&bytes).unwrap_or_default();
        let token = answer["token"].as_str().or(answer["access_token"].as_str());
        Ok(token.map(|token| format!("Bearer {token}")))
    }

    /// The answer, unless its status is another one.
    async fn expect(
        &self,
        answer: Response<Body>,
        path: &str,
        wanted: StatusCode,
    ) -> Result<Response<Body>, Error> {
        let status = answer.status();
        if status == wanted {
            return Ok(answer);
        }
        let body = answer.into_body().collect_bytes().await.unwrap_or_default();
        let said = String::from_utf8_lossy(&body).trim().to_owned();
        let hint = match status {
            StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN => "; log in first: docker login",
            _ => "",
        };
        Err(self.failed(path, format!("it answered {status}{hint} {said}").into()))
    }

    fn failed(&self, path: &str, source: Box<dyn std::error::Error + Send + Sync>) -> Error {
        Error::Registry {
            reference: self.reference.to_string(),
            path: path.to_owned(),
            source,
        }
    }
}

fn client(address: &str) -> Result<Client, Error> {
    let failed = |source: Box<dyn std::error::Error + Send + Sync>| Error::Registry {
        reference: address.to_owned(),
        path: "/".to_owned(),
        source,
    };
    let address: Uri = address.parse().map_err(|source| failed(Box::new(source)))?;
    Client::try_from(Config::new(address)).map_err(|source| failed(Box::new(source)))
}

/// Where the whole of a blob is put; registries answer with a path or with an address.
fn upload_path(location: &str, digest: &str) -> String {
    let (_, path) = split(location);
    let separator = if path.contains('?') { '&' } else { '?' };
    format!("{path}{separator}digest={digest}")
}

/// An address as `scheme://host` and the rest; a path alone has no host.
fn split(address: &str) -> (String, String) {
    let Some((scheme, rest)) = address.split_once("://") else {
        return (String::new(), address.to_owned());
    };
    let (host, path) = rest.split_once('/').unwrap_or((rest, ""));
    (format!("{scheme}://{host}"), format!("/{path}"))
}

/// A parameter of a challenge: `realm="https://..",service=".."`.
fn parameter(challenge: &str, name: &str) -> Option<String> {
    let start = format!("{name}=\"");
    let (_, rest) = challenge.split_once(&start)?;
    rest.split('"').next().map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::{parameter, upload_path};

    #[test]
    fn a_challenge_is_taken_apart() {
        let challenge =
            r#"realm="https://a.io/token",service="r.io",scope="repository:x:pull,push""#;
        let named = ["realm", "service", "scope", "error"].map(|name| parameter(challenge, name));
        let named = named.map(Option::unwrap_or_default);
        assert_eq!(
            named,
            ["https://a.io/token", "r.io", "repository:x:pull,push", ""]
        );
    }

    #[test]
    fn an_upload_ends_where_the_registry_says() {
        for (location, path) in [
            (
                "/v2/x/blobs/uploads/1?state=a",
                "/v2/x/blobs/uploads/1?state=a&digest=d",
            ),
            ("http://r.io:1/v2/x/uploads/1", "/v2/x/uploads/1?digest=d"),
        ] {
            assert_eq!(upload_path(location, "d"), path);
        }
    }
}
