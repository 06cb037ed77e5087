use serde_json::Value;

/// Takes away what nobody writes by version `v1` (`dropTopologyOnV1` of the kind's strategy).
///
/// No other version is served, so that nothing stored has it either.
pub(crate) fn drop_topology(endpoints: Option<&mut Value>) {
    let endpoints = endpoints.and_then(Value::as_array_mut);
    for endpoint in endpoints.into_iter().flatten() {
        if let Some(endpoint) = endpoint.as_object_mut() {
            endpoint.remove("deprecatedTopology");
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::drop_topology;

    #[test]
    fn topology_is_dropped_and_all_else_stays() {
        let mut slice = json!({"endpoints": [
            {"addresses": ["10.0.0.1"], "deprecatedTopology": {"a": "b"}}, {},
        ]});
        drop_topology(slice.get_mut("endpoints"));
        assert_eq!(
            slice,
            json!({"endpoints": [{"addresses": ["10.0.0.1"]}, {}]})
        );
    }
}
