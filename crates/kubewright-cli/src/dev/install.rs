use k8s_openapi::api::authentication::v1::{TokenRequest, TokenRequestSpec};
use k8s_openapi::api::core::v1::ServiceAccount;
use kube::Api;
use kube::api::PostParams;
use serde_json::Value;

use crate::error::Error;
use crate::objects::{Ownership, apply_all};

/// The account that an operator's manifests bring along.
#[derive(Debug)]
pub(crate) struct Account {
    namespace: String,
    name: String,
}

/// Applies what the program's `manifests` prints and returns the operator's account.
///
/// # Cancel safety
///
/// Dropping the future may leave part of the objects applied.
pub(crate) async fn install(client: &kube::Client, objects: &[Value]) -> Result<Account, Error> {
    apply_all(client, objects, Ownership::Dev).await?;
    let account = objects
        .iter()
        .find(|object| object["kind"] == "ServiceAccount");
    let field = |field: &str| {
        account
            .and_then(|account| account["metadata"][field].as_str())
            .unwrap_or("default")
            .to_owned()
    };
    Ok(Account {
        namespace: field("namespace"),
        name: field("name"),
    })
}

/// A token for the account, as a Pod of the operator would have one.
///
/// # Cancel safety
///
/// Safe: a token that nobody reads expires.
pub(crate) async fn token(client: &kube::Client, account: &Account) -> Result<String, Error> {
    let accounts: Api<ServiceAccount> = Api::namespaced(client.clone(), &account.namespace);
    let request = TokenRequest {
        spec: Some(TokenRequestSpec {
            expiration_seconds: Some(86_400),
            ..TokenRequestSpec::default()
        }),
        ..TokenRequest::default()
    };
    let answer = accounts
        .create_token_request(&account.name, &PostParams::default(), &request)
        .await
        .map_err(|source| Error::Request {
            action: format!("ask for a token of {}/{}", account.namespace, account.name),
            source: Box::new(source),
        })?;
    Ok(answer
        .status
        .and_then(|status| status.token)
        .unwrap_or_default())
}
