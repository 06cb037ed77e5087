use std::fmt;
use std::sync::Arc;

use k8s_openapi::api::core::v1::{Container, EnvVar};
use kubewright::prelude::*;

use crate::hash::{HASH_ANNOTATION, Injected, injected, spec_hash};
use crate::{PodInjectPolicy, SidecarContainer, SidecarSet, selects};

/// Marks a container that a set put into its Pod.
pub const INJECTED: &str = "IS_INJECTED";

/// A container of a set that cannot be put into a Pod.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Conflict {
    /// The set.
    pub set: String,
    /// The container that both have.
    pub container: String,
}

impl fmt::Display for Conflict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "put container {:?} of SidecarSet {:?} into the Pod: the Pod has a container of that \
             name itself; rename one of them",
            self.container, self.set
        )
    }
}

impl std::error::Error for Conflict {}

/// The Pod with the containers of all sets that select it, which it may have already: doing it
/// twice is the same as doing it once.
///
/// The sets come in the order of their names, whatever order they are given in.
pub fn inject(
    mut pod: Pod,
    namespace: &str,
    sets: impl IntoIterator<Item = Arc<SidecarSet>>,
) -> Result<Pod, Conflict> {
    let mut chosen: Vec<_> = sets
        .into_iter()
        .filter(|set| set.metadata.deletion_timestamp.is_none() && selects(set, &pod, namespace))
        .collect();
    if chosen.is_empty() {
        return Ok(pod);
    }
    chosen.sort_by_key(|set| set.name_any());
    let mut done = injected(&pod);
    let spec = pod.spec.get_or_insert_default();
    let mut front = Vec::new();
    for set in &chosen {
        for sidecar in &set.spec.containers {
            let container = marked(sidecar);
            match place(&spec.containers, set, &container.name)? {
                Some(place) => spec.containers[place] = container,
                None if sidecar.pod_inject_policy.unwrap_or_default()
                    == PodInjectPolicy::BeforeAppContainer =>
                {
                    front.push(container);
                }
                None => spec.containers.push(container),
            }
        }
        let names = set.spec.containers.iter();
        let entry = Injected {
            hash: spec_hash(set),
            set: set.name_any(),
            sidecar_list: names.map(|one| one.container.name.clone()).collect(),
        };
        done.insert(set.name_any(), entry);
    }
    front.append(&mut spec.containers);
    spec.containers = front;
    // A map of texts has a text form.
    let text = serde_json::to_string(&done).unwrap_or_default();
    pod.annotations_mut()
        .insert(HASH_ANNOTATION.to_owned(), text);
    Ok(pod)
}

/// Where the Pod has the container already. One that the Pod brought itself is not overwritten.
fn place(
    containers: &[Container],
    set: &SidecarSet,
    name: &str,
) -> Result<Option<usize>, Conflict> {
    let Some(place) = containers.iter().position(|one| one.name == name) else {
        return Ok(None);
    };
    match is_injected(&containers[place]) {
        true => Ok(Some(place)),
        false => Err(Conflict {
            set: set.name_any(),
            container: name.to_owned(),
        }),
    }
}

fn marked(sidecar: &SidecarContainer) -> Container {
    let mut container = sidecar.container.clone();
    let env = container.env.get_or_insert_default();
    env.retain(|one| one.name != INJECTED);
    env.push(EnvVar {
        name: INJECTED.to_owned(),
        value: Some("true".to_owned()),
        ..EnvVar::default()
    });
    container
}

