//! Limits a client to the rules of an operator's role.

use std::collections::BTreeSet;
use std::sync::Arc;

use http::Request;
use kube::Client;
use kube::client::Body;
use kubewright_core::{Description, PolicyRule, Verb};
use kubewright_runtime::NamespaceSet;
use kubewright_runtime::client::{Blocked, RequestFilter, with_layer};
use kubewright_wire::route::{ResourceRoute, Route};
use parking_lot::Mutex;

use crate::Error;

/// Limits a client to the rules that the manifests grant.
///
/// Each request is checked by its verb and resource, whether the call is typed, dynamic or raw, and
/// also for an administrator of the cluster: what works on a laptop works under the operator's
/// role.
#[derive(Clone, Debug)]
pub struct Permissions {
    grants: Arc<[Grant]>,
    /// The namespaces that the operator is restricted to.
    namespaces: Option<NamespaceSet>,
    /// Verbs and resources without names, so that the set is bounded by the API.
    denied: Arc<Mutex<BTreeSet<String>>>,
    used: Arc<Mutex<BTreeSet<(Verb, String, String)>>>,
}

/// A rule, with the object names that it is restricted to.
#[derive(Clone, Debug)]
struct Grant {
    rule: PolicyRule,
    names: Vec<String>,
    scope: GrantScope,
}

/// The namespaces in which a rule applies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum GrantScope {
    Everywhere,
    /// The namespaces that the operator is restricted to.
    Namespaces,
}

impl Grant {
    fn new(mut rule: PolicyRule, scope: GrantScope) -> Self {
        Self {
            names: std::mem::take(&mut rule.resource_names),
            rule,
            scope,
        }
    }
}

impl Permissions {
    /// Returns the permissions of an operator.
    pub fn new(description: &Description) -> Self {
        let names = &description.namespaces;
        let namespaces = (!names.is_empty()).then(|| NamespaceSet::new(names.iter().cloned()));
        Self::in_namespaces(description, namespaces)
    }

    /// Returns the permissions of an operator that is restricted to namespaces, which can change.
    pub(crate) fn in_namespaces(
        description: &Description,
        namespaces: Option<NamespaceSet>,
    ) -> Self {
        let grants = |rules: Vec<PolicyRule>, scope: GrantScope| {
            let rules = rules.into_iter();
            rules.map(move |rule| Grant::new(rule, scope))
        };
        let cluster = grants(description.cluster_rules(), GrantScope::Everywhere);
        let namespaced = grants(description.namespace_rules(), GrantScope::Namespaces);
        // The operator's own namespace is not known here, but these rules name their objects.
        let own = grants(description.own_namespace_rules(), GrantScope::Everywhere);
        Self {
            grants: cluster.chain(namespaced).chain(own).collect(),
            namespaces,
            denied: Arc::default(),
            used: Arc::default(),
        }
    }

    /// Adds rules.
    #[must_use]
    pub(crate) fn and(self, rules: Vec<PolicyRule>) -> Self {
        let added = rules
            .into_iter()
            .map(|rule| Grant::new(rule, GrantScope::Everywhere));
        let grants = self.grants.iter().cloned().chain(added).collect();
        Self { grants, ..self }
    }

    /// Returns the requests that this value and its clones denied: each verb and resource once.
    pub fn denied(&self) -> Vec<String> {
        self.denied.lock().iter().cloned().collect()
    }

    /// Returns the requests that this value and its clones allowed: each verb, group and resource
    /// once, such as `list apps/deployments` or `patch /pods`.
    pub fn used(&self) -> Vec<String> {
        let used = self.used.lock();
        used.iter()
            .map(|(verb, group, resource)| format!("{verb} {group}/{resource}"))
            .collect()
    }

    /// Returns a client that sends only requests that the rules grant.
    ///
    /// # Panics
    ///
    /// Outside a tokio runtime, like kube's client.
    pub fn wrap(&self, client: &Client) -> Client {
        with_layer(client, self.clone().layer())
    }

