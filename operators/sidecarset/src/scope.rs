use std::collections::BTreeSet;

use k8s_openapi::apimachinery::pkg::apis::meta::v1::{LabelSelector, LabelSelectorRequirement};
use serde_json::json;

use crate::SidecarSet;
use crate::selector::{is_empty, union};

/// The API server looks at each of them for each Pod; beyond so many it is asked for a few Pods
/// too many instead.
const MOST: usize = 50;

/// Pods that the API server asks about: those of a set, or of a few. When nobody answers, all
/// others are created as ever.
#[derive(Clone, Debug, PartialEq)]
pub struct Scope {
    /// In which namespaces.
    pub namespaces: LabelSelector,
    /// Which Pods.
    pub pods: LabelSelector,
}

/// The Pods that these sets are for and no others, as few scopes as say it; where these would be
/// too many, one that holds them all.
pub fn scopes<'s>(sets: impl IntoIterator<Item = &'s SidecarSet>) -> Vec<Scope> {
    let mut all: Vec<Scope> = Vec::new();
    for scope in sets.into_iter().filter_map(scope_of) {
        if !all.iter_mut().any(|one| one.takes_in(&scope)) {
            all.push(scope);
        }
    }
    if all.len() <= MOST {
        return all;
    }
    let namespaces: Vec<_> = all.iter().map(|one| &one.namespaces).collect();
    let pods: Vec<_> = all.iter().map(|one| &one.pods).collect();
    vec![Scope {
        namespaces: union(&namespaces),
        pods: union(&pods),
    }]
}

/// The Pods of a set; none when it is for none. What the API server would not understand would
/// keep it from the other scopes, too.
fn scope_of(set: &SidecarSet) -> Option<Scope> {
    let is_going = set.metadata.deletion_timestamp.is_some();
    if is_going || set.spec.injection_strategy.paused {
        return None;
    }
    let pods = set.spec.selector.as_ref().filter(|one| !is_empty(one))?;
    let everywhere = LabelSelector::default();
    let namespaces = set.spec.namespace_selector.as_ref().unwrap_or(&everywhere);
    let is_plain = |one| kubewright::LabelSelector::from_object(&json!(one)).is_ok();
    (is_plain(pods) && is_plain(namespaces)).then(|| Scope {
        namespaces: spelt_out(namespaces),
        pods: spelt_out(pods),
    })
}

impl Scope {
    /// Whether it now holds the other one's Pods as well, and still none that are in neither: when
    /// the two differ in one selector only, and there in the values of one label.
    fn takes_in(&mut self, other: &Scope) -> bool {
        if self.namespaces == other.namespaces {
            return join(&mut self.pods, &other.pods);
        }
        self.pods == other.pods && join(&mut self.namespaces, &other.namespaces)
    }
}

fn join(selector: &mut LabelSelector, other: &LabelSelector) -> bool {
    if selector == other {
        return true;
    }
    let Some([here]) = selector.match_expressions.as_deref_mut() else {
        return false;
    };
    let Some([there]) = other.match_expressions.as_deref() else {
        return false;
    };
    let is_in = |one: &LabelSelectorRequirement| one.operator == "In";
    if !is_in(here) || !is_in(there) || here.key != there.key {
        return false;
    }
    let values = here.values.iter().chain(&there.values).flatten();
    let values: BTreeSet<_> = values.cloned().collect();
    here.values = Some(values.into_iter().collect());
    true
}

