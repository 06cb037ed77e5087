//! Requests for objects, after HTTP and before any step.

use bytes::Bytes;
use kubewright_core::{Resource, Scope, Verb};
use kubewright_wire::route::{Query, ResourceRoute};
use serde_json::Value;

use crate::authentication::User;
use crate::table::Form;
use crate::warnings::Warnings;

/// A request for objects, from a client or from a component of the cluster.
#[derive(Clone, Debug)]
pub struct ApiRequest {
    /// The user that sends it. The request is authorized before it gets here.
    pub user: User,
    /// The verb and the resource.
    pub route: ResourceRoute,
    /// The parameters of the URL.
    pub query: Query,
    /// How `content` changes the object, for a patch.
    pub patch: Option<PatchKind>,
    /// The body.
    pub content: Content,
    /// The representation of the response.
    pub form: Form,
    /// The program that sends it. It is the field manager, unless the parameter `fieldManager`
    /// names another.
    pub user_agent: String,
    /// Warnings for the client.
    pub warnings: Warnings,
}

/// The body of a request.
#[derive(Clone, Debug, Default)]
pub enum Content {
    /// No body.
    #[default]
    Empty,
    /// A value, from this process.
    Value(Value),
    /// JSON text.
    Json(Bytes),
    /// YAML text.
    Yaml(Bytes),
    /// Kubernetes' protobuf.
    Protobuf(Bytes),
}

impl Content {
    /// The size in bytes; 0 for values from this process.
    pub(crate) fn len(&self) -> usize {
        match self {
            Self::Empty | Self::Value(_) => 0,
            Self::Json(bytes) | Self::Yaml(bytes) | Self::Protobuf(bytes) => bytes.len(),
        }
    }
}

/// The four kinds of patches.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PatchKind {
    /// `application/json-patch+json`, RFC 6902.
    Json,
    /// `application/merge-patch+json`, RFC 7386.
    Merge,
    /// `application/strategic-merge-patch+json`, which knows the lists of the built-in kinds.
    StrategicMerge,
    /// `application/apply-patch+yaml`, server-side apply.
    Apply,
}

impl ApiRequest {
    /// A request for one object of a resource, or for a collection when `name` is none.
    pub fn new(
        user: User,
        verb: Verb,
        resource: &Resource,
        namespace: Option<&str>,
        name: Option<&str>,
    ) -> Self {
        let namespace = namespace.filter(|_| resource.scope == Scope::Namespaced);
        let user_agent = user.name.clone();
        Self {
            user,
            route: ResourceRoute {
                verb,
                group: resource.kind.group().to_owned(),
                version: resource.kind.version().to_owned(),
                plural: resource.plural.clone(),
                namespace: namespace.map(str::to_owned),
                name: name.map(str::to_owned),
                subresource: None,
                rest: None,
            },
            query: Query::default(),
            patch: None,
            content: Content::Empty,
            form: Form::Whole,
            user_agent,
            warnings: Warnings::default(),
        }
    }

    /// Makes it a request for a subresource, such as `status`.
    #[must_use]
    pub fn subresource(mut self, name: &str) -> Self {
        self.route.subresource = Some(name.to_owned());
        self
    }

    /// Sets the body.
    #[must_use]
    pub fn body(mut self, value: Value) -> Self {
        self.content = Content::Value(value);
        self
    }

    /// Sets a patch as the body.
    #[must_use]
    pub fn patch(mut self, kind: PatchKind, value: Value) -> Self {
        self.patch = Some(kind);
        self.body(value)
    }

    /// Sets the parameters, spelled as in a URL: `fieldManager=me&dryRun=All`.
    #[must_use]
    pub fn parameters(mut self, text: &str) -> Self {
        self.query = Query::parse(text);
        self
    }
}
