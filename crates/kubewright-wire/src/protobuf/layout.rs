//! The table of message layouts of Kubernetes' own kinds.

use std::fmt;

use kubewright_core::Kind;

/// The layouts of the objects of Kubernetes' own kinds in protobuf: for every message its fields, in
/// the order in which Go writes them as JSON.
///
/// The table is used in place, so that only the pages that are read take memory. It is little
/// endian, in this order:
/// - three counts of two bytes: kinds, messages, fields;
/// - kinds: apiVersion, name and message, two bytes each;
/// - messages: the index of the first field (two bytes), the number of fields, the kind plus one;
/// - fields: number and part, a byte each; name, type (five bits of `Type`, eleven bits for the
///   index of a message or part), two bytes each; two bits of `Shape` and two of `Presence`; zero;
/// - texts: a byte of length, then the text; they are referenced by offset.
///
/// The fields of an embedded struct are listed in its place: the struct is a part of the message
/// with a number of its own, and the message itself is part zero.
pub struct Layouts {
    kinds: &'static [[u8; 6]],
    messages: &'static [[u8; 4]],
    fields: &'static [[u8; 8]],
    texts: &'static [u8],
}

/// The layout of one message.
#[derive(Clone, Copy)]
pub struct Layout {
    table: &'static Layouts,
    index: usize,
}

/// One field of a message.
#[derive(Clone, Copy)]
pub(super) struct LaidField {
    table: &'static Layouts,
    bytes: &'static [u8; 8],
}

/// The type of a field.
#[derive(Clone, Copy)]
pub(super) enum Type {
    Text,
    Bytes,
    Bool,
    Int,
    Double,
    Time,
    MicroTime,
    Quantity,
    IntOrString,
    /// JSON within protobuf.
    Raw,
    /// A message that contains only texts, which is a list in JSON.
    Texts,
    SchemaOrSchemas(Layout),
    SchemaOrBool(Layout),
    SchemaOrTexts(Layout),
    Message(Layout),
}

/// How a field occurs in its message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Shape {
    /// Once.
    One,
    /// Once, and JSON has its fields in its place.
    Inline,
    /// Once for each item of a list.
    List,
    /// Once for each entry of a map.
    Map,
}

/// When JSON contains a field.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Presence {
    /// When the message has it.
    WhenPresent,
    /// When its value is neither zero nor empty.
    WhenNotZero,
    /// Always; null when the message does not have it.
    OrNull,
    /// Always; the zero value when the message does not have it.
    OrZero,
}

impl Layouts {
    /// The layouts of the kinds that the API server serves by default.
    #[cfg(feature = "layouts")]
    pub fn builtin() -> &'static Self {
        static BUILTIN: Layouts = Layouts::over(include_bytes!("../../tables/layouts.bin"));
        &BUILTIN
    }

    /// The layout of a kind's objects; `None` when there is none.
    pub fn of_kind(&'static self, kind: &Kind) -> Option<Layout> {
        self.find(&kind.api_version(), &kind.kind)
    }

    /// The layout of PartialObjectMetadata.
    pub fn of_metadata(&'static self) -> Option<Layout> {
        self.find("meta.k8s.io/v1", "PartialObjectMetadata")
    }

    /// The layout of DeleteOptions.
    pub fn of_delete_options(&'static self) -> Option<Layout> {
        self.find("meta.k8s.io/v1", "DeleteOptions")
    }

    /// The layout of a Status.
    pub fn of_status(&'static self) -> Option<Layout> {
        self.find("v1", "Status")
    }

    /// The apiVersions and names of all kinds.
    pub fn kinds(&'static self) -> impl Iterator<Item = (&'static str, &'static str)> {
        self.kinds.iter().map(|bytes| self.kind(bytes))
    }

    #[cfg_attr(not(feature = "layouts"), expect(dead_code, reason = "no table"))]
    const fn over(bytes: &'static [u8]) -> Self {
        let (head, after_head) = bytes.split_at(6);
        let (kinds, after_kinds) = after_head.split_at(6 * pair(head, 0));
        let (messages, after_messages) = after_kinds.split_at(4 * pair(head, 2));
        let (fields, texts) = after_messages.split_at(8 * pair(head, 4));
        Self {
            kinds: kinds.as_chunks().0,
            messages: messages.as_chunks().0,
            fields: fields.as_chunks().0,
            texts,
        }
    }

    fn find(&'static self, api_version: &str, name: &str) -> Option<Layout> {
        let mut kinds = self.kinds.iter();
        let found = kinds.find(|bytes| self.kind(bytes) == (api_version, name))?;
        Some(Layout {
            table: self,
            index: pair(found, 4),
        })
    }

    fn kind(&'static self, bytes: &[u8; 6]) -> (&'static str, &'static str) {
        (self.text(pair(bytes, 0)), self.text(pair(bytes, 2)))
    }

    fn text(&self, offset: usize) -> &'static str {
        let texts: &'static [u8] = self.texts;
        let text = texts.get(offset..).and_then(|from| {
            let (length, rest) = from.split_first()?;
            rest.get(..usize::from(*length))
        });
        text.and_then(|text| str::from_utf8(text).ok())
            .unwrap_or_default()
    }
}

