use k8s_openapi::api::authentication::v1::{TokenRequest, TokenRequestSpec};
use k8s_openapi::api::core::v1::ServiceAccount;
use kube::Api;
use kube::api::PostParams;
use serde_json::Value;

use crate::error::Error;
use crate::objects::{
    DEV_FIELD_MANAGER, Former, Located, Ownership, POLICY_KINDS, apply_all, left_over,
};

/// The account that an operator's manifests bring along.
#[derive(Debug)]
pub(crate) struct Account {
    namespace: String,
    name: String,
}

/// What an installation did.
#[derive(Debug)]
pub(crate) struct Installed {
    /// The operator's.
    pub(crate) account: Account,
    /// Policies, and bindings of them, that an earlier program had and this one has not.
    pub(crate) removed: Vec<Located>,
}

/// Applies what the program's `manifests` prints, and deletes policies that an earlier run of
/// `kubewright dev` applied and that are not among it: the API server would go on refusing.
///
/// # Cancel safety
///
/// Dropping the future may leave part of the objects applied; another run does the rest.
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
    let former = Former {
        operator: &account.name,
        manager: DEV_FIELD_MANAGER,
        kinds: &POLICY_KINDS,
    };
    let removed = left_over(client, former, &applied).await?;
    for policy in &removed {
        policy.delete(client).await?;
    }
    Ok(Installed { account, removed })
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

    /// A policy that refuses nothing, and its binding.
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
    async fn a_policy_that_the_program_no_longer_has_goes_with_its_binding_and_no_other() {
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

        let first = install(&client, &with("guard", "former")).await.unwrap();
        assert!(first.removed.is_empty(), "{:?}", first.removed);
        let second = install(&client, &with("guard", "renamed")).await.unwrap();
        let removed: Vec<String> = second.removed.iter().map(ToString::to_string).collect();
        assert_eq!(
            removed,
            [
                "ValidatingAdmissionPolicyBinding former",
                "ValidatingAdmissionPolicy former",
            ]
        );
        assert!(policies(&client).get_opt("former").await.unwrap().is_none());
        for kept in ["others", "deployed", "renamed"] {
            let found = policies(&client).get_opt(kept).await.unwrap();
            assert!(found.is_some(), "{kept}");
        }
    }
}
