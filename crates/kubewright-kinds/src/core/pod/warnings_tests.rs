//! The warnings of Pods and templates.

use serde_json::{Value, json};

use crate::core::{POD, POD_TEMPLATE};

fn pod(metadata: &Value, spec: &Value) -> Vec<String> {
    let pod = json!({"metadata": metadata, "spec": spec});
    POD.warnings(&pod, None)
}

fn warnings_of(spec: &Value) -> Vec<String> {
    pod(&json!({"name": "a"}), spec)
}

fn in_template(metadata: &Value, spec: &Value) -> Vec<String> {
    let template = json!({"template": {"metadata": metadata, "spec": spec}});
    POD_TEMPLATE.warnings(&template, None)
}

#[test]
fn ordinary_pod_has_no_warnings() {
    let spec = json!({
        "nodeSelector": {"kubernetes.io/os": "linux"},
        "containers": [{
            "name": "a", "image": "a",
            "env": [
                {"name": "A", "value": "1"}, {"name": "B", "value": "2"},
                {"name": "A", "value": "$(A)3"},
            ],
            "ports": [
                {"name": "a", "containerPort": 80, "protocol": "TCP"},
                {"name": "b", "containerPort": 80, "protocol": "UDP"},
            ],
            "resources": {"limits": {"cpu": "100m", "memory": "1.5Gi"}},
        }],
        "topologySpreadConstraints": [{"topologyKey": "zone", "labelSelector": {}}],
        "terminationGracePeriodSeconds": 0,
        "hostAliases": [{"ip": "10.0.0.1"}, {"ip": "10.0.0.2"}],
        "dnsConfig": {"nameservers": ["10.0.0.1", "fd00::1"]},
    });
    assert!(warnings_of(&spec).is_empty());
}

#[test]
fn updated_pod_has_no_warnings() {
    let dotted = json!({"metadata": {"name": "a.b"}, "spec": {"imagePullSecrets": [{}]}});
    assert_eq!(POD.warnings(&dotted, None).len(), 2);
    assert!(POD.warnings(&dotted, Some(&dotted)).is_empty());
}

#[test]
fn name_that_is_not_a_dns_label_is_warned_about() {
    let start = "metadata.name: this is used in the Pod's hostname, which can result in \
         surprising behavior; a DNS label is recommended: ";
    let name = |name: &str| pod(&json!({"name": name}), &json!({}));
    assert_eq!(name("a.b"), [format!("{start}[must not contain dots]")]);
    let long = "a".repeat(64);
    assert_eq!(
        name(&long),
        [format!("{start}[must be no more than 63 characters]")]
    );
    assert_eq!(
        name(&format!("{long}.b")),
        [format!(
            "{start}[must be no more than 63 characters must not contain dots]"
        )]
    );
}