    /// Returns an error if no rule grants the request. Discovery and other paths without a resource
    /// are always allowed, as in every cluster.
    fn check(&self, request: &Request<Body>) -> Result<(), Error> {
        let uri = request.uri();
        let Route::Resource(route) = Route::parse(request.method(), uri.path(), uri.query()) else {
            return Ok(());
        };
        let resource = route.rule_resource();
        let allowed = |grant: &Grant| {
            let rule = &grant.rule;
            self.includes(grant.scope, route.namespace.as_deref())
                && grant.covers(route.name.as_deref())
                && rule.allows(route.verb.as_str(), &route.group, &resource)
        };
        if self.grants.iter().any(allowed) {
            let request = (route.verb, route.group.clone(), resource.to_string());
            self.used.lock().insert(request);
            return Ok(());
        }
        let request = format!("{} {}", route.verb, resource_of_group(&route));
        self.denied.lock().insert(request);
        Err(not_permitted(&route))
    }
}

impl Permissions {
    fn includes(&self, scope: GrantScope, namespace: Option<&str>) -> bool {
        let is_in = |set: &NamespaceSet| namespace.is_some_and(|name| set.contains(name));
        match scope {
            GrantScope::Everywhere => true,
            GrantScope::Namespaces => self.namespaces.as_ref().is_some_and(is_in),
        }
    }
}

impl Grant {
    /// Whether the rule covers a request for that name. A rule with names covers no request
    /// without.
    fn covers(&self, name: Option<&str>) -> bool {
        self.names.is_empty()
            || name.is_some_and(|name| self.names.iter().any(|granted| granted == name))
    }
}

fn resource_of_group(route: &ResourceRoute) -> String {
    let resource = route.rule_resource();
    match route.group.as_str() {
        "" => resource.to_string(),
        group => format!("{resource} of {group}"),
    }
}

fn not_permitted(route: &ResourceRoute) -> Error {
    Error::NotPermitted {
        verb: route.verb.to_string(),
        resource: resource_of_group(route),
        registration: registration(route),
    }
}

/// Returns the line that grants the request. Registrations of kinds grant no subresource, except
/// for the controller's own kind.
fn registration(route: &ResourceRoute) -> String {
    if route.subresource.is_some() {
        return format!(
            "add .grants(PolicyRule {{ api_groups: vec![{:?}.into()], resources: vec![{:?}.into()], \
             verbs: vec![{:?}.into()], ..PolicyRule::default() }}) to the controller",
            route.group,
            route.rule_resource(),
            route.verb.as_str(),
        );
    }
    let registration = match route.verb {
        Verb::Get | Verb::List | Verb::Watch => ".reads(kind::<..>()), .watches(..) or .owns(..)",
        _ => ".owns(kind::<..>()) or .writes(kind::<..>(), verbs)",
    };
    format!("register the kind with {registration}, or add .grants(rule) to the operator")
}

impl RequestFilter for Permissions {
    type RequestState = ();

    fn before(&self, request: &mut Request<Body>) -> Result<(), Blocked> {
        self.check(request).map_err(Blocked::new)
    }
}

#[cfg(test)]
mod tests {
    use std::convert::Infallible;

    use http::{Request, Response};
    use kube::Client;
    use kube::client::Body;
    use kubewright_core::{
        ControllerDescription, Description, Kind, PolicyRule, Resource, Scope, Use,
    };
    use kubewright_runtime::client::Blocked;

    use super::Permissions;

    fn permissions() -> Permissions {
        Permissions::new(&description())
    }

    fn description() -> Description {
        let set = Resource::new(Kind::new("ex.io", "v1", "Set"), "sets", Scope::Namespaced);
        let pod = Resource::new(Kind::new("", "v1", "Pod"), "pods", Scope::Namespaced);
        Description {
            name: "sets".to_owned(),
            controllers: vec![ControllerDescription {
                name: "set".to_owned(),
                resource: set,
                uses: vec![(pod, Use::Owns)],
            }],
            extra_rules: vec![PolicyRule {
                api_groups: vec![String::new()],
                resources: vec!["secrets".to_owned()],
                resource_names: vec!["token".to_owned()],
                verbs: vec!["get".to_owned()],
                ..PolicyRule::default()
            }],
            ..Description::default()
        }
    }

