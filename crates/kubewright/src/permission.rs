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

/// Holds a client to the rules that the manifests grant.
///
/// Each request is asked for its verb and resource, so that typed, dynamic and raw calls are all
/// checked, also where the user of the cluster may do everything: what works on a laptop works
/// under the operator's role.
#[derive(Clone, Debug)]
pub struct Permissions {
    grants: Arc<[Grant]>,
    /// What the operator is restricted to.
    namespaces: Option<NamespaceSet>,
    /// Verbs and resources, not names, so that it stays as small as the API is.
    refused: Arc<Mutex<BTreeSet<String>>>,
    used: Arc<Mutex<BTreeSet<(Verb, String, String)>>>,
}

/// A rule, and the names that it is restricted to.
#[derive(Clone, Debug)]
struct Grant {
    rule: PolicyRule,
    names: Vec<String>,
    place: Place,
}

/// Where a rule holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Place {
    Everywhere,
    /// In the namespaces that the operator is restricted to.
    Namespaces,
}

impl Grant {
    fn new(mut rule: PolicyRule, place: Place) -> Self {
        Self {
            names: std::mem::take(&mut rule.resource_names),
            rule,
            place,
        }
    }
}

impl Permissions {
    /// The rules of an operator.
    pub fn new(description: &Description) -> Self {
        let names = &description.namespaces;
        let namespaces = (!names.is_empty()).then(|| NamespaceSet::new(names.iter().cloned()));
        Self::within(description, namespaces)
    }

    /// The rules of an operator that is restricted to namespaces which may change.
    pub(crate) fn within(description: &Description, namespaces: Option<NamespaceSet>) -> Self {
        let grants = |rules: Vec<PolicyRule>, place: Place| {
            let rules = rules.into_iter();
            rules.map(move |rule| Grant::new(rule, place))
        };
        let everywhere = grants(description.cluster_rules(), Place::Everywhere);
        let within = grants(description.namespace_rules(), Place::Namespaces);
        // Where the operator runs is not known here; the name of its Lease is.
        let own = grants(description.own_namespace_rules(), Place::Everywhere);
        Self {
            grants: everywhere.chain(within).chain(own).collect(),
            namespaces,
            refused: Arc::default(),
            used: Arc::default(),
        }
    }

    /// The same with further rules.
    #[must_use]
    pub(crate) fn and(self, rules: Vec<PolicyRule>) -> Self {
        let further = rules.into_iter();
        let further = further.map(|rule| Grant::new(rule, Place::Everywhere));
        let grants = self.grants.iter().cloned().chain(further).collect();
        Self { grants, ..self }
    }

    /// What was refused so far, by this value and its clones: each verb and resource once.
    pub fn refused(&self) -> Vec<String> {
        self.refused.lock().iter().cloned().collect()
    }

    /// What was asked for and allowed so far, by this value and its clones: each verb, group and
    /// resource once, as `list apps/deployments` or `patch /pods`.
    pub fn used(&self) -> Vec<String> {
        let used = self.used.lock();
        used.iter()
            .map(|(verb, group, resource)| format!("{verb} {group}/{resource}"))
            .collect()
    }

    /// A client like `client` that sends only what the rules grant.
    ///
    /// # Panics
    ///
    /// Outside a tokio runtime, as kube's client does.
    pub fn wrap(&self, client: &Client) -> Client {
        with_layer(client, self.clone().layer())
    }

    /// Whether a request is allowed; discovery and the like always are, as everywhere.
    fn check(&self, request: &Request<Body>) -> Result<(), Error> {
        let uri = request.uri();
        let Route::Resource(route) = Route::parse(request.method(), uri.path(), uri.query()) else {
            return Ok(());
        };
        let resource = route.rule_resource();
        let allowed = |grant: &Grant| {
            let rule = &grant.rule;
            self.reaches(grant.place, route.namespace.as_deref())
                && grant.covers(route.name.as_deref())
                && rule.allows(route.verb.as_str(), &route.group, &resource)
        };
        if self.grants.iter().any(allowed) {
            let asked = (route.verb, route.group.clone(), resource.to_string());
            self.used.lock().insert(asked);
            return Ok(());
        }
        let asked = format!("{} {}", route.verb, of_group(&route));
        self.refused.lock().insert(asked);
        Err(not_permitted(&route))
    }
}

