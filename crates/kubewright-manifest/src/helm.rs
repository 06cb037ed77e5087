//! Helm charts of an operator's objects.

use serde_json::{Value, json};

use crate::error::Error;
use crate::output::{OutputFile, concerns};
use crate::yaml::to_yaml;

/// The metadata of a chart.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Chart {
    /// The operator's name.
    pub name: String,
    /// The version of the chart and of the operator.
    pub version: String,
}

/// A Helm chart of the objects: `Chart.yaml`, values with their schema, and a template for each
/// concern.
///
/// The chart is installed into the release's namespace, so the Namespace is omitted. The definitions
/// are templates, because Helm never upgrades the content of `crds/`. They stay when the release is
/// uninstalled, and so do all objects of their kinds.
pub fn helm_chart(objects: &[Value], chart: &Chart) -> Result<Vec<OutputFile>, Error> {
    let mut values = Values {
        namespace: namespace_of(objects),
        ..Values::default()
    };
    let mut templates = Vec::new();
    for (concern, group) in concerns(objects) {
        if concern == "namespace" {
            continue;
        }
        let with_slots: Vec<Value> = group.iter().map(|object| values.extract(object)).collect();
        let mut text = fill_slots(&to_yaml(&with_slots)?);
        if concern == "crds" {
            text = format!("{{{{- if .Values.crds.install }}}}\n{text}{{{{- end }}}}\n");
        }
        templates.push(OutputFile::new(format!("templates/{concern}.yaml"), text));
    }
    let metadata = json!({
        "apiVersion": "v2",
        "name": chart.name,
        "description": format!("The operator {}.", chart.name),
        "type": "application",
        "version": chart.version,
        "appVersion": chart.version,
    });
    let mut files = vec![
        OutputFile::new("Chart.yaml", to_yaml(&[metadata])?),
        OutputFile::new("values.yaml", to_yaml(&[values.defaults()])?),
        OutputFile::new("values.schema.json", format!("{:#}\n", schema(&values))),
    ];
    files.extend(templates);
    Ok(files)
}

/// Placeholders in the objects, which become Helm expressions in the YAML.
const NAMESPACE: &str = "kubewright-slot-namespace";
/// The namespace within a longer text, where Helm must not quote it.
const INNER_NAMESPACE: &str = "kubewright-slot-inner-namespace";
const IMAGE: &str = "kubewright-slot-image";
const REPLICAS: &str = "kubewright-slot-replicas";
const RESOURCES: &str = "kubewright-slot-resources";
const PLACEMENT: [(&str, &str); 3] = [
    ("nodeSelector", "kubewright-slot-node-selector"),
    ("tolerations", "kubewright-slot-tolerations"),
    ("affinity", "kubewright-slot-affinity"),
];

/// Values of the objects, which become the defaults of the chart.
#[derive(Debug, Default)]
struct Values {
    /// The namespace of the objects, which the release's namespace replaces.
    namespace: String,
    image: Value,
    replicas: Value,
    /// The strategy of the Deployment.
    strategy: Value,
    resources: Value,
}

impl Values {
    /// Returns the object with placeholders for the values that users of the chart set, and records
    /// the values.
    fn extract(&mut self, object: &Value) -> Value {
        let mut template = object.clone();
        if template["metadata"]["namespace"] == self.namespace {
            template["metadata"]["namespace"] = json!(NAMESPACE);
        }
        let subjects = template.get_mut("subjects").and_then(Value::as_array_mut);
        for subject in subjects.into_iter().flatten() {
            subject["namespace"] = json!(NAMESPACE);
        }
        let webhooks = template.get_mut("webhooks").and_then(Value::as_array_mut);
        for webhook in webhooks.into_iter().flatten() {
            if let Some(service) = webhook.pointer_mut("/clientConfig/service") {
                service["namespace"] = json!(NAMESPACE);
            }
            if let Some(selector) = webhook.get_mut("namespaceSelector") {
                replace(selector, &self.namespace);
            }
        }
        if let Some(service) = template.pointer_mut("/spec/conversion/webhook/clientConfig/service")
        {
            service["namespace"] = json!(NAMESPACE);
        }
        if let Some(selector) = template.pointer_mut("/spec/matchConstraints/namespaceSelector") {
            replace(selector, &self.namespace);
        }
        self.extract_certificate(&mut template);
        match template["kind"].as_str() {
            Some("CustomResourceDefinition") => {
                template["metadata"]["annotations"]["helm.sh/resource-policy"] = json!("keep");
            }
            Some("Deployment") => self.extract_deployment(&mut template["spec"]),
            _ => {}
        }
        template
    }

