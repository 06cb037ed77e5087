use http::Uri;
use http::uri::{Authority, PathAndQuery, Scheme};

use crate::client::fault::Fault;

/// Where an API server is: what stands before the path of each request.
pub(super) struct Address {
    scheme: Scheme,
    authority: Authority,
    /// Some servers stand behind others, which tell them apart by the first part of the path.
    prefix: String,
}

impl Address {
    pub(super) fn new(url: &Uri) -> Result<Self, Fault> {
        let (Some(scheme), Some(authority)) = (url.scheme(), url.authority()) else {
            return Err(Fault::Address);
        };
        Ok(Self {
            scheme: scheme.clone(),
            authority: authority.clone(),
            prefix: url.path().trim_end_matches('/').to_owned(),
        })
    }

    /// Where `asked` is on this server.
    pub(super) fn of(&self, asked: &Uri) -> Result<Uri, http::Error> {
        let path = match asked.path_and_query() {
            Some(asked) if self.prefix.is_empty() => asked.clone(),
            Some(asked) => PathAndQuery::try_from(format!("{}{asked}", self.prefix))?,
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
    fn the_path_of_the_server_stays_before_that_of_the_request() {
        let asked = Uri::from_static("/api/v1/nodes?watch=true");
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
            assert_eq!(address.of(&asked).unwrap(), expected);
        }
        assert!(Address::new(&Uri::from_static("10.0.0.1:6443")).is_err());
    }
}
