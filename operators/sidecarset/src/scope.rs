//! The Pods for which the API server calls the webhook.

use std::collections::BTreeSet;

use k8s_openapi::apimachinery::pkg::apis::meta::v1::{LabelSelector, LabelSelectorRequirement};
use serde_json::json;

use crate::SidecarSet;
use crate::selector::{is_empty, union};

/// The largest number of scopes. The API server evaluates each of them for each Pod; beyond this
/// number, one scope covers all Pods and a few more.
const MAX_SCOPES: usize = 50;

/// Pods of one or several sets, for which the API server calls the webhook. Other Pods are created
/// also while the webhook is down.
#[derive(Clone, Debug, PartialEq)]
pub struct Scope {
    /// Selects the namespaces.
    pub namespaces: LabelSelector,
    /// Selects the Pods.
    pub pods: LabelSelector,
}

/// Returns as few scopes as cover exactly the Pods of these sets, or one scope that covers more if
/// there would be too many.
pub fn scopes<'s>(sets: impl IntoIterator<Item = &'s SidecarSet>) -> Vec<Scope> {
    let mut scopes: Vec<Scope> = Vec::new();
    for scope in sets.into_iter().filter_map(scope_of) {
        if !scopes.iter_mut().any(|known| known.merge(&scope)) {
            scopes.push(scope);
        }
    }
    if scopes.len() <= MAX_SCOPES {
        return scopes;
    }
    let namespaces: Vec<_> = scopes.iter().map(|scope| &scope.namespaces).collect();
    let pods: Vec<_> = scopes.iter().map(|scope| &scope.pods).collect();
    vec![Scope {
        namespaces: union(&namespaces),
        pods: union(&pods),
    }]
}

/// The scope of a set, or none if it injects into no Pods. A set with an invalid selector has none,
/// because the API server would reject the whole webhook configuration.
fn scope_of(set: &SidecarSet) -> Option<Scope> {
    let is_terminating = set.metadata.deletion_timestamp.is_some();
    if is_terminating || set.spec.injection_strategy.paused {
        return None;
    }
    let selector = set.spec.selector.as_ref();
    let pods = selector.filter(|selector| !is_empty(selector))?;
    let everywhere = LabelSelector::default();
    let namespaces = set.spec.namespace_selector.as_ref().unwrap_or(&everywhere);
    let is_valid = |selector| kubewright::LabelSelector::from_object(&json!(selector)).is_ok();
    (is_valid(pods) && is_valid(namespaces)).then(|| Scope {
        namespaces: normalized(namespaces),
        pods: normalized(pods),
    })
}

impl Scope {
    /// Adds the Pods of the other scope, if this adds no further ones, and returns whether it did.
    /// Possible if the two differ in one selector only, and there in the values of one label.
    fn merge(&mut self, other: &Scope) -> bool {
        if self.namespaces == other.namespaces {
            return merge_values(&mut self.pods, &other.pods);
        }
        self.pods == other.pods && merge_values(&mut self.namespaces, &other.namespaces)
    }
}

fn merge_values(selector: &mut LabelSelector, other: &LabelSelector) -> bool {
    if selector == other {
        return true;
    }
    let Some([own]) = selector.match_expressions.as_deref_mut() else {
        return false;
    };
    let Some([added]) = other.match_expressions.as_deref() else {
        return false;
    };
    if own.operator != "In" || added.operator != "In" || own.key != added.key {
        return false;
    }
    let values: BTreeSet<String> = own
        .values
        .iter()
        .chain(&added.values)
        .flatten()
        .cloned()
        .collect();
    own.values = Some(values.into_iter().collect());
    true
}