    fn check(method: &str, path: &str) -> Result<(), String> {
        let request = Request::builder()
            .method(method)
            .uri(path)
            .body(Body::empty())
            .unwrap();
        permissions()
            .check(&request)
            .map_err(|error| error.to_string())
    }

    #[test]
    fn registered_requests_are_allowed() {
        for (method, path) in [
            ("GET", "/apis/ex.io/v1/sets?watch=1"),
            ("PATCH", "/apis/ex.io/v1/namespaces/a/sets/s/status"),
            ("PATCH", "/api/v1/namespaces/a/pods/p?fieldManager=x"),
            ("DELETE", "/api/v1/namespaces/a/pods/p"),
            ("GET", "/api/v1/namespaces/a/secrets/token"),
            ("GET", "/apis"),
            ("GET", "/version"),
        ] {
            assert_eq!(check(method, path), Ok(()), "{method} {path}");
        }
    }

    #[test]
    fn requests_are_restricted_to_the_namespaces_of_the_operator() {
        let description = Description {
            namespaces: ["a".to_owned()].into(),
            ..description()
        };
        let permissions = Permissions::new(&description);
        let is_allowed = |path: &str| {
            let request = Request::get(path).body(Body::empty()).unwrap();
            permissions.check(&request).is_ok()
        };
        assert!(is_allowed("/api/v1/namespaces/a/pods"));
        assert!(!is_allowed("/api/v1/namespaces/b/pods"));
        assert!(!is_allowed("/api/v1/pods"));
    }

    #[test]
    fn error_of_a_denied_request_names_the_line_to_add() {
        assert_eq!(
            check("GET", "/apis/apps/v1/deployments").unwrap_err(),
            "list deployments of apps: the operator's role does not grant it; register the kind \
             with .reads(kind::<..>()), .watches(..) or .owns(..), or add .grants(rule) to the \
             operator"
        );
        let error = check("PUT", "/api/v1/namespaces/a/pods/p").unwrap_err();
        assert!(error.contains("update pods"), "{error}");
        assert!(error.contains(".writes(kind::<..>(), verbs)"), "{error}");
        // Neither owns nor writes grants a subresource.
        assert_eq!(
            check("PATCH", "/api/v1/namespaces/a/pods/p/status").unwrap_err(),
            "patch pods/status: the operator's role does not grant it; add .grants(PolicyRule { \
             api_groups: vec![\"\".into()], resources: vec![\"pods/status\".into()], verbs: \
             vec![\"patch\".into()], ..PolicyRule::default() }) to the controller"
        );
        assert!(check("GET", "/api/v1/namespaces/a/secrets/other").is_err());
        assert!(check("GET", "/api/v1/namespaces/a/secrets").is_err());
    }

    #[test]
    fn denied_requests_are_recorded_once_regardless_of_the_name() {
        let permissions = permissions();
        let request = |path: &str| Request::get(path).body(Body::empty()).unwrap();
        for path in ["secrets/one", "secrets/two", "secrets/token", "pods"] {
            let path = format!("/api/v1/namespaces/a/{path}");
            permissions.clone().check(&request(&path)).ok();
        }
        permissions
            .check(&request("/apis/apps/v1/deployments"))
            .ok();
        assert_eq!(
            permissions.denied(),
            ["get secrets", "list deployments of apps"]
        );
    }

    #[tokio::test]
    async fn denied_request_fails_as_blocked() {
        let service = tower::service_fn(|_: Request<Body>| async {
            Ok::<_, Infallible>(Response::new(Body::empty()))
        });
        let client = permissions().wrap(&Client::new(service, "default"));
        let send = |path: &str| client.send(Request::get(path).body(Body::empty()).unwrap());
        assert!(send("/api/v1/pods").await.is_ok());
        let error = send("/apis/apps/v1/deployments").await.unwrap_err();
        assert!(Blocked::is_cause_of(&error), "{error}");
    }
}
