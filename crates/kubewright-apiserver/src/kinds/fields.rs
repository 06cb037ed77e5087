use kubewright_core::{FieldSelector, Kind};
use serde_json::Value;

/// The fields, besides `metadata.name` and `metadata.namespace`, that a kind can be selected by
/// (`AddFieldLabelConversionFunc` and `GetAttrs` of each kind).
#[derive(Clone, Copy, Debug)]
pub(crate) enum SelectableFields {
    /// The kind has a table of its own.
    Own(&'static [&'static str]),
    /// Only the two of the metadata.
    MetadataOnly,
}

/// What objects of a kind can be selected by.
pub(crate) fn selectable_fields(kind: &Kind) -> SelectableFields {
    let own: &[&str] = match (kind.group(), kind.kind.as_str()) {
        ("", "Pod") => &[
            "spec.nodeName",
            "spec.host",
            "spec.restartPolicy",
            "spec.schedulerName",
            "spec.serviceAccountName",
            "spec.hostNetwork",
            "status.phase",
            "status.podIP",
            "status.podIPs",
            "status.nominatedNodeName",
        ],
        ("", "Node") => &["spec.unschedulable"],
        ("", "ReplicationController") => &["status.replicas"],
        ("", "Event") => &[
            "involvedObject.kind",
            "involvedObject.namespace",
            "involvedObject.name",
            "involvedObject.uid",
            "involvedObject.apiVersion",
            "involvedObject.resourceVersion",
            "involvedObject.fieldPath",
            "reason",
            "reportingComponent",
            "source",
            "type",
        ],
        ("events.k8s.io", "Event") => &[
            "regarding.kind",
            "regarding.namespace",
            "regarding.name",
            "regarding.uid",
            "regarding.apiVersion",
            "regarding.resourceVersion",
            "regarding.fieldPath",
            "reason",
            "reportingController",
            "type",
        ],
        ("", "Namespace") => &["status.phase"],
        ("", "Secret") => &["type"],
        ("", "Service") => &["spec.clusterIP", "spec.type"],
        ("batch", "Job") => &["status.successful"],
        ("certificates.k8s.io", "CertificateSigningRequest" | "ClusterTrustBundle") => {
            &["spec.signerName"]
        }
        ("resource.k8s.io", "ResourceSlice") => &["spec.nodeName", "spec.driver"],
        _ => return SelectableFields::MetadataOnly,
    };
    SelectableFields::Own(own)
}

impl SelectableFields {
    /// The message for a selector that names a field the kind cannot be selected by.
    pub(crate) fn refuse(self, selector: &FieldSelector) -> Option<String> {
        let own = match self {
            Self::Own(own) => own,
            Self::MetadataOnly => &[],
        };
        let unknown = selector.requirements.iter().find(|requirement| {
            let path = requirement.path.as_str();
            !matches!(path, "metadata.name" | "metadata.namespace") && !own.contains(&path)
        })?;
        Some(match self {
            Self::Own(_) => format!("field label not supported: {}", unknown.path),
            Self::MetadataOnly => format!(
                "\"{}\" is not a known field selector: only \"metadata.name\", \
                 \"metadata.namespace\"",
                unknown.path
            ),
        })
    }
}

/// Whether an object has the fields that a selector asks for; an absent field reads as empty.
pub(crate) fn matches_fields(selector: &FieldSelector, object: &Value) -> bool {
    selector.requirements.iter().all(|requirement| {
        let value = field_text(object, &requirement.path);
        (value == requirement.value) == requirement.equal
    })
}

fn field_text(object: &Value, path: &str) -> String {
    let (path, absent) = match path {
        "spec.host" => ("spec.nodeName", ""),
        "status.podIPs" => ("status.podIP", ""),
        "status.successful" => ("status.succeeded", "0"),
        "source" => ("source.component", ""),
        "spec.unschedulable" | "spec.hostNetwork" => (path, "false"),
        "status.replicas" => (path, "0"),
        _ => (path, ""),
    };
    let found = path
        .split('.')
        .try_fold(object, |value, field| value.get(field));
    match found {
        Some(Value::String(text)) => text.clone(),
        Some(other @ (Value::Bool(_) | Value::Number(_))) => other.to_string(),
        _ => absent.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use kubewright_core::{FieldSelector, Kind};
    use serde_json::json;

    use super::{matches_fields, selectable_fields};

    fn selector(text: &str) -> FieldSelector {
        text.parse().unwrap()
    }

    #[test]
    fn pods_are_selected_by_node_and_phase() {
        let pod = json!({"metadata": {"name": "a"}, "spec": {"nodeName": "n"}});
        assert!(matches_fields(
            &selector("spec.nodeName=n,status.phase="),
            &pod
        ));
        assert!(matches_fields(&selector("spec.hostNetwork=false"), &pod));
        assert!(!matches_fields(&selector("metadata.name!=a"), &pod));
    }

    #[test]
    fn unknown_fields_are_refused_in_the_words_of_the_kind() {
        let refusal = |kind: Kind| selectable_fields(&kind).refuse(&selector("spec.x=1"));
        assert_eq!(
            refusal(Kind::new("", "v1", "Pod")).unwrap(),
            "field label not supported: spec.x"
        );
        assert_eq!(
            refusal(Kind::new("", "v1", "ConfigMap")).unwrap(),
            "\"spec.x\" is not a known field selector: only \"metadata.name\", \
             \"metadata.namespace\""
        );
    }
}
