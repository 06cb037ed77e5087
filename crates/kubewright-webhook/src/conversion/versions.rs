//! Conversion of objects between the versions of a kind.

use std::fmt;
use std::sync::Arc;

use serde_json::{Map, Value, json};

use super::lost::{LostValue, lost, restore, with_unknown};

/// The prefix of the annotation with the values that the object's current version has no field for.
/// The version that has one follows.
const ANNOTATION: &str = "conversion.kubewright.dev/";

/// The input and output of a conversion function.
#[derive(Clone, Debug, PartialEq)]
pub struct ConversionOutput {
    /// The input, as the function's own type serializes it.
    pub read: Value,
    /// The output.
    pub written: Value,
}

/// Converts an object to another version, or returns the error message.
pub type ConversionFn = Arc<dyn Fn(&Value) -> Result<ConversionOutput, String> + Send + Sync>;

/// A version, and the conversions between it and the hub.
#[derive(Clone)]
pub struct Spoke {
    /// Its `apiVersion`.
    pub api_version: String,
    /// From it to the hub.
    pub to_hub: ConversionFn,
    /// From the hub to it.
    pub from_hub: ConversionFn,
}

/// The versions of one kind: a hub, and others that are converted through it.
///
/// Values that a version has no field for are stored in an annotation of the object, and restored
/// when the object is converted to a version that has one. So a round trip between any two versions
/// does not change an object, whatever the functions lose.
#[derive(Clone, Debug)]
pub struct Versions {
    /// The kind, for error messages.
    pub kind: String,
    /// The `apiVersion` that all conversions go through.
    pub hub: String,
    /// The other versions.
    pub spokes: Vec<Spoke>,
}

impl Versions {
    /// Converts an object to the version `desired`.
    pub fn convert(&self, object: Value, desired: &str) -> Result<Value, String> {
        let current = object["apiVersion"].as_str().unwrap_or_default().to_owned();
        if current == desired {
            return Ok(object);
        }
        let hub = if current == self.hub {
            object
        } else {
            let spoke = self.spoke(&current)?;
            let step = Step {
                from: &current,
                to: &self.hub,
                convert: &spoke.to_hub,
                convert_back: &spoke.from_hub,
            };
            step.run(&object)?
        };
        if desired == self.hub {
            return Ok(hub);
        }
        let spoke = self.spoke(desired)?;
        let step = Step {
            from: &self.hub,
            to: desired,
            convert: &spoke.from_hub,
            convert_back: &spoke.to_hub,
        };
        step.run(&hub)
    }

    fn spoke(&self, version: &str) -> Result<&Spoke, String> {
        let mut spokes = self.spokes.iter();
        spokes
            .find(|spoke| spoke.api_version == version)
            .ok_or_else(|| {
                let others = self.spokes.iter().map(|spoke| spoke.api_version.as_str());
                let known: Vec<&str> = std::iter::once(self.hub.as_str()).chain(others).collect();
                format!(
                    "{} cannot be converted from or to {version:?}: the versions are {}",
                    self.kind,
                    known.join(", ")
                )
            })
    }
}

/// A conversion between a spoke and the hub.
struct Step<'a> {
    from: &'a str,
    to: &'a str,
    convert: &'a ConversionFn,
    convert_back: &'a ConversionFn,
}

impl Step<'_> {
    /// Converts an object, and stores in it the values that do not survive the round trip.
    fn run(&self, object: &Value) -> Result<Value, String> {
        let ConversionOutput { read, mut written } = (self.convert)(object)?;
        drop_nulls(&mut written);
        written["apiVersion"] = json!(self.to);
        written["kind"] = object["kind"].clone();
        written["metadata"] = metadata(&object["metadata"], &written["metadata"]);
        let stored = take_lost(&mut written["metadata"], self.to);
        restore(&mut written, &stored);
        let returned = (self.convert_back)(&written)?.written;
        let before = with_unknown(&read, object);
        let values = lost(&spec_of(&before), &spec_of(&returned));
        store_lost(&mut written["metadata"], self.from, &values);
        Ok(written)
    }
}