impl Permissions {
    fn reaches(&self, place: Place, namespace: Option<&str>) -> bool {
        let is_within = |set: &NamespaceSet| namespace.is_some_and(|name| set.contains(name));
        match place {
            Place::Everywhere => true,
            Place::Namespaces => self.namespaces.as_ref().is_some_and(is_within),
        }
    }
}

impl Grant {
    /// Rules for certain names are for requests that name one.
    fn covers(&self, name: Option<&str>) -> bool {
        self.names.is_empty() || name.is_some_and(|name| self.names.iter().any(|one| one == name))
    }
}

fn of_group(route: &ResourceRoute) -> String {
    let resource = route.rule_resource();
    match route.group.as_str() {
        "" => resource.to_string(),
        group => format!("{resource} of {group}"),
    }
}

fn not_permitted(route: &ResourceRoute) -> Error {
    Error::NotPermitted {
        verb: route.verb.to_string(),
        resource: of_group(route),
        registration: registration(route),
    }
}

/// The line that grants it. Registrations of kinds grant no subresource, but for what a controller
/// needs of its own kind.
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

    fn ask(method: &str, path: &str) -> Result<(), String> {
        let request = Request::builder().method(method).uri(path);
        let request = request.body(Body::empty()).unwrap();
        permissions()
            .check(&request)
            .map_err(|error| error.to_string())
    }

    #[test]
    fn what_is_registered_passes() {
        for (method, path) in [
            ("GET", "/apis/ex.io/v1/sets?watch=1"),
            ("PATCH", "/apis/ex.io/v1/namespaces/a/sets/s/status"),
            ("PATCH", "/api/v1/namespaces/a/pods/p?fieldManager=x"),
            ("DELETE", "/api/v1/namespaces/a/pods/p"),
            ("GET", "/api/v1/namespaces/a/secrets/token"),
            ("GET", "/apis"),
            ("GET", "/version"),
        ] {
            assert_eq!(ask(method, path), Ok(()), "{method} {path}");
        }
    }

    #[test]
    fn an_operator_of_some_namespaces_passes_in_these_alone() {
        let description = Description {
            namespaces: ["a".to_owned()].into(),
            ..description()
        };
        let permissions = Permissions::new(&description);
        let asked = |path: &str| {
            let request = Request::get(path).body(Body::empty()).unwrap();
            permissions.check(&request).is_ok()
        };
        assert!(asked("/api/v1/namespaces/a/pods"));
        assert!(!asked("/api/v1/namespaces/b/pods"));
        assert!(!asked("/api/v1/pods"));
    }

    #[test]
    fn what_is_not_names_the_line_to_add() {
        assert_eq!(
            ask("GET", "/apis/apps/v1/deployments").unwrap_err(),
            "list deployments of apps: the operator's role does not grant it; register the kind \
             with .reads(kind::<..>()), .watches(..) or .owns(..), or add .grants(rule) to the \
             operator"
        );
        let error = ask("PUT", "/api/v1/namespaces/a/pods/p").unwrap_err();
        assert!(error.contains("update pods"), "{error}");
        assert!(error.contains(".writes(kind::<..>(), verbs)"), "{error}");
        // Neither owns nor writes grants a subresource.
        assert_eq!(
            ask("PATCH", "/api/v1/namespaces/a/pods/p/status").unwrap_err(),
            "patch pods/status: the operator's role does not grant it; add .grants(PolicyRule { \
             api_groups: vec![\"\".into()], resources: vec![\"pods/status\".into()], verbs: \
             vec![\"patch\".into()], ..PolicyRule::default() }) to the controller"
        );
        assert!(ask("GET", "/api/v1/namespaces/a/secrets/other").is_err());
        assert!(ask("GET", "/api/v1/namespaces/a/secrets").is_err());
    }

    #[test]
    fn what_was_refused_is_remembered_once_whatever_its_name() {
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
            permissions.refused(),
            ["get secrets", "list deployments of apps"]
        );
    }

    #[tokio::test]
    async fn a_refusal_is_known_as_a_request_that_was_never_sent() {
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
