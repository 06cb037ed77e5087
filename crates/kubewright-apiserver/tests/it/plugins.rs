//! Admission plugins, enabled and disabled.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use futures_util::FutureExt as _;
use kubewright_apiserver::{AdmissionPlugin, AdmissionPlugins};
use serde_json::{Value, json};

use crate::client::{Client, Response, server_with};
use crate::webhook::Webhook;

const CORE: &str = "/api/v1/namespaces/default";
const ADMISSION: &str = "/apis/admissionregistration.k8s.io/v1";

/// A request that a plugin changes or denies.
struct Row {
    plugin: AdmissionPlugin,
    /// Objects that are created before, with their collections.
    setup: Vec<(String, Value)>,
    /// The collection of a webhook configuration, and the response of its webhook.
    webhook: Option<(&'static str, Value)>,
    /// The collection of the new object.
    path: String,
    object: Value,
    effect: Effect,
}

/// What an enabled plugin does.
enum Effect {
    /// The created object has this field, which was not sent.
    Sets(&'static str),
    /// The message of the failure contains this text.
    Denies(&'static str),
}

impl Row {
    /// A new ConfigMap.
    fn map(plugin: AdmissionPlugin, effect: Effect) -> Self {
        Self {
            plugin,
            setup: Vec::new(),
            webhook: None,
            path: format!("{CORE}/configmaps"),
            object: json!({"metadata": {"name": "a"}, "data": {"sent": "yes"}}),
            effect,
        }
    }

    /// A new Pod.
    fn pod(plugin: AdmissionPlugin, effect: Effect) -> Self {
        let object = json!({"metadata": {"name": "a"}, "spec": {"containers": [
            {"name": "main", "image": "main:1"}]}});
        Self::map(plugin, effect).object("pods", object)
    }

    fn object(mut self, resource: &str, object: Value) -> Self {
        self.path = format!("{CORE}/{resource}");
        self.object = object;
        self
    }

    /// A new object without a namespace.
    fn cluster_object(mut self, resource: &str, object: Value) -> Self {
        self.path = format!("/api/v1/{resource}");
        self.object = object;
        self
    }

    fn after(mut self, path: impl Into<String>, object: Value) -> Self {
        self.setup.push((path.into(), object));
        self
    }

    fn with_webhook(mut self, configurations: &'static str, response: Value) -> Self {
        self.webhook = Some((configurations, response));
        self
    }

    /// The response to the request of this row.
    async fn response(&self, plugins: AdmissionPlugins) -> Response {
        let server = server_with(plugins);
        let client = Client::admin(&server);
        for (path, object) in &self.setup {
            client.post(path, object).await.ok();
            if let Some(status) = object.get("status") {
                let name = object["metadata"]["name"].as_str().unwrap_or_default();
                let status = json!({"status": status});
                client
                    .merge(&format!("{path}/{name}/status"), status)
                    .await
                    .ok();
            }
        }
        let response = self.webhook.as_ref().map(|(_, response)| response.clone());
        let webhook = Webhook::start(&server, move || {
            let response = response.clone().unwrap_or_default();
            async move { response }.boxed()
        });
        if let Some((configurations, _)) = self.webhook {
            let path = format!("{ADMISSION}/{configurations}");
            client.post(&path, webhook.configuration()).await.ok();
        }
        client.post(&self.path, &self.object).await
    }
}

impl Effect {
    #[track_caller]
    fn check_enabled(&self, plugin: AdmissionPlugin, response: &Response) {
        let is_visible = match self {
            Self::Sets(field) => response.code == 201 && response.body.pointer(field).is_some(),
            Self::Denies(why) => response.code >= 400 && response.message().contains(why),
        };
        assert!(is_visible, "{plugin} enabled: {}", response.text);
    }

    #[track_caller]
    fn check_disabled(&self, plugin: AdmissionPlugin, response: &Response) {
        let is_set = match self {
            Self::Sets(field) => response.body.pointer(field).is_some(),
            Self::Denies(_) => false,
        };
        let is_created = response.code == 201;
        assert!(
            is_created && !is_set,
            "{plugin} disabled: {}",
            response.text
        );
    }
}

/// A policy for new ConfigMaps and its binding, with their collections.
fn policy(collection: &str, mut spec: Value, mut binding: Value) -> Vec<(String, Value)> {
    spec["matchConstraints"] = json!({"resourceRules": [{"apiGroups": [""],
        "apiVersions": ["v1"], "operations": ["CREATE"], "resources": ["configmaps"]}]});
    binding["policyName"] = json!("p");
    let bindings = collection.replace("policies", "policybindings");
    let object = |spec: Value| json!({"metadata": {"name": "p"}, "spec": spec});
    vec![
        (format!("{ADMISSION}/{collection}"), object(spec)),
        (format!("{ADMISSION}/{bindings}"), object(binding)),
    ]
}

fn built_in_rows() -> Vec<Row> {
    let limits = json!({"metadata": {"name": "l"}, "spec": {"limits": [
        {"type": "Container", "default": {"cpu": "1"}}]}});
    let level = json!({"pod-security.kubernetes.io/enforce": "unknown"});
    vec![
        Row {
            path: "/api/v1/namespaces/missing/configmaps".to_owned(),
            ..Row::map(
                AdmissionPlugin::NamespaceLifecycle,
                Effect::Denies("namespaces \"missing\" not found"),
            )
        },
        Row::pod(
            AdmissionPlugin::LimitRanger,
            Effect::Sets("/spec/containers/0/resources/limits/cpu"),
        )
        .after(format!("{CORE}/limitranges"), limits),
        Row::pod(
            AdmissionPlugin::ServiceAccount,
            Effect::Denies("error looking up service account default/default"),
        ),
        Row::map(
            AdmissionPlugin::TaintNodesByCondition,
            Effect::Sets("/spec/taints/0"),
        )
        .cluster_object("nodes", json!({"metadata": {"name": "n"}})),
        Row::map(
            AdmissionPlugin::PodSecurity,
            Effect::Denies("must be one of"),
        )
        .cluster_object(
            "namespaces",
            json!({"metadata": {"name": "n", "labels": level}}),
        ),
        Row::pod(AdmissionPlugin::Priority, Effect::Sets("/spec/priority")),
        Row::pod(
            AdmissionPlugin::DefaultTolerationSeconds,
            Effect::Sets("/spec/tolerations/0"),
        ),
    ]
}

fn extension_rows() -> Vec<Row> {
    let mutations = json!([{"patchType": "JSONPatch", "jsonPatch": {
        "expression": "[JSONPatch{op: 'add', path: '/data/set', value: 'yes'}]"}}]);
    let mutating = json!({"mutations": mutations, "reinvocationPolicy": "Never"});
    let validating = json!({"validations": [{"expression": "false"}]});
    let deny = json!({"validationActions": ["Deny"]});
    let patch = json!([{"op": "add", "path": "/data/set", "value": "yes"}]).to_string();
    let patched = json!({"allowed": true, "patchType": "JSONPatch",
        "patch": STANDARD.encode(patch)});
    let quota = json!({"metadata": {"name": "q"}, "spec": {"hard": {"configmaps": "0"}},
        "status": {"hard": {"configmaps": "0"}, "used": {"configmaps": "0"}}});
    vec![
        Row {
            setup: policy("mutatingadmissionpolicies", mutating, json!({})),
            ..Row::map(
                AdmissionPlugin::MutatingAdmissionPolicy,
                Effect::Sets("/data/set"),
            )
        },
        Row::map(
            AdmissionPlugin::MutatingAdmissionWebhook,
            Effect::Sets("/data/set"),
        )
        .with_webhook("mutatingwebhookconfigurations", patched),
        Row {
            setup: policy("validatingadmissionpolicies", validating, deny),
            ..Row::map(
                AdmissionPlugin::ValidatingAdmissionPolicy,
                Effect::Denies("denied request"),
            )
        },
        Row::map(
            AdmissionPlugin::ValidatingAdmissionWebhook,
            Effect::Denies("denied the request"),
        )
        .with_webhook("validatingwebhookconfigurations", json!({"allowed": false})),
        Row::map(
            AdmissionPlugin::ResourceQuota,
            Effect::Denies("exceeded quota: q"),
        )
        .after(format!("{CORE}/resourcequotas"), quota),
    ]
}

/// The plugins with only this one enabled.
fn only(plugin: AdmissionPlugin) -> AdmissionPlugins {
    let others = AdmissionPlugin::ALL.into_iter();
    others
        .filter(|other| *other != plugin)
        .fold(AdmissionPlugins::default(), AdmissionPlugins::without)
}

#[tokio::test(start_paused = true)]
async fn disabled_plugin_neither_mutates_nor_denies() {
    let rows: Vec<Row> = built_in_rows()
        .into_iter()
        .chain(extension_rows())
        .collect();
    let plugins: Vec<AdmissionPlugin> = rows.iter().map(|row| row.plugin).collect();
    assert_eq!(plugins, AdmissionPlugin::ALL);
    for row in rows {
        let enabled = row.response(only(row.plugin)).await;
        row.effect.check_enabled(row.plugin, &enabled);
        let others = AdmissionPlugins::without_controllers().without(row.plugin);
        let disabled = row.response(others).await;
        row.effect.check_disabled(row.plugin, &disabled);
    }
}