#[test]
fn deprecated_node_labels_and_null_selectors_are_warned_about() {
    let required = "requiredDuringSchedulingIgnoredDuringExecution";
    let preferred = "preferredDuringSchedulingIgnoredDuringExecution";
    let zone = "failure-domain.beta.kubernetes.io/zone";
    let expressions = json!([{"key": zone, "operator": "In", "values": ["-"]}]);
    let terms = json!({
        required: [{"topologyKey": "a"}],
        preferred: [{"weight": 1, "podAffinityTerm": {"topologyKey": "a"}}],
    });
    let spec = json!({
        "nodeSelector": {"node-role.kubernetes.io/master": "", "beta.kubernetes.io/arch": "a"},
        "affinity": {
            "nodeAffinity": {
                required: {"nodeSelectorTerms": [{"matchExpressions": expressions}]},
                preferred: [{"weight": 1, "preference": {"matchExpressions": expressions}}],
            },
            "podAffinity": terms, "podAntiAffinity": terms,
        },
        "topologySpreadConstraints": [{"topologyKey": zone}],
    });
    let why = "deprecated since v1.17; use \"topology.kubernetes.io/zone\" instead";
    let null = "labelSelector: a null labelSelector results in matching no pod";
    let label = "a valid label must be an empty string or consist of alphanumeric characters, \
         '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyValue',  \
         or 'my_value',  or '12345', regex used for validation is \
         '(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')";
    let nodes = "spec.affinity.nodeAffinity";
    let first = format!("{nodes}.{required}.nodeSelectorTerms[0].matchExpressions[0]");
    let second = format!("{nodes}.{preferred}[0].preference.matchExpressions[0]");
    let spread = "spec.topologySpreadConstraints[0]";
    assert_eq!(
        warnings_of(&spec),
        [
            "spec.nodeSelector[beta.kubernetes.io/arch]: deprecated since v1.14; use \
             \"kubernetes.io/arch\" instead"
                .to_owned(),
            "spec.nodeSelector[node-role.kubernetes.io/master]: use \
             \"node-role.kubernetes.io/control-plane\" instead"
                .to_owned(),
            format!("{first}.key: {zone} is {why}"),
            format!("{second}.key: {zone} is {why}"),
            format!("{second}.values[0]: - is invalid, {label}"),
            format!("{spread}.topologyKey: {zone} is {why}"),
            format!("{spread}.{null}"),
            format!("spec.affinity.podAffinity.{required}[0].{null}"),
            format!("spec.affinity.podAffinity.{preferred}[0].podAffinityTerm.{null}"),
            format!("spec.affinity.podAntiAffinity.{required}[0].{null}"),
            format!("spec.affinity.podAntiAffinity.{preferred}[0].podAffinityTerm.{null}"),
        ]
    );
}

#[test]
fn annotations_without_effect_are_warned_about() {
    let metadata = json!({"name": "a", "annotations": {
        "container.seccomp.security.alpha.kubernetes.io/a": "x",
        "container.seccomp.security.alpha.kubernetes.io/b": "x",
        "scheduler.alpha.kubernetes.io/critical-pod": "",
        "seccomp.security.alpha.kubernetes.io/pod": "x",
        "security.alpha.kubernetes.io/sysctls": "a=b",
    }});
    let profile = json!({"seccompProfile": {"type": "RuntimeDefault"}});
    let spec = json!({"containers": [{"name": "a"}, {"name": "b", "securityContext": profile}]});
    let seccomp = "non-functional in v1.27+; use the \"seccompProfile\" field instead";
    assert_eq!(
        pod(&metadata, &spec),
        [
            "metadata.annotations[scheduler.alpha.kubernetes.io/critical-pod]: non-functional in \
             v1.16+; use the \"priorityClassName\" field instead"
                .to_owned(),
            "metadata.annotations[security.alpha.kubernetes.io/sysctls]: non-functional in \
             v1.11+; use the \"sysctls\" field instead"
                .to_owned(),
            format!("metadata.annotations[seccomp.security.alpha.kubernetes.io/pod]: {seccomp}"),
            format!(
                "metadata.annotations[container.seccomp.security.alpha.kubernetes.io/a]: {seccomp}"
            ),
        ]
    );
}

#[test]
fn app_armor_annotations_are_deprecated() {
    let key = "container.apparmor.security.beta.kubernetes.io/a";
    let detail = "deprecated since v1.30; use the \"appArmorProfile\" field instead";
    let metadata = |profile: &str| json!({"name": "a.b", "annotations": {key: profile}});
    let bare = json!({"containers": [{"name": "a"}]});
    // For a Pod this is the first warning.
    let of_pod = pod(&metadata("unconfined"), &bare);
    assert_eq!(of_pod[0], format!("metadata.annotations[{key}]: {detail}"));
    assert_eq!(of_pod.len(), 2);
    let windows = json!({"os": {"name": "windows"}, "containers": [{"name": "a"}]});
    assert_eq!(pod(&metadata("unconfined"), &windows).len(), 1);

    let wanted = [format!("template.metadata.annotations[{key}]: {detail}")];
    assert_eq!(in_template(&metadata("localhost/x"), &bare), wanted);
    let profile = json!({"appArmorProfile": {"type": "Localhost", "localhostProfile": "x"}});
    let same = json!({"securityContext": profile, "containers": [{"name": "a"}]});
    assert!(in_template(&metadata("localhost/x"), &same).is_empty());
    assert_eq!(in_template(&metadata("runtime/default"), &same), wanted);
    let own = json!({"containers": [{"name": "a", "securityContext": profile}]});
    assert!(in_template(&metadata("unconfined"), &own).is_empty());
}

