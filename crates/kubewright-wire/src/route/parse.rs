//! Parsing of request paths.

use http::Method;
use kubewright_core::{FieldSelector, GroupVersion, Verb};

use super::query::{Query, percent_decode};

/// The target of a request: objects of a resource, or another path of the server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Route {
    /// Objects of a resource.
    Resource(ResourceRoute),
    /// Another path, such as discovery, `/version` or `/healthz`; also a path of a resource with a
    /// method that resources do not support.
    Path(String),
}

/// The resource, the objects and the verb of a request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ResourceRoute {
    /// The verb.
    pub verb: Verb,
    /// The group, empty for the core one.
    pub group: String,
    /// The version within the group.
    pub version: String,
    /// The plural name of the resource.
    pub plural: String,
    /// The namespace. For the resource `namespaces` this is the object's own name, as in
    /// authorization.
    pub namespace: Option<String>,
    /// The object's name. A list or watch has one if it is restricted to that name, by its path or
    /// by the field selector `metadata.name=NAME`.
    pub name: Option<String>,
    /// The subresource.
    pub subresource: Option<String>,
    /// The path after the subresource, as in `services/web/proxy/index.html`.
    pub rest: Option<String>,
}

impl Route {
    /// Parses the method, path and query of a request as Kubernetes does
    /// (k8s.io/apiserver/pkg/endpoints/request/requestinfo.go).
    ///
    /// ```
    /// use http::Method;
    /// use kubewright_core::Verb;
    /// use kubewright_wire::route::Route;
    ///
    /// let path = "/apis/apps/v1/namespaces/web/deployments";
    /// let Route::Resource(route) = Route::parse(&Method::GET, path, Some("watch=1")) else {
    ///     unreachable!("this path is a resource's")
    /// };
    /// assert_eq!((route.verb, route.group.as_str()), (Verb::Watch, "apps"));
    /// assert_eq!(route.namespace.as_deref(), Some("web"));
    /// ```
    pub fn parse(method: &Method, path: &str, query: Option<&str>) -> Self {
        let parameters = Query::parse(query.unwrap_or_default());
        resource_route(method, path, &parameters).map_or_else(
            || Self::Path(percent_decode(path).into_owned()),
            Self::Resource,
        )
    }

    /// The resource, if the request is for one.
    pub fn resource(&self) -> Option<&ResourceRoute> {
        match self {
            Self::Resource(route) => Some(route),
            Self::Path(_) => None,
        }
    }
}

impl ResourceRoute {
    /// The group and version.
    pub fn group_version(&self) -> GroupVersion {
        GroupVersion::new(&*self.group, &*self.version)
    }

    /// The resource in the rules of roles: `pods`, or `pods/status`.
    pub fn rule_resource(&self) -> String {
        match &self.subresource {
            Some(subresource) => format!("{}/{subresource}", self.plural),
            None => self.plural.clone(),
        }
    }
}

fn resource_route(method: &Method, path: &str, query: &Query) -> Option<ResourceRoute> {
    let trimmed = path.trim_matches('/');
    // An escaped slash is part of its segment and not a separator: no object name has one.
    let segments: Vec<String> = trimmed
        .split('/')
        .map(|segment| percent_decode(segment).into_owned())
        .collect();
    let (group, rest) = match segments.split_first()? {
        (prefix, rest) if prefix == "api" => ("", rest),
        (prefix, rest) if prefix == "apis" => {
            let (group, rest) = rest.split_first()?;
            (group.as_str(), rest)
        }
        _ => return None,
    };
    let (version, mut parts) = rest.split_first()?;
    let mut verb = verb_of(method)?;
    match parts.split_first()? {
        (special, rest) if special == "watch" => {
            verb = Verb::Watch;
            parts = rest;
        }
        (special, _) if special == "proxy" => return None,
        _ => {}
    }
    let mut namespace = None;
    if parts.first()? == "namespaces" {
        namespace = parts.get(1).cloned();
        // `status` and `finalize` are subresources of the Namespace, all others are resources in it.
        if parts
            .get(2)
            .is_some_and(|part| part != "status" && part != "finalize")
        {
            parts = parts.get(2..).unwrap_or_default();
        }
    }
    let mut route = ResourceRoute {
        verb,
        group: group.to_owned(),
        version: version.clone(),
        plural: parts.first()?.clone(),
        namespace: namespace.filter(|text| !text.is_empty()),
        name: parts.get(1).filter(|text| !text.is_empty()).cloned(),
        subresource: parts.get(2).filter(|text| !text.is_empty()).cloned(),
        rest: parts
            .get(3..)
            .filter(|rest| !rest.is_empty())
            .map(|rest| rest.join("/")),
    };
    match (&route.name, route.verb) {
        (None, Verb::Get) => {
            route.verb = if query.is_set("watch") {
                Verb::Watch
            } else {
                Verb::List
            };
            route.name = selected_name(query);
        }
        (None, Verb::Delete) => route.verb = Verb::DeleteCollection,
        _ => {}
    }
    Some(route)
}

