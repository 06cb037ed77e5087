//! The macro that declares the kind in each of its versions.

/// Declares the fields that all versions of the API share.
///
/// `declare "v1" { fields }` declares the kind in a version with further fields of its own. `copy a
/// to B { fields }` converts the spec `a` of one version to the type `B` of another one.
macro_rules! sidecar_set {
    (declare $version:tt { $($own:tt)* }) => {
        /// Containers that are injected into each Pod that the set selects.
        #[derive(
            CustomResource, Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema,
        )]
        #[serde(rename_all = "camelCase", default)]
        #[kube(
            group = "apps.kruise.io",
            version = $version,
            kind = "SidecarSet",
            status = "SidecarSetStatus",
            printcolumn(
                name = "MATCHED",
                type_ = "integer",
                description = "Pods that have the containers of the set",
                json_path = ".status.matchedPods"
            ),
            printcolumn(
                name = "UPDATED",
                type_ = "integer",
                description = "Pods with the current containers of the set",
                json_path = ".status.updatedPods"
            ),
            printcolumn(
                name = "READY",
                type_ = "integer",
                description = "Pods that are ready",
                json_path = ".status.readyPods"
            ),
            printcolumn(
                name = "AGE",
                type_ = "date",
                json_path = ".metadata.creationTimestamp"
            )
        )]
        pub struct SidecarSetSpec {
            /// Selects the Pods that get the containers; must not be empty.
            #[serde(skip_serializing_if = "Option::is_none")]
            #[schemars(schema_with = "crate::kind::selector")]
            pub selector: Option<k8s_openapi::apimachinery::pkg::apis::meta::v1::LabelSelector>,
            /// Selects the namespaces of these Pods; the default is all namespaces.
            #[serde(skip_serializing_if = "Option::is_none")]
            #[schemars(schema_with = "crate::kind::selector")]
            pub namespace_selector:
                Option<k8s_openapi::apimachinery::pkg::apis::meta::v1::LabelSelector>,
            /// Init containers; with `restartPolicy: Always` they are native sidecars.
            #[serde(skip_serializing_if = "Vec::is_empty")]
            #[schemars(schema_with = "crate::kind::containers")]
            pub init_containers: Vec<crate::SidecarContainer>,
            /// The containers.
            #[serde(skip_serializing_if = "Vec::is_empty")]
            #[schemars(schema_with = "crate::kind::containers")]
            pub containers: Vec<crate::SidecarContainer>,
            /// Volumes for the containers; volumes that none of them mounts are not injected.
            #[serde(skip_serializing_if = "Vec::is_empty")]
            #[schemars(schema_with = "crate::kind::volumes")]
            pub volumes: Vec<k8s_openapi::api::core::v1::Volume>,
            /// How running Pods are updated to a changed set.
            #[serde(skip_serializing_if = "crate::kind::is_default")]
            pub update_strategy: crate::UpdateStrategy,
            /// What is injected into new Pods.
            #[serde(skip_serializing_if = "crate::kind::is_default")]
            pub injection_strategy: crate::InjectionStrategy,
            /// Secrets with which the images of the containers are pulled.
            #[serde(skip_serializing_if = "Vec::is_empty")]
            #[schemars(schema_with = "crate::kind::secrets")]
            pub image_pull_secrets: Vec<k8s_openapi::api::core::v1::LocalObjectReference>,
            /// How many versions are kept for a revert, at least 1; the default is 10.
            #[serde(skip_serializing_if = "Option::is_none")]
            pub revision_history_limit: Option<i32>,
            /// Annotations that are added to the Pods.
            #[serde(skip_serializing_if = "Vec::is_empty")]
            pub patch_pod_metadata: Vec<crate::PatchPodMetadata>,
            $($own)*
        }
    };
    (copy $spec:ident to $($other:ident)::+ { $($own:tt)* }) => {
        $($other)::+ {
            selector: $spec.selector,
            namespace_selector: $spec.namespace_selector,
            init_containers: $spec.init_containers,
            containers: $spec.containers,
            volumes: $spec.volumes,
            update_strategy: $spec.update_strategy,
            injection_strategy: $spec.injection_strategy,
            image_pull_secrets: $spec.image_pull_secrets,
            revision_history_limit: $spec.revision_history_limit,
            patch_pod_metadata: $spec.patch_pod_metadata,
            $($own)*
        }
    };
}

pub(crate) use sidecar_set;
