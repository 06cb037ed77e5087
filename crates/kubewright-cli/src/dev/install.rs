//! Installs an operator's manifests for `dev`, and creates a token for its account.

use k8s_openapi::api::authentication::v1::{TokenRequest, TokenRequestSpec};
use k8s_openapi::api::core::v1::ServiceAccount;
use kube::Api;
use kube::api::PostParams;
use serde_json::Value;

use crate::error::Error;
use crate::objects::{
    DEV_FIELD_MANAGER, EarlierRuns, Located, Ownership, POLICY_KINDS, apply_all, leftovers,
};

/// The ServiceAccount of an operator.
#[derive(Debug)]
pub(crate) struct Account {
    namespace: String,
    name: String,
}

/// The result of an installation.
#[derive(Debug)]
pub(crate) struct Installed {
    pub(crate) account: Account,
    /// Policies and bindings that only an earlier version of the program had.
    pub(crate) removed: Vec<Located>,
}

/// Applies the manifests, and deletes policies that only an earlier run of `kubewright dev` applied:
/// the API server would continue to enforce them.
///
/// # Cancel safety
///
/// Dropping the future may leave part of the objects applied; another run applies the rest.
pub(crate) async fn install(client: &kube::Client, objects: &[Value]) -> Result<Installed, Error> {
    let applied = apply_all(client, objects, Ownership::Dev).await?;
    let account = objects
        .iter()
        .find(|object| object["kind"] == "ServiceAccount");
    let field = |field: &str| {
        account
            .and_then(|account| account["metadata"][field].as_str())
            .unwrap_or("default")
            .to_owned()
    };
    let account = Account {
        namespace: field("namespace"),
        name: field("name"),
    };
    let runs = EarlierRuns {
        operator: &account.name,
        manager: DEV_FIELD_MANAGER,
        kinds: &POLICY_KINDS,
    };
    let removed = leftovers(client, runs, &applied).await?;
    for policy in &removed {
        policy.delete(client).await?;
    }
    Ok(Installed { account, removed })
}

/// Returns a token for the account, as a Pod of the operator has one.
///
/// # Cancel safety
///
/// Safe: an unused token expires.
pub(crate) async fn token(client: &kube::Client, account: &Account) -> Result<String, Error> {
    let accounts: Api<ServiceAccount> = Api::namespaced(client.clone(), &account.namespace);
    let request = TokenRequest {
        spec: Some(TokenRequestSpec {
            expiration_seconds: Some(86_400),
            ..TokenRequestSpec::default()
        }),
        ..TokenRequest::default()
    };
    let response = accounts
        .create_token_request(&account.name, &PostParams::default(), &request)
        .await
        .map_err(|source| Error::Request {
            action: format!("create a token of {}/{}", account.namespace, account.name),
            source: Box::new(source),
        })?;
    Ok(response
        .status
        .and_then(|status| status.token)
        .unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use kube::Api;
    use kube::api::{ApiResource, DynamicObject, Patch, PatchParams};
    use kubewright_apiserver::{Server, ServerOptions, User};
    use serde_json::{Value, json};

    use super::install;
    use crate::objects::FIELD_MANAGER;

    fn account(operator: &str) -> Value {
        json!({
            "apiVersion": "v1", "kind": "ServiceAccount",
            "metadata": {"name": operator, "namespace": "default"},
        })
    }

    /// A policy that denies nothing, and its binding.
    fn policy(operator: &str, name: &str) -> [Value; 2] {
        let object = |kind: &str, spec: Value| {
            json!({
                "apiVersion": "admissionregistration.k8s.io/v1", "kind": kind, "spec": spec,
                "metadata": {"name": name, "labels": {"app.kubernetes.io/name": operator}},
            })
        };
        let matched = json!({"resourceRules": [{
            "apiGroups": [""], "apiVersions": ["v1"], "operations": ["CREATE"],
            "resources": ["configmaps"],
        }]});
        let spec = json!({"matchConstraints": matched, "validations": [{"expression": "true"}]});
        let bound = json!({"policyName": name, "validationActions": ["Deny"]});
        [
            object("ValidatingAdmissionPolicy", spec),
            object("ValidatingAdmissionPolicyBinding", bound),
        ]
    }

    fn policies(client: &kube::Client) -> Api<DynamicObject> {
        let resource = ApiResource {
            group: "admissionregistration.k8s.io".to_owned(),
            version: "v1".to_owned(),
            api_version: "admissionregistration.k8s.io/v1".to_owned(),
            kind: "ValidatingAdmissionPolicy".to_owned(),
            plural: "validatingadmissionpolicies".to_owned(),
        };
        Api::all_with(client.clone(), &resource)
    }

    /// One policy is renamed, one belongs to another operator, one was deployed.
    #[tokio::test]
    async fn only_policies_that_dev_installed_and_the_program_no_longer_has_are_deleted() {
        let server = Server::new(ServerOptions::default());
        let client = kube::Client::new(server.service(User::admin()), "default");
        let with = |operator: &str, name: &str| {
            let [policy, binding] = policy(operator, name);
            [account(operator), policy, binding]
        };
        install(&client, &with("other", "others")).await.unwrap();
        let [deployed, _] = policy("guard", "deployed");
        let as_deployed = PatchParams::apply(FIELD_MANAGER);
        policies(&client)
            .patch("deployed", &as_deployed, &Patch::Apply(&deployed))
            .await
            .unwrap();

        let first = install(&client, &with("guard", "old-name")).await.unwrap();
        assert!(first.removed.is_empty(), "{:?}", first.removed);
        let second = install(&client, &with("guard", "new-name")).await.unwrap();
        let removed: Vec<String> = second.removed.iter().map(ToString::to_string).collect();
        assert_eq!(
            removed,
            [
                "ValidatingAdmissionPolicyBinding old-name",
                "ValidatingAdmissionPolicy old-name",
            ]
        );
        let old = policies(&client).get_opt("old-name").await.unwrap();
        assert!(old.is_none());
        for kept in ["others", "deployed", "new-name"] {
            let found = policies(&client).get_opt(kept).await.unwrap();
            assert!(found.is_some(), "{kept}");
        }
    }
}
