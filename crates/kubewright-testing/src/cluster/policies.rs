//! Waits until the admission policies of an operator take effect.

use kube::core::GroupVersionKind;
use kubewright_core::{Description, PolicyEffect};
use serde_json::{Value, json};

use super::backend::Backend;
use super::handle::Cluster;
use crate::Error;

const GROUP: &str = "admissionregistration.k8s.io";
const VERSION: &str = "v1";

/// A policy whose effect on a ConfigMap shows that policies are applied.
struct Probe {
    policies: &'static str,
    bindings: &'static str,
    /// The fields of the policy that define its effect.
    effect: Value,
    /// The fields of the binding besides the policy's name.
    binding: Value,
    /// Whether the response to a dry run shows the effect.
    has_effect: fn(&Result<Value, kube::Error>) -> bool,
}

impl Probe {
    fn of(effect: &PolicyEffect) -> Self {
        match effect {
            PolicyEffect::Validating { .. } => Self {
                policies: "validatingadmissionpolicies",
                bindings: "validatingadmissionpolicybindings",
                effect: json!({"validations": [{"expression": "false"}]}),
                binding: json!({"validationActions": ["Deny"]}),
                has_effect: |response| matches!(response, Err(kube::Error::Api(status)) if status.code == 422),
            },
            PolicyEffect::Mutating { .. } => Self {
                policies: "mutatingadmissionpolicies",
                bindings: "mutatingadmissionpolicybindings",
                effect: json!({
                    "mutations": [{"patchType": "JSONPatch", "jsonPatch": {"expression":
                        r#"[JSONPatch{op: "add", path: "/data", value: {"acts": "yes"}}]"#}}],
                    "reinvocationPolicy": "Never",
                }),
                binding: json!({}),
                has_effect: |response| matches!(response, Ok(created) if created["data"]["acts"] == "yes"),
            },
        }
    }
}

impl Cluster {
    /// Fails if the cluster does not serve the kind of a policy.
    pub(super) async fn require_policy_kinds(
        &self,
        description: &Description,
    ) -> Result<(), Error> {
        for policy in &description.policies {
            let kind = GroupVersionKind::gvk(GROUP, VERSION, policy.effect.kind());
            match self.plural(&kind).await {
                Ok(_) => {}
                Err(Error::Request { source, .. })
                    if matches!(*source, kube::Error::Discovery(_)) =>
                {
                    return Err(Error::Unsupported {
                        operation: format!("install {} {}", kind.kind, policy.name),
                        reason: "the cluster does not serve this kind; Kubernetes has validating \
                                 policies since 1.30 and mutating ones since 1.36; run the \
                                 operator with .without_policies() there",
                    });
                }
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }

    /// Waits until the server applies the policies of an operator.
    ///
    /// A real server learns of policies by watching them, and compiles them once a second
    /// (k8s.io/apiserver/pkg/admission/plugin/policy/generic): once a policy that was created later
    /// has an effect, the earlier ones have one too.
    pub(super) async fn wait_for_policies(&self, description: &Description) -> Result<(), Error> {
        if matches!(self.shared.backend, Backend::Embedded(_)) {
            return Ok(());
        }
        let mut probed: Vec<&str> = Vec::new();
        for policy in &description.policies {
            let kind = policy.effect.kind();
            if !probed.contains(&kind) {
                self.probe_policies(&Probe::of(&policy.effect)).await?;
                probed.push(kind);
            }
        }
        Ok(())
    }

    async fn probe_policies(&self, probe: &Probe) -> Result<(), Error> {
        let operation = format!("wait until {} have an effect", probe.policies);
        let name = format!("probe-{}", self.namespace);
        let label = json!({"kubewright.dev/probe": self.namespace});
        let mut spec = probe.effect.clone();
        spec["matchConstraints"] = json!({
            "objectSelector": {"matchLabels": label},
            "resourceRules": [{"operations": ["CREATE"], "apiGroups": [""], "apiVersions": ["v1"],
                "resources": ["configmaps"]}],
        });
        let mut binding = probe.binding.clone();
        binding["policyName"] = json!(name);
        let mut created = Vec::new();
        for (plural, spec) in [(probe.policies, spec), (probe.bindings, binding)] {
            let path = format!("/apis/{GROUP}/{VERSION}/{plural}");
            let object = json!({"metadata": {"name": name}, "spec": spec});
            self.shared.backend.delete_at_end(&format!("{path}/{name}"));
            self.send("POST", &path, &object)
                .await
                .map_err(Error::request(&operation))?;
            created.push(format!("{path}/{name}"));
        }
        let probed = json!({"metadata": {"name": "probe", "labels": label}});
        let create = format!(
            "/api/v1/namespaces/{}/configmaps?dryRun=All",
            self.namespace
        );
        self.until(&operation, async || {
            let response = self.send("POST", &create, &probed).await;
            Ok((!(probe.has_effect)(&response)).then(|| "no effect".to_owned()))
        })
        .await?;
        for path in created.iter().rev() {
            self.send("DELETE", path, &json!({}))
                .await
                .map_err(Error::request(&operation))?;
        }
        Ok(())
    }
}
