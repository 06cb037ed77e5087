//! A request filter that blocks the writes of processes that do not lead.

use http::{Method, Request};
use kube::Client;
use kube::client::Body;

use super::Leadership;
use crate::Error;
use crate::client::{Blocked, RequestFilter, with_layer};

/// Blocks the writes of a client while this process is not the leader. Reads pass.
///
/// It checks when a request is sent. A request that is in flight when the term ends has the rest of
/// the Lease to arrive: the Lease lasts longer than the renew deadline.
#[derive(Clone, Debug)]
pub struct Fence {
    leadership: Leadership,
}

impl Fence {
    /// A fence for clients that write as the leader.
    pub fn new(leadership: Leadership) -> Self {
        Self { leadership }
    }

    /// The client behind the fence.
    ///
    /// # Panics
    ///
    /// Outside a tokio runtime, as kube's client does.
    pub fn wrap(self, client: &Client) -> Client {
        with_layer(client, self.layer())
    }

    fn check(&self, request: &Request<Body>) -> Result<(), Error> {
        let is_read = matches!(
            *request.method(),
            Method::GET | Method::HEAD | Method::OPTIONS
        );
        if is_read || self.leadership.is_leading() {
            return Ok(());
        }
        let holder = self.leadership.holder();
        Err(Error::NotLeading {
            what: format!("{} {}", request.method(), request.uri().path()),
            holder: holder.unwrap_or_else(|| "no process".to_owned()),
        })
    }
}

impl RequestFilter for Fence {
    type RequestState = ();

    fn before(&self, request: &mut Request<Body>) -> Result<(), Blocked> {
        self.check(request).map_err(Blocked::new)
    }
}
