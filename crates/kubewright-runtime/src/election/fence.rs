use http::{Method, Request};
use kube::Client;
use kube::client::Body;

use super::Leadership;
use crate::Error;
use crate::client::{Guard, Blocked, guarded};

/// Keeps a client from writing while this process does not lead; reads pass.
///
/// It looks when a request is sent. One that is under way when the term ends has until the end of
/// the Lease to arrive, which is later by what the Lease is longer than the renew deadline.
#[derive(Clone, Debug)]
pub struct Fence {
    leadership: Leadership,
}

impl Fence {
    /// For those who write as the leader.
    pub fn new(leadership: Leadership) -> Self {
        Self { leadership }
    }

    /// The same client behind the fence.
    ///
    /// # Panics
    ///
    /// Outside a tokio runtime, as kube's client does.
    pub fn guard(&self, client: Client) -> Client {
        guarded(&client, self.clone())
    }

    fn check(&self, request: &Request<Body>) -> Result<(), Error> {
        let is_read = matches!(
            *request.method(),
            Method::GET | Method::HEAD | Method::OPTIONS
        );
        if is_read || self.leadership.is_leading() {
            return Ok(());
        }
        Err(Error::NotLeading {
            what: format!("{} {}", request.method(), request.uri().path()),
            holder: self
                .leadership
                .holder()
                .unwrap_or_else(|| "nobody".to_owned()),
        })
    }
}

impl Guard for Fence {
    type Noted = ();

    fn before(&self, request: &mut Request<Body>) -> Result<(), Blocked> {
        self.check(request).map_err(Blocked::new)
    }
}
