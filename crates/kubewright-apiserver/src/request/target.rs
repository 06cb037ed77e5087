//! The resource and object of a request.

use std::sync::Arc;

use kubewright_core::{Kind, Verb};
use kubewright_kinds::core::NAMESPACE;
use kubewright_wire::route::ResourceRoute;
use kubewright_wire::status::Status;

use crate::resources::{Origin, ServedResource};
use crate::store::{Key, Object};

/// The resource and object of a request.
#[derive(Clone, Debug)]
pub(crate) struct Target {
    pub(crate) resource: Arc<ServedResource>,
    pub(crate) namespace: Option<String>,
    pub(crate) name: Option<String>,
}

impl Target {
    /// None where the response is a plain text 404: a custom resource in the wrong scope.
    pub(crate) fn new(
        resource: Arc<ServedResource>,
        route: &ResourceRoute,
    ) -> Result<Option<Self>, Status> {
        let is_object_create = route.verb == Verb::Create && route.subresource.is_none();
        if is_object_create && route.name.is_some() {
            return Err(Status::method_not_supported());
        }
        let is_namespaces = resource.is(&NAMESPACE);
        // For roles, a Namespace is in itself: a path with another namespace is an error.
        if is_namespaces && route.namespace.is_some() && route.namespace != route.name {
            return Err(Status::unknown_resource());
        }
        let namespace = route.namespace.clone().filter(|_| !is_namespaces);
        let needs_namespace = route.name.is_some() && is_for_object(route.verb)
            || matches!(route.verb, Verb::Create | Verb::DeleteCollection);
        let is_in_scope = if resource.is_namespaced() {
            namespace.is_some() || !needs_namespace
        } else {
            namespace.is_none()
        };
        if is_in_scope {
            return Ok(Some(Self {
                name: route.name.clone(),
                resource,
                namespace,
            }));
        }
        match resource.origin {
            Origin::Custom(_) => Ok(None),
            Origin::Builtin if resource.is_namespaced() && route.name.is_none() => {
                Err(Status::method_not_supported())
            }
            Origin::Builtin => Err(Status::unknown_resource()),
        }
    }

    pub(crate) fn kind(&self) -> &Kind {
        self.resource.kind()
    }

    /// The name in the URL.
    pub(crate) fn name(&self) -> Result<&str, Status> {
        self.name
            .as_deref()
            .ok_or_else(Status::method_not_supported)
    }

    /// The key of the object with that name.
    pub(crate) fn key(&self, name: &str) -> Key {
        Key::new(
            Arc::clone(&self.resource.id),
            self.namespace.as_deref(),
            name,
        )
    }

    /// A stored object as the schema of its stored version shows it.
    pub(crate) fn restored(&self, object: &Arc<Object>) -> Arc<Object> {
        if let Some(custom) = self.resource.custom() {
            return custom.restore(object);
        }
        match self.resource.strategy.stored_as {
            Some(stored) => {
                let value = (stored.decode)(object.value().clone());
                Arc::new(Object::encoded(value, object.revision()))
            }
            None => Arc::clone(object),
        }
    }

    /// Whether the stored form of its objects can differ from that of the request.
    pub(crate) fn is_converted(&self) -> bool {
        self.resource.custom().is_some() || self.resource.strategy.stored_as.is_some()
    }

    pub(crate) fn not_found(&self, name: &str) -> Status {
        Status::not_found(&self.resource.resource, name)
    }
}

fn is_for_object(verb: Verb) -> bool {
    matches!(verb, Verb::Get | Verb::Update | Verb::Patch | Verb::Delete)
}