/// The same selector in one spelling, so that equal ones are.
fn spelt_out(selector: &LabelSelector) -> LabelSelector {
    let labels = selector.match_labels.iter().flatten();
    let labels = labels.map(|(key, value)| (key.clone(), "In".to_owned(), vec![value.clone()]));
    let expressions = selector.match_expressions.iter().flatten().map(|one| {
        let values: BTreeSet<_> = one.values.iter().flatten().cloned().collect();
        let values = values.into_iter().collect();
        (one.key.clone(), one.operator.clone(), values)
    });
    let all: BTreeSet<(String, String, Vec<String>)> = labels.chain(expressions).collect();
    let all = all.into_iter().map(|(key, operator, values)| {
        let values = (!values.is_empty()).then_some(values);
        LabelSelectorRequirement {
            key,
            operator,
            values,
        }
    });
    let all: Vec<_> = all.collect();
    LabelSelector {
        match_expressions: (!all.is_empty()).then_some(all),
        match_labels: None,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::{MOST, scopes};
    use crate::SidecarSet;

    fn set(spec: Value) -> SidecarSet {
        let set = json!({
            "apiVersion": "apps.kruise.io/v1beta1", "kind": "SidecarSet",
            "metadata": {"name": "s"}, "spec": spec,
        });
        serde_json::from_value(set).unwrap()
    }

    fn labels(key: &str, value: &str) -> Value {
        json!({"matchLabels": {key: value}})
    }

    fn among(key: &str, values: &[&str]) -> Value {
        json!({"matchExpressions": [{"key": key, "operator": "In", "values": values}]})
    }

    fn web() -> SidecarSet {
        set(json!({"selector": labels("app", "web")}))
    }

    fn in_team(team: &str, app: &str) -> SidecarSet {
        set(json!({"selector": labels("app", app), "namespaceSelector": labels("team", team)}))
    }

    /// The namespaces and the Pods of each scope.
    fn found(sets: &[SidecarSet]) -> Vec<(Value, Value)> {
        let scopes = scopes(sets).into_iter();
        let spelt = scopes.map(|one| (json!(one.namespaces), json!(one.pods)));
        spelt.collect()
    }

    #[test]
    fn each_set_has_its_pods_and_no_others() {
        let mut paused = web();
        paused.spec.injection_strategy.paused = true;
        let in_env =
            set(json!({"selector": labels("job", "x"), "namespaceSelector": labels("env", "b")}));
        let (team_a, env_b) = (among("team", &["a"]), among("env", &["b"]));
        for (sets, wanted) in [
            (vec![], vec![]),
            (vec![paused], vec![]),
            (vec![set(json!({"selector": {}}))], vec![]),
            (vec![set(json!({}))], vec![]),
            (vec![web()], vec![(json!({}), among("app", &["web"]))]),
            (
                vec![web(), web()],
                vec![(json!({}), among("app", &["web"]))],
            ),
            (
                vec![in_team("a", "web"), in_env],
                vec![
                    (team_a.clone(), among("app", &["web"])),
                    (env_b, among("job", &["x"])),
                ],
            ),
            (
                vec![in_team("a", "web"), web()],
                vec![
                    (team_a.clone(), among("app", &["web"])),
                    (json!({}), among("app", &["web"])),
                ],
            ),
            (
                vec![in_team("a", "web"), in_team("b", "api")],
                vec![
                    (team_a.clone(), among("app", &["web"])),
                    (among("team", &["b"]), among("app", &["api"])),
                ],
            ),
        ] {
            assert_eq!(found(&sets), wanted);
        }
    }

    #[test]
    fn sets_that_differ_in_the_values_of_one_label_share_a_scope() {
        let many: Vec<_> = (0..200)
            .map(|number| set(json!({"selector": labels("app", &format!("a{number}"))})))
            .collect();
        assert_eq!(found(&many).len(), 1);
        let teams = [in_team("b", "web"), in_team("a", "web")];
        assert_eq!(
            found(&teams),
            [(among("team", &["a", "b"]), among("app", &["web"]))]
        );
        let apps = [in_team("a", "web"), in_team("a", "api")];
        assert_eq!(
            found(&apps),
            [(among("team", &["a"]), among("app", &["api", "web"]))]
        );
    }

    #[test]
    fn a_selector_that_the_api_server_would_refuse_keeps_it_from_no_other() {
        let wrong = json!({"matchExpressions": [{"key": "app", "operator": "Near"}]});
        let sets = [set(json!({"selector": wrong})), web()];
        assert_eq!(found(&sets), [(json!({}), among("app", &["web"]))]);
    }

    #[test]
    fn too_many_scopes_become_one_that_holds_them() {
        let of = |number: usize| {
            let team = format!("t{number:02}");
            set(json!({
                "selector": {"matchLabels": {"app": "web", format!("k{number}"): "v"}},
                "namespaceSelector": labels("team", &team),
            }))
        };
        let most: Vec<_> = (0..MOST).map(of).collect();
        assert_eq!(found(&most).len(), MOST);
        let more: Vec<_> = (0..=MOST).map(of).collect();
        let teams: Vec<_> = (0..=MOST).map(|number| format!("t{number:02}")).collect();
        let teams: Vec<&str> = teams.iter().map(String::as_str).collect();
        assert_eq!(
            found(&more),
            [(among("team", &teams), among("app", &["web"]))]
        );
    }
}
