use std::collections::BTreeMap;

use k8s_openapi::api::core::v1::{Container, EnvVar, EnvVarSource, ObjectFieldSelector};

use crate::SidecarContainer;
use crate::record::{WORKING_ANNOTATION, note, other_version_annotation, version_annotation};

const VERSION: &str = "SIDECARSET_VERSION";
const OTHER_VERSION: &str = "SIDECARSET_VERSION_ALT";

/// One of the two containers of a sidecar that is upgraded while it works.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Half {
    One,
    Two,
}

impl Half {
    /// Both.
    pub(crate) const BOTH: [Self; 2] = [Self::One, Self::Two];

    /// The name of the container.
    pub(crate) fn name(self, sidecar: &str) -> String {
        match self {
            Self::One => format!("{sidecar}-1"),
            Self::Two => format!("{sidecar}-2"),
        }
    }

    /// The other one.
    pub(crate) fn other(self) -> Self {
        match self {
            Self::One => Self::Two,
            Self::Two => Self::One,
        }
    }
}

/// The two containers of a sidecar: the first works, the second waits with the empty image.
pub(crate) fn halves(sidecar: &SidecarContainer, container: &Container) -> [Container; 2] {
    let empty = sidecar.upgrade_strategy.hot_upgrade_empty_image.clone();
    Half::BOTH.map(|half| {
        let mut container = container.clone();
        container.name = half.name(&container.name);
        if half == Half::Two {
            container.image.clone_from(&empty);
        }
        let versions = [
            (VERSION, version_annotation(&container.name)),
            (OTHER_VERSION, other_version_annotation(&container.name)),
        ];
        let env = container.env.get_or_insert_default();
        env.retain(|one| one.name != VERSION && one.name != OTHER_VERSION);
        env.extend(versions.map(|(name, annotation)| from_annotation(name, &annotation)));
        container
    })
}

/// What a new Pod says of its sidecars: the first halves work, with version 1.
pub(super) fn tell_versions(annotations: &mut BTreeMap<String, String>, sidecars: &[String]) {
    if sidecars.is_empty() {
        return;
    }
    let mut working = BTreeMap::new();
    for sidecar in sidecars {
        let [one, two] = Half::BOTH.map(|half| half.name(sidecar));
        for (name, version, other) in [(&one, "1", "0"), (&two, "0", "1")] {
            annotations.insert(version_annotation(name), version.to_owned());
            annotations.insert(other_version_annotation(name), other.to_owned());
        }
        working.insert(sidecar.clone(), one);
    }
    note(annotations, WORKING_ANNOTATION, &working);
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
