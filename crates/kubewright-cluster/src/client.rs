use std::sync::{Arc, LazyLock};

use jiff::Timestamp;
use kubewright_core::{GroupVersion, Kind, Resource, Scope, Verb};
use kubewright_wire::status::Status;
use serde_json::{Value, json};

use super::events::Reports;
use super::view::text;
use kubewright_apiserver::User;
use kubewright_apiserver::store::{Key, Object, Store};
use kubewright_apiserver::{ApiRequest, PatchKind};
use kubewright_apiserver::{Server, timestamp};

/// The resources that the controllers write by name.
pub(super) static PODS: LazyLock<Resource> = LazyLock::new(|| core("Pod", "pods"));
pub(super) static NODES: LazyLock<Resource> = LazyLock::new(|| {
    let kind = Kind::new("", "v1", "Node");
    Resource::new(kind, "nodes", Scope::Cluster)
});
pub(super) static NAMESPACES: LazyLock<Resource> = LazyLock::new(|| {
    let kind = Kind::new("", "v1", "Namespace");
    Resource::new(kind, "namespaces", Scope::Cluster)
});
pub(super) static SERVICE_ACCOUNTS: LazyLock<Resource> =
    LazyLock::new(|| core("ServiceAccount", "serviceaccounts"));
pub(super) static CONFIG_MAPS: LazyLock<Resource> =
    LazyLock::new(|| core("ConfigMap", "configmaps"));

pub(super) static EVENTS: LazyLock<Resource> = LazyLock::new(|| core("Event", "events"));
pub(super) static SERVICES: LazyLock<Resource> = LazyLock::new(|| core("Service", "services"));
pub(super) static QUOTAS: LazyLock<Resource> =
    LazyLock::new(|| core("ResourceQuota", "resourcequotas"));
pub(super) static LEASES: LazyLock<Resource> =
    LazyLock::new(|| namespaced("coordination.k8s.io", "Lease", "leases"));
pub(super) static DEPLOYMENTS: LazyLock<Resource> =
    LazyLock::new(|| namespaced("apps", "Deployment", "deployments"));
pub(super) static REPLICA_SETS: LazyLock<Resource> =
    LazyLock::new(|| namespaced("apps", "ReplicaSet", "replicasets"));
pub(super) static BUDGETS: LazyLock<Resource> =
    LazyLock::new(|| namespaced("policy", "PodDisruptionBudget", "poddisruptionbudgets"));
pub(super) static ENDPOINT_SLICES: LazyLock<Resource> =
    LazyLock::new(|| namespaced("discovery.k8s.io", "EndpointSlice", "endpointslices"));
pub(super) static CLUSTER_ROLES: LazyLock<Resource> = LazyLock::new(|| {
    let kind = Kind::new("rbac.authorization.k8s.io", "v1", "ClusterRole");
    Resource::new(kind, "clusterroles", Scope::Cluster)
});

fn namespaced(group: &str, kind: &str, plural: &str) -> Resource {
    Resource::new(Kind::new(group, "v1", kind), plural, Scope::Namespaced)
}

fn core(kind: &str, plural: &str) -> Resource {
    Resource::new(Kind::new("", "v1", kind), plural, Scope::Namespaced)
}

/// The cluster as one of its own parts reaches it: reads from the store, writes through the
/// server's door under a name.
#[derive(Clone, Debug)]
pub(super) struct Client {
    server: Server,
    user: User,
    /// What owns the written fields.
    manager: &'static str,
    /// The name under which the part tells what it did, and what it told; none when it tells
    /// nothing.
    reporter: Option<(&'static str, Reports)>,
}

/// How an object is to be deleted.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Deletion<'a> {
    /// Only this very object, not one of the same name.
    pub(super) uid: &'a str,
    pub(super) grace_seconds: Option<i64>,
    pub(super) propagation: Option<&'static str>,
}

impl Client {
    pub(super) fn new(server: Server, user: &str, manager: &'static str) -> Self {
        Self {
            server,
            user: User::system(user),
            manager,
            reporter: None,
        }
    }

    /// The same, telling what it did under a name.
    pub(super) fn reporting_as(mut self, component: &'static str) -> Self {
        self.reporter = Some((component, Reports::default()));
        self
    }

    pub(super) fn reporter(&self) -> Option<(&str, &Reports)> {
        let (component, reports) = self.reporter.as_ref()?;
        Some((component, reports))
    }

    /// The same under another name.
    pub(super) fn acting_as(&self, user: &str) -> Self {
        Self {
            user: User::system(user),
            ..self.clone()
        }
    }

    pub(super) fn server(&self) -> &Server {
        &self.server
    }

    pub(super) fn store(&self) -> &Store {
        self.server.store()
    }

    /// Now, as objects carry it.
    pub(super) fn timestamp(&self) -> String {
        timestamp(self.now())
    }

