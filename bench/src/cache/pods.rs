//! The Pods of the benchmark `cache`.

use serde_json::{Value, json};

use super::random::Random;
use super::vocabulary::{APPS, TEAMS, VARIABLES};

/// The namespace of all Pods.
pub(super) const NAMESPACE: &str = "bench-cache";

const TEMPLATES: u64 = 200;
const VARIABLES_PER_CONTAINER: u64 = 12;
const SEED: u64 = 0x6b75_6265_7772_6967;

/// Generates Pods like those of 200 Deployments. Pods of one template differ only in their names,
/// Pods of different templates also in images, labels, environment variables and values.
///
/// A Pod has a ConfigMap volume and two containers, each with 12 variables, two ports, two probes and
/// resources. An index has the same Pod in every run.
#[derive(Clone, Debug)]
pub(super) struct Pods {
    templates: Vec<Template>,
}

#[derive(Clone, Debug)]
struct Template {
    name: String,
    pod: Value,
}

impl Pods {
    pub(super) fn new() -> Self {
        Self {
            templates: (0..TEMPLATES).map(Template::new).collect(),
        }
    }

    /// Returns the Pod with an index, and its name.
    pub(super) fn pod(&self, index: u32) -> (String, Value) {
        let slot = usize::try_from(u64::from(index) % TEMPLATES).unwrap_or_default();
        let template = self
            .templates
            .get(slot)
            .expect("a remainder of the number of templates is a valid index");
        let suffix = Random::new(SEED ^ u64::from(index)).text(5);
        let name = format!("{}-{suffix}-{index}", template.name);
        let mut pod = template.pod.clone();
        pod["metadata"]["name"] = Value::String(name.clone());
        (name, pod)
    }
}

impl Template {
    fn new(number: u64) -> Self {
        let mut random = Random::new(SEED.wrapping_add(number));
        let app = format!("{}-{number}", random.one_of(APPS));
        let hash = random.text(10);
        let name = format!("{app}-{hash}");
        let version = format!(
            "{}.{}.{}",
            random.below(9),
            random.below(40),
            random.below(99)
        );
        let config = format!("{app}-config");
        let labels = json!({
            "app": app,
            "app.kubernetes.io/managed-by": "bench",
            "app.kubernetes.io/part-of": random.one_of(TEAMS),
            "app.kubernetes.io/version": version,
            "pod-template-hash": hash,
        });
        let annotations = json!({
            "checksum/config": random.text(64),
            "bench.example.com/contact": format!("{}@example.com", random.one_of(TEAMS)),
        });
        let server = format!("{app}:{version}");
        let proxy = format!("proxy:1.{}", random.below(30));
        let containers = [
            container(&mut random, "server", &server, 8080),
            container(&mut random, "proxy", &proxy, 15_000),
        ];
        let pod = json!({
            "apiVersion": "v1",
            "kind": "Pod",
            "metadata": {"namespace": NAMESPACE, "labels": labels, "annotations": annotations},
            "spec": {
                "containers": containers,
                "volumes": [{"name": "config", "configMap": {"name": config}}],
            },
        });
        Self { name, pod }
    }
}

fn container(random: &mut Random, name: &str, image: &str, port: u64) -> Value {
    let registry = format!("registry.example.com/{}", random.one_of(TEAMS));
    let millis = 50 * (1 + random.below(10));
    let mebi = 64 * (1 + random.below(16));
    let probe = |path: &str, period: u64| {
        json!({
            "httpGet": {"path": path, "port": "http"},
            "initialDelaySeconds": 5,
            "periodSeconds": period,
            "timeoutSeconds": 2,
        })
    };
    json!({
        "name": name,
        "image": format!("{registry}/{image}"),
        "args": ["--config=/etc/config/app.yaml", format!("--shard={}", random.below(64))],
        "env": variables(random),
        "ports": [
            {"name": "http", "containerPort": port},
            {"name": "metrics", "containerPort": port + 1},
        ],
        "livenessProbe": probe("/healthz", 10 + random.below(20)),
        "readinessProbe": probe("/readyz", 5 + random.below(10)),
        "resources": {
            "requests": {"cpu": format!("{millis}m"), "memory": format!("{mebi}Mi")},
            "limits": {"cpu": format!("{}m", 2 * millis), "memory": format!("{}Mi", 2 * mebi)},
        },
        "volumeMounts": [{"name": "config", "mountPath": "/etc/config", "readOnly": true}],
    })
}