impl fmt::Debug for Layouts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Layouts({} messages)", self.messages.len())
    }
}

impl Layout {
    /// The fields of the message and of its parts, in the order of JSON.
    pub(super) fn fields(self) -> &'static [[u8; 8]] {
        let Some(bytes) = self.table.messages.get(self.index) else {
            return &[];
        };
        let (first, count) = (pair(bytes, 0), usize::from(bytes[2]));
        let fields: &'static [[u8; 8]] = self.table.fields;
        fields.get(first..first + count).unwrap_or_default()
    }

    pub(super) fn field(self, bytes: &'static [u8; 8]) -> LaidField {
        LaidField {
            table: self.table,
            bytes,
        }
    }

    /// apiVersion and name of the kind, if the message is an object.
    pub(super) fn kind(self) -> Option<(&'static str, &'static str)> {
        let index = self.table.messages.get(self.index)?[3].checked_sub(1)?;
        let bytes = self.table.kinds.get(usize::from(index))?;
        Some(self.table.kind(bytes))
    }
}

impl fmt::Debug for Layout {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Layout({}, {:?})", self.index, self.kind())
    }
}

impl LaidField {
    pub(super) fn name(self) -> &'static str {
        self.table.text(pair(self.bytes, 2))
    }

    pub(super) fn shape(self) -> Shape {
        match self.bytes[6] & 3 {
            0 => Shape::One,
            1 => Shape::Inline,
            2 => Shape::List,
            _ => Shape::Map,
        }
    }

    pub(super) fn presence(self) -> Presence {
        match self.bytes[6] >> 2 {
            0 => Presence::WhenPresent,
            1 => Presence::WhenNotZero,
            2 => Presence::OrNull,
            _ => Presence::OrZero,
        }
    }

    /// The number of the part that an inline field is.
    pub(super) fn part(self) -> u8 {
        self.bytes[4]
    }

    pub(super) fn kind(self) -> Type {
        let packed = pair(self.bytes, 4);
        let layout = Layout {
            table: self.table,
            index: packed & 0x7ff,
        };
        match packed >> 11 {
            0 => Type::Text,
            1 => Type::Bytes,
            2 => Type::Bool,
            3 => Type::Int,
            4 => Type::Double,
            5 => Type::Time,
            6 => Type::MicroTime,
            7 => Type::Quantity,
            8 => Type::IntOrString,
            9 => Type::Raw,
            10 => Type::Texts,
            11 => Type::SchemaOrSchemas(layout),
            12 => Type::SchemaOrBool(layout),
            13 => Type::SchemaOrTexts(layout),
            _ => Type::Message(layout),
        }
    }
}

/// The two bytes at an offset as a number.
const fn pair(bytes: &[u8], at: usize) -> usize {
    bytes[at] as usize | (bytes[at + 1] as usize) << 8
}

#[cfg(all(test, feature = "layouts", feature = "tables"))]
mod tests {
    use std::collections::BTreeSet;

    use kubewright_core::Kind;

    use super::{Layout, Layouts, Shape, Type};
    use crate::schema::{Schema, SchemaType};