    pub(super) fn now(&self) -> Timestamp {
        self.server.clock().now()
    }

    pub(super) async fn create(
        &self,
        resource: &Resource,
        namespace: Option<&str>,
        object: Value,
    ) -> Result<(), Status> {
        let request = self.request(Verb::Create, resource, namespace, None);
        self.send(request.body(object)).await
    }

    /// Creates an object and says what was stored.
    pub(super) async fn make(
        &self,
        resource: &Resource,
        namespace: Option<&str>,
        object: Value,
    ) -> Result<Arc<Object>, Status> {
        let request = self.request(Verb::Create, resource, namespace, None);
        let answer = self.server.execute(request.body(object)).await?;
        answer.into_object().ok_or_else(Status::unknown_resource)
    }

    /// Takes over fields of an object, whoever owns them.
    pub(super) async fn apply(
        &self,
        resource: &Resource,
        object: &Object,
        fields: Value,
    ) -> Result<(), Status> {
        let request = self.about(Verb::Patch, resource, object);
        let request = request.patch(PatchKind::Apply, fields);
        let parameters = format!("fieldManager={}&force=true", self.manager);
        self.send(request.parameters(&parameters)).await
    }

    /// Creates a subresource of an object, such as a Pod's binding.
    pub(super) async fn create_at(
        &self,
        resource: &Resource,
        object: &Object,
        subresource: &str,
        body: Value,
    ) -> Result<(), Status> {
        let request = self.about(Verb::Create, resource, object);
        self.send(request.subresource(subresource).body(body)).await
    }

    /// Replaces a subresource of an object.
    pub(super) async fn update_at(
        &self,
        resource: &Resource,
        object: &Object,
        subresource: &str,
        body: Value,
    ) -> Result<(), Status> {
        let request = self.about(Verb::Update, resource, object);
        self.send(request.subresource(subresource).body(body)).await
    }

    /// Changes an object by a merge patch.
    pub(super) async fn patch(
        &self,
        resource: &Resource,
        object: &Object,
        patch: Value,
    ) -> Result<(), Status> {
        let request = self.about(Verb::Patch, resource, object);
        self.send(request.patch(PatchKind::Merge, patch)).await
    }

    /// Changes an object by a JSON patch.
    pub(super) async fn json_patch(
        &self,
        resource: &Resource,
        object: &Object,
        operations: Value,
    ) -> Result<(), Status> {
        let request = self.about(Verb::Patch, resource, object);
        self.send(request.patch(PatchKind::Json, operations)).await
    }

    /// Changes the status of an object by a merge patch.
    pub(super) async fn patch_status(
        &self,
        resource: &Resource,
        object: &Object,
        patch: Value,
    ) -> Result<(), Status> {
        let request = self.about(Verb::Patch, resource, object);
        let request = request.subresource("status");
        self.send(request.patch(PatchKind::Merge, patch)).await
    }

    pub(super) async fn delete(
        &self,
        resource: &Resource,
        object: &Object,
        deletion: Deletion<'_>,
    ) -> Result<(), Status> {
        let mut options = json!({
            "kind": "DeleteOptions",
            "apiVersion": "v1",
            "preconditions": {"uid": deletion.uid},
        });
        if let Some(seconds) = deletion.grace_seconds {
            options["gracePeriodSeconds"] = seconds.into();
        }
        if let Some(policy) = deletion.propagation {
            options["propagationPolicy"] = policy.into();
        }
        let request = self.about(Verb::Delete, resource, object);
        self.send(request.body(options)).await
    }

    fn about(&self, verb: Verb, resource: &Resource, object: &Object) -> ApiRequest {
        self.request(verb, resource, object.namespace(), Some(object.name()))
    }

    fn request(
        &self,
        verb: Verb,
        resource: &Resource,
        namespace: Option<&str>,
        name: Option<&str>,
    ) -> ApiRequest {
        let mut request = ApiRequest::new(self.user.clone(), verb, resource, namespace, name);
        self.manager.clone_into(&mut request.user_agent);
        request
    }

    async fn send(&self, request: ApiRequest) -> Result<(), Status> {
        let answer = self.server.execute(request).await?;
        match answer.code.as_u16() {
            404 => Err(Status::unknown_resource()),
            _ => Ok(()),
        }
    }
}

/// The resource of a stored object.
pub(super) fn resource_of(key: &Key, object: &Object) -> Resource {
    let plural = match key.resource().split_once('.') {
        Some((plural, _)) => plural,
        None => key.resource(),
    };
    let scope = match key.namespace() {
        Some(_) => Scope::Namespaced,
        None => Scope::Cluster,
    };
    let kind = Kind {
        group_version: GroupVersion::from_api_version(text(object.value(), "/apiVersion")),
        kind: text(object.value(), "/kind").to_owned(),
    };
    Resource::new(kind, plural, scope)
}
