//! The configuration of an authorization webhook for kube-apiserver.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::json;

use super::flags::AUTHORIZATION;
use super::options::AuthorizerAddress;
use super::run_folder::RunFolder;
use crate::Error;

/// Writes a configuration with which kube-apiserver calls a webhook before RBAC. Decisions are not
/// cached, so that a test sees each of them.
pub(super) fn write(run: &RunFolder, authorizer: &AuthorizerAddress) -> Result<(), Error> {
    let access = json!({
        "apiVersion": "v1",
        "kind": "Config",
        "clusters": [{"name": "authorizer", "cluster": {
            "server": authorizer.url,
            "certificate-authority-data": STANDARD.encode(&authorizer.ca_pem),
        }}],
        "users": [{"name": "kube-apiserver", "user": {}}],
        "contexts": [{"name": "authorizer", "context": {
            "cluster": "authorizer", "user": "kube-apiserver",
        }}],
        "current-context": "authorizer",
    });
    let access = run.write("authorizer.kubeconfig", &access.to_string())?;
    let configuration = json!({
        "apiVersion": "apiserver.config.k8s.io/v1",
        "kind": "AuthorizationConfiguration",
        "authorizers": [
            {"type": "Webhook", "name": "webhook", "webhook": {
                "authorizedTTL": "1s",
                "cacheAuthorizedRequests": false,
                "unauthorizedTTL": "1s",
                "cacheUnauthorizedRequests": false,
                "timeout": format!("{}s", AuthorizerAddress::TIMEOUT.as_secs()),
                "subjectAccessReviewVersion": "v1",
                "matchConditionSubjectAccessReviewVersion": "v1",
                "failurePolicy": "NoOpinion",
                "connectionInfo": {"type": "KubeConfigFile", "kubeConfigFile": access},
            }},
            {"type": "RBAC", "name": "rbac"},
        ],
    });
    run.write(AUTHORIZATION, &configuration.to_string())
        .map(drop)
}