    /// The hosts of a Certificate, and the annotation that names a Certificate, contain the
    /// namespace.
    fn extract_certificate(&self, object: &mut Value) {
        let hosts = object.pointer_mut("/spec/dnsNames");
        for host in hosts.and_then(Value::as_array_mut).into_iter().flatten() {
            let moved = format!(".{INNER_NAMESPACE}.svc");
            replace_within(host, &format!(".{}.svc", self.namespace), &moved);
        }
        let source = object.pointer_mut("/metadata/annotations/cert-manager.io~1inject-ca-from");
        if let Some(source) = source {
            let moved = format!("{INNER_NAMESPACE}/");
            replace_within(source, &format!("{}/", self.namespace), &moved);
        }
    }

    fn extract_deployment(&mut self, spec: &mut Value) {
        self.replicas = std::mem::replace(&mut spec["replicas"], json!(REPLICAS));
        self.strategy = spec["strategy"]["type"].clone();
        let pod = &mut spec["template"]["spec"];
        for (field, slot) in PLACEMENT {
            pod[field] = json!(slot);
        }
        let container = &mut pod["containers"][0];
        self.image = std::mem::replace(&mut container["image"], json!(IMAGE));
        self.resources = std::mem::replace(&mut container["resources"], json!(RESOURCES));
    }

    fn defaults(&self) -> Value {
        json!({
            "image": self.image,
            "replicas": self.replicas,
            "resources": self.resources,
            "nodeSelector": {},
            "tolerations": [],
            "affinity": {},
            "crds": {"install": true},
        })
    }
}

fn namespace_of(objects: &[Value]) -> String {
    let namespace = objects.iter().find(|object| object["kind"] == "Namespace");
    let name = namespace.and_then(|namespace| namespace["metadata"]["name"].as_str());
    name.unwrap_or_default().to_owned()
}

/// Replaces each text that equals the namespace with its placeholder.
fn replace(value: &mut Value, namespace: &str) {
    match value {
        Value::String(text) if text == namespace => NAMESPACE.clone_into(text),
        Value::Array(items) => items.iter_mut().for_each(|item| replace(item, namespace)),
        Value::Object(fields) => fields
            .values_mut()
            .for_each(|field| replace(field, namespace)),
        _ => {}
    }
}

fn replace_within(value: &mut Value, part: &str, by: &str) {
    if let Value::String(text) = value {
        *text = text.replacen(part, by, 1);
    }
}

/// Replaces placeholders with Helm expressions; double braces in the objects are escaped.
fn fill_slots(yaml: &str) -> String {
    let mut text = yaml.replace("{{", "{{ \"{{\" }}");
    let simple = [
        (NAMESPACE, "{{ .Release.Namespace | quote }}"),
        (INNER_NAMESPACE, "{{ .Release.Namespace }}"),
        (IMAGE, "{{ .Values.image | quote }}"),
        (REPLICAS, "{{ .Values.replicas }}"),
        (RESOURCES, "{{ toJson .Values.resources }}"),
    ];
    for (slot, expression) in simple {
        text = text.replace(slot, expression);
    }
    for (field, slot) in PLACEMENT {
        text = text.replace(slot, &format!("{{{{ toJson .Values.{field} }}}}"));
    }
    text
}

