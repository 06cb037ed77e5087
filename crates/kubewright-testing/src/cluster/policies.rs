use kube::core::GroupVersionKind;
use kubewright_core::{Description, PolicyEffect};
use serde_json::{Value, json};

use super::backend::Backend;
use super::handle::Cluster;
use crate::Error;

const GROUP: &str = "admissionregistration.k8s.io";
const VERSION: &str = "v1";

/// A policy that shows by its effect on a ConfigMap that it acts.
struct Probe {
    policies: &'static str,
    bindings: &'static str,
    /// What it does.
    effect: Value,
    /// What its binding says besides the policy's name.
    binding: Value,
    /// Whether the answer to a dry run shows it.
    shows: fn(&Result<Value, kube::Error>) -> bool,
}

impl Probe {
    fn of(effect: &PolicyEffect) -> Self {
        match effect {
            PolicyEffect::Validating { .. } => Self {
                policies: "validatingadmissionpolicies",
                bindings: "validatingadmissionpolicybindings",
                effect: json!({"validations": [{"expression": "false"}]}),
                binding: json!({"validationActions": ["Deny"]}),
                shows: |answer| matches!(answer, Err(kube::Error::Api(status)) if status.code == 422),
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
                shows: |answer| matches!(answer, Ok(made) if made["data"]["acts"] == "yes"),
            },
        }
    }
}

impl Cluster {
    /// Refuses policies that the cluster does not serve.
    pub(super) async fn serves_policies(&self, description: &Description) -> Result<(), Error> {
        for policy in &description.policies {
            let kind = GroupVersionKind::gvk(GROUP, VERSION, policy.effect.kind());
            match self.plural(&kind).await {
                Ok(_) => {}
                Err(Error::Request { source, .. })
                    if matches!(*source, kube::Error::Discovery(_)) =>
                {
                    return Err(Error::Unsupported {
                        asked: format!("install {} {}", kind.kind, policy.name),
                        why: "the cluster serves no such kind; Kubernetes has validating policies \
                              since 1.30 and mutating ones since 1.36; run \
                              .without_policies() of the operator there",
                    });
                }
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }

    /// Waits until the server acts on policies: a real one learns of them by watching and takes
    /// them up once a second (k8s.io/apiserver/pkg/admission/plugin/policy/generic), so that one
    /// which came later and acts shows that those before do.
    pub(super) async fn policies_act(&self, description: &Description) -> Result<(), Error> {
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
        let tried = format!("wait until {} act", probe.policies);
        let failed = |source| Error::Request {
            tried: tried.clone(),
            source: Box::new(source),
        };
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
        let mut made = Vec::new();
        for (plural, spec) in [(probe.policies, spec), (probe.bindings, binding)] {
            let path = format!("/apis/{GROUP}/{VERSION}/{plural}");
            let object = json!({"metadata": {"name": name}, "spec": spec});
            made.push(format!("{path}/{name}"));
            self.shared.backend.remember(&format!("{path}/{name}"));
            self.send("POST", &path, &object).await.map_err(failed)?;
        }
        let probed = json!({"metadata": {"name": "probe", "labels": label}});
        let create = format!(
            "/api/v1/namespaces/{}/configmaps?dryRun=All",
            self.namespace
        );
        self.until(&tried, async || {
            let answer = self.send("POST", &create, &probed).await;
            Ok((!(probe.shows)(&answer)).then(|| "no effect is seen".to_owned()))
        })
        .await?;
        for path in made.iter().rev() {
            self.send("DELETE", path, &json!({}))
                .await
                .map_err(failed)?;
        }
        Ok(())
    }
}
