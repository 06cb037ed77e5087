use kubewright_core::Kind;

use super::is_validated;

/// What a client is told with each write of a built-in kind, so that nobody takes for true what
/// this server does not do yet.
pub(crate) fn notices(kind: &Kind) -> Vec<String> {
    let mut notices = Vec::new();
    if !is_validated(kind) && !is_checked_at_admission(kind) {
        notices.push(format!(
            "kubewright: validation of {} is not implemented yet",
            kind.kind
        ));
    }
    if needs_absent_controller(kind) {
        notices.push(format!(
            "kubewright: nothing acts on {} yet: its controller is not implemented",
            kind.kind
        ));
    }
    notices
}

/// Kinds whose rules are with the part of the server that acts on them.
fn is_checked_at_admission(kind: &Kind) -> bool {
    kind.group() == "admissionregistration.k8s.io"
        && matches!(
            kind.kind.as_str(),
            "ValidatingWebhookConfiguration" | "MutatingWebhookConfiguration"
        )
}

/// Why no object of a kind is taken: it would be trusted to guard or serve requests, and nothing
/// asks it.
pub(crate) fn refusal(kind: &Kind) -> Option<String> {
    (kind.group() == "apiregistration.k8s.io").then(|| {
        format!(
            "aggregation of other API servers is not implemented yet: {} would never act",
            kind.kind
        )
    })
}

/// Kinds that mean nothing without a controller of the cluster which is not there yet.
fn needs_absent_controller(kind: &Kind) -> bool {
    matches!(
        (kind.group(), kind.kind.as_str()),
        ("apps", "StatefulSet" | "DaemonSet")
            | ("batch", "Job" | "CronJob")
            | (
                "",
                "ReplicationController" | "PersistentVolume" | "PersistentVolumeClaim"
            )
            | ("flowcontrol.apiserver.k8s.io", _)
            | ("networking.k8s.io", "Ingress" | "NetworkPolicy")
            | ("node.k8s.io", "RuntimeClass")
            | ("storage.k8s.io", "StorageClass" | "VolumeAttachment")
            | ("autoscaling", "HorizontalPodAutoscaler")
            | ("certificates.k8s.io", "CertificateSigningRequest")
            | ("resource.k8s.io", "ResourceClaim")
    )
}

#[cfg(test)]
mod tests {
    use kubewright_core::Kind;

    use super::{notices, refusal};

    #[test]
    fn a_stateful_set_says_that_nobody_makes_its_pods() {
        assert_eq!(notices(&Kind::new("apps", "v1", "StatefulSet")).len(), 2);
        assert!(notices(&Kind::new("apps", "v1", "Deployment")).is_empty());
        assert!(notices(&Kind::new("", "v1", "Pod")).is_empty());
        let group = "admissionregistration.k8s.io";
        for kind in [
            "ValidatingWebhookConfiguration",
            "MutatingWebhookConfiguration",
        ] {
            assert!(notices(&Kind::new(group, "v1", kind)).is_empty(), "{kind}");
        }
        assert_eq!(
            notices(&Kind::new("apps", "v1", "ControllerRevision")),
            ["kubewright: validation of ControllerRevision is not implemented yet"]
        );
    }

    #[test]
    fn what_would_be_trusted_and_never_act_is_refused() {
        let group = "admissionregistration.k8s.io";
        let policy = Kind::new(group, "v1", "ValidatingAdmissionPolicy");
        assert_eq!(refusal(&policy), None);
        let service = Kind::new("apiregistration.k8s.io", "v1", "APIService");
        assert_eq!(
            refusal(&service).as_deref(),
            Some(
                "aggregation of other API servers is not implemented yet: APIService would never \
                 act"
            )
        );
        assert_eq!(refusal(&Kind::new("", "v1", "Pod")), None);
    }
}
