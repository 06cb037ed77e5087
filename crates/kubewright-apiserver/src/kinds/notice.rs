use kubewright_core::Kind;

/// What a client is told with each write of a built-in kind, so that nobody takes for true what
/// this server does not do yet.
pub(crate) fn notices(kind: &Kind) -> Vec<String> {
    let mut notices = vec![format!(
        "kubewright: defaults and validation of {} are not implemented yet",
        kind.kind
    )];
    if needs_absent_controller(kind) {
        notices.push(format!(
            "kubewright: nothing acts on {} yet: its controller is not implemented",
            kind.kind
        ));
    }
    notices
}

/// Kinds that mean nothing without a controller of the cluster which is not there yet.
fn needs_absent_controller(kind: &Kind) -> bool {
    matches!(
        (kind.group(), kind.kind.as_str()),
        (
            "apps",
            "Deployment" | "ReplicaSet" | "StatefulSet" | "DaemonSet"
        ) | ("batch", "Job" | "CronJob")
            | (
                "",
                "ReplicationController" | "PersistentVolumeClaim" | "ResourceQuota" | "Service"
            )
            | ("autoscaling", "HorizontalPodAutoscaler")
            | ("policy", "PodDisruptionBudget")
            | ("certificates.k8s.io", "CertificateSigningRequest")
            | ("resource.k8s.io", "ResourceClaim")
    )
}

#[cfg(test)]
mod tests {
    use kubewright_core::Kind;

    use super::notices;

    #[test]
    fn a_deployment_says_that_nobody_rolls_it_out() {
        assert_eq!(notices(&Kind::new("apps", "v1", "Deployment")).len(), 2);
        assert_eq!(
            notices(&Kind::new("", "v1", "Pod")),
            ["kubewright: defaults and validation of Pod are not implemented yet"]
        );
    }
}
