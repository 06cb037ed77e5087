use std::collections::BTreeMap;
use std::sync::LazyLock;

use flate2::read::GzDecoder;
use kubewright_kinds::aggregated_rules;
use serde_json::Value;

/// The roles and bindings that every cluster has, with their plural names, as the real server
/// makes them when it starts. `admin`, `edit` and `view`, which a controller fills there, have
/// their rules from the start.
pub(crate) fn bootstrap_objects() -> impl Iterator<Item = (&'static str, &'static Value)> {
    static OBJECTS: LazyLock<BTreeMap<String, Vec<Value>>> = LazyLock::new(|| {
        let packed = include_bytes!("../../tables/roles.json.gz");
        let table = serde_json::from_reader(GzDecoder::new(packed.as_slice()));
        filled(table.expect("the committed table of roles is checked by a test"))
    });
    let kinds = OBJECTS.iter();
    kinds.flat_map(|(plural, objects)| objects.iter().map(move |one| (plural.as_str(), one)))
}

/// The same with the rules of roles that are made of others, which may be made of others.
fn filled(mut table: BTreeMap<String, Vec<Value>>) -> BTreeMap<String, Vec<Value>> {
    let Some(roles) = table.get_mut("clusterroles") else {
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
    fn there_are_as_many_as_kubernetes_makes() {
        let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
        for (plural, _) in bootstrap_objects() {
            *counts.entry(plural).or_default() += 1;
        }
        assert_eq!(
            (counts["clusterroles"], counts["clusterrolebindings"]),
            (69, 50)
        );
        assert_eq!((counts["roles"], counts["rolebindings"]), (7, 7));
    }
}
