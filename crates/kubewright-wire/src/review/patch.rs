//! The patch in an admission review.

use std::fmt;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde::de::{self, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// The bytes of a JSON patch inside a review.
///
/// It is written as base64. Some libraries write an array of numbers, which the API server accepts
/// too, so both are read.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PatchBytes(pub Vec<u8>);

impl Serialize for PatchBytes {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&STANDARD.encode(&self.0))
    }
}

impl<'de> Deserialize<'de> for PatchBytes {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(EitherForm)
    }
}

struct EitherForm;

impl<'de> Visitor<'de> for EitherForm {
    type Value = PatchBytes;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a patch as base64 or as an array of bytes")
    }

    fn visit_str<E: de::Error>(self, text: &str) -> Result<PatchBytes, E> {
        STANDARD.decode(text).map(PatchBytes).map_err(E::custom)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<PatchBytes, A::Error> {
        let mut bytes = Vec::with_capacity(items.size_hint().unwrap_or(0).min(1 << 16));
        while let Some(byte) = items.next_element()? {
            bytes.push(byte);
        }
        Ok(PatchBytes(bytes))
    }
}

#[cfg(test)]
mod tests {
    use super::PatchBytes;

    #[test]
    fn both_forms_are_read_and_base64_is_written() {
        let patch = PatchBytes(b"[]".to_vec());
        assert_eq!(serde_json::to_string(&patch).unwrap(), "\"W10=\"");
        for text in ["\"W10=\"", "[91, 93]"] {
            assert_eq!(serde_json::from_str::<PatchBytes>(text).unwrap(), patch);
        }
        for text in ["\"!\"", "[256]", "1"] {
            assert!(serde_json::from_str::<PatchBytes>(text).is_err(), "{text}");
        }
    }
}
