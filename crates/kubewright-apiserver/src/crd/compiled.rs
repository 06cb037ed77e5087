use std::collections::VecDeque;
use std::sync::Arc;

use kubewright_core::Kind;
use parking_lot::Mutex;
use serde_json::Value;

use super::schema::CustomSchema;

/// How many definitions are kept.
const KEPT: usize = 16;

/// What was compiled last, newest first. A definition is compiled at each of its writes, and a
/// process may run a server for each of its tests: both meet the same schemas again and again.
static LAST: Last = Last(Mutex::new(VecDeque::new()));

struct Last(Mutex<VecDeque<Compiled>>);

struct Compiled {
    group: String,
    kind: String,
    versions: Value,
    schemas: Arc<Vec<CustomSchema>>,
}

/// The schemas of all versions of a kind, as the `versions` of its definition say them.
pub(super) fn schemas(group: &str, kind: &str, versions: &Value) -> Arc<Vec<CustomSchema>> {
    LAST.schemas(group, kind, versions)
}

impl Last {
    fn schemas(&self, group: &str, kind: &str, versions: &Value) -> Arc<Vec<CustomSchema>> {
        let is_it =
            |one: &Compiled| one.group == group && one.kind == kind && one.versions == *versions;
        let mut last = self.0.lock();
        let found = last.iter().position(is_it).and_then(|at| last.remove(at));
        let compiled = found.unwrap_or_else(|| Compiled {
            group: group.to_owned(),
            kind: kind.to_owned(),
            versions: versions.clone(),
            schemas: Arc::new(compile(group, kind, versions)),
        });
        let schemas = Arc::clone(&compiled.schemas);
        last.push_front(compiled);
        last.truncate(KEPT);
        schemas
    }
}

fn compile(group: &str, kind: &str, versions: &Value) -> Vec<CustomSchema> {
    let versions = versions.as_array().into_iter().flatten();
    let schemas = versions.map(|version| {
        let name = version["name"].as_str().unwrap_or_default();
        let open_api = version["schema"].get("openAPIV3Schema");
        CustomSchema::compile(
            &Kind::new(group, name, kind),
            open_api,
            version["served"] == true,
        )
    });
    schemas.collect()
}

#[cfg(test)]
mod tests {
    use std::collections::VecDeque;
    use std::sync::Arc;

    use parking_lot::Mutex;
    use serde_json::json;

    use super::{KEPT, Last};

    #[test]
    fn equal_definitions_are_compiled_once_and_others_anew() {
        let last = Last(Mutex::new(VecDeque::new()));
        let schemas = |kind: &str, of: &str| {
            let schema = json!({"type": "object", "properties": {"spec": {"type": of}}});
            let schema = json!({"openAPIV3Schema": schema});
            let versions = json!([{"name": "v1", "served": true, "schema": schema}]);
            last.schemas("farm.io", kind, &versions)
        };
        let first = schemas("Fox", "string");
        assert!(Arc::ptr_eq(&first, &schemas("Fox", "string")));
        let other = schemas("Fox", "integer");
        let text = json!({"spec": "text"});
        assert_eq!(first[0].validate(&text, None, Vec::new()).causes.len(), 0);
        assert_eq!(other[0].validate(&text, None, Vec::new()).causes.len(), 1);
        assert_eq!(schemas("Hen", "string")[0].kind().kind, "Hen");
        for number in 0..KEPT {
            drop(schemas(&format!("Kind{number}"), "string"));
        }
        assert_eq!(last.0.lock().len(), KEPT);
        assert!(!Arc::ptr_eq(&first, &schemas("Fox", "string")));
    }
}