fn is_injected(container: &Container) -> bool {
    let mut env = container.env.iter().flatten();
    env.any(|one| one.name == INJECTED && one.value.as_deref() == Some("true"))
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use kubewright::prelude::*;
    use serde_json::{Value, json};

    use super::{Conflict, inject};
    use crate::{SidecarSet, injected, spec_hash};

    fn set(name: &str, containers: Value) -> Arc<SidecarSet> {
        let set = json!({
            "apiVersion": "apps.kruise.io/v1beta1", "kind": "SidecarSet",
            "metadata": {"name": name},
            "spec": {"selector": {"matchLabels": {"app": "web"}}, "containers": containers},
        });
        Arc::new(serde_json::from_value(set).unwrap())
    }

    fn pod(labels: Value, containers: Value) -> Pod {
        let pod = json!({
            "metadata": {"name": "p", "labels": labels}, "spec": {"containers": containers},
        });
        serde_json::from_value(pod).unwrap()
    }

    fn names(pod: &Pod) -> String {
        let containers = &pod.spec.as_ref().unwrap().containers;
        let names: Vec<&str> = containers.iter().map(|one| one.name.as_str()).collect();
        names.join(" ")
    }

    #[test]
    fn sidecars_stand_where_their_set_says_and_sets_come_by_name() {
        let before = json!([{"name": "a"}]);
        let after = json!([{"name": "z", "podInjectPolicy": "AfterAppContainer"}]);
        let both = json!([{"name": "b"}, {"name": "y", "podInjectPolicy": "AfterAppContainer"}]);
        for (sets, wanted) in [
            (vec![], "app"),
            (vec![set("one", before.clone())], "a app"),
            (vec![set("one", after.clone())], "app z"),
            (
                vec![set("two", both.clone()), set("one", before.clone())],
                "a b app y",
            ),
            (vec![set("two", after), set("one", both)], "b app y z"),
        ] {
            let pod = pod(json!({"app": "web"}), json!([{"name": "app"}]));
            assert_eq!(names(&inject(pod, "default", sets).unwrap()), wanted);
        }
    }

    #[test]
    fn a_pod_that_no_set_selects_stays_as_it_is() {
        let sets = || vec![set("one", json!([{"name": "a"}]))];
        for (labels, namespace) in [
            (json!({"app": "api"}), "default"),
            (json!({}), "default"),
            (json!({"app": "web"}), "kube-system"),
            (json!({"app": "web"}), "kube-public"),
        ] {
            let before = pod(labels, json!([{"name": "app"}]));
            assert_eq!(inject(before.clone(), namespace, sets()).unwrap(), before);
        }
    }

    #[test]
    fn an_empty_or_absent_selector_selects_nothing() {
        for selector in [json!({}), Value::Null] {
            let mut one = (*set("one", json!([{"name": "a"}]))).clone();
            one.spec.selector = serde_json::from_value(selector).unwrap();
            let before = pod(json!({"app": "web"}), json!([{"name": "app"}]));
            assert_eq!(
                inject(before.clone(), "default", [Arc::new(one)]).unwrap(),
                before
            );
        }
    }

    #[test]
    fn injecting_twice_is_injecting_once() {
        let sets = || {
            vec![
                set(
                    "one",
                    json!([{"name": "a", "env": [{"name": "X", "value": "1"}]}]),
                ),
                set(
                    "two",
                    json!([{"name": "z", "podInjectPolicy": "AfterAppContainer"}]),
                ),
            ]
        };
        let fresh = pod(json!({"app": "web"}), json!([{"name": "app"}]));
        let once = inject(fresh, "default", sets()).unwrap();
        assert_eq!(inject(once.clone(), "default", sets()).unwrap(), once);
    }

    #[test]
    fn a_sidecar_is_marked_and_the_pod_tells_what_it_got() {
        let one = set(
            "one",
            json!([{"name": "a", "env": [{"name": "X", "value": "1"}]}]),
        );
        let fresh = pod(json!({"app": "web"}), json!([{"name": "app"}]));
        let pod = inject(fresh, "default", [Arc::clone(&one)]).unwrap();
        let sidecar = &pod.spec.as_ref().unwrap().containers[0];
        let env: Vec<_> = sidecar.env.iter().flatten().map(|one| &one.name).collect();
        assert_eq!(env, ["X", "IS_INJECTED"]);
        let entry = &injected(&pod)["one"];
        assert_eq!(entry.hash, spec_hash(&one));
        assert_eq!(entry.sidecar_list, ["a"]);
    }

    #[test]
    fn a_newer_set_replaces_its_own_container_and_none_of_the_pod() {
        let old = set("one", json!([{"name": "a", "image": "v1"}]));
        let new = set("one", json!([{"name": "a", "image": "v2"}]));
        let fresh = pod(json!({"app": "web"}), json!([{"name": "app"}]));
        let once = inject(fresh, "default", [old]).unwrap();
        let twice = inject(once, "default", [new]).unwrap();
        let images: Vec<_> = twice
            .spec
            .unwrap()
            .containers
            .into_iter()
            .map(|one| one.image)
            .collect();
        assert_eq!(images, [Some("v2".to_owned()), None]);
        let clash = set("one", json!([{"name": "app"}]));
        let own = pod(json!({"app": "web"}), json!([{"name": "app"}]));
        assert_eq!(
            inject(own, "default", [clash]),
            Err(Conflict {
                set: "one".to_owned(),
                container: "app".to_owned()
            })
        );
    }
}
