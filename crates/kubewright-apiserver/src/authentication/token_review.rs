//! TokenReviews: which user a token authenticates.

use jiff::Timestamp;
use kubewright_kinds::json::{items, text};
use kubewright_wire::status::Status;
use serde_json::{Value, json};

use super::token::{Directory, ISSUER, TokenSigner};
use super::user::user_info;

/// Fills in the status of a TokenReview (pkg/registry/authentication/tokenreview).
pub(super) fn review_token(
    mut body: Value,
    signer: &TokenSigner,
    now: Timestamp,
    directory: &Directory<'_>,
) -> Result<Value, Status> {
    let token = text(&body["spec"]["token"]);
    if token.is_empty() {
        return Err(Status::bad_request(
            "token is required for TokenReview in authentication",
        ));
    }
    let mut audiences: Vec<&str> = items(&body["spec"]["audiences"])
        .filter_map(Value::as_str)
        .collect();
    if audiences.is_empty() {
        audiences.push(ISSUER);
    }
    let status = match signer.user_for(token, &audiences, now, directory) {
        Some((user, audiences)) => json!({
            "authenticated": true,
            "user": user_info(&user),
            "audiences": audiences,
        }),
        None => json!({"user": {}, "error": "[invalid bearer token, unknown]"}),
    };
    body["status"] = status;
    Ok(body)
}
