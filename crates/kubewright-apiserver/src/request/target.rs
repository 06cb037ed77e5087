use std::sync::Arc;

use kubewright_core::{Kind, Verb};
use kubewright_wire::route::ResourceRoute;
use kubewright_wire::status::Status;

use crate::catalog::{Origin, Served};
use crate::kinds::{is_newer_event, newer_event};
use crate::store::{Key, Object};

/// What a request is about, found in the catalog.
#[derive(Clone, Debug)]
pub(crate) struct Target {
    pub(crate) served: Arc<Served>,
    pub(crate) namespace: Option<String>,
    pub(crate) name: Option<String>,
}

impl Target {
    /// None where a real server has no page: a custom resource asked for in the wrong scope.
    pub(crate) fn new(served: Arc<Served>, route: &ResourceRoute) -> Result<Option<Self>, Status> {
        let makes_named = route.verb == Verb::Create && route.subresource.is_none();
        if makes_named && route.name.is_some() {
            return Err(Status::method_not_supported());
        }
        let is_namespaces = served.is("", "Namespace");
        // Roles see a Namespace inside itself, so no other namespace may stand before its name.
        if is_namespaces && route.namespace.is_some() && route.namespace != route.name {
            return Err(Status::unknown_resource());
        }
        let namespace = route.namespace.clone().filter(|_| !is_namespaces);
        let needs_namespace = route.name.is_some() && is_about_one(route.verb)
            || matches!(route.verb, Verb::Create | Verb::DeleteCollection);
        let fits = match served.is_namespaced() {
            true => namespace.is_some() || !needs_namespace,
            false => namespace.is_none(),
        };
        if fits {
            return Ok(Some(Self {
                name: route.name.clone(),
                served,
                namespace,
            }));
        }
        match served.origin {
            Origin::Custom(_) => Ok(None),
            Origin::Builtin if served.is_namespaced() && route.name.is_none() => {
                Err(Status::method_not_supported())
            }
            Origin::Builtin => Err(Status::unknown_resource()),
        }
    }

    pub(crate) fn kind(&self) -> &Kind {
        self.served.kind()
    }

    /// The name in the URL.
    pub(crate) fn name(&self) -> Result<&str, Status> {
        self.name
            .as_deref()
            .ok_or_else(Status::method_not_supported)
    }

    /// Where the object of that name is stored.
    pub(crate) fn key(&self, name: &str) -> Key {
        Key::new(Arc::clone(&self.served.id), self.namespace.as_deref(), name)
    }

    /// A stored object as its schema shows it.
    pub(crate) fn restored(&self, object: &Arc<Object>) -> Arc<Object> {
        match self.served.custom() {
            Some(custom) => custom.restore(object),
            None if is_newer_event(self.kind()) => {
                let event = newer_event(object.value().clone());
                Arc::new(Object::encoded(event, object.revision()))
            }
            None => Arc::clone(object),
        }
    }

    pub(crate) fn not_found(&self, name: &str) -> Status {
        Status::not_found(&self.served.resource, name)
    }
}

fn is_about_one(verb: Verb) -> bool {
    matches!(verb, Verb::Get | Verb::Update | Verb::Patch | Verb::Delete)
}
