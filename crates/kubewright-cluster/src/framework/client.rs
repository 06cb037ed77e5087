//! The client of a component: reads from the store, writes through the API server.

use std::sync::Arc;

use jiff::Timestamp;
use kubewright_apiserver::store::{Object, Store};
use kubewright_apiserver::{ApiRequest, PatchKind, Server, User, timestamp};
use kubewright_core::{Resource, Verb};
use kubewright_kinds::Propagation;
use kubewright_wire::status::{CauseKind, Status};
use serde_json::{Value, json};

use super::event::EventSource;

/// Who a component is towards the API server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Identity {
    /// A service account of `kube-system`.
    ServiceAccount(&'static str),
    /// A user that is not a service account.
    User(&'static str),
}

impl Identity {
    fn user(self) -> User {
        match self {
            Self::ServiceAccount(name) => {
                User::system(format!("system:serviceaccount:kube-system:{name}"))
            }
            Self::User(name) => User::system(name),
        }
    }
}

/// The cluster as one component sees it. Reads come from the store. Writes are requests of the
/// component's user: they pass admission and validation, but no authorization.
#[derive(Clone, Debug)]
pub(crate) struct Client {
    server: Server,
    user: User,
    field_manager: &'static str,
    /// `None` when the component records no events.
    event_source: Option<EventSource>,
}

/// Options of a delete.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct DeleteOptions<'a> {
    /// The delete fails when the object of this name has another uid.
    pub(crate) uid: &'a str,
    pub(crate) grace_seconds: Option<i64>,
    pub(crate) propagation: Option<Propagation>,
}

impl Client {
    pub(crate) fn new(server: Server, identity: Identity, field_manager: &'static str) -> Self {
        Self {
            server,
            user: identity.user(),
            field_manager,
            event_source: None,
        }
    }

    /// Records events under the name of a component.
    #[must_use]
    pub(crate) fn recording_as(mut self, component: &'static str) -> Self {
        self.event_source = Some(EventSource::new(component));
        self
    }

    pub(super) fn event_source(&self) -> Option<&EventSource> {
        self.event_source.as_ref()
    }

    /// The client of the kubelet of a node.
    pub(crate) fn as_node(&self, node: &str) -> Self {
        Self {
            user: User::system(format!("system:node:{node}")),
            ..self.clone()
        }
    }

    pub(crate) fn server(&self) -> &Server {
        &self.server
    }

    pub(crate) fn store(&self) -> &Store {
        self.server.store()
    }

    /// The current time as objects carry it.
    pub(crate) fn timestamp(&self) -> String {
        timestamp(self.now())
    }

    pub(crate) fn now(&self) -> Timestamp {
        self.server.clock().now()
    }

    /// Creates an object and returns it as stored.
    pub(crate) async fn create(
        &self,
        resource: &Resource,
        namespace: Option<&str>,
        object: Value,
    ) -> Result<Arc<Object>, Status> {
        let request = self.request(Verb::Create, resource, namespace, None);
        let response = self.server.execute(request.body(object)).await?;
        response.into_object().ok_or_else(Status::unknown_resource)
    }

    /// Applies fields to an object and takes them over from other field managers.
    pub(crate) async fn apply(
        &self,
        resource: &Resource,
        object: &Object,
        fields: Value,
    ) -> Result<(), Status> {
        let parameters = format!("fieldManager={}&force=true", self.field_manager);
        let request = self
            .request_for(Verb::Patch, resource, object)
            .patch(PatchKind::Apply, fields)
            .parameters(&parameters);
        self.send(request).await
    }

    /// Creates a subresource of an object, such as a Pod's binding.
    pub(crate) async fn create_subresource(
        &self,
        resource: &Resource,
        object: &Object,
        subresource: &str,
        body: Value,
    ) -> Result<(), Status> {
        let request = self.request_for(Verb::Create, resource, object);
        self.send(request.subresource(subresource).body(body)).await
    }

    /// Replaces a subresource of an object.
    pub(crate) async fn update_subresource(
        &self,
        resource: &Resource,
        object: &Object,
        subresource: &str,
        body: Value,
    ) -> Result<(), Status> {
        let request = self.request_for(Verb::Update, resource, object);
        self.send(request.subresource(subresource).body(body)).await
    }

    /// Changes an object by a merge patch.
    pub(crate) async fn patch(
        &self,
        resource: &Resource,
        object: &Object,
        patch: Value,
    ) -> Result<(), Status> {
        let request = self.request_for(Verb::Patch, resource, object);
        self.send(request.patch(PatchKind::Merge, patch)).await
    }

    /// Changes an object by a JSON patch.
    pub(crate) async fn json_patch(
        &self,
        resource: &Resource,
        object: &Object,
        operations: Value,
    ) -> Result<(), Status> {
        let request = self.request_for(Verb::Patch, resource, object);
        self.send(request.patch(PatchKind::Json, operations)).await
    }

    /// Changes the status of an object by a merge patch.
    pub(crate) async fn patch_status(
        &self,
        resource: &Resource,
        object: &Object,
        patch: Value,
    ) -> Result<(), Status> {
        let request = self
            .request_for(Verb::Patch, resource, object)
            .subresource("status")
            .patch(PatchKind::Merge, patch);
        self.send(request).await
    }

    /// Deletes an object.
    pub(crate) async fn delete(
        &self,
        resource: &Resource,
        object: &Object,
        options: DeleteOptions<'_>,
    ) -> Result<(), Status> {
        let mut body = json!({
            "kind": "DeleteOptions",
            "apiVersion": "v1",
            "preconditions": {"uid": options.uid},
        });
        if let Some(seconds) = options.grace_seconds {
            body["gracePeriodSeconds"] = seconds.into();
        }
        if let Some(policy) = options.propagation.and_then(propagation_policy) {
            body["propagationPolicy"] = policy.into();
        }
        let request = self.request_for(Verb::Delete, resource, object);
        self.send(request.body(body)).await
    }

    fn request_for(&self, verb: Verb, resource: &Resource, object: &Object) -> ApiRequest {
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
        // Without `fieldManager`, the server takes the user agent for it.
        self.field_manager.clone_into(&mut request.user_agent);
        request
    }

    async fn send(&self, request: ApiRequest) -> Result<(), Status> {
        let response = self.server.execute(request).await?;
        match response.code.as_u16() {
            404 => Err(Status::unknown_resource()),
            _ => Ok(()),
        }
    }
}

/// The value of `propagationPolicy`.
fn propagation_policy(propagation: Propagation) -> Option<&'static str> {
    match propagation {
        Propagation::Background => Some("Background"),
        Propagation::Foreground => Some("Foreground"),
        Propagation::Orphan => Some("Orphan"),
        Propagation::Unsupported => None,
    }
}

/// Whether a create failed because the namespace is being deleted. No create in it can succeed
/// after that.
pub(crate) fn is_namespace_terminating(failure: &Status) -> bool {
    let causes = failure.details.iter().flat_map(|details| &details.causes);
    let mut kinds = causes.filter_map(|cause| cause.kind.as_ref());
    kinds.any(|kind| matches!(kind, CauseKind::Other(name) if name == "NamespaceTerminating"))
}