/// The selector in a normal form, so that equivalent selectors are equal: sorted expressions only.
fn normalized(selector: &LabelSelector) -> LabelSelector {
    let labels = selector.match_labels.iter().flatten();
    let equalities = labels.map(|(key, value)| (key.clone(), "In".to_owned(), vec![value.clone()]));
    let expressions = selector
        .match_expressions
        .iter()
        .flatten()
        .map(|requirement| {
            let values: BTreeSet<_> = requirement.values.iter().flatten().cloned().collect();
            let sorted = values.into_iter().collect();
            (
                requirement.key.clone(),
                requirement.operator.clone(),
                sorted,
            )
        });
    let sorted: BTreeSet<(String, String, Vec<String>)> = equalities.chain(expressions).collect();
    let requirements: Vec<_> = sorted
        .into_iter()
        .map(|(key, operator, values)| LabelSelectorRequirement {
            key,
            operator,
            values: (!values.is_empty()).then_some(values),
        })
        .collect();
    LabelSelector {
        match_expressions: (!requirements.is_empty()).then_some(requirements),
        match_labels: None,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::{MAX_SCOPES, scopes};
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

    fn one_of(key: &str, values: &[&str]) -> Value {
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
        scopes
            .map(|scope| (json!(scope.namespaces), json!(scope.pods)))
            .collect()
    }

    #[test]
    fn scopes_cover_the_pods_of_each_set_and_no_others() {
        let mut paused = web();
        paused.spec.injection_strategy.paused = true;
        let in_env =
            set(json!({"selector": labels("job", "x"), "namespaceSelector": labels("env", "b")}));
        let (team_a, env_b) = (one_of("team", &["a"]), one_of("env", &["b"]));
        for (sets, expected) in [
            (vec![], vec![]),
            (vec![paused], vec![]),
            (vec![set(json!({"selector": {}}))], vec![]),
            (vec![set(json!({}))], vec![]),
            (vec![web()], vec![(json!({}), one_of("app", &["web"]))]),
            (
                vec![web(), web()],
                vec![(json!({}), one_of("app", &["web"]))],
            ),
            (
                vec![in_team("a", "web"), in_env],
                vec![
                    (team_a.clone(), one_of("app", &["web"])),
                    (env_b, one_of("job", &["x"])),
                ],
            ),
            (
                vec![in_team("a", "web"), web()],
                vec![
                    (team_a.clone(), one_of("app", &["web"])),
                    (json!({}), one_of("app", &["web"])),
                ],
            ),
            (
                vec![in_team("a", "web"), in_team("b", "api")],
                vec![
                    (team_a.clone(), one_of("app", &["web"])),
                    (one_of("team", &["b"]), one_of("app", &["api"])),
                ],
            ),
        ] {
            assert_eq!(found(&sets), expected);
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
            [(one_of("team", &["a", "b"]), one_of("app", &["web"]))]
        );
        let apps = [in_team("a", "web"), in_team("a", "api")];
        assert_eq!(
            found(&apps),
            [(one_of("team", &["a"]), one_of("app", &["api", "web"]))]
        );
    }

    #[test]
    fn invalid_selector_does_not_affect_other_scopes() {
        let invalid = json!({"matchExpressions": [{"key": "app", "operator": "Near"}]});
        let sets = [set(json!({"selector": invalid})), web()];
        assert_eq!(found(&sets), [(json!({}), one_of("app", &["web"]))]);
    }

    #[test]
    fn too_many_scopes_are_replaced_by_one_that_covers_them() {
        let of = |number: usize| {
            let team = format!("t{number:02}");
            set(json!({
                "selector": {"matchLabels": {"app": "web", format!("k{number}"): "v"}},
                "namespaceSelector": labels("team", &team),
            }))
        };
        let most: Vec<_> = (0..MAX_SCOPES).map(of).collect();
        assert_eq!(found(&most).len(), MAX_SCOPES);
        let more: Vec<_> = (0..=MAX_SCOPES).map(of).collect();
        let teams: Vec<_> = (0..=MAX_SCOPES)
            .map(|number| format!("t{number:02}"))
            .collect();
        let team_names: Vec<&str> = teams.iter().map(String::as_str).collect();
        assert_eq!(
            found(&more),
            [(one_of("team", &team_names), one_of("app", &["web"]))]
        );
    }
}