/// Without leader election, two replicas would be active at once.
fn replicas_schema(values: &Values) -> Value {
    if values.strategy == "Recreate" {
        json!({
            "type": "integer",
            "minimum": 0,
            "maximum": 1,
            "description": "1, or 0 to stop the operator.",
        })
    } else {
        json!({
            "type": "integer",
            "minimum": 0,
            "description": "The number of replicas, of which one is the leader; 0 stops the operator.",
        })
    }
}

fn schema(values: &Values) -> Value {
    json!({
        "$schema": "http://json-schema.org/draft-07/schema#",
        "type": "object",
        "additionalProperties": false,
        "required": ["image"],
        "properties": {
            "global": {"type": "object"},
            "image": {"type": "string", "minLength": 1, "description": "The operator's image."},
            "replicas": replicas_schema(values),
            "resources": {"type": "object", "description": "Requests and limits of the operator's container."},
            "nodeSelector": {"type": "object", "additionalProperties": {"type": "string"}},
            "tolerations": {"type": "array", "items": {"type": "object"}},
            "affinity": {"type": "object"},
            "crds": {
                "type": "object",
                "additionalProperties": false,
                "properties": {
                    "install": {"type": "boolean", "description": "Whether the release installs the definitions."},
                },
            },
        },
    })
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::{Chart, helm_chart};
    use crate::OutputFile;

    fn chart() -> Vec<OutputFile> {
        chart_of("Recreate")
    }

    /// The chart of an operator whose Deployment has this strategy.
    fn chart_of(strategy: &str) -> Vec<OutputFile> {
        let objects = [
            json!({"kind": "Namespace", "metadata": {"name": "web-system"}}),
            json!({"kind": "CustomResourceDefinition", "metadata": {"name": "x"}, "spec": {"description": "a {{b}}",
                "conversion": {"webhook": {"clientConfig": {"service": {"name": "web-webhook", "namespace": "web-system"}}}}}}),
            json!({"kind": "ClusterRoleBinding", "metadata": {"name": "web"}, "subjects": [{"namespace": "web-system"}]}),
            json!({"kind": "Deployment", "metadata": {"namespace": "web-system"}, "spec": {
                "replicas": 1, "strategy": {"type": strategy}, "template": {"spec": {"containers": [{"image": "r/web:1", "resources": {"limits": {"memory": "1Mi"}}}]}},
            }}),
        ];
        let chart = Chart {
            name: "web".to_owned(),
            version: "0.1.0".to_owned(),
        };
        helm_chart(&objects, &chart).unwrap()
    }

    fn text(path: &str) -> String {
        chart()
            .into_iter()
            .find(|file| file.path == path)
            .unwrap()
            .text
    }

    #[test]
    fn configurable_field_is_an_expression_with_its_value_as_default() {
        let deployment = text("templates/deployment.yaml");
        for line in [
            "namespace: {{ .Release.Namespace | quote }}\n",
            "image: {{ .Values.image | quote }}\n",
            "replicas: {{ .Values.replicas }}\n",
            "resources: {{ toJson .Values.resources }}\n",
            "tolerations: {{ toJson .Values.tolerations }}\n",
        ] {
            assert!(deployment.contains(line), "{line} in\n{deployment}");
        }
        let values: Value = serde_saphyr::from_str(&text("values.yaml")).unwrap();
        assert_eq!(values["image"], "r/web:1");
        assert_eq!(values["resources"], json!({"limits": {"memory": "1Mi"}}));
    }

    #[test]
    fn definitions_survive_the_uninstall_and_their_braces_are_escaped() {
        let crds = text("templates/crds.yaml");
        assert!(crds.contains("helm.sh/resource-policy: keep"), "{crds}");
        assert!(crds.contains("a {{ \"{{\" }}b}}"), "{crds}");
        assert!(
            crds.starts_with("{{- if .Values.crds.install }}\n"),
            "{crds}"
        );
    }

    #[test]
    fn conversion_webhook_is_in_the_namespace_of_the_release() {
        let crds = text("templates/crds.yaml");
        let line = "namespace: {{ .Release.Namespace | quote }}\n";
        assert!(crds.contains(line), "{crds}");
        assert!(!crds.contains("web-system"), "{crds}");
    }

    #[test]
    fn certificate_is_for_the_namespace_of_the_release() {
        let objects = [
            json!({"kind": "Namespace", "metadata": {"name": "web-system"}}),
            json!({"kind": "Certificate", "metadata": {"name": "web-webhook", "namespace": "web-system"},
                "spec": {"dnsNames": ["web-webhook.web-system.svc", "web-webhook.web-system.svc.cluster.local"]}}),
            json!({"kind": "ValidatingWebhookConfiguration", "metadata": {"name": "web",
                "annotations": {"cert-manager.io/inject-ca-from": "web-system/web-webhook"}}, "webhooks": []}),
        ];
        let chart = Chart {
            name: "web".to_owned(),
            version: "0.1.0".to_owned(),
        };
        let files = helm_chart(&objects, &chart).unwrap();
        let webhooks = files
            .into_iter()
            .find(|file| file.path == "templates/webhooks.yaml");
        let text = webhooks.unwrap().text;
        assert!(
            text.contains("- web-webhook.{{ .Release.Namespace }}.svc\n"),
            "{text}"
        );
        assert!(
            text.contains("inject-ca-from: {{ .Release.Namespace }}/web-webhook\n"),
            "{text}"
        );
        assert!(!text.contains("web-system"), "{text}");
    }

    #[test]
    fn policy_exempts_the_namespace_of_the_release_and_its_braces_are_escaped() {
        let objects = [
            json!({"kind": "Namespace", "metadata": {"name": "web-system"}}),
            json!({"kind": "MutatingAdmissionPolicy", "metadata": {"name": "web.mark"}, "spec": {
                "matchConstraints": {"namespaceSelector": {"matchExpressions": [{
                    "key": "kubernetes.io/metadata.name", "operator": "NotIn",
                    "values": ["kube-system", "web-system"],
                }]}},
                "mutations": [{"jsonPatch": {"expression": "a {{b}}"}}],
            }}),
        ];
        let chart = Chart {
            name: "web".to_owned(),
            version: "0.1.0".to_owned(),
        };
        let mut files = helm_chart(&objects, &chart).unwrap().into_iter();
        let policies = files.find(|file| file.path == "templates/policies.yaml");
        let text = policies.unwrap().text;
        assert!(
            text.contains("- kube-system\n")
                && text.contains("- {{ .Release.Namespace | quote }}\n"),
            "{text}"
        );
        assert!(text.contains("a {{ \"{{\" }}b}}"), "{text}");
    }

    #[test]
    fn schema_contains_every_value() {
        let schema: Value = serde_json::from_str(&text("values.schema.json")).unwrap();
        let values: Value = serde_saphyr::from_str(&text("values.yaml")).unwrap();
        for name in values.as_object().unwrap().keys() {
            assert!(schema["properties"].get(name).is_some(), "{name}");
        }
    }

    #[test]
    fn only_an_operator_with_leader_election_may_have_several_replicas() {
        let max_replicas = |strategy: &str| {
            let mut files = chart_of(strategy).into_iter();
            let file = files.find(|file| file.path == "values.schema.json");
            let schema: Value = serde_json::from_str(&file.unwrap().text).unwrap();
            schema["properties"]["replicas"].get("maximum").cloned()
        };
        assert_eq!(max_replicas("Recreate"), Some(json!(1)));
        assert_eq!(max_replicas("RollingUpdate"), None);
    }
}
