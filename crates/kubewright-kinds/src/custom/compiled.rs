//! The compiled schemas of definitions, cached.

use std::collections::VecDeque;
use std::sync::{Arc, OnceLock};

use kubewright_core::Kind;
use parking_lot::Mutex;
use serde_json::Value;

use super::schema::CustomSchema;
use crate::json::{items, text};

/// The number of cached definitions.
const CAPACITY: usize = 16;

/// A definition is compiled at each of its writes, and a process may run a server for each of its
/// tests: both compile the same schemas again and again.
static CACHE: SchemaCache = SchemaCache(Mutex::new(VecDeque::new()));

/// The definitions that were compiled last, newest first.
struct SchemaCache(Mutex<VecDeque<Compiled>>);

struct Compiled {
    group: String,
    kind: String,
    versions: Value,
    schemas: Shared,
}

/// Set outside the lock of the cache, so that writes of other definitions do not wait for it.
type Shared = Arc<OnceLock<Arc<Vec<CustomSchema>>>>;

/// The schemas of all versions of a kind, from the `versions` of its definition.
pub fn schemas(group: &str, kind: &str, versions: &Value) -> Arc<Vec<CustomSchema>> {
    CACHE.schemas(group, kind, versions)
}

impl SchemaCache {
    fn schemas(&self, group: &str, kind: &str, versions: &Value) -> Arc<Vec<CustomSchema>> {
        let schemas = self.entry(group, kind, versions);
        Arc::clone(schemas.get_or_init(|| Arc::new(compile(group, kind, versions))))
    }

    /// The entry of a definition, without schemas when it is new.
    fn entry(&self, group: &str, kind: &str, versions: &Value) -> Shared {
        let is_same = |cached: &Compiled| {
            cached.group == group && cached.kind == kind && cached.versions == *versions
        };
        let mut cache = self.0.lock();
        let found = cache
            .iter()
            .position(is_same)
            .and_then(|index| cache.remove(index));
        let compiled = found.unwrap_or_else(|| Compiled {
            group: group.to_owned(),
            kind: kind.to_owned(),
            versions: versions.clone(),
            schemas: Shared::default(),
        });
        let schemas = Arc::clone(&compiled.schemas);
        cache.push_front(compiled);
        cache.truncate(CAPACITY);
        schemas
    }
}

fn compile(group: &str, kind: &str, versions: &Value) -> Vec<CustomSchema> {
    let schemas = items(versions).map(|version| {
        let name = text(&version["name"]);
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

    use super::{CAPACITY, SchemaCache};

    #[test]
    fn equal_definitions_are_compiled_once() {
        let cache = SchemaCache(Mutex::new(VecDeque::new()));
        let schemas = |kind: &str, of: &str| {
            let open_api = json!({"type": "object", "properties": {"spec": {"type": of}}});
            let schema = json!({"openAPIV3Schema": open_api});
            let versions = json!([{"name": "v1", "served": true, "schema": schema}]);
            cache.schemas("farm.io", kind, &versions)
        };
        let first = schemas("Fox", "string");
        assert!(Arc::ptr_eq(&first, &schemas("Fox", "string")));
        let other = schemas("Fox", "integer");
        let text = json!({"spec": "text"});
        assert_eq!(first[0].validate(&text, None, Vec::new()).causes.len(), 0);
        assert_eq!(other[0].validate(&text, None, Vec::new()).causes.len(), 1);
        assert_eq!(schemas("Hen", "string")[0].kind().kind, "Hen");
        for number in 0..CAPACITY {
            drop(schemas(&format!("Kind{number}"), "string"));
        }
        assert_eq!(cache.0.lock().len(), CAPACITY);
        assert!(!Arc::ptr_eq(&first, &schemas("Fox", "string")));
    }
}
