//! Reviews: objects that are created and never stored.

use http::StatusCode;
use kubewright_wire::status::Status;

use crate::authorization::{Review, ReviewRequest};
use crate::request::api::Api;
use crate::request::message::ApiRequest;
use crate::request::options::WriteOptions;
use crate::request::response::{ApiBody, ApiResponse};
use crate::request::steps::{Change, Mode, Part, Write};
use crate::request::target::Target;

/// Fills in a review.
pub(crate) async fn review(
    api: &Api,
    target: &Target,
    request: &ApiRequest,
    review: Review,
) -> Result<ApiResponse, Status> {
    let options = WriteOptions::parse(&request.query, "CreateOptions")?;
    let mut change = Change::read(target, request, &options)?;
    let write = Write::new(api, target, request, &options, Part::Main).mode(Mode::Create);
    let sent = write.propose(api, &mut change, None).await?;
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