fn verb_of(method: &Method) -> Option<Verb> {
    match method.as_str() {
        "POST" => Some(Verb::Create),
        "GET" | "HEAD" => Some(Verb::Get),
        "PUT" => Some(Verb::Update),
        "PATCH" => Some(Verb::Patch),
        "DELETE" => Some(Verb::Delete),
        _ => None,
    }
}

/// The name that a field selector selects, so that rules with `resourceNames` can match.
fn selected_name(query: &Query) -> Option<String> {
    let selector: FieldSelector = query.get("fieldSelector")?.parse().ok()?;
    let requirement = selector
        .requirements
        .into_iter()
        .find(|requirement| requirement.path == "metadata.name" && requirement.equal)?;
    let name = requirement.value;
    let is_segment = !matches!(name.as_str(), "" | "." | "..") && !name.contains(['/', '%']);
    is_segment.then_some(name)
}

#[cfg(test)]
mod tests {
    use http::Method;

    use super::Route;

    /// `verb group/version plural namespace name subresource`, with `-` for absent parts.
    fn read(method_name: &str, target: &str) -> String {
        let method: Method = method_name.parse().unwrap();
        let (path, query) = target
            .split_once('?')
            .map_or((target, None), |(p, q)| (p, Some(q)));
        match Route::parse(&method, path, query) {
            Route::Path(path) => format!("path {path}"),
            Route::Resource(route) => format!(
                "{} {} {} {} {} {}",
                route.verb,
                route.group_version(),
                route.plural,
                route.namespace.as_deref().unwrap_or("-"),
                route.name.as_deref().unwrap_or("-"),
                route.subresource.as_deref().unwrap_or("-"),
            ),
        }
    }

    #[test]
    fn requests_are_parsed_as_in_kubernetes() {
        // The rows follow requestinfo_test.go: the request, then the result of `read`.
        const ROWS: &str = "
            GET /api/v1/namespaces = list v1 namespaces - - -
            GET /api/v1/namespaces/other = get v1 namespaces other other -
            GET /api/v1/namespaces/other/pods = list v1 pods other - -
            GET /api/v1/namespaces/other/pods/foo = get v1 pods other foo -
            HEAD /api/v1/namespaces/other/pods/foo = get v1 pods other foo -
            GET /api/v1/pods = list v1 pods - - -
            HEAD /api/v1/pods = list v1 pods - - -
            GET /api/v1/namespaces/other/pods/foo/status = get v1 pods other foo status
            PUT /api/v1/namespaces/foo/finalize = update v1 namespaces foo foo finalize
            PUT /api/v1/namespaces/foo/status = update v1 namespaces foo foo status
            GET /api/v1/watch/pods = watch v1 pods - - -
            GET /api/v1/watch/namespaces/other/pods/x = watch v1 pods other x -
            GET /api/v1/pods?watch=true = watch v1 pods - - -
            GET /api/v1/pods?watch=false = list v1 pods - - -
            GET /api/v1/namespaces/o/pods/x?watch=1 = get v1 pods o x -
            GET /api/v1/pods?fieldSelector=metadata.name%3Dx = list v1 pods - x -
            GET /api/v1/pods?fieldSelector=metadata.name%3D.. = list v1 pods - - -
            DELETE /api/v1/namespaces/other/pods = deletecollection v1 pods other - -
            DELETE /api/v1/namespaces/other/pods/x = delete v1 pods other x -
            POST /apis/apps/v1/namespaces/o/deployments/ = create apps/v1 deployments o - -
            PATCH /apis/ex.io/v1/foos/x/scale = patch ex.io/v1 foos - x scale
            PUT /api/v1/nodes/a%20b = update v1 nodes - a b -";
        for row in ROWS.trim().lines() {
            let (request, expected) = row.trim().split_once(" = ").unwrap();
            let (method, target) = request.split_once(' ').unwrap();
            assert_eq!(read(method, target), expected, "{request}");
        }
    }

    #[test]
    fn other_paths_are_not_resources() {
        for path in [
            "/",
            "/api",
            "/api/v1",
            "/apis",
            "/apis/apps",
            "/apis/apps/v1",
            "/healthz",
        ] {
            assert_eq!(read("GET", path), format!("path {path}"));
        }
        assert_eq!(read("OPTIONS", "/api/v1/pods"), "path /api/v1/pods");
        assert_eq!(read("GET", "/api/v1/watch"), "path /api/v1/watch");
    }
}
