//! Sends a request and reads the whole response.

use bytes::Bytes;
use http::{Request, Response};
use http_body_util::BodyExt as _;
use kube::Client;
use kube::client::Body;

/// Sends a request and reads the whole response.
pub(crate) async fn exchange(
    client: &Client,
    request: Request<Vec<u8>>,
) -> Result<Response<Bytes>, kube::Error> {
    let response = client.send(request.map(Body::from)).await?;
    let (parts, body) = response.into_parts();
    let bytes = body.collect().await?.to_bytes();
    Ok(Response::from_parts(parts, bytes))
}
