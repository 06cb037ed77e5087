//! Installs an operator: its manifests, its role and its webhooks.

use std::collections::BTreeMap;
use std::panic::Location;
use std::sync::Arc;

use kube::core::{ApiResource, GroupVersionKind};
use kubewright::Operator;
use kubewright_apiserver::User;
use kubewright_core::Description;
use parking_lot::Mutex;
use serde_json::{Value, json};

use super::failure::{Chain, fail};
use super::handle::Cluster;
use super::objects::is_condition_true;
use super::operator_under_test::OperatorUnderTest;
use super::webhooks::{CertificateIssuer, WebhookWiring};
use crate::Error;

impl Cluster {
    /// Installs an operator as [`run`](Self::run) does, but does not start it, as when its image
    /// cannot be pulled. [`restart_operator`](Self::restart_operator) starts it.
    ///
    /// # Panics
    ///
    /// When it cannot be installed.
    ///
    /// # Cancel safety
    ///
    /// When dropped, some of its objects may be installed.
    #[track_caller]
    pub fn install<F>(&self, operator: F) -> impl Future<Output = ()>
    where
        F: Fn() -> Operator + Send + Sync + 'static,
    {
        let location = Location::caller();
        async move {
            self.require_own_operator("install");
            let operator = Arc::new(operator);
            let issuer = CertificateIssuer::Harness;
            match self.install_here(operator, issuer).await {
                Ok(under_test) => self.shared.operators.lock().push(under_test),
                Err(error) => fail(location, Chain(&error)),
            }
        }
    }

    pub(super) async fn install_here(
        &self,
        make: Arc<dyn Fn() -> Operator + Send + Sync>,
        issuer: CertificateIssuer,
    ) -> Result<OperatorUnderTest, Error> {
        let webhooks = self.wiring(&make, issuer).await?;
        self.install_wired(make, webhooks).await
    }

    /// The address and certificate for the webhooks of an operator; `None` if it has no webhooks.
    pub(super) async fn wiring(
        &self,
        make: &Arc<dyn Fn() -> Operator + Send + Sync>,
        issuer: CertificateIssuer,
    ) -> Result<Option<WebhookWiring>, Error> {
        let description = make().description();
        if !description.serves() {
            return Ok(None);
        }
        let location = self.shared.backend.location()?;
        let wiring = WebhookWiring::new(location, &description, issuer).await?;
        Ok(Some(wiring))
    }

    /// Applies the manifests of the operator, and waits until they have an effect.
    pub(super) async fn install_wired(
        &self,
        make: Arc<dyn Fn() -> Operator + Send + Sync>,
        webhooks: Option<WebhookWiring>,
    ) -> Result<OperatorUnderTest, Error> {
        let description = make().description();
        let options = webhooks
            .as_ref()
            .map(WebhookWiring::options)
            .unwrap_or_default();
        self.require_policy_kinds(&description).await?;
        let objects = kubewright_manifest::objects(&description, &options);
        let mut account = None;
        for object in &objects {
            self.install_object(object).await?;
            if object["kind"] == "ServiceAccount" {
                let part = |field: &str| object["metadata"][field].as_str().unwrap_or_default();
                account = Some(User::service_account(part("namespace"), part("name")));
            }
        }
        let account = account.ok_or_else(|| Error::Unsupported {
            operation: format!("run operator {}", description.name),
            reason: "its manifests contain no ServiceAccount",
        })?;
        self.wait_for_role(&description, &account).await?;
        let secret = webhooks
            .as_ref()
            .and_then(|wiring| wiring.secret(&description));
        if let Some((namespace, name)) = secret {
            let read = json!({"namespace": namespace, "name": name, "group": "",
                "resource": "secrets", "verb": "get"});
            self.wait_until_allowed(&account, &read).await?;
        }
        self.wait_for_webhooks(&description).await?;
        self.wait_for_policies(&description).await?;
        Ok(OperatorUnderTest::new(make, account, webhooks))
    }

