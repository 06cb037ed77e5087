use serde_json::{Value, json};

/// The cluster roles and bindings that every cluster has, with their plural names; as
/// plugin/pkg/auth/authorizer/rbac/bootstrappolicy writes them.
pub(crate) fn bootstrap_objects() -> Vec<(&'static str, Value)> {
    let discovery = json!([{
        "nonResourceURLs": [
            "/api", "/api/*", "/apis", "/apis/*", "/healthz", "/livez", "/openapi", "/openapi/*",
            "/readyz", "/version", "/version/",
        ],
        "verbs": ["get"],
    }]);
    let basic_user = json!([
        {
            "apiGroups": ["authorization.k8s.io"],
            "resources": ["selfsubjectaccessreviews", "selfsubjectrulesreviews"],
            "verbs": ["create"],
        },
        {
            "apiGroups": ["authentication.k8s.io"],
            "resources": ["selfsubjectreviews"],
            "verbs": ["create"],
        },
    ]);
    let public_info = json!([{
        "nonResourceURLs": ["/healthz", "/livez", "/readyz", "/version", "/version/"],
        "verbs": ["get"],
    }]);
    let everything = json!([
        {"apiGroups": ["*"], "resources": ["*"], "verbs": ["*"]},
        {"nonResourceURLs": ["*"], "verbs": ["*"]},
    ]);
    let authenticated: &[&str] = &["system:authenticated"];
    let everyone: &[&str] = &["system:authenticated", "system:unauthenticated"];
    [
        ("cluster-admin", everything, ["system:masters"].as_slice()),
        ("system:basic-user", basic_user, authenticated),
        ("system:discovery", discovery, authenticated),
        ("system:public-info-viewer", public_info, everyone),
    ]
    .into_iter()
    .flat_map(|(name, rules, groups)| {
        [
            ("clusterroles", role(name, rules)),
            ("clusterrolebindings", binding(name, groups)),
        ]
    })
    .collect()
}

fn role(name: &str, rules: Value) -> Value {
    json!({
        "apiVersion": "rbac.authorization.k8s.io/v1",
        "kind": "ClusterRole",
        "metadata": metadata(name),
        "rules": rules,
    })
}

fn binding(name: &str, groups: &[&str]) -> Value {
    let group = "rbac.authorization.k8s.io";
    let subject = |name: &&str| json!({"kind": "Group", "apiGroup": group, "name": name});
    json!({
        "apiVersion": "rbac.authorization.k8s.io/v1",
        "kind": "ClusterRoleBinding",
        "metadata": metadata(name),
        "roleRef": {"apiGroup": group, "kind": "ClusterRole", "name": name},
        "subjects": groups.iter().map(subject).collect::<Vec<_>>(),
    })
}

fn metadata(name: &str) -> Value {
    json!({
        "name": name,
        "labels": {"kubernetes.io/bootstrapping": "rbac-defaults"},
        "annotations": {"rbac.authorization.kubernetes.io/autoupdate": "true"},
    })
}
