//! Hashes of the fields that a manager has applied.

use std::fmt;
use std::hash::{DefaultHasher, Hasher};

use serde::Deserialize;
use serde::de::{DeserializeSeed, Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde_json::Value;

/// The hash of a `fieldsV1`, independent of the order of its members.
///
/// Of `metadata.managedFields` a record has only this hash of one manager's Apply entry: enough to
/// detect that an apply would not change the fields that the manager owns. A manager whose name
/// begins with that manager's name and a slash is a part of it, and the hash includes its fields.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct FieldHash(u64);

impl FieldHash {
    /// The hash of a `fieldsV1` value, such as `{"f:spec":{"f:replicas":{}}}`.
    pub fn of(fields: &Value) -> Self {
        // Deserializing from a value cannot fail here.
        Self(FieldsSeed.deserialize(fields).unwrap_or_default())
    }

    pub(super) const fn from_bits(bits: u64) -> Self {
        Self(bits)
    }

    pub(super) const fn bits(self) -> u64 {
        self.0
    }
}

/// Reads `managedFields` into the hash of the manager's Apply entry.
pub(super) struct ManagedFieldsSeed<'a> {
    pub(super) manager: &'a str,
}

impl<'de> DeserializeSeed<'de> for ManagedFieldsSeed<'_> {
    type Value = Option<FieldHash>;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Self::Value, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for ManagedFieldsSeed<'_> {
    type Value = Option<FieldHash>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("managedFields")
    }

    fn visit_unit<E>(self) -> Result<Self::Value, E> {
        Ok(None)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut entries: A) -> Result<Self::Value, A::Error> {
        let mut found = None;
        while let Some(entry) = entries.next_element_seed(EntrySeed {
            manager: self.manager,
        })? {
            // A sum does not depend on the order of entries.
            found = match (found, entry) {
                (Some(FieldHash(sum)), Some(FieldHash(hash))) => {
                    Some(FieldHash(sum.wrapping_add(hash)))
                }
                (found, entry) => entry.or(found),
            };
        }
        Ok(found)
    }
}

/// The fields of an entry that are read.
#[derive(Deserialize)]
#[serde(field_identifier, rename_all = "camelCase")]
enum EntryField {
    Manager,
    Operation,
    Subresource,
    FieldsV1,
    #[serde(other)]
    Other,
}

struct EntrySeed<'a> {
    manager: &'a str,
}

impl<'de> DeserializeSeed<'de> for EntrySeed<'_> {
    type Value = Option<FieldHash>;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Self::Value, D::Error> {
        deserializer.deserialize_map(self)
    }
}

impl<'de> Visitor<'de> for EntrySeed<'_> {
    type Value = Option<FieldHash>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an entry of managedFields")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entry: A) -> Result<Self::Value, A::Error> {
        let mut fields = None;
        let mut is_ours = true;
        let mut is_apply = false;
        while let Some(key) = entry.next_key::<EntryField>()? {
            match key {
                EntryField::Manager => {
                    is_ours &= is_part_of(&entry.next_value::<String>()?, self.manager);
                }
                EntryField::Operation => is_apply = entry.next_value::<String>()? == "Apply",
                // An apply to a subresource has another entry.
                EntryField::Subresource => is_ours &= entry.next_value::<String>()?.is_empty(),
                EntryField::FieldsV1 if is_ours => {
                    fields = Some(entry.next_value_seed(FieldsSeed)?);
                }
                _ => {
                    entry.next_value::<IgnoredAny>()?;
                }
            }
        }
        Ok(fields.filter(|_| is_ours && is_apply).map(FieldHash))
    }
}

/// Whether a manager is the given one or a part of it, as `kubewright/web/pages` is of
/// `kubewright/web`.
fn is_part_of(manager: &str, whole: &str) -> bool {
    let rest = manager.strip_prefix(whole);
    rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

struct FieldsSeed;

impl<'de> DeserializeSeed<'de> for FieldsSeed {
    type Value = u64;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<u64, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for FieldsSeed {
    type Value = u64;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a set of fields")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<u64, A::Error> {
        // A sum does not depend on the order of members.
        let mut sum = 1_u64;
        while let Some(key) = members.next_key::<String>()? {
            let below = members.next_value_seed(FieldsSeed)?;
            sum = sum.wrapping_add(mix(&key, below));
        }
        Ok(sum)
    }

    fn visit_unit<E>(self) -> Result<u64, E> {
        Ok(0)
    }
    fn visit_bool<E>(self, _: bool) -> Result<u64, E> {
        Ok(0)
    }
    fn visit_u64<E>(self, _: u64) -> Result<u64, E> {
        Ok(0)
    }
    fn visit_i64<E>(self, _: i64) -> Result<u64, E> {
        Ok(0)
    }
    fn visit_f64<E>(self, _: f64) -> Result<u64, E> {
        Ok(0)
    }
    fn visit_str<E>(self, _: &str) -> Result<u64, E> {
        Ok(0)
    }
    fn visit_seq<A: SeqAccess<'de>>(self, mut elements: A) -> Result<u64, A::Error> {
        while elements.next_element::<IgnoredAny>()?.is_some() {}
        Ok(0)
    }
}

/// The hasher has fixed keys: all encoders of the process compute equal hashes.
fn mix(key: &str, below: u64) -> u64 {
    let mut hasher = DefaultHasher::new();
    hasher.write(key.as_bytes());
    hasher.write_u64(below);
    hasher.finish()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::FieldHash;

    #[test]
    fn hash_depends_on_the_paths_of_members_but_not_on_their_order() {
        let hash = FieldHash::of(&json!({"f:spec": {"f:a": {}, "f:b": {}}}));
        let reordered =
            FieldHash::of(&serde_json::from_str(r#"{"f:spec":{"f:b":{},"f:a":{}}}"#).unwrap());
        assert_eq!(hash, reordered);
        assert_ne!(
            hash,
            FieldHash::of(&json!({"f:spec": {"f:a": {"f:b": {}}}}))
        );
        assert_ne!(hash, FieldHash::of(&json!({"f:spec": {"f:a": {}}})));
        assert_ne!(hash, FieldHash::of(&json!({})));
    }
}
