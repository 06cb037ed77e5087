//! The address of an API server.

use http::Uri;
use http::uri::{Authority, PathAndQuery, Scheme};

use crate::client::connect_error::ConnectError;

/// The address of an API server: what precedes the path of each request.
pub(super) struct Address {
    scheme: Scheme,
    authority: Authority,
    /// The path of the server, empty for most: some are behind a server for several clusters, which
    /// distinguishes them by the first part of the path.
    prefix: String,
}

impl Address {
    pub(super) fn new(url: &Uri) -> Result<Self, ConnectError> {
        let (Some(scheme), Some(authority)) = (url.scheme(), url.authority()) else {
            return Err(ConnectError::Address);
        };
        Ok(Self {
            scheme: scheme.clone(),
            authority: authority.clone(),
            prefix: url.path().trim_end_matches('/').to_owned(),
        })
    }

    /// The absolute URI of a request's path and query on this server.
    pub(super) fn of(&self, request: &Uri) -> Result<Uri, http::Error> {
        let path = match request.path_and_query() {
            Some(path) if self.prefix.is_empty() => path.clone(),
            Some(path) => PathAndQuery::try_from(format!("{}{path}", self.prefix))?,
            None => PathAndQuery::try_from(format!("{}/", self.prefix))?,
        };
        Uri::builder()
            .scheme(self.scheme.clone())
            .authority(self.authority.clone())
            .path_and_query(path)
            .build()
    }
}

#[cfg(test)]
mod tests {
    use http::Uri;

    use super::Address;

    #[test]
    fn path_of_the_server_precedes_that_of_the_request() {
        let request = Uri::from_static("/api/v1/nodes?watch=true");
        for (server, expected) in [
            (
                "https://10.0.0.1:6443",
                "https://10.0.0.1:6443/api/v1/nodes?watch=true",
            ),
            (
                "http://[::1]:8080/",
                "http://[::1]:8080/api/v1/nodes?watch=true",
            ),
            (
                "https://hub/k8s/c-1/",
                "https://hub/k8s/c-1/api/v1/nodes?watch=true",
            ),
        ] {
            let address = Address::new(&Uri::from_static(server)).unwrap();
            assert_eq!(address.of(&request).unwrap(), expected);
        }
        assert!(Address::new(&Uri::from_static("10.0.0.1:6443")).is_err());
    }
}
