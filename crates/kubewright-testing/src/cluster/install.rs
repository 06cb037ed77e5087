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
use super::operator::UnderTest;
use super::webhooks::{CertificateMaker, WebhookWiring};
use crate::Error;

impl Cluster {
    /// Installs an operator as [`run`](Self::run) does and does not start it, as where its program
    /// cannot be had; [`restart_operator`](Self::restart_operator) does.
    ///
    /// # Panics
    ///
    /// When it cannot be installed.
    ///
    /// # Cancel safety
    ///
    /// When dropped, a part of it may be installed.
    #[track_caller]
    pub fn install<F>(&self, operator: F) -> impl Future<Output = ()>
    where
        F: Fn() -> Operator + Send + Sync + 'static,
    {
        let location = Location::caller();
        async move {
            self.needs_own_operator("install");
            let operator = Arc::new(operator);
            match self.install_here(operator, CertificateMaker::Kit).await {
                Ok(under_test) => self.shared.operators.lock().push(under_test),
                Err(error) => fail(location, Chain(&error)),
            }
        }
    }

    pub(super) async fn install_here(
        &self,
        make: Arc<dyn Fn() -> Operator + Send + Sync>,
        maker: CertificateMaker,
    ) -> Result<UnderTest, Error> {
        let webhooks = self.wiring(&make, maker).await?;
        self.install_wired(make, webhooks).await
    }

    /// Where the webhooks of an operator are to be; none when it has none.
    pub(super) async fn wiring(
        &self,
        make: &Arc<dyn Fn() -> Operator + Send + Sync>,
        maker: CertificateMaker,
    ) -> Result<Option<WebhookWiring>, Error> {
        let description = make().description();
        if !description.serves() {
            return Ok(None);
        }
        let reach = self.shared.backend.reach()?;
        let wiring = WebhookWiring::new(reach, &description, maker).await?;
        Ok(Some(wiring))
    }

    /// Applies what the operator's `manifests` print.
    pub(super) async fn install_wired(
        &self,
        make: Arc<dyn Fn() -> Operator + Send + Sync>,
        webhooks: Option<WebhookWiring>,
    ) -> Result<UnderTest, Error> {
        let description = make().description();
        let options = webhooks.as_ref().map(WebhookWiring::options);
        let options = options.unwrap_or_default();
        self.serves_policies(&description).await?;
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
            asked: format!("run operator {}", description.name),
            why: "its manifests hold no ServiceAccount to run as",
        })?;
        self.permitted(&description, &account).await?;
        let secret = webhooks.as_ref().and_then(|one| one.secret(&description));
        if let Some((namespace, name)) = secret {
            let read = json!({"namespace": namespace, "name": name, "group": "",
                "resource": "secrets", "verb": "get"});
            self.allowed(&account, &read).await?;
        }
        self.webhooks_act(&description).await?;
        self.policies_act(&description).await?;
        Ok(UnderTest::new(make, account, webhooks))
    }

    async fn install_object(&self, object: &Value) -> Result<(), Error> {
        let (kind, path) = self.path_of(object).await?;
        let mut object = object.clone();
        self.shared.backend.claim(&mut object, &path).await?;
        let object = &object;
        let tried = || format!("install {kind} {}", object["metadata"]["name"]);
        self.send(
            "APPLY",
            &format!("{path}?fieldManager=kubewright-test&force=true"),
            object,
        )
        .await
        .map_err(failed(tried()))?;
        if kind != "CustomResourceDefinition" {
            return Ok(());
        }
        self.until(&tried(), async || {
            let stored = self.read(&path).await.map_err(failed(tried()))?;
            let conditions = stored["status"]["conditions"].as_array();
            let mut conditions = conditions.into_iter().flatten();
            let established =
                conditions.any(|one| one["type"] == "Established" && one["status"] == "True");
            Ok((!established).then(|| "not Established".to_owned()))
        })
        .await
    }

    /// The kind and path of an object, as the server's discovery tells.
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
        let namespace = metadata["namespace"].as_str();
        let namespace = namespace
            .map(|name| format!("/namespaces/{name}"))
            .unwrap_or_default();
        let name = metadata["name"].as_str().unwrap_or_default();
        let path = format!("{root}/{version}{namespace}/{plural}/{name}");
        Ok((kind.kind, path))
    }

    /// What the server calls a kind in its paths. It is asked once in the life of the process for
    /// the kinds of Kubernetes itself, which are the same on every cluster.
    pub(super) async fn plural(&self, kind: &GroupVersionKind) -> Result<String, Error> {
        static KNOWN: Mutex<BTreeMap<(String, String), String>> = Mutex::new(BTreeMap::new());

        let key = (kind.api_version(), kind.kind.clone());
        if let Some(plural) = KNOWN.lock().get(&key) {
            return Ok(plural.clone());
        }
        let found = kube::discovery::pinned_kind(&self.client, kind).await;
        let (resource, _): (ApiResource, _) =
            found.map_err(failed(format!("ask how {} is served", kind.kind)))?;
        if kind.group.is_empty() || kind.group.ends_with(".k8s.io") {
            KNOWN.lock().insert(key, resource.plural.clone());
        }
        Ok(resource.plural)
    }

    /// Waits until the server acts on the new role: it learns of roles by watching them.
    async fn permitted(&self, description: &Description, account: &User) -> Result<(), Error> {
        let place = description.namespaces.first();
        let rules = match place {
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
            "namespace": place,
            "group": first(&rule.api_groups),
            "resource": resource,
            "subresource": subresource,
            "verb": first(&rule.verbs),
        });
        self.allowed(account, &attributes).await
    }

    /// Waits until the server lets an account do something.
    async fn allowed(&self, account: &User, attributes: &Value) -> Result<(), Error> {
        let review = json!({
            "apiVersion": "authorization.k8s.io/v1",
            "kind": "SubjectAccessReview",
            "spec": {
                "user": account.name,
                "groups": account.groups,
                "resourceAttributes": attributes,
            },
        });
        let tried = format!("wait until {} may work", account.name);
        self.until(&tried, async || {
            let path = "/apis/authorization.k8s.io/v1/subjectaccessreviews";
            let answer = self.send("POST", path, &review).await;
            let answer = answer.map_err(failed(tried.clone()))?;
            Ok((answer["status"]["allowed"] != true).then(|| "not allowed".to_owned()))
        })
        .await
    }
}

fn failed(tried: String) -> impl FnOnce(kube::Error) -> Error {
    |source| Error::Request {
        tried,
        source: Box::new(source),
    }
}