/// A type may serialize an absent field as null, which the API server would store.
fn drop_nulls(value: &mut Value) {
    match value {
        Value::Object(fields) => {
            fields.retain(|_, value| !value.is_null());
            fields.values_mut().for_each(drop_nulls);
        }
        Value::Array(items) => items.iter_mut().for_each(drop_nulls),
        _ => {}
    }
}

/// The object without type and metadata, which conversions do not change.
fn spec_of(object: &Value) -> Value {
    let mut fields = object.as_object().cloned().unwrap_or_default();
    for name in ["apiVersion", "kind", "metadata"] {
        fields.remove(name);
    }
    Value::Object(fields)
}

/// The metadata of the original, with the labels and annotations that the function added or
/// changed: the API server allows no other changes.
fn metadata(original: &Value, written: &Value) -> Value {
    let mut metadata = match original {
        Value::Object(fields) => fields.clone(),
        _ => Map::new(),
    };
    for field in ["labels", "annotations"] {
        let Some(added) = written[field].as_object().filter(|map| !map.is_empty()) else {
            continue;
        };
        let mut all = original[field].as_object().cloned().unwrap_or_default();
        all.extend(added.clone());
        metadata.insert(field.to_owned(), Value::Object(all));
    }
    Value::Object(metadata)
}

/// Removes the annotation with the lost values of a version, and returns them.
fn take_lost(metadata: &mut Value, version: &str) -> Vec<LostValue> {
    let Some(fields) = metadata.as_object_mut() else {
        return Vec::new();
    };
    let Some(annotations) = fields.get_mut("annotations").and_then(Value::as_object_mut) else {
        return Vec::new();
    };
    let removed = annotations.remove(&annotation(version));
    if removed.is_some() && annotations.is_empty() {
        fields.remove("annotations");
    }
    // A user may have edited the annotation; an invalid one is ignored.
    removed
        .as_ref()
        .and_then(Value::as_str)
        .and_then(|text| serde_json::from_str(text).ok())
        .unwrap_or_default()
}

fn store_lost(metadata: &mut Value, version: &str, values: &[LostValue]) {
    if values.is_empty() {
        // An annotation of an earlier conversion is out of date.
        take_lost(metadata, version);
    } else {
        metadata["annotations"][annotation(version)] = json!(json!(values).to_string());
    }
}

fn annotation(api_version: &str) -> String {
    let version = api_version
        .rsplit_once('/')
        .map_or(api_version, |(_, version)| version);
    format!("{ANNOTATION}{version}")
}

impl fmt::Debug for Spoke {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Spoke")
            .field("api_version", &self.api_version)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use proptest::prelude::*;
    use serde_json::{Map, Value, json};

    use super::{ConversionFn, ConversionOutput, Spoke, Versions};

    /// Renames the listed fields of `spec`, and drops the others.
    fn renaming(names: &'static [(&'static str, &'static str)]) -> ConversionFn {
        Arc::new(move |object| {
            let renamed = names.iter().filter_map(|(old, new)| {
                let value = object["spec"].get(old)?.clone();
                Some(((*new).to_owned(), value))
            });
            let spec: Map<String, Value> = renamed.collect();
            Ok(ConversionOutput {
                read: object.clone(),
                written: json!({"spec": spec}),
            })
        })
    }

    fn versions() -> Versions {
        let spoke = |version: &str, to_hub, from_hub| Spoke {
            api_version: format!("ex.io/{version}"),
            to_hub: renaming(to_hub),
            from_hub: renaming(from_hub),
        };
        Versions {
            kind: "Site".to_owned(),
            hub: "ex.io/v1".to_owned(),
            spokes: vec![
                spoke("v1alpha1", &[("a", "first")], &[("first", "a")]),
                spoke(
                    "v1beta1",
                    &[("b", "second"), ("c", "first")],
                    &[("second", "b"), ("first", "c")],
                ),
            ],
        }
    }

    fn object(version: &str, spec: &Value) -> Value {
        json!({
            "apiVersion": format!("ex.io/{version}"), "kind": "Site",
            "metadata": {"name": "s", "labels": {"a": "b"}}, "spec": spec,
        })
    }

