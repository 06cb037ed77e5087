use jiff::Timestamp;
use kubewright_wire::status::Status;
use serde_json::{Value, json};

use super::token::ISSUER;
use super::{Directory, TokenSigner, User};

/// Answers a TokenReview: whom a token stands for (pkg/registry/authentication/tokenreview).
pub(crate) fn answer_token_review(
    mut body: Value,
    signer: &TokenSigner,
    now: Timestamp,
    directory: &Directory<'_>,
) -> Result<Value, Status> {
    let token = body.pointer("/spec/token").and_then(Value::as_str);
    let token = token.unwrap_or_default();
    if token.is_empty() {
        return Err(Status::bad_request(
            "token is required for TokenReview in authentication",
        ));
    }
    let asked = body.pointer("/spec/audiences").and_then(Value::as_array);
    let mut audiences: Vec<&str> = asked
        .into_iter()
        .flatten()
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

/// A user as reviews show him.
pub(crate) fn user_info(user: &User) -> Value {
    let mut info = json!({"username": user.name});
    if !user.uid.is_empty() {
        info["uid"] = user.uid.clone().into();
    }
    if !user.groups.is_empty() {
        info["groups"] = user.groups.clone().into();
    }
    if !user.extra.is_empty() {
        info["extra"] = json!(user.extra);
    }
    info
}
