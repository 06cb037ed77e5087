use std::fmt;
use std::sync::Arc;

use serde_json::{Map, Value, json};

use super::kept::{Kept, lost, restore, with_unknown};

/// Under this prefix an object carries what its present version has no place for; the version
/// that has one follows.
const ANNOTATION: &str = "conversion.kubewright.dev/";

/// An object before and after a function.
#[derive(Clone, Debug, PartialEq)]
pub struct Translated {
    /// As the function's own type reads and writes it.
    pub read: Value,
    /// What the function made of it.
    pub written: Value,
}

/// Writes an object in another version, or says why it cannot.
pub type Translation = Arc<dyn Fn(&Value) -> Result<Translated, String> + Send + Sync>;

/// A version, and the ways between it and the hub.
#[derive(Clone)]
pub struct Spoke {
    /// Its `apiVersion`.
    pub api_version: String,
    /// From it to the hub.
    pub to_hub: Translation,
    /// From the hub to it.
    pub from_hub: Translation,
}

/// The versions of one kind: a hub, and others that are converted through it.
///
/// What a version has no place for is kept in an annotation of the object, and put back when the
/// object is written in a version that has one. So an object that goes from any version to any
/// other and back is the same again, whatever the functions lose.
#[derive(Clone, Debug)]
pub struct Versions {
    /// The kind, for messages.
    pub kind: String,
    /// The `apiVersion` that everything goes through.
    pub hub: String,
    /// The others.
    pub spokes: Vec<Spoke>,
}

impl Versions {
    /// Writes an object in the version `wanted`.
    pub fn convert(&self, object: Value, wanted: &str) -> Result<Value, String> {
        let present = text(&object["apiVersion"]).to_owned();
        if present == wanted {
            return Ok(object);
        }
        let hub = match present == self.hub {
            true => object,
            false => {
                let spoke = self.spoke(&present)?;
                let ways = (&spoke.to_hub, &spoke.from_hub);
                carry(&object, ways, (&present, &self.hub))?
            }
        };
        if wanted == self.hub {
            return Ok(hub);
        }
        let spoke = self.spoke(wanted)?;
        carry(&hub, (&spoke.from_hub, &spoke.to_hub), (&self.hub, wanted))
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

/// Writes an object in another version; what does not come back is kept with it.
fn carry(
    object: &Value,
    (there, back): (&Translation, &Translation),
    (from, to): (&str, &str),
) -> Result<Value, String> {
    let forth = there(object)?;
    let mut written = forth.written;
    drop_nulls(&mut written);
    written["apiVersion"] = json!(to);
    written["kind"] = object["kind"].clone();
    written["metadata"] = metadata(&object["metadata"], &written["metadata"]);
    let earlier = take(&mut written["metadata"], to);
    restore(&mut written, &earlier);
    let returned = back(&written)?.written;
    let before = with_unknown(&forth.read, object);
    let kept = lost(&body(&before), &body(&returned));
    keep(&mut written["metadata"], from, &kept);
    Ok(written)
}

/// A type may write null for what is absent, which the API server would store.
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

/// The object without what every object has: that is carried over as it is.
fn body(object: &Value) -> Value {
    let mut fields = object.as_object().cloned().unwrap_or_default();
    for name in ["apiVersion", "kind", "metadata"] {
        fields.remove(name);
    }
    Value::Object(fields)
}

/// The metadata of the original, with the labels and annotations that the function added or
/// changed: the API server lets nothing else be changed.
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

/// Takes what was kept for a version out of the annotations.
fn take(metadata: &mut Value, version: &str) -> Vec<Kept> {
    let annotations = metadata.get_mut("annotations");
    let Some(annotations) = annotations.and_then(Value::as_object_mut) else {
        return Vec::new();
    };
    let kept = annotations.remove(&annotation(version));
    if kept.is_some() && annotations.is_empty() {
        remove(metadata, "annotations");
    }
    // What somebody has spoilt by hand is as good as gone.
    let kept = kept.as_ref().and_then(Value::as_str);
    kept.and_then(|text| serde_json::from_str(text).ok())
        .unwrap_or_default()
}

fn keep(metadata: &mut Value, version: &str, kept: &[Kept]) {
    match kept.is_empty() {
        true => drop(take(metadata, version)),
        false => metadata["annotations"][annotation(version)] = json!(json!(kept).to_string()),
    }
}

fn remove(object: &mut Value, field: &str) {
    if let Some(fields) = object.as_object_mut() {
        fields.remove(field);
    }
}

fn annotation(version: &str) -> String {
    let version = version
        .rsplit_once('/')
        .map_or(version, |(_, version)| version);
    format!("{ANNOTATION}{version}")
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
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

    use super::{Spoke, Translated, Translation, Versions};

    /// Keeps the fields of `spec` that are listed, under their new names, and drops the rest.
    fn renaming(names: &'static [(&'static str, &'static str)]) -> Translation {
        Arc::new(move |object| {
            let spec = names.iter().filter_map(|(old, new)| {
                let value = object["spec"].get(old)?.clone();
                Some(((*new).to_owned(), value))
            });
            let spec: Map<String, Value> = spec.collect();
            Ok(Translated {
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
    fn a_field_without_a_place_is_kept_in_an_annotation_and_comes_back() {
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
    fn what_a_type_writes_as_null_is_absent() {
        let mut versions = versions();
        versions.spokes[0].to_hub = Arc::new(|object| {
            Ok(Translated {
                read: object.clone(),
                written: json!({"spec": {"first": object["spec"]["a"], "second": null}}),
            })
        });
        let alpha = object("v1alpha1", &json!({"a": 1}));
        let hub = versions.convert(alpha, "ex.io/v1").unwrap();
        assert_eq!(hub["spec"], json!({"first": 1}));
    }

    #[test]
    fn what_was_changed_in_one_version_is_changed_in_the_other() {
        let versions = versions();
        let hub = object("v1", &json!({"first": 1, "second": 2, "third": 3}));
        let mut alpha = versions.convert(hub, "ex.io/v1alpha1").unwrap();
        alpha["spec"]["a"] = json!(5);
        let hub = versions.convert(alpha, "ex.io/v1").unwrap();
        assert_eq!(
            hub,
            object("v1", &json!({"first": 5, "second": 2, "third": 3}))
        );
    }

    #[test]
    fn an_unknown_version_is_named_with_those_that_are_known() {
        let versions = versions();
        let there = versions.convert(object("v1", &json!({})), "ex.io/v9");
        assert_eq!(
            there.unwrap_err(),
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
        fn any_object_goes_to_any_version_and_back_unchanged(
            spec in specs(), from in 0..3_usize, way in prop::collection::vec(0..3_usize, 1..5),
        ) {
            const NAMES: [&str; 3] = ["v1", "v1alpha1", "v1beta1"];
            let versions = versions();
            let start = object(NAMES[from], &spec);
            let mut now = start.clone();
            for stop in way.into_iter().chain([from]) {
                let wanted = format!("ex.io/{}", NAMES[stop]);
                now = versions.convert(now, &wanted).unwrap();
                prop_assert_eq!(&now["apiVersion"], &json!(wanted));
            }
            prop_assert_eq!(now, start);
        }
    }
}
