//! Requests to a registry with the OCI distribution protocol.

use bytes::Bytes;
use http::header::{AUTHORIZATION, CONTENT_LENGTH, CONTENT_TYPE, LOCATION, WWW_AUTHENTICATE};
use http::{Method, Request, Response, StatusCode, Uri};
use kube::client::Body;
use kube::{Client, Config};
use serde_json::Value;

use super::blob::Blob;
use super::credentials::basic;
use super::reference::Reference;
use crate::error::{Cause, Error};

/// A client for a registry.
///
/// It uses kube's client, the only HTTP client with TLS in this command.
pub(super) struct Registry {
    reference: Reference,
    client: Client,
    authorization: Option<String>,
}

impl Registry {
    /// Returns a client for the registry of the reference.
    pub(super) fn of(reference: &Reference) -> Result<Self, Error> {
        let address = format!("{}://{}", reference.scheme(), reference.registry);
        Ok(Self {
            reference: reference.clone(),
            client: client(&address)?,
            authorization: None,
        })
    }

    /// Whether the registry has the blob.
    ///
    /// # Cancel safety
    ///
    /// Safe: it only reads.
    pub(super) async fn has(&mut self, blob: &Blob) -> Result<bool, Error> {
        let path = self.path(&format!("blobs/{}", blob.digest));
        let response = self.send(Method::HEAD, &path, "", Bytes::new()).await?;
        Ok(response.status() == StatusCode::OK)
    }

    /// Uploads a blob.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future leaves an upload that the registry discards.
    pub(super) async fn upload(&mut self, blob: &Blob) -> Result<(), Error> {
        let path = self.path("blobs/uploads/");
        let response = self.send(Method::POST, &path, "", Bytes::new()).await?;
        let accepted = self.expect(response, &path, StatusCode::ACCEPTED).await?;
        let location = accepted
            .headers()
            .get(LOCATION)
            .and_then(|location| location.to_str().ok())
            .unwrap_or(&path);
        let target = upload_path(location, &blob.digest);
        let media = "application/octet-stream";
        let bytes = blob.bytes.clone();
        let response = self.send(Method::PUT, &target, media, bytes).await?;
        self.expect(response, &target, StatusCode::CREATED).await?;
        Ok(())
    }

    /// Stores a manifest under a tag or its digest.
    ///
    /// # Cancel safety
    ///
    /// After the future is dropped, the manifest may be stored or not.
    pub(super) async fn put(&mut self, manifest: &Blob, name: &str) -> Result<(), Error> {
        let path = self.path(&format!("manifests/{name}"));
        let bytes = manifest.bytes.clone();
        let response = self.send(Method::PUT, &path, manifest.media, bytes).await?;
        self.expect(response, &path, StatusCode::CREATED).await?;
        Ok(())
    }

    fn path(&self, rest: &str) -> String {
        format!("/v2/{}/{rest}", self.reference.repository)
    }

    /// Sends a request. When the registry responds with an authentication challenge, authenticates and
    /// sends it once more.
    async fn send(
        &mut self,
        method: Method,
        path: &str,
        media: &str,
        body: Bytes,
    ) -> Result<Response<Body>, Error> {
        let response = self.try_send(&method, path, media, &body).await?;
        if response.status() != StatusCode::UNAUTHORIZED {
            return Ok(response);
        }
        let challenge = response
            .headers()
            .get(WWW_AUTHENTICATE)
            .and_then(|value| value.to_str().ok())
            .unwrap_or_default();
        self.authorization = self.authenticate(challenge).await?;
        self.try_send(&method, path, media, &body).await
    }

    async fn try_send(
        &self,
        method: &Method,
        path: &str,
        media: &str,
        body: &Bytes,
    ) -> Result<Response<Body>, Error> {
        let mut builder = Request::builder()
            .method(method)
            .uri(path)
            .header(CONTENT_LENGTH, body.len());
        if !media.is_empty() {
            builder = builder.header(CONTENT_TYPE, media);
        }
        if let Some(authorization) = &self.authorization {
            builder = builder.header(AUTHORIZATION, authorization);
        }
        let request = builder
            .body(Body::from(body.clone()))
            .map_err(|source| self.failed(path, source.into()))?;
        let response = self.client.send(request).await;
        response.map_err(|source| self.failed(path, source.into()))
    }

