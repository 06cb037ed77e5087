//! Objects as YAML documents.

use serde_json::Value;

use crate::error::Error;

/// Writes objects as YAML documents, in the given order.
pub fn to_yaml(objects: &[Value]) -> Result<String, Error> {
    let documents = objects
        .iter()
        .map(document)
        .collect::<Result<Vec<_>, _>>()?;
    Ok(documents.join("---\n"))
}

fn document(object: &Value) -> Result<String, Error> {
    let mut text = serde_saphyr::to_string(object).map_err(|source| Error::Yaml {
        object: format!("{} {}", object["kind"], object["metadata"]["name"]),
        source,
    })?;
    if !text.ends_with('\n') {
        text.push('\n');
    }
    Ok(text)
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::to_yaml;

    #[test]
    fn objects_survive_a_round_trip_through_yaml() {
        let objects = [
            json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "on"}}),
            json!({"rules": [{"apiGroups": [""], "verbs": ["get"]}], "empty": {}, "n": 1}),
        ];
        let text = to_yaml(&objects).unwrap();
        assert_eq!(text.matches("---\n").count(), 1);
        let read: Vec<Value> = serde_saphyr::from_multiple(&text).unwrap();
        assert_eq!(read, objects);
    }
}
