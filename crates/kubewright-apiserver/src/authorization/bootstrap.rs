//! The roles and bindings that every cluster has from its start.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use flate2::read::GzDecoder;
use kubewright_kinds::groups::RBAC;
use kubewright_kinds::rbac::CLUSTER_ROLE;
use kubewright_kinds::{BuiltinKind, aggregated_rules, lookup_resource};
use serde_json::Value;

/// The roles and bindings that a real server creates when it starts, with their kinds. `admin`,
/// `edit` and `view`, which a controller fills in there, have their rules from the start.
pub(crate) fn bootstrap_objects() -> impl Iterator<Item = (&'static BuiltinKind, &'static Value)> {
    static OBJECTS: LazyLock<BTreeMap<String, Vec<Value>>> = LazyLock::new(|| {
        let packed = include_bytes!("../../tables/roles.json.gz");
        let table = serde_json::from_reader(GzDecoder::new(packed.as_slice()));
        aggregate_roles(table.expect("the committed table of roles is checked by a test"))
    });
    let kinds = OBJECTS
        .iter()
        .filter_map(|(plural, objects)| Some((lookup_resource(RBAC, plural)?, objects)));
    kinds.flat_map(|(kind, objects)| objects.iter().map(move |object| (kind, object)))
}

/// Sets the rules of aggregated ClusterRoles. They can aggregate other aggregated roles, so that
/// this repeats until nothing changes.
fn aggregate_roles(mut table: BTreeMap<String, Vec<Value>>) -> BTreeMap<String, Vec<Value>> {
    let Some(roles) = table.get_mut(CLUSTER_ROLE.plural) else {
        return table;
    };
    loop {
        let before = roles.clone();
        for role in roles.iter_mut() {
            if let Some(rules) = aggregated_rules(role, before.iter()) {
                role["rules"] = rules.into();
            }
        }
        if *roles == before {
            return table;
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::bootstrap_objects;

    #[test]
    fn bootstrap_objects_are_as_many_as_in_kubernetes() {
        let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
        for (kind, _) in bootstrap_objects() {
            *counts.entry(kind.plural).or_default() += 1;
        }
        assert_eq!(
            (counts["clusterroles"], counts["clusterrolebindings"]),
            (69, 50)
        );
        assert_eq!((counts["roles"], counts["rolebindings"]), (7, 7));
    }
}