    async fn install_object(&self, object: &Value) -> Result<(), Error> {
        let (kind, path) = self.path_of(object).await?;
        let mut object = object.clone();
        self.shared.backend.claim(&mut object, &path).await?;
        let operation = format!("install {kind} {}", object["metadata"]["name"]);
        self.send(
            "APPLY",
            &format!("{path}?fieldManager=kubewright-test&force=true"),
            &object,
        )
        .await
        .map_err(Error::request(&operation))?;
        if kind != "CustomResourceDefinition" {
            return Ok(());
        }
        self.until(&operation, async || {
            let stored = self.read(&path).await.map_err(Error::request(&operation))?;
            let is_established = is_condition_true(&stored, "Established");
            Ok((!is_established).then(|| "not Established".to_owned()))
        })
        .await
    }

    /// The kind and path of an object by the server's discovery.
    async fn path_of(&self, object: &Value) -> Result<(String, String), Error> {
        let text = |field: &str| object[field].as_str().unwrap_or_default();
        let version = kubewright_core::GroupVersion::from_api_version(text("apiVersion"));
        let kind = GroupVersionKind::gvk(&version.group, &version.version, text("kind"));
        let plural = self.plural(&kind).await?;
        let metadata = &object["metadata"];
        let root = if version.group.is_empty() {
            "/api"
        } else {
            "/apis"
        };
        let folder = metadata["namespace"]
            .as_str()
            .map(|namespace| format!("/namespaces/{namespace}"))
            .unwrap_or_default();
        let name = metadata["name"].as_str().unwrap_or_default();
        let path = format!("{root}/{version}{folder}/{plural}/{name}");
        Ok((kind.kind, path))
    }

    /// The plural name of a kind by the server's discovery. The names of built-in kinds are the
    /// same on every cluster, and cached for the life of the process.
    pub(super) async fn plural(&self, kind: &GroupVersionKind) -> Result<String, Error> {
        static KNOWN: Mutex<BTreeMap<(String, String), String>> = Mutex::new(BTreeMap::new());

        let key = (kind.api_version(), kind.kind.clone());
        if let Some(plural) = KNOWN.lock().get(&key) {
            return Ok(plural.clone());
        }
        let (resource, _): (ApiResource, _) = kube::discovery::pinned_kind(&self.client, kind)
            .await
            .map_err(Error::request(format!("discover kind {}", kind.kind)))?;
        if kind.group.is_empty() || kind.group.ends_with(".k8s.io") {
            KNOWN.lock().insert(key, resource.plural.clone());
        }
        Ok(resource.plural)
    }

    /// Waits until the server applies the new role: it learns of roles by watching them.
    async fn wait_for_role(&self, description: &Description, account: &User) -> Result<(), Error> {
        let namespace = description.namespaces.first();
        let rules = match namespace {
            Some(_) => description.namespace_rules(),
            None => description.rules(),
        };
        let first = |list: &[String]| list.first().cloned();
        let Some((rule, resource)) = rules
            .iter()
            .find_map(|rule| Some((rule, first(&rule.resources)?)))
        else {
            return Ok(());
        };
        let (resource, subresource) = resource.split_once('/').unwrap_or((&resource, ""));
        let attributes = json!({
            "namespace": namespace,
            "group": first(&rule.api_groups),
            "resource": resource,
            "subresource": subresource,
            "verb": first(&rule.verbs),
        });
        self.wait_until_allowed(account, &attributes).await
    }

    /// Waits until the server allows a request of an account.
    async fn wait_until_allowed(&self, account: &User, attributes: &Value) -> Result<(), Error> {
        let review = json!({
            "apiVersion": "authorization.k8s.io/v1",
            "kind": "SubjectAccessReview",
            "spec": {
                "user": account.name,
                "groups": account.groups,
                "resourceAttributes": attributes,
            },
        });
        let operation = format!("wait until {} has its permissions", account.name);
        self.until(&operation, async || {
            let path = "/apis/authorization.k8s.io/v1/subjectaccessreviews";
            let response = self
                .send("POST", path, &review)
                .await
                .map_err(Error::request(&operation))?;
            Ok((response["status"]["allowed"] != true).then(|| "not allowed".to_owned()))
        })
        .await
    }
}