#[test]
fn removed_volume_types_are_warned_about_in_order() {
    let request = json!({"resources": {"requests": {"storage": "100m"}}});
    let spec = json!({"volumes": [
        {"name": "a", "gitRepo": {"repository": "a"}},
        {"name": "b", "storageos": {}},
        {"name": "c", "ephemeral": {"volumeClaimTemplate": {"spec": request}}},
        {"name": "d", "rbd": {}},
    ]});
    assert_eq!(
        warnings_of(&spec),
        [
            "spec.volumes[0].gitRepo: deprecated in v1.11, and disabled by default in v1.33+",
            "spec.volumes[1].storageOS: deprecated in v1.22, non-functional in v1.25+",
            "spec.volumes[2].ephemeral.volumeClaimTemplate.spec.resources.requests[storage]: \
             fractional byte value \"100m\" is invalid, must be an integer",
            "spec.volumes[3].rbd: deprecated in v1.28, non-functional in v1.31+",
        ]
    );
}

#[test]
fn overlapping_paths_of_a_volume_are_warned_about() {
    let items = |paths: &[&str]| -> Value {
        paths
            .iter()
            .map(|path| json!({"key": "k", "path": path}))
            .collect()
    };
    let spec = json!({"volumes": [
        {"name": "v", "configMap": {"name": "m", "items": items(&["a", "ab", "a/b/"])}},
        {"name": "w", "secret": {"secretName": "s", "items": items(&["a/b", "a/b", "a"])}},
        {"name": "x", "downwardAPI": {"items": items(&["a", "a"])}},
        {"name": "y", "projected": {"sources": [
            {"configMap": {"name": "m", "items": items(&["t/a"])}},
            {},
            {"secret": {"name": "s", "items": items(&["t/b"])}},
            {"serviceAccountToken": {"path": "t"}},
        ]}},
    ]});
    assert_eq!(
        warnings_of(&spec),
        [
            "volume \"v\" (ConfigMap \"m\"): overlapping paths: \"a/b\" with \"a\"",
            "volume \"w\" (Secret \"s\"): overlapping paths: \"a/b\" with \"a/b\"",
            "volume \"w\" (Secret \"s\"): overlapping paths: \"a\" with \"a/b\"",
            "volume \"w\" (Secret \"s\"): overlapping paths: \"a\" with \"a/b\"",
            "volume \"x\" (DownwardAPI): overlapping paths: \"a\" with \"a\"",
            "volume \"y\" (Projected) has no sources provided",
            "volume \"y\" (Projected): overlapping paths: \"t\" (ServiceAccountToken) with \
             \"t/a\" (ConfigMap \"m\")",
            "volume \"y\" (Projected): overlapping paths: \"t\" (ServiceAccountToken) with \
             \"t/b\" (Secret \"s\")",
        ]
    );
}