    #[test]
    fn lost_field_is_stored_in_an_annotation_and_restored() {
        let versions = versions();
        let alpha = object("v1alpha1", &json!({"a": 1, "old": {"x": true}}));
        let hub = versions.convert(alpha.clone(), "ex.io/v1").unwrap();
        assert_eq!(hub["spec"], json!({"first": 1}));
        assert_eq!(hub["metadata"]["labels"], json!({"a": "b"}));
        assert_eq!(
            hub["metadata"]["annotations"],
            json!({"conversion.kubewright.dev/v1alpha1":
                r#"[{"path":["spec","old"],"value":{"x":true}}]"#})
        );
        assert_eq!(versions.convert(hub, "ex.io/v1alpha1").unwrap(), alpha);
    }

    #[test]
    fn null_fields_of_the_output_are_dropped() {
        let mut versions = versions();
        versions.spokes[0].to_hub = Arc::new(|object| {
            Ok(ConversionOutput {
                read: object.clone(),
                written: json!({"spec": {"first": object["spec"]["a"], "second": null}}),
            })
        });
        let alpha = object("v1alpha1", &json!({"a": 1}));
        let hub = versions.convert(alpha, "ex.io/v1").unwrap();
        assert_eq!(hub["spec"], json!({"first": 1}));
    }

    #[test]
    fn change_in_one_version_is_converted_to_the_other() {
        let versions = versions();
        let hub = object("v1", &json!({"first": 1, "second": 2, "third": 3}));
        let mut alpha = versions.convert(hub, "ex.io/v1alpha1").unwrap();
        alpha["spec"]["a"] = json!(5);
        assert_eq!(
            versions.convert(alpha, "ex.io/v1").unwrap(),
            object("v1", &json!({"first": 5, "second": 2, "third": 3}))
        );
    }

    #[test]
    fn unknown_version_fails_with_an_error_that_lists_the_versions() {
        let versions = versions();
        let error = versions.convert(object("v1", &json!({})), "ex.io/v9");
        assert_eq!(
            error.unwrap_err(),
            "Site cannot be converted from or to \"ex.io/v9\": the versions are ex.io/v1, \
             ex.io/v1alpha1, ex.io/v1beta1"
        );
        assert!(
            versions
                .convert(object("v9", &json!({})), "ex.io/v1")
                .is_err()
        );
    }

    fn values() -> impl Strategy<Value = Value> {
        let leaf = prop_oneof![
            any::<bool>().prop_map(Value::from),
            any::<i32>().prop_map(Value::from),
            "[a-z]{0,3}".prop_map(Value::from),
        ];
        leaf.prop_recursive(3, 16, 4, |inner| {
            prop_oneof![
                prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
                prop::collection::vec(("[a-c]", inner.clone()), 0..4).prop_map(|items| {
                    let item = |(name, value)| json!({"name": name, "value": value});
                    items.into_iter().map(item).collect()
                }),
                prop::collection::btree_map("[a-d]", inner, 0..4)
                    .prop_map(|fields| fields.into_iter().collect()),
            ]
        })
    }

    fn specs() -> impl Strategy<Value = Value> {
        let names = prop_oneof![
            Just("a".to_owned()),
            Just("b".to_owned()),
            Just("c".to_owned()),
            Just("first".to_owned()),
            Just("second".to_owned()),
            Just("other".to_owned()),
        ];
        prop::collection::btree_map(names, values(), 0..6)
            .prop_map(|fields| fields.into_iter().collect())
    }

    proptest! {
        #[test]
        fn round_trip_through_any_versions_does_not_change_an_object(
            spec in specs(), from in 0..3_usize, stops in prop::collection::vec(0..3_usize, 1..5),
        ) {
            const NAMES: [&str; 3] = ["v1", "v1alpha1", "v1beta1"];
            let versions = versions();
            let start = object(NAMES[from], &spec);
            let mut now = start.clone();
            for stop in stops.into_iter().chain([from]) {
                let version = format!("ex.io/{}", NAMES[stop]);
                now = versions.convert(now, &version).unwrap();
                prop_assert_eq!(&now["apiVersion"], &json!(version));
            }
            prop_assert_eq!(now, start);
        }
    }
}
