use std::collections::BTreeMap;

use kubewright_core::Kind;
use serde::{Deserialize, Serialize};

/// The messages of Kubernetes' own kinds, by their full names.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Messages {
    /// Name and fields.
    pub messages: BTreeMap<String, Message>,
}

/// The fields of a message by their numbers.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Message {
    /// Number and field.
    pub fields: BTreeMap<u64, MessageField>,
}

/// One field of a message.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct MessageField {
    /// What JSON calls it.
    #[serde(rename = "n")]
    pub name: String,
    /// The type: of proto, such as `int32`, or the name of a message.
    #[serde(rename = "t")]
    pub kind: String,
    /// How often it stands.
    #[serde(rename = "s", default, skip_serializing_if = "Shape::is_one")]
    pub shape: Shape,
}

/// How a field stands in its message.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Shape {
    /// Once.
    #[default]
    #[serde(rename = "1")]
    One,
    /// Once, and JSON has its fields in the place of it.
    #[serde(rename = "i")]
    Inline,
    /// As often as the list is long.
    #[serde(rename = "l")]
    List,
    /// As entries of a map from text.
    #[serde(rename = "m")]
    Map,
}

impl Shape {
    fn is_one(&self) -> bool {
        *self == Self::One
    }
}

impl Messages {
    /// The table of the built-in kinds, read once when first asked for.
    ///
    /// # Panics
    ///
    /// Never: a test reads the table that is compiled in.
    #[cfg(feature = "tables")]
    pub fn builtin() -> &'static Self {
        static BUILTIN: std::sync::LazyLock<Messages> = std::sync::LazyLock::new(|| {
            let packed = include_bytes!("../../tables/protobuf.json.gz");
            serde_json::from_reader(flate2::read::GzDecoder::new(packed.as_slice()))
                .expect("a test reads the table that is compiled in")
        });
        &BUILTIN
    }

    /// The name of the message of a kind.
    pub(super) fn of_kind(&self, kind: &Kind) -> Option<String> {
        // Options belong to no group, whichever they name.
        let name = match kind.kind.as_str() {
            "DeleteOptions" => "k8s.io.apimachinery.pkg.apis.meta.v1.DeleteOptions".to_owned(),
            name => {
                let package = match kind.group().split('.').next() {
                    Some("") | None => "core",
                    Some(package) => package,
                };
                format!("k8s.io.api.{package}.{}.{name}", kind.version())
            }
        };
        self.messages.contains_key(&name).then_some(name)
    }
}