#[test]
fn duplicate_entries_and_fractional_bytes_are_warned_about() {
    let resources = json!({
        "limits": {"memory": "0.5"},
        "requests": {"memory": "500m", "ephemeral-storage": "100u"},
    });
    let from = json!({"fieldRef": {"fieldPath": "metadata.name"}});
    let spec = json!({
        "hostAliases": [{"ip": "10.0.0.1"}, {"ip": "10.0.0.1"}],
        "imagePullSecrets": [{"name": "a"}, {}, {"name": "a"}],
        "overhead": {"memory": "1500m", "cpu": "1m"},
        "initContainers": [{"name": "i", "resources": resources}],
        "containers": [{"name": "c", "env": [
            {"name": "A", "value": "1"}, {"name": "A", "value": "$(A)"},
            {"name": "A", "value": "2"}, {"name": "A", "valueFrom": from},
            {"name": "A", "value": "$(A)!"},
        ]}],
        "terminationGracePeriodSeconds": -1,
    });
    let fraction =
        |amount: &str| format!("fractional byte value {amount:?} is invalid, must be an integer");
    let own = "spec.initContainers[0].resources";
    let hides = |index: usize| {
        format!(
            "spec.containers[0].env[{index}]: hides previous definition of \"A\", which may be \
             dropped when using apply"
        )
    };
    assert_eq!(
        warnings_of(&spec),
        [
            "spec.hostAliases[1].ip: duplicate ip \"10.0.0.1\"".to_owned(),
            "spec.imagePullSecrets[2].name: duplicate name \"a\"".to_owned(),
            "spec.imagePullSecrets[1].name: invalid empty name \"\"".to_owned(),
            format!("spec.overhead[memory]: {}", fraction("1500m")),
            format!("{own}.limits[memory]: {}", fraction("500m")),
            format!("{own}.requests[memory]: {}", fraction("500m")),
            format!("{own}.requests[ephemeral-storage]: {}", fraction("100u")),
            hides(1),
            hides(2),
            hides(3),
            "spec.terminationGracePeriodSeconds: must be >= 0; negative values are invalid and \
             will be treated as 1"
                .to_owned(),
        ]
    );
}

#[test]
fn colliding_ports_are_warned_about() {
    let port = |name: &str, host: i64, address: &str| {
        json!({
            "name": name, "containerPort": 80, "protocol": "TCP",
            "hostPort": host, "hostIP": address,
        })
    };
    let spec = json!({
        "initContainers": [{"name": "i", "ports": [port("a", 0, "")]}],
        "containers": [
            {"name": "c", "ports": [port("a", 0, ""), port("b", 8080, "")]},
            {"name": "d", "ports": [port("c", 8080, "127.0.0.1")]},
            {"name": "e", "ports": [{"containerPort": 80, "protocol": "UDP", "hostIP": "::1"}]},
        ],
    });
    let first = "spec.initContainers[0].ports[0]";
    let (second, third) = ("spec.containers[0].ports[0]", "spec.containers[0].ports[1]");
    let fourth = "spec.containers[1].ports[0]";
    assert_eq!(
        warnings_of(&spec),
        [
            format!("{second}: duplicate port definition with {first}"),
            format!("{third}: overlapping port definition with {first}"),
            format!("{third}: overlapping port definition with {second}"),
            format!("{fourth}: overlapping port definition with {first}"),
            format!("{fourth}: overlapping port definition with {second}"),
            format!("{fourth}: dangerously ambiguous port definition with {third}"),
            "spec.containers[2].ports[0]: hostIP set without hostPort: {Name: HostPort:0 \
             ContainerPort:80 Protocol:UDP HostIP:::1}"
                .to_owned(),
            format!(
                "{second}: duplicate port name \"a\" with {first}, services and probes that \
                 select ports by name will use {first}"
            ),
        ]
    );
}

#[test]
fn addresses_are_warned_about_last() {
    let spec = json!({
        "dnsConfig": {"nameservers": ["FD00::1"]},
        "hostAliases": [{"ip": "::ffff:1.2.3.4"}],
    });
    assert_eq!(
        warnings_of(&spec),
        [
            "spec.dnsConfig.nameservers[0]: IPv6 address \"FD00::1\" should be in RFC 5952 \
             canonical format (\"fd00::1\")",
            "spec.hostAliases[0].ip: non-standard IP address \"::ffff:1.2.3.4\" is invalid: use \
             \"1.2.3.4\"",
        ]
    );
}
