//! The two containers of a sidecar with hot upgrades.

use std::collections::BTreeMap;

use k8s_openapi::api::core::v1::{Container, EnvVar, EnvVarSource, ObjectFieldSelector};

use crate::SidecarContainer;
use crate::pod_annotations::{
    WORKING_ANNOTATION, other_version_annotation, version_annotation, write_json,
};

const VERSION: &str = "SIDECARSET_VERSION";
const OTHER_VERSION: &str = "SIDECARSET_VERSION_ALT";

/// One of the two containers of a sidecar with hot upgrades.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Half {
    First,
    Second,
}

impl Half {
    /// Both containers.
    pub(crate) const BOTH: [Self; 2] = [Self::First, Self::Second];

    /// Returns the name of the container.
    pub(crate) fn name(self, sidecar: &str) -> String {
        match self {
            Self::First => format!("{sidecar}-1"),
            Self::Second => format!("{sidecar}-2"),
        }
    }

    /// Returns the other one.
    pub(crate) fn other(self) -> Self {
        match self {
            Self::First => Self::Second,
            Self::Second => Self::First,
        }
    }
}

/// Builds both containers of a sidecar: the first one works, the second one is idle with the empty
/// image.
pub(super) fn halves(sidecar: &SidecarContainer, container: &Container) -> [Container; 2] {
    let empty_image = sidecar.upgrade_strategy.hot_upgrade_empty_image.clone();
    Half::BOTH.map(|half| {
        let mut container = container.clone();
        container.name = half.name(&container.name);
        if half == Half::Second {
            container.image.clone_from(&empty_image);
        }
        let versions = [
            (VERSION, version_annotation(&container.name)),
            (OTHER_VERSION, other_version_annotation(&container.name)),
        ];
        let env = container.env.get_or_insert_default();
        env.retain(|variable| variable.name != VERSION && variable.name != OTHER_VERSION);
        env.extend(versions.map(|(name, annotation)| from_annotation(name, &annotation)));
        container
    })
}

/// Annotates a new Pod: the first containers work, with version 1.
pub(super) fn annotate_versions(annotations: &mut BTreeMap<String, String>, sidecars: &[String]) {
    if sidecars.is_empty() {
        return;
    }
    let mut working = BTreeMap::new();
    for sidecar in sidecars {
        let [first, second] = Half::BOTH.map(|half| half.name(sidecar));
        for (name, version, other_version) in [(&first, "1", "0"), (&second, "0", "1")] {
            annotations.insert(version_annotation(name), version.to_owned());
            annotations.insert(other_version_annotation(name), other_version.to_owned());
        }
        working.insert(sidecar.clone(), first);
    }
    write_json(annotations, WORKING_ANNOTATION, &working);
}

fn from_annotation(name: &str, annotation: &str) -> EnvVar {
    EnvVar {
        name: name.to_owned(),
        value_from: Some(EnvVarSource {
            field_ref: Some(ObjectFieldSelector {
                api_version: Some("v1".to_owned()),
                field_path: format!("metadata.annotations['{annotation}']"),
            }),
            ..EnvVarSource::default()
        }),
        ..EnvVar::default()
    }
}