    #[test]
    fn references_in_the_table_are_valid() {
        let table = Layouts::builtin();
        assert_eq!(table.kinds().count(), 74);
        for bytes in table.fields {
            let layout = table.of_status().unwrap();
            let field = layout.field(bytes);
            if field.shape() == super::Shape::Inline {
                continue;
            }
            assert!(!field.name().is_empty());
            if let Type::Message(layout) = field.kind() {
                assert!(layout.index < table.messages.len());
            }
        }
        let first = |bytes: &[u8; 4]| usize::from(u16::from_le_bytes([bytes[0], bytes[1]]));
        let mut next = 0;
        for bytes in table.messages {
            assert_eq!(first(bytes), next);
            next += usize::from(bytes[2]);
        }
        assert_eq!(next, table.fields.len());
    }

    /// Compares the field names of every message with those of its type in the server's OpenAPI
    /// documents.
    #[derive(Default)]
    struct Names {
        seen: BTreeSet<(usize, String)>,
        compared: usize,
        differences: Vec<String>,
    }

    impl Names {
        fn compare(&mut self, path: &str, layout: Layout, schema: SchemaType<'_>) {
            let Some(map) = schema.map() else {
                self.differences.push(format!("{path}: no struct in JSON"));
                return;
            };
            if !self.seen.insert((layout.index, map.name.clone())) {
                return;
            }
            let fields: Vec<_> = layout
                .fields()
                .iter()
                .map(|bytes| layout.field(bytes))
                .filter(|field| field.shape() != Shape::Inline)
                .collect();
            let ours: BTreeSet<&str> = fields.iter().map(|field| field.name()).collect();
            // These two are in the envelope of an object.
            let is_sent =
                |name: &&str| !matches!(*name, "apiVersion" | "kind") || ours.contains(name);
            let theirs: BTreeSet<&str> = map
                .fields
                .keys()
                .map(String::as_str)
                .filter(is_sent)
                .collect();
            self.compared += ours.len();
            if ours != theirs {
                let differing: Vec<_> = ours.symmetric_difference(&theirs).collect();
                self.differences.push(format!("{path}: {differing:?}"));
            }
            for field in fields {
                let Some(field_type) = schema.field(field.name()) else {
                    continue;
                };
                let message_type = match field.shape() {
                    Shape::List => field_type.item(),
                    Shape::Map => field_type.field("any key"),
                    Shape::One | Shape::Inline => Some(field_type),
                };
                if let (Type::Message(inner), Some(message_type)) = (field.kind(), message_type) {
                    self.compare(&format!("{path}.{}", field.name()), inner, message_type);
                }
            }
        }
    }

    #[test]
    fn every_field_has_its_name_in_json() {
        let mut names = Names::default();
        let mut without_types = Vec::new();
        for (api_version, name) in Layouts::builtin().kinds() {
            let (group, version) = api_version.split_once('/').unwrap_or(("", api_version));
            let kind = Kind::new(group, version, name);
            let layout = Layouts::builtin().of_kind(&kind).unwrap();
            match Schema::builtin().kind(&kind) {
                Some(schema) => names.compare(name, layout, schema),
                None => without_types.push(name),
            }
        }
        assert_eq!(names.differences, Vec::<String>::new());
        assert!(names.compared > 1500, "{} names", names.compared);
        assert_eq!(without_types, ["DeleteOptions", "PartialObjectMetadata"]);
    }

    #[test]
    fn kinds_that_are_not_served_by_default_have_no_layout() {
        let table = Layouts::builtin();
        let kinds = [
            (Kind::new("", "v1", "Pod"), true),
            (Kind::new("policy", "v1", "Eviction"), true),
            (
                Kind::new("apiextensions.k8s.io", "v1", "CustomResourceDefinition"),
                true,
            ),
            (
                Kind::new("apiregistration.k8s.io", "v1", "APIService"),
                true,
            ),
            (
                Kind::new("internal.apiserver.k8s.io", "v1alpha1", "StorageVersion"),
                false,
            ),
            (Kind::new("example.com", "v1", "Pod"), false),
        ];
        for (kind, has_layout) in kinds {
            assert_eq!(table.of_kind(&kind).is_some(), has_layout, "{kind}");
        }
    }
}
