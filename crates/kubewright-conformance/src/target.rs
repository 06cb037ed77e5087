//! A cluster that cases are played on.

use bytes::Bytes;
use http::{Request, Response};
use kubewright_testing::{Cluster, User};

use crate::Error;
use crate::exchange::exchange;
use crate::seeded_fault::{Decorator, SeededFault};

/// A cluster that cases are played on, sound or with a [`SeededFault`].
#[derive(Debug)]
pub struct Target {
    cluster: Cluster,
    decorator: Option<Decorator>,
}

impl Target {
    /// A cluster as it is.
    pub fn new(cluster: Cluster) -> Self {
        Self {
            cluster,
            decorator: None,
        }
    }

    /// A cluster whose requests and responses pass through a fault.
    pub fn with_fault(cluster: Cluster, fault: SeededFault) -> Self {
        let administrator = cluster.client();
        Self {
            cluster,
            decorator: Some(Decorator::new(fault, administrator)),
        }
    }

    pub(crate) fn cluster(&self) -> &Cluster {
        &self.cluster
    }

    /// Sends a request as a user; as the administrator where none is named.
    pub(crate) async fn send(
        &self,
        user: Option<&str>,
        request: Request<Vec<u8>>,
    ) -> Result<Response<Bytes>, Error> {
        let client = match user {
            None => self.cluster.client(),
            Some(name) => {
                let user = User::new(name.to_owned(), Vec::<String>::new());
                self.cluster.client_for(&user).await?
            }
        };
        let line = format!("{} {}", request.method(), request.uri());
        let response = match &self.decorator {
            Some(decorator) => decorator.exchange(&client, request).await,
            None => exchange(&client, request).await,
        };
        response.map_err(|source| Error::Request {
            request: line,
            source: Box::new(source),
        })
    }

    /// Ends the use of the cluster.
    ///
    /// # Cancel safety
    ///
    /// When dropped, the cluster may be cleaned in part; it is then not used again.
    pub async fn close(&self) -> Result<(), Error> {
        Ok(self.cluster.close().await?)
    }
}
