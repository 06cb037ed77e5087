//! Reviews: objects that are created and never stored.

use http::StatusCode;
use kubewright_wire::status::Status;

use crate::authorization::{Review, ReviewRequest};
use crate::request::api::Api;
use crate::request::message::ApiRequest;
use crate::request::options::WriteOptions;
use crate::request::response::{ApiBody, ApiResponse};
use crate::request::steps::{Change, Part, Writer, track_unstored};
use crate::request::target::Target;

/// Fills in a review.
pub(crate) async fn review(
    api: &Api,
    target: &Target,
    request: &ApiRequest,
    review: Review,
) -> Result<ApiResponse, Status> {
    let options = WriteOptions::parse(&request.query, "CreateOptions")?;
    let Change::Replace(sent) = Change::read(target, request, &options)? else {
        return Err(Status::method_not_supported());
    };
    let writer = Writer::of(api, request, &options, Part::Whole);
    let sent = track_unstored(target.kind(), sent, &writer);
    let now = api.clock.now();
    let reviewed = if review == Review::Token {
        api.authenticator.review_token(sent, now)?
    } else {
        api.authorizer
            .review(ReviewRequest {
                review,
                user: &request.user,
                namespace: target.namespace.as_deref().unwrap_or_default(),
                body: sent,
                now,
            })
            .await?
    };
    Ok(ApiResponse::new(
        StatusCode::CREATED,
        ApiBody::Value(reviewed),
    ))
}