    /// Returns the `Authorization` header for the challenge.
    async fn authenticate(&self, challenge: &str) -> Result<Option<String>, Error> {
        let basic = basic(&self.reference.registry);
        let Some(parameters) = challenge.strip_prefix("Bearer ") else {
            return Ok(basic);
        };
        let realm = parameter(parameters, "realm").unwrap_or_default();
        let (host, path) = split(&realm);
        let mut query: Vec<String> = Vec::new();
        for name in ["service", "scope"] {
            if let Some(value) = parameter(parameters, name) {
                query.push(format!("{name}={}", value.replace(' ', "%20")));
            }
        }
        let mut builder = Request::builder().uri(format!("{path}?{}", query.join("&")));
        if let Some(basic) = basic {
            builder = builder.header(AUTHORIZATION, basic);
        }
        let request = builder
            .body(Body::empty())
            .map_err(|source| self.failed(&realm, source.into()))?;
        let response = client(&host)?
            .send(request)
            .await
            .map_err(|source| self.failed(&realm, source.into()))?;
        let bytes = self
            .expect(response, &realm, StatusCode::OK)
            .await?
            .into_body()
            .collect_bytes()
            .await
            .map_err(|source| self.failed(&realm, source.into()))?;
        let value: Value = serde_json::from_slice(&bytes).unwrap_or_default();
        let token = value["token"].as_str().or(value["access_token"].as_str());
        Ok(token.map(|token| format!("Bearer {token}")))
    }

    /// Returns the response if it has the expected status; otherwise the error has its body.
    async fn expect(
        &self,
        response: Response<Body>,
        path: &str,
        expected: StatusCode,
    ) -> Result<Response<Body>, Error> {
        let status = response.status();
        if status == expected {
            return Ok(response);
        }
        // Without a body, the status alone describes the error.
        let body = response.into_body().collect_bytes().await;
        let body = body.unwrap_or_default();
        let text = String::from_utf8_lossy(&body).trim().to_owned();
        let hint = match status {
            StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN => "; log in first: docker login",
            _ => "",
        };
        Err(self.failed(
            path,
            format!("the registry responded with {status}{hint} {text}").into(),
        ))
    }

    fn failed(&self, path: &str, source: Cause) -> Error {
        Error::Registry {
            reference: self.reference.to_string(),
            path: path.to_owned(),
            source,
        }
    }
}

fn client(address: &str) -> Result<Client, Error> {
    let failed = |source: Cause| Error::Registry {
        reference: address.to_owned(),
        path: "/".to_owned(),
        source,
    };
    let address: Uri = address.parse().map_err(|source| failed(Box::new(source)))?;
    Client::try_from(Config::new(address)).map_err(|source| failed(Box::new(source)))
}

/// Returns the path of the request that completes an upload. The location of a registry is a path
/// or an address.
fn upload_path(location: &str, digest: &str) -> String {
    let (_, path) = split(location);
    let separator = if path.contains('?') { '&' } else { '?' };
    format!("{path}{separator}digest={digest}")
}

/// Splits an address into `scheme://host` and the path; a path alone has no host.
fn split(address: &str) -> (String, String) {
    let Some((scheme, rest)) = address.split_once("://") else {
        return (String::new(), address.to_owned());
    };
    let (host, path) = rest.split_once('/').unwrap_or((rest, ""));
    (format!("{scheme}://{host}"), format!("/{path}"))
}

/// Returns a parameter of a challenge: `realm="https://..",service=".."`.
fn parameter(challenge: &str, name: &str) -> Option<String> {
    let start = format!("{name}=\"");
    let (_, rest) = challenge.split_once(&start)?;
    rest.split('"').next().map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::{parameter, upload_path};

    #[test]
    fn parameters_of_a_challenge_are_parsed() {
        let challenge =
            r#"realm="https://a.io/token",service="r.io",scope="repository:x:pull,push""#;
        let values = ["realm", "service", "scope", "error"]
            .map(|name| parameter(challenge, name).unwrap_or_default());
        assert_eq!(
            values,
            ["https://a.io/token", "r.io", "repository:x:pull,push", ""]
        );
    }

    #[test]
    fn upload_is_completed_at_the_location_of_the_registry() {
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