/// Returns consecutive names of the vocabulary from a random start, so that names are unique.
fn variables(random: &mut Random) -> Vec<Value> {
    let start = usize::try_from(random.below(1000)).unwrap_or_default();
    let count = usize::try_from(VARIABLES_PER_CONTAINER).unwrap_or_default();
    let names = VARIABLES.iter().cycle().skip(start).take(count);
    names
        .map(|name| json!({"name": name, "value": value(random)}))
        .collect()
}

fn value(random: &mut Random) -> String {
    match random.below(8) {
        0 => random.below(100_000).to_string(),
        1 | 2 => format!(
            "http://{}.{}.svc.cluster.local:{}/v1/{}",
            random.one_of(APPS),
            random.one_of(TEAMS),
            8000 + random.below(1000),
            random.text(8)
        ),
        3 | 4 => random.text(40),
        _ => random.text(96),
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use kubewright_bench_subject::checksum;

    use super::Pods;

    #[test]
    fn pods_are_the_same_in_every_run() {
        let pods = Pods::new();
        let name_and_values = |index| {
            let (name, pod) = pods.pod(index);
            let containers = pod["spec"]["containers"].as_array().unwrap();
            let variables = containers.iter().flat_map(|c| c["env"].as_array().unwrap());
            let values = variables.map(|v| v["value"].as_str().unwrap().to_owned());
            std::iter::once(name).chain(values).collect::<Vec<_>>()
        };
        assert_eq!(name_and_values(4711)[0], "orders-111-pfmfp7zs7d-lmqjk-4711");
        let texts: Vec<String> = (0..200).flat_map(name_and_values).collect();
        assert_eq!(
            checksum(texts.iter().map(String::as_str)),
            6_055_340_186_070_495
        );
    }

    #[test]
    fn names_are_unique_and_valid() {
        let pods = Pods::new();
        let names: BTreeSet<String> = (0..10_000).map(|index| pods.pod(index).0).collect();
        assert_eq!(names.len(), 10_000);
        for name in names {
            assert!(name.len() <= 63, "{name}");
            let valid = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
            assert!(name.chars().all(valid), "{name}");
        }
    }

    #[test]
    fn pods_of_one_template_differ_only_in_their_names() {
        let pods = Pods::new();
        let (_, first) = pods.pod(3);
        let (name, mut sibling) = pods.pod(203);
        assert_eq!(sibling["metadata"]["name"], name);
        sibling["metadata"]["name"] = first["metadata"]["name"].clone();
        assert_eq!(first, sibling);
        let images: BTreeSet<String> = (0..200)
            .map(|index| pods.pod(index).1["spec"]["containers"][0]["image"].to_string())
            .collect();
        assert_eq!(images.len(), 200);
    }

    #[test]
    fn pod_has_the_structure_of_the_published_results() {
        let (_, pod) = Pods::new().pod(0);
        let containers = pod["spec"]["containers"].as_array().unwrap();
        assert_eq!(containers.len(), 2);
        for container in containers {
            let names: BTreeSet<_> = container["env"]
                .as_array()
                .unwrap()
                .iter()
                .map(|variable| variable["name"].as_str().unwrap())
                .collect();
            assert_eq!(names.len(), 12);
            assert_eq!(container["ports"].as_array().unwrap().len(), 2);
            assert!(container["livenessProbe"].is_object());
            assert!(container["readinessProbe"].is_object());
            assert!(container["resources"]["limits"].is_object());
        }
        assert!(pod["spec"]["volumes"][0]["configMap"].is_object());
        assert!(pod["spec"].get("nodeName").is_none());
    }
}
