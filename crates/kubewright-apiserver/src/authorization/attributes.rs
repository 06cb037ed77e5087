//! The attributes of a request that authorizers see.

use kubewright_wire::route::Route;

use crate::authentication::User;

/// The user, verb and target of a request.
#[derive(Clone, Copy, Debug)]
pub(crate) struct AccessAttributes<'a> {
    pub(crate) user: &'a User,
    /// As roles spell it: `get`, `deletecollection`, `impersonate`.
    pub(crate) verb: &'a str,
    pub(crate) target: AccessTarget<'a>,
}

/// The target of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum AccessTarget<'a> {
    Resource(ResourceTarget<'a>),
    /// A path outside the resources, such as `/version`.
    Path(&'a str),
}

/// A resource and, where they matter, its subresource, namespace and name; empty means none.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct ResourceTarget<'a> {
    pub(crate) group: &'a str,
    pub(crate) plural: &'a str,
    pub(crate) subresource: &'a str,
    pub(crate) namespace: &'a str,
    pub(crate) name: &'a str,
}

impl<'a> AccessAttributes<'a> {
    /// The attributes of an HTTP request. The verb is as roles spell it; for paths outside the
    /// resources it is the method.
    pub(crate) fn of_route(user: &'a User, verb: &'a str, route: &'a Route) -> Self {
        let target = match route {
            Route::Path(path) => AccessTarget::Path(path),
            Route::Resource(route) => AccessTarget::Resource(ResourceTarget {
                group: &route.group,
                plural: &route.plural,
                subresource: route.subresource.as_deref().unwrap_or_default(),
                namespace: route.namespace.as_deref().unwrap_or_default(),
                name: route.name.as_deref().unwrap_or_default(),
            }),
        };
        Self { user, verb, target }
    }

    /// The namespace whose bindings apply; empty for none.
    pub(crate) fn namespace(&self) -> &'a str {
        match self.target {
            AccessTarget::Resource(resource) => resource.namespace,
            AccessTarget::Path(_) => "",
        }
    }
}

impl ResourceTarget<'_> {
    /// `pods`, or `pods/status` for a subresource.
    pub(crate) fn combined(&self) -> String {
        match self.subresource {
            "" => self.plural.to_owned(),
            subresource => format!("{}/{subresource}", self.plural),
        }
    }
}
